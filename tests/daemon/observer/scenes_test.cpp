// Scenes of scenes.txt: records of slurmctld as the observer sees them, one after the other, and what it makes of each.
// The file says how they are written.
#include "tests/daemon/scenes/scenes.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bench.hpp"

namespace shapley::daemon {
namespace {

using protocol::JobUpdate;

ReadingRules rules_of_partitions() {
  return {protocol::Classifier(
              {{"physics", RuleKind::partition, "phys", 0}, {"chemistry", RuleKind::partition, "chem", 0}}),
          Charging({config::Charge::weights, {{"cpu", 1}}, {}})};
}

class ObserverStage : public Stage {
 public:
  std::string play(const std::string& line) override {
    const std::vector<std::string> words = words_of(line);
    if (words[0] == "partitions") {
      bench_.emplace(rules_of_partitions());
      return {};
    }
    if (words[0] == "memory") {
      bench_->state = accounting::State({.memory_horizon = Duration{number_in(words.at(1))}});
      return {};
    }
    if (words[0] == "time") {
      bench_->state.advance(Instant{number_in(words.at(1))});
      bench_->state.compact();
      return {};
    }
    const std::int64_t at = number_in(words[0]);
    if (words.at(1) == "gone") return in_words(bench_->see_gone(7, at), at);
    if (words.at(1) == "forgotten") return in_words(bench_->see_gone(7, at, Departure::forgotten), at);
    if (words.at(1) == "after")
      return in_words(bench_->see(record_in(words, 3, record_of), at, number_in(words.at(2))), at);
    if (words.at(1) == "lost")
      return in_words(bench_->see_back(record_in(words, 3, record_of), at, number_in(words.at(2))), at);
    return in_words(bench_->see(record_in(words, 1, record_of), at), at);
  }

 private:
  std::optional<Bench> bench_{std::in_place};
};

TEST(ObserverScenes, TurnOutAsTheyAreWritten) {
  expect_scenes_to_turn_out_as_written("observer/scenes.txt", 100, [] { return std::make_unique<ObserverStage>(); });
}

// What scenes.txt cannot say: other weights, all that a description carries, and nodes.

TEST(Observer, OtherWeightsDoNotRewriteARunningSegment) {
  Bench bench;
  JobUpdate r = running(120);
  bench.see(r, 121);
  Bench reweighted({protocol::Classifier(), Charging({config::Charge::weights, {{"cpu", 5}}, {}})});
  for (const accounting::Event& e : bench.history) ASSERT_TRUE(reweighted.state.apply(e));
  EXPECT_TRUE(reweighted.see(r, 130).events.empty());
  // Not even when the segment began with a resize.
  r.resize_time = 120;
  EXPECT_TRUE(reweighted.see(r, 131).events.empty());
}

TEST(Observer, ARunThatIsResumedKeepsItsCharge) {
  Bench bench;
  JobUpdate r = running(120);
  bench.see(r, 121);
  const std::string before = bench.runs();
  r.state = protocol::JobState::suspended;
  r.suspend_time = 130;
  r.pre_suspend_run_s = 10;
  bench.see(r, 131);
  Bench reweighted({protocol::Classifier(), Charging({config::Charge::weights, {{"cpu", 5}}, {}})});
  for (const accounting::Event& e : bench.history) ASSERT_TRUE(reweighted.state.apply(e));
  r.state = protocol::JobState::running;
  r.suspend_time = 140;
  r.total_suspended_s = 10;
  reweighted.see(r, 141);
  const std::string whole = before.substr(before.find(' '));  // " n1:2 n2:1"
  EXPECT_EQ(reweighted.runs(), "[120,130)" + whole + "; [140,...)" + whole);
}

TEST(Observer, ADescriptionCarriesWhatAuditorsNeed) {
  Bench bench;
  JobUpdate r = running(120);
  r.array_job_id = 5;
  r.array_task_id = 3;
  r.name = "fit";
  r.qos = "normal";
  r.partition = "batch";
  const Observation seen = bench.see(r, 121);
  const auto& d = std::get<accounting::JobDescribed>(seen.events.at(0));
  EXPECT_EQ(d.submit.value, 100);
  EXPECT_EQ(d.organization, "physics");
  EXPECT_EQ(d.array_job, 5U);
  EXPECT_EQ(d.array_task, 3U);
  EXPECT_EQ(d.name, "fit");
  EXPECT_EQ(d.qos, "normal");
  EXPECT_EQ(d.partition, "batch");
  EXPECT_EQ(d.user_id, 1000U);
}

std::vector<std::uint32_t> tasks_of_waits(const Observation& seen) {
  std::vector<std::uint32_t> tasks;
  for (const accounting::Event& event : seen.events) {
    const auto* opened = std::get_if<accounting::SegmentOpened>(&event);
    if (opened != nullptr && opened->key.kind == accounting::SegmentKind::wait) tasks.push_back(opened->tasks);
  }
  return tasks;
}

TEST(Observer, TheWaitOfAnArraySaysOfHowManyTasksItIs) {
  Bench bench;
  JobUpdate r = record_of(protocol::JobState::pending);
  r.requested_cpus = 2;
  r.tres = {{"cpu", 2}};
  EXPECT_EQ(tasks_of_waits(bench.see(r, 101)), std::vector<std::uint32_t>{0}) << "of one job nothing is said";
  r.array_job_id = 7;
  r.pending_tasks = 3;
  EXPECT_EQ(tasks_of_waits(bench.see(r, 102)), std::vector<std::uint32_t>{3});
  r.pending_tasks = 1;
  EXPECT_EQ(tasks_of_waits(bench.see(r, 103)), std::vector<std::uint32_t>{0}) << "nor of one task";
}

// The clock was wrong from 1000 to 2000.

JobUpdate ended_at(std::int64_t start, std::int64_t end) {
  JobUpdate r = record_of(protocol::JobState::ended);
  r.start_time = start;
  r.end_time = end;
  return r;
}

bool is_refused(const Observation& seen) {
  return seen.mistimed && seen.events.empty();
}

TEST(ObserverAfterWrongClock, ARunThatTheBooksLackAndThatBeganBeforeIsNotBooked) {
  Bench bench;
  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(running(1500), 2010, 2000)));
  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(running(500), 2010, 2000)));
  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(running(2071), 2010, 2000))) << "in the future";
  EXPECT_TRUE(bench.see_after_wrong_clock(running(2011), 2010, 2000).unsettled);
  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(running(2011), 2010, 2010))) << "in the first scan";

  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(ended_at(1500, 2100), 2110, 2000)));
  EXPECT_EQ(bench.runs(), "");
  bench.see_after_wrong_clock(running(2099), 2100, 2000);
  EXPECT_EQ(bench.runs(), "[2099,...) n1:1");
}

TEST(ObserverAfterWrongClock, ARunOfTheBooksGoesOnAndItsEndBeforeIsNotBelieved) {
  Bench bench;
  bench.see(running(120), 121);
  EXPECT_FALSE(bench.see_after_wrong_clock(running(120), 2010, 2000).mistimed);
  for (const std::int64_t end : {200, 1500, 2000, 3000})
    EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(ended_at(120, end), 2010, 2000))) << end;
  JobUpdate suspended = record_of(protocol::JobState::suspended);
  suspended.start_time = 120;
  for (const std::int64_t at : {1500, 3000}) {
    suspended.suspend_time = at;
    EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(suspended, 2010, 2000))) << at;
  }
  bench.see_after_wrong_clock(ended_at(120, 2005), 2010, 2000);
  EXPECT_EQ(bench.runs(), "[120,2005) n1:1");
}

TEST(ObserverAfterWrongClock, ARunWhoseEndIsNotBelievedEndsWhereTheClockWentWrong) {
  const WrongClock clock{Instant{1000}, Instant{2000}};
  Bench bench;
  bench.see(running(120), 121);
  EXPECT_EQ(in_words(bench.see_mistimed(ended_at(120, 1500), 2010, clock), 2010),
            "run 120 ends at 1000 (vanished); a warning");
  EXPECT_EQ(in_words(bench.see_mistimed(ended_at(120, 1500), 2011, clock), 2011), "a warning");
  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(ended_at(120, 1500), 2012, 2000))) << "nor is it later";
  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(ended_at(120, 2500), 2600, 2000))) << "when its time has come";
}

TEST(ObserverAfterWrongClock, ARunThatWasRequeuedUnderAClockBehindIsNotRetracted) {
  Bench bench;
  bench.see(running(120), 121);
  JobUpdate requeued = record_of(protocol::JobState::pending);
  requeued.restart_count = 1;
  requeued.submit_time = requeued.eligible_time = 50;
  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(requeued, 2010, 2000)));
  bench.see_mistimed(requeued, 2010, {Instant{1000}, Instant{2000}});
  EXPECT_EQ(bench.runs(), "[120,1000) n1:1");
  EXPECT_FALSE(bench.see_after_wrong_clock(requeued, 2011, 2000).mistimed);
  EXPECT_EQ(bench.runs(), "[120,1000) n1:1");
}

TEST(ObserverAfterWrongClock, ARunThatWasSuspendedBeforeAndWentOnUnderItHasNoKnownEnd) {
  const WrongClock clock{Instant{1000}, Instant{2000}};
  for (const auto state : {protocol::JobState::running, protocol::JobState::suspended}) {
    Bench bench;
    bench.see(running(120), 121);
    JobUpdate record = record_of(protocol::JobState::suspended);
    record.start_time = 120;
    record.suspend_time = 500;
    record.pre_suspend_run_s = 380;
    bench.see(record, 501);
    EXPECT_FALSE(bench.see_after_wrong_clock(record, 2010, 2000).mistimed) << "it is suspended still";
    record.state = state;
    record.suspend_time = 1500;
    record.pre_suspend_run_s = state == protocol::JobState::suspended ? 400 : 380;
    EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(record, 2010, 2000)));
    for (int times = 0; times < 2; ++times) {
      bench.see_mistimed(record, 2010, clock);
      EXPECT_EQ(bench.runs(), "[120,500) n1:1; [1000,1000) n1:1") << times;
    }
  }
}

TEST(ObserverAfterWrongClock, AnImportedRunEndsWithItsRecord) {
  const WrongClock clock{Instant{1000}, Instant{2000}};
  Bench bench;
  bench.see(running(1300), 1300);  // Slurm says 800
  EXPECT_TRUE(is_refused(bench.see_after_wrong_clock(running(800), 2010, 2000)));
  bench.see_mistimed(running(800), 2010, clock);
  EXPECT_EQ(bench.runs(), "[1300,...) n1:1");
  bench.see_mistimed(ended_at(800, 2500), 2501, clock);
  EXPECT_EQ(bench.runs(), "[1300,2500) n1:1");
}

TEST(ObserverAfterWrongClock, AWaitThatEndedInItEndsWhereTheClockWentWrong) {
  Bench bench;
  bench.see(record_of(protocol::JobState::pending), 101);
  EXPECT_EQ(in_words(bench.see_mistimed(running(1500), 2010, {Instant{1000}, Instant{2000}}), 2010),
            "wait 100 ends at 1000 (started); a warning");
}

TEST(ObserverAfterWrongClock, AJobWaitsSinceTheFirstScan) {
  Bench bench;
  JobUpdate pending = record_of(protocol::JobState::pending);
  pending.submit_time = pending.eligible_time = 1500;
  EXPECT_EQ(in_words(bench.see_after_wrong_clock(pending, 2010, 2000), 2010), "described; wait [2010,...) 1");
}

TEST(ObserverNode, CapacityChangesWithCpusAndUsability) {
  Bench bench;
  const ReadingRules rules = physics_and_guests();
  protocol::NodeRecord node{.name = "n1", .cpus = 16, .usable = true, .tres = {{"cpu", 16}}};
  const auto see = [&](std::int64_t at, std::optional<Instant> last = std::nullopt) {
    const Observation seen = observe_node(bench.state, node, Instant{at}, last, rules);
    for (const accounting::Event& e : seen.events) EXPECT_TRUE(bench.state.apply(e));
    return seen;
  };
  EXPECT_EQ(see(100).events.size(), 1U);
  EXPECT_EQ(bench.state.capacity("n1"), ProcessorMillionths{16 * k_micro});
  EXPECT_TRUE(see(105).events.empty());
  node.usable = false;
  EXPECT_EQ(see(110).events.size(), 1U);
  EXPECT_EQ(bench.state.capacity("n1"), ProcessorMillionths{0});
  node.usable = true;
  EXPECT_TRUE(see(110, Instant{110}).unsettled);
  EXPECT_TRUE(see(109, Instant{110}).events.empty());
  EXPECT_EQ(see(111, Instant{110}).events.size(), 1U);
  const Observation gone = observe_gone_node(bench.state, "n1", Instant{120}, Instant{111});
  ASSERT_EQ(gone.events.size(), 1U);
  EXPECT_EQ(std::get<accounting::CapacityChanged>(gone.events[0]).processors.value, 0);
}

TEST(ObserverNode, AnUnknownNodeIsNewsIfItIsWorthSomething) {
  Bench bench;
  protocol::NodeRecord node{.name = "n1", .cpus = 0, .usable = false, .tres = {}};
  EXPECT_TRUE(observe_node(bench.state, node, Instant{100}, std::nullopt, physics_and_guests()).events.empty());
  // It drains, and may have runs: what they are charged depends on it.
  node.cpus = 16;
  const Observation drains = observe_node(bench.state, node, Instant{100}, std::nullopt, physics_and_guests());
  ASSERT_EQ(drains.events.size(), 1U);
  EXPECT_EQ(std::get<accounting::CapacityChanged>(drains.events[0]).processors.value, 0);
  EXPECT_EQ(std::get<accounting::CapacityChanged>(drains.events[0]).whole.value, 16 * k_micro);
}

}  // namespace
}  // namespace shapley::daemon
