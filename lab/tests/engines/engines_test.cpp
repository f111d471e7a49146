// The two engines against each other. The simulator runs a policy over a random instance and keeps psi and the direct
// contribution as it goes, in processors; State computes them from the events of the same schedule, in millionths and
// closed forms. They share no code.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "accounting/state/state.hpp"
#include "base/rng.hpp"
#include "base/types.hpp"
#include "daemon_side.hpp"
#include "simulator_side.hpp"

namespace shapley::engines {
namespace {

using accounting::Event;
using accounting::State;
using scheduling::Instance;
using scheduling::Job;
using scheduling::Rational;

// What is drawn. Times are multiples of `step` seconds.
struct Shape {
  std::uint32_t width_max = 1;  // processors of a job
  std::int64_t step = 1;
  std::uint32_t owners_min = 1;  // organizations with processors
};

struct Case {
  Instance instance;
  Setup setup;
  Layout layout;
  std::vector<Instant> instants;  // at which the engines are compared, ascending; the last one is the instance's end
};

// For counterexamples.
std::ostream& operator<<(std::ostream& out, const Case& drawn) {
  out << "machines";
  for (const std::uint32_t count : drawn.instance.processors) out << ' ' << count;
  out << ", jobs (release, duration, organization, processors)";
  for (const Job& job : drawn.instance.jobs) {
    out << " [" << job.release.value << ", " << job.duration.value << ", " << job.organization << ", " << job.processors
        << ']';
  }
  out << ", end " << drawn.instance.end.value << ", chooser " << static_cast<int>(drawn.setup.chooser) << ", seed "
      << drawn.setup.seed << ", node width " << drawn.layout.node_width << ", cut every " << drawn.layout.cut_every
      << ", compared at";
  for (const Instant t : drawn.instants) out << ' ' << t.value;
  return out;
}

// Few processors, many jobs, releases close together: queues, ties, processors taken in the second they become free,
// organizations without processors or without jobs. A job starts, whatever is drawn.
Instance draw_instance(const Shape& shape) {
  Instance instance;
  const auto organizations = *rc::gen::inRange<std::uint32_t>(shape.owners_min, k_names + 1);
  for (std::uint32_t u = 0; u < organizations; ++u) {
    instance.processors.push_back(*rc::gen::inRange(u < shape.owners_min ? 1U : 0U, 5U));
  }
  const auto total = static_cast<std::uint32_t>(instance.total_processors());
  const int jobs = *rc::gen::inRange(1, 25);
  for (int j = 0; j < jobs; ++j) {
    instance.jobs.push_back({.release = {shape.step * *rc::gen::inRange<std::int64_t>(0, 16)},
                             .duration = {shape.step * *rc::gen::inRange<std::int64_t>(1, 9)},
                             .organization = *rc::gen::inRange(0U, organizations),
                             .processors = *rc::gen::inRange(1U, std::min(shape.width_max, total) + 1)});
  }
  instance.end = {shape.step * *rc::gen::inRange<std::int64_t>(16, 61)};
  return instance;
}

Case draw_case(const Shape& shape) {
  Case drawn{draw_instance(shape), {}, {}, {}};
  // REF has no rigid jobs.
  drawn.setup.chooser = shape.width_max > 1 ? *rc::gen::element(Chooser::direct_contr, Chooser::shapley_rate,
                                                                Chooser::fcfs, Chooser::round_robin)
                                            : *rc::gen::element(Chooser::direct_contr, Chooser::shapley_rate,
                                                                Chooser::fcfs, Chooser::round_robin, Chooser::ref);
  drawn.setup.seed = *rc::gen::arbitrary<std::uint64_t>();
  drawn.layout = {.node_width = *rc::gen::inRange(1U, 4U), .cut_every = *rc::gen::inRange(0U, 4U)};
  for (int i = 0; i < 4; ++i) {
    drawn.instants.push_back({*rc::gen::inRange<std::int64_t>(0, drawn.instance.end.value)});
  }
  drawn.instants.push_back(drawn.instance.end);
  std::sort(drawn.instants.begin(), drawn.instants.end());
  return drawn;
}

// Of full size from the first one on: RapidCheck would begin with single organizations.
rc::Gen<Case> any_case(const Shape& shape) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::exec([shape] { return draw_case(shape); }));
}

// The first difference of each kind, as text; empty where nothing differs.
struct Differences {
  std::string psi, direct;
  friend bool operator==(const Differences&, const Differences&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Differences& d) {
    return out << "psi: " << d.psi << "\ndirect: " << d.direct;
  }
};

void note(std::string& first, Instant t, std::uint32_t organization, const Rational& simulated, Utility booked) {
  if (!first.empty()) return;
  first = "at " + std::to_string(t.value) + " " + name_of(organization) + ": simulator " + to_string(simulated) +
          " processor s^2, State " + to_string(booked.value) + " millionths";
}

// |booked - simulated| in denominator-ths of a millionth.
Int128 distance(const Rational& simulated, Utility booked) {
  const Int128 difference = booked.value * simulated.denominator - simulated.numerator * k_micro;
  return difference < 0 ? -difference : difference;
}

// The first instant at which a job waits beside an idle processor; instance.end if that never happens. Only rigid jobs
// can (simulate.hpp).
Instant first_idle_beside_waiting(const Instance& instance, const std::vector<StartedJob>& schedule) {
  std::vector<Instant> starts(instance.jobs.size(), instance.end);
  for (const StartedJob& started : schedule) starts[started.job] = started.begin;
  std::set<Instant> changes;
  for (std::size_t j = 0; j < starts.size(); ++j) {
    changes.insert({instance.jobs[j].release, starts[j], starts[j] + instance.jobs[j].duration});
  }
  for (const Instant t : changes) {
    if (t >= instance.end) break;
    std::uint64_t busy = 0;
    bool waits = false;
    for (std::size_t j = 0; j < starts.size(); ++j) {
      const Job& job = instance.jobs[j];
      if (starts[j] <= t && t < starts[j] + job.duration) busy += job.processors;
      waits = waits || (job.release <= t && t < starts[j]);
    }
    if (waits && busy < instance.total_processors()) return t;
  }
  return instance.end;
}

// Applies what happens until t, in any order.
void apply_until(State& state, Instant t, std::vector<Event>::const_iterator& next, const std::vector<Event>& events,
                 Rng& rng) {
  const auto first = next;
  while (next != events.end() && time_of(*next) <= k_epoch + Duration{t.value}) ++next;
  std::vector<Event> batch(first, next);
  rng.shuffle(std::span<Event>(batch));
  for (const Event& event : batch) {
    const auto applied = state.apply(event);
    if (!applied) throw std::runtime_error(applied.error().what);
    if (*applied != accounting::Applied::changed) throw std::runtime_error(event_key(event) + ": not new");
  }
}

// What the simulator says of the schedule against what State makes of the events.
Differences compare(const Case& given, const std::vector<Event>& events) {
  Differences found;
  const accounting::EstimatorId direct = accounting::parse_estimator("direct_contr").value();
  State state;
  Rng rng(given.setup.seed);
  auto next = events.begin();
  for (const Instant t : given.instants) {
    apply_until(state, t, next, events, rng);
    const std::vector<accounting::Standing> rows = state.advance(k_epoch + Duration{t.value}).standings();
    const Account simulated = account_at(t, given.instance, given.setup);
    for (std::uint32_t u = 0; u < given.instance.organizations(); ++u) {
      const accounting::Standing& row = rows[state.find_organization(name_of(u)).value().value];
      const Rational psi{simulated.psi[u], 1};
      if (distance(psi, row.psi) != 0) note(found.psi, t, u, psi, row.psi);
      if (distance(simulated.direct[u], row.phi(direct)) != 0)
        note(found.direct, t, u, simulated.direct[u], row.phi(direct));
    }
  }
  return found;
}

void expect_agreement(const Shape& shape) {
  const Case drawn = *any_case(shape);
  const auto schedule = schedule_of(drawn.instance, drawn.setup);
  const auto runs = place(drawn.instance, schedule, drawn.layout);
  const bool divisible = first_idle_beside_waiting(drawn.instance, schedule) == drawn.instance.end;
  RC_ASSERT(divisible || shape.width_max > 1);
  RC_TAG(divisible ? "no processor idle beside a waiting job" : "a processor idle beside a waiting job");
  RC_ASSERT(compare(drawn, events_of(drawn.instance, runs, drawn.layout)) == Differences{});
}

RC_GTEST_PROP(Engines, AgreeOnSequentialJobs, ()) {
  expect_agreement({});
}
RC_GTEST_PROP(Engines, AgreeOnLongJobs, ()) {
  expect_agreement({.width_max = 1, .step = 3607, .owners_min = 1});
}
RC_GTEST_PROP(Engines, AgreeOnRigidJobs, ()) {
  expect_agreement({.width_max = 5, .step = 1, .owners_min = 1});
}

// The comparison itself is checked: a start one second off is always found, in both numbers.
RC_GTEST_PROP(Engines, AStartOneSecondOffIsFound, ()) {
  const Case drawn = *any_case({});
  const auto schedule = schedule_of(drawn.instance, drawn.setup);
  auto runs = place(drawn.instance, schedule, drawn.layout);
  Run& planted = runs[*rc::gen::inRange<std::size_t>(0, runs.size())];
  planted.begin = planted.begin + Duration{*rc::gen::element<std::int64_t>(-1, 1)};
  const Differences found = compare(drawn, events_of(drawn.instance, runs, drawn.layout));
  RC_ASSERT(!found.psi.empty());
  RC_ASSERT(!found.direct.empty());
}

// A run on another owner's node moves the direct contribution and no psi.
RC_GTEST_PROP(Engines, ARunOnAnotherOwnersNodeIsFound, ()) {
  const Case drawn = *any_case({.width_max = 1, .step = 1, .owners_min = 2});
  const auto schedule = schedule_of(drawn.instance, drawn.setup);
  auto runs = place(drawn.instance, schedule, drawn.layout);
  Run& planted = runs[*rc::gen::inRange<std::size_t>(0, runs.size())];
  std::vector<std::uint32_t> others;
  for (std::uint32_t u = 0; u < drawn.instance.organizations(); ++u) {
    if (drawn.instance.processors[u] > 0 && u != owner_of(drawn.instance, planted.nodes.front().node))
      others.push_back(u);
  }
  planted.nodes.front().node = first_node_of(*rc::gen::elementOf(others));
  const Differences found = compare(drawn, events_of(drawn.instance, runs, drawn.layout));
  RC_ASSERT(found.psi.empty());
  RC_ASSERT(!found.direct.empty());
}

}  // namespace
}  // namespace shapley::engines
