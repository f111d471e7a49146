// Two hosts live the same life; the clock of one is set to anything, and set right again. Afterwards the books of both
// are the same.
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

#include "ledger/audit/audit.hpp"
#include "wrong_clock_world.hpp"

namespace shapley::daemon {
namespace {

enum class Step { pass, sleep, start, end, set_clock, restart, kill, reconnect };

struct Life {
  WrongClockWorld right;
  WrongClockWorld wrong;
  std::uint32_t last_job = 0;

  template <typename Act>
  void both(Act act) {
    act(right);
    act(wrong);
  }

  void set_clock() {
    // Days ahead: else their time comes, and they are read as they are.
    const std::int64_t ahead = wrong.host.ahead != 0         ? 0
                               : *rc::gen::arbitrary<bool>() ? *rc::gen::inRange<std::int64_t>(2 * k_day, 60 * k_day)
                                                             : -*rc::gen::inRange<std::int64_t>(62, 60 * k_day);
    right.pass(1);
    wrong.set_wall_by(ahead - wrong.host.ahead);
  }

  void take(Step step) {
    switch (step) {
      case Step::pass: {
        const auto seconds = *rc::gen::inRange<std::int64_t>(1, 700);
        return both([&](WrongClockWorld& world) { world.pass(seconds); });
      }
      case Step::sleep:
        // Not under a wrong clock: after a day it would be believed.
        if (wrong.host.ahead != 0) return;
        return both([&](WrongClockWorld& world) { world.pass(3 * k_day); });
      case Step::start: {
        ++last_job;
        const bool physics = *rc::gen::arbitrary<bool>();
        const std::string node = *rc::gen::arbitrary<bool>() ? "n1" : "n2";
        return both([&](WrongClockWorld& world) { world.start(last_job, physics ? "phys" : "chem", node); });
      }
      case Step::end: {
        const auto job = *rc::gen::inRange<std::uint32_t>(1, last_job + 2);
        if (!right.runs(job)) return;
        return both([&](WrongClockWorld& world) { world.end(job); });
      }
      case Step::set_clock:
        return set_clock();
      case Step::restart:
        return wrong.restart();
      case Step::kill:
        // It comes back under the same clock, which it had seen.
        wrong.kill();
        return both([&](WrongClockWorld& world) { world.pass(50); }), wrong.restart();
      case Step::reconnect:
        return wrong.restart_slurmctld();
    }
  }
};

RC_GTEST_PROP(WrongClock, TheBooksAreThoseOfARightClockAsSoonAsItIsRight, ()) {
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
  life.both([](WrongClockWorld& world) { world.settle(); });
  for (const Step step : steps) {
    life.take(step);
    // A question a second later sees what was done.
    life.both([](WrongClockWorld& world) { world.pass(1); });
    const auto future = life.wrong.rows("SELECT key FROM events WHERE at > " + std::to_string(life.wrong.host.truth));
    RC_ASSERT(future.empty());
  }
  if (life.wrong.host.ahead != 0) life.set_clock();
  life.both([](WrongClockWorld& world) { world.settle(); });
  RC_ASSERT(life.right.host.truth == life.wrong.host.truth);
  RC_ASSERT(life.wrong.unacknowledged() == 0U);
  RC_ASSERT(life.wrong.run_rows() == life.right.run_rows());
  const auto standings = [](WrongClockWorld& world) {
    return world.ask(R"({"request": "status"})").at("organizations");
  };
  RC_ASSERT(standings(life.right).size() == 4U);  // guests and commons are two of them
  RC_ASSERT(standings(life.right) == standings(life.wrong));
  for (WrongClockWorld* world : {&life.right, &life.wrong}) {
    const auto report = ledger::audit(world->service->books().ledger());
    RC_ASSERT(report.has_value());
    RC_ASSERT(report->findings.empty());
  }
}

}  // namespace
}  // namespace shapley::daemon
