#include "scenario.hpp"

#include <algorithm>
#include <utility>

#include "base/rng.hpp"

namespace shapley::fairness::scenario {

namespace {

const std::vector<std::string> k_organizations{"ann", "bob", "cid", std::string(k_guests)};
const std::vector<std::string> k_nodes{"n1", "n2", "n3"};

// A run is cut into pieces; between them it is suspended for `gap` seconds.
struct RunPiece {
  int length = 0;
  int gap = 0;
  int processors = 1;
};

struct JobPlan {
  int organization = 0;
  int eligible = 0;
  int wait = 0;
  bool starts = true;
  bool ends = true;
  bool retracted = false;
  bool fractional = false;
  int first_node = 0;
  int node_count = 1;
  std::vector<RunPiece> pieces;
};

struct SpanPlan {
  int from = 0;
  int owner = 0;
  int second_owner = 0;
  int parts = 0;  // thirds of the node
};

struct StatementPlan {
  int node = 0;
  int effective = 0;
  std::vector<SpanPlan> spans;
};

struct CapacityPlan {
  int node = 0;
  int at = 0;
  int processors = 0;
};

Instant at(int offset) {
  return {k_begin.value + std::min<std::int64_t>(offset, k_length)};
}

// RapidCheck scales ranges and lengths with the size of a test; here every test may use all of them.
rc::Gen<int> uniform(int low, int high) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high));
}

template <typename T>
rc::Gen<std::vector<T>> some_of(int most, const rc::Gen<T>& item) {
  return rc::gen::resize(most, rc::gen::container<std::vector<T>>(item));
}

rc::Gen<RunPiece> run_pieces() {
  return rc::gen::build<RunPiece>(rc::gen::set(&RunPiece::length, uniform(0, 14)),
                                  rc::gen::set(&RunPiece::gap, uniform(0, 4)),
                                  rc::gen::set(&RunPiece::processors, uniform(1, 5)));
}

rc::Gen<JobPlan> job_plans() {
  return rc::gen::build<JobPlan>(
      rc::gen::set(&JobPlan::organization, uniform(0, 4)), rc::gen::set(&JobPlan::eligible, uniform(0, 30)),
      rc::gen::set(&JobPlan::wait, uniform(0, 8)),
      rc::gen::set(&JobPlan::starts, rc::gen::weightedElement<bool>({{5, true}, {1, false}})),
      rc::gen::set(&JobPlan::ends, rc::gen::weightedElement<bool>({{3, true}, {1, false}})),
      rc::gen::set(&JobPlan::retracted, rc::gen::weightedElement<bool>({{1, true}, {5, false}})),
      rc::gen::set(&JobPlan::fractional, rc::gen::arbitrary<bool>()), rc::gen::set(&JobPlan::first_node, uniform(0, 3)),
      rc::gen::set(&JobPlan::node_count, uniform(1, 4)), rc::gen::set(&JobPlan::pieces, some_of(3, run_pieces())));
}

rc::Gen<StatementPlan> statement_plans() {
  const auto span = rc::gen::build<SpanPlan>(
      rc::gen::set(&SpanPlan::from, uniform(-5, 36)), rc::gen::set(&SpanPlan::owner, uniform(0, 3)),
      rc::gen::set(&SpanPlan::second_owner, uniform(0, 3)), rc::gen::set(&SpanPlan::parts, uniform(0, 4)));
  return rc::gen::build<StatementPlan>(rc::gen::set(&StatementPlan::node, uniform(0, 3)),
                                       rc::gen::set(&StatementPlan::effective, uniform(0, 36)),
                                       rc::gen::set(&StatementPlan::spans, some_of(4, span)));
}

rc::Gen<CapacityPlan> capacity_plans() {
  return rc::gen::build<CapacityPlan>(rc::gen::set(&CapacityPlan::node, uniform(0, 3)),
                                      rc::gen::set(&CapacityPlan::at, uniform(0, 36)),
                                      rc::gen::set(&CapacityPlan::processors, uniform(0, 9)));
}

SegmentOpened opened_run(const JobPlan& plan, const SegmentKey& key, Instant begin, const RunPiece& piece) {
  SegmentOpened opened{key, k_organizations[static_cast<std::size_t>(plan.organization)], begin, {}, {}};
  const int first = std::min(plan.first_node, 2);
  const int last = std::min(first + plan.node_count, 3);
  for (int n = first; n < last; ++n) {
    const MicroProcessors here{plan.fractional ? 333'333 * piece.processors + n : k_micro * piece.processors};
    opened.nodes.push_back({k_nodes[static_cast<std::size_t>(n)], here});
    opened.processors += here;
  }
  return opened;
}

void add_wait(const JobPlan& plan, JobId job, std::vector<Event>& events) {
  const SegmentKey key{SegmentKind::wait, job, at(plan.eligible), 0};
  const MicroProcessors wanted{k_micro * (1 + static_cast<std::int64_t>(plan.pieces.size()))};
  events.push_back(
      SegmentOpened{key, k_organizations[static_cast<std::size_t>(plan.organization)], at(plan.eligible), wanted, {}});
  if (plan.starts) events.push_back(SegmentClosed{key, at(plan.eligible + plan.wait), CloseReason::started, "RUNNING"});
}

void add_runs(const JobPlan& plan, JobId job, std::vector<Event>& events) {
  int t = plan.eligible + plan.wait;
  const Instant anchor = at(t);
  std::uint32_t ordinal = 0;
  for (const RunPiece& piece : plan.pieces) {
    const SegmentKey key{SegmentKind::run, job, anchor, ordinal++};
    events.push_back(opened_run(plan, key, at(t), piece));
    const bool last = ordinal == plan.pieces.size();
    if (last && !plan.ends) break;
    t += piece.length;
    events.push_back(SegmentClosed{key, at(t), last ? CloseReason::ended : CloseReason::suspended, "SUSPENDED"});
    if (last && plan.retracted) events.push_back(SegmentRetracted{key, at(t + 1)});
    t += piece.gap;
  }
}

OwnershipStated statement_of(const StatementPlan& plan) {
  OwnershipStated stated{k_nodes[static_cast<std::size_t>(plan.node)], at(plan.effective), {}};
  for (const SpanPlan& span : plan.spans) {
    OwnershipSpan& s = stated.spans.emplace_back(OwnershipSpan{{k_begin.value + span.from}, {}});
    const auto owner = static_cast<std::size_t>(span.owner);
    const auto second = static_cast<std::size_t>(span.second_owner);
    if (span.parts > 0)
      s.owners.push_back({k_organizations[owner], span.parts == 3 ? 1'000'000 : 333'333 * span.parts});
    if (span.parts == 1 && owner != second) s.owners.push_back({k_organizations[second], 500'000});
  }
  std::stable_sort(stated.spans.begin(), stated.spans.end(),
                   [](const auto& a, const auto& b) { return a.from < b.from; });
  const auto same_begin = [](const auto& a, const auto& b) { return a.from == b.from; };
  stated.spans.erase(std::unique(stated.spans.begin(), stated.spans.end(), same_begin), stated.spans.end());
  return stated;
}

template <typename Plan, typename Identity>
std::vector<Plan> without_contradictions(std::vector<Plan> plans, Identity identity) {
  std::vector<Plan> kept;
  for (Plan& plan : plans) {
    if (std::none_of(kept.begin(), kept.end(), [&](const Plan& k) { return identity(k) == identity(plan); })) {
      kept.push_back(std::move(plan));
    }
  }
  return kept;
}

using Plans = std::tuple<std::vector<JobPlan>, std::vector<StatementPlan>, std::vector<CapacityPlan>, bool, int>;

Scenario scenario_of(const Plans& plans) {
  const auto& [jobs, statements, capacities, monthly, declared_at] = plans;
  Scenario scenario;
  scenario.events.push_back(OrganizationsDeclared{at(0), {"bob", "ann", "cid"}});
  std::uint32_t id = 1;
  for (const JobPlan& plan : jobs) {
    const JobId job{id++};
    add_wait(plan, job, scenario.events);
    if (plan.starts) add_runs(plan, job, scenario.events);
  }
  const auto place = [](const auto& plan) { return std::pair(plan.node, plan.effective); };
  for (const StatementPlan& plan : without_contradictions(statements, place))
    scenario.events.push_back(statement_of(plan));
  const auto moment = [](const auto& plan) { return std::pair(plan.node, plan.at); };
  for (const CapacityPlan& plan : without_contradictions(capacities, moment)) {
    scenario.events.push_back(
        CapacityChanged{k_nodes[static_cast<std::size_t>(plan.node)], at(plan.at), 0, {k_micro * plan.processors}});
  }
  if (monthly) scenario.events.push_back(PeriodDeclared{at(declared_at), Period::monthly});
  return scenario;
}

}  // namespace

rc::Gen<Scenario> arbitrary() {
  const auto plans = rc::gen::tuple(some_of(14, job_plans()), some_of(7, statement_plans()),
                                    some_of(7, capacity_plans()), rc::gen::arbitrary<bool>(), uniform(0, 30));
  return rc::gen::map(plans, scenario_of);
}

std::vector<Event> shuffled(std::vector<Event> events) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  rng.shuffle(std::span<Event>(events));
  return events;
}

void apply_all(State& state, const std::vector<Event>& events) {
  for (const Event& event : events) {
    const auto applied = state.apply(event);
    if (!applied) RC_FAIL(applied.error().what);
    RC_ASSERT(*applied != Applied::needs_replay);
  }
}

std::map<std::string, std::string> rows_as_text(const State& state, const std::vector<Standing>& standings) {
  std::map<std::string, std::string> rows;
  for (const Standing& s : standings) {
    std::string& row = rows[state.organizations()[s.organization.value]];
    for (const Int128 value : {s.psi.value, s.phi_direct.value, s.phi_rate.value, s.got.value, s.given_direct.value,
                               s.given_rate.value, Int128{s.owned.value}, Int128{s.used.value}, Int128{s.waiting.value},
                               Int128{s.lent.value}, Int128{s.borrowed.value}}) {
      row += to_string(value) + ' ';
    }
  }
  return rows;
}

}  // namespace shapley::fairness::scenario
