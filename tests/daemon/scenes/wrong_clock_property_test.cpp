// Two hosts live the same life; the clock of one is set to anything, and set right again. Afterwards its books have
// nothing that the other one's lack, what they lack lies in gaps that they name, and an import of the true records
// makes the books of both the same.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

#include "host.hpp"
#include "ledger/audit/audit.hpp"
#include "slurmctld.hpp"

namespace shapley::daemon {
namespace {

enum class Step { pass, sleep, start, end, set_clock, restart, kill, reconnect };

struct World {
  World() { restart(); }
  void restart() {
    host.start();
    slurmctld.connect_again();
  }
  Host host;
  Slurmctld slurmctld{host};
};

bool is_same(const Booked& one, const Booked& other) {
  return one.job == other.job && one.organization == other.organization && one.begin == other.begin;
}

// Whether gaps of the books contain the instant; times are whole seconds.
bool is_in_gap(const std::vector<BookedGap>& gaps, std::int64_t instant) {
  return std::ranges::any_of(gaps,
                             [&](const BookedGap& gap) { return gap.begin - 1 <= instant && instant <= gap.end + 1; });
}

// Every run of the books took place, at least as long; what is missing began or ended in a gap.
void expect_truth_but_for_gaps(const World& right, const World& wrong) {
  std::vector<Booked> missing = right.host.runs();
  const std::vector<BookedGap> gaps = wrong.host.gaps();
  for (const Booked& booked : wrong.host.runs()) {
    const auto whole = std::ranges::find_if(missing, [&](const Booked& truth) {
      return is_same(booked, truth) &&
             booked.end.value_or(k_end_of_time.value) <= truth.end.value_or(k_end_of_time.value);
    });
    RC_ASSERT(whole != missing.end());
    RC_ASSERT(booked.end == whole->end || is_in_gap(gaps, whole->end.value_or(k_end_of_time.value)));
    missing.erase(whole);
  }
  for (const Booked& run : missing) RC_ASSERT(is_in_gap(gaps, run.begin));
}

std::vector<std::string> texts_of_runs(const World& world) {
  std::vector<std::string> texts;
  for (Booked& run : world.host.runs()) {
    run.reason = "ended";  // of a run that is imported it is another one
    texts.push_back(run.text());
  }
  return texts;
}

// A line for each organization: its name, psi and direct phi, to the unit. The import takes runs from Slurm's records,
// and no waits: the other contributions, which depend on them, may differ.
std::vector<std::string> standings(World& world) {
  std::vector<std::string> lines;
  const nlohmann::json status = world.host.ask(R"({"request": "status"})");
  for (const nlohmann::json& row : status.at("organizations"))
    lines.push_back(row.at("name").get<std::string>() + ' ' + row.at("psi").dump() + ' ' + row.at("phi_direct").dump());
  RC_ASSERT(lines.size() == 4U);  // guests and commons are two of them
  return lines;
}

struct Life {
  World right;
  World wrong;
  std::uint32_t last_job = 0;

  template <typename Act>
  void both(Act act) {
    act(right);
    act(wrong);
  }

  void set_clock() {
    // Half of them by minutes, so that times of a clock ahead come.
    const std::int64_t by =
        *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(62, 900), rc::gen::inRange<std::int64_t>(900, 60 * k_day));
    const std::int64_t ahead = wrong.host.clock.ahead != 0 ? 0 : *rc::gen::arbitrary<bool>() ? by : -by;
    right.slurmctld.pass(1);
    wrong.slurmctld.set_wall_by(ahead - wrong.host.clock.ahead);
  }

  void take(Step step) {
    switch (step) {
      case Step::pass: {
        const auto seconds = *rc::gen::inRange<std::int64_t>(1, 700);
        return both([&](World& world) { world.slurmctld.pass(seconds); });
      }
      case Step::sleep:
        // Not under a wrong clock: after a day it would be believed.
        if (wrong.host.clock.ahead != 0) return;
        return both([&](World& world) { world.slurmctld.pass(3 * k_day); });
      case Step::start: {
        ++last_job;
        const bool physics = *rc::gen::arbitrary<bool>();
        const std::string node = *rc::gen::arbitrary<bool>() ? "n1" : "n2";
        return both([&](World& world) { world.slurmctld.start(last_job, physics ? "phys" : "chem", node); });
      }
      case Step::end: {
        const auto job = *rc::gen::inRange<std::uint32_t>(1, last_job + 2);
        if (!right.slurmctld.runs(job)) return;
        return both([&](World& world) { world.slurmctld.end(job); });
      }
      case Step::set_clock:
        return set_clock();
      case Step::restart:
        return wrong.restart();
      case Step::kill:
        // It comes back under the same clock, which it had seen.
        wrong.host.kill();
        return both([&](World& world) { world.slurmctld.pass(50); }), wrong.restart();
      case Step::reconnect:
        return wrong.slurmctld.restart();
    }
  }
};

RC_GTEST_PROP(WrongClock, TheBooksLackNothingButGapsAndAnImportFillsThem, ()) {
  Life life;
  const auto steps = *rc::gen::container<std::vector<Step>>(rc::gen::weightedElement<Step>({{6, Step::pass},
                                                                                            {1, Step::sleep},
                                                                                            {5, Step::start},
                                                                                            {5, Step::end},
                                                                                            {3, Step::set_clock},
                                                                                            {1, Step::restart},
                                                                                            {1, Step::kill},
                                                                                            {1, Step::reconnect}}));
  // Where nothing was ever observed, no time can be known to go back.
  life.both([](World& world) { world.slurmctld.settle(); });
  for (const Step step : steps) {
    life.take(step);
    // A question a second later sees what was done.
    life.both([](World& world) { world.slurmctld.pass(1); });
    const auto future =
        life.wrong.host.query("SELECT key FROM events WHERE at > " + std::to_string(life.wrong.host.clock.truth));
    RC_ASSERT(future.empty());
  }
  if (life.wrong.host.clock.ahead != 0) life.set_clock();
  life.both([](World& world) { world.slurmctld.settle(); });
  RC_ASSERT(life.right.host.clock.truth == life.wrong.host.clock.truth);
  RC_ASSERT(life.wrong.slurmctld.unacknowledged() == 0U);
  expect_truth_but_for_gaps(life.right, life.wrong);
  life.wrong.host.kill();
  life.wrong.slurmctld.import_records();
  life.wrong.restart();
  RC_ASSERT(texts_of_runs(life.wrong) == texts_of_runs(life.right));
  RC_ASSERT(standings(life.right) == standings(life.wrong));
  for (World* world : {&life.right, &life.wrong}) {
    const auto report = ledger::audit(world->host.service->books().ledger());
    RC_ASSERT(report.has_value());
    RC_ASSERT(report->findings.empty());
  }
}

}  // namespace
}  // namespace shapley::daemon
