// Two hosts live the same life; the clock of one is set to anything, and set right again. Afterwards its books have
// nothing that the other one's lack, what they lack lies in gaps that they name, and an import of the true records
// makes the books of both the same.
#include <algorithm>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

#include "ledger/audit/audit.hpp"
#include "wrong_clock_world.hpp"

namespace shapley::daemon {
namespace {

enum class Step { pass, sleep, start, end, set_clock, restart, kill, reconnect };

// A row of run_rows().
struct BookedRun {
  explicit BookedRun(const std::string& row) {
    std::istringstream in(row);
    std::string last;
    std::getline(in, job, '|');
    std::getline(in, organization, '|');
    std::getline(in, begin, '|');
    std::getline(in, last, '|');
    end = last.empty() ? k_end_of_time.value : std::stoll(last);
  }
  [[nodiscard]] bool is_begin_of(const BookedRun& whole) const {
    return job == whole.job && organization == whole.organization && begin == whole.begin && end <= whole.end;
  }
  std::string job, organization, begin;
  std::int64_t end = 0;
};

// Whether gaps of the books contain the instant; times are whole seconds.
bool is_in_gap(const std::vector<std::string>& gaps, std::int64_t instant) {
  return std::ranges::any_of(gaps, [&](const std::string& gap) {
    const std::size_t bar = gap.find('|');
    return std::stoll(gap) - 1 <= instant && instant <= std::stoll(gap.substr(bar + 1)) + 1;
  });
}

// Every run of the books took place, at least as long; what is missing began or ended in a gap.
void expect_truth_but_for_gaps(const WrongClockWorld& right, const WrongClockWorld& wrong) {
  std::vector<BookedRun> missing;
  for (const std::string& row : right.run_rows()) missing.emplace_back(row);
  const std::vector<std::string> gaps = wrong.gaps();
  for (const std::string& row : wrong.run_rows()) {
    const BookedRun booked(row);
    const auto whole = std::ranges::find_if(missing, [&](const BookedRun& truth) { return booked.is_begin_of(truth); });
    RC_ASSERT(whole != missing.end());
    RC_ASSERT(booked.end == whole->end || is_in_gap(gaps, whole->end));
    missing.erase(whole);
  }
  for (const BookedRun& run : missing) RC_ASSERT(is_in_gap(gaps, std::stoll(run.begin)));
}

// A line for each organization: its name, psi and direct phi, to the unit. The import takes runs from Slurm's records,
// and no waits: the other contributions, which depend on them, may differ.
std::vector<std::string> standings(WrongClockWorld& world) {
  std::vector<std::string> lines;
  const nlohmann::json status = world.ask(R"({"request": "status"})");
  for (const nlohmann::json& row : status.at("organizations"))
    lines.push_back(row.at("name").get<std::string>() + ' ' + row.at("psi").dump() + ' ' + row.at("phi_direct").dump());
  RC_ASSERT(lines.size() == 4U);  // guests and commons are two of them
  return lines;
}

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
    // Half of them by minutes, so that times of a clock ahead come.
    const std::int64_t by =
        *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(62, 900), rc::gen::inRange<std::int64_t>(900, 60 * k_day));
    const std::int64_t ahead = wrong.host.ahead != 0 ? 0 : *rc::gen::arbitrary<bool>() ? by : -by;
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
  expect_truth_but_for_gaps(life.right, life.wrong);
  life.wrong.kill();
  life.wrong.import_records();
  life.wrong.restart();
  RC_ASSERT(life.wrong.run_rows() == life.right.run_rows());
  RC_ASSERT(standings(life.right) == standings(life.wrong));
  for (WrongClockWorld* world : {&life.right, &life.wrong}) {
    const auto report = ledger::audit(world->service->books().ledger());
    RC_ASSERT(report.has_value());
    RC_ASSERT(report->findings.empty());
  }
}

}  // namespace
}  // namespace shapley::daemon
