// What a wrong wall clock does to the books, what they lack of it when the clock is right again, and how an import
// fills that exactly.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "wrong_clock_world.hpp"

namespace shapley::daemon {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

class WrongClockTest : public testing::Test {
 protected:
  // A run since 0 that goes on, one that ended at 100; the clock goes wrong at 101.
  void SetUp() override {
    world.start(1, "phys", "n2");
    world.start(2, "chem", "n1");
    world.pass(100);
    world.end(2);
    EXPECT_EQ(elapsed(), 100);
  }
  [[nodiscard]] std::int64_t elapsed() const { return world.host.truth - world.began; }
  [[nodiscard]] json daemon() { return world.ask(R"({"request": "status"})")["daemon"]; }
  // Begin and end in true seconds since the world began, and the cause.
  [[nodiscard]] Lines gaps() const { return world.gaps(); }
  [[nodiscard]] Lines future_events() const {
    return world.rows("SELECT key FROM events WHERE at > " + std::to_string(world.host.truth));
  }
  // Run 3 begins and ends under the wrong clock, 4 begins, 1 ends; at last the clock has been wrong for 1000 s.
  void things_happen() {
    world.pass(99);
    world.start(3, "chem", "n2");
    world.pass(300);
    world.start(4, "phys", "n1");
    world.pass(100);
    world.end(3);
    world.end(1);
    world.pass(500);
  }
  const Lines all_runs{"1|physics|0|600", "2|chemistry|0|100", "3|chemistry|200|600", "4|physics|500|2000"};
  // Of 1 it is known that it ran until 100.
  const Lines known_runs{"1|physics|0|100", "2|chemistry|0|100"};
  void run_4_ends() {
    world.pass(2000 - elapsed());
    world.end(4);
    world.settle();
  }
  // What the books lack of the wrong clock's time is in the records of Slurm's accounting, once they are right.
  void expect_that_import_fills_the_gap() {
    world.kill();
    world.import_records();
    world.restart();
    world.settle();
    EXPECT_EQ(world.run_rows(), all_runs);
    EXPECT_EQ(gaps().size(), 1U) << "the gap stays on record";
  }

  WrongClockWorld world;
};

TEST_F(WrongClockTest, NothingOfItIsBookedAndItsTimeIsAGap) {
  world.set_wall_by(40 * k_day);
  things_happen();
  EXPECT_EQ(daemon()["clock"], (json{{"since", world.began + 101}, {"ahead_s", 40 * k_day}, {"exact", true}}));
  const json held = daemon()["held_observations"];
  EXPECT_EQ(held["since"], world.began + 101);
  EXPECT_EQ(held["observed_from"], world.began + 101 + 40 * k_day);
  EXPECT_GT(world.unacknowledged(), 3U);
  EXPECT_EQ(future_events(), Lines{});
  EXPECT_EQ(world.service->books().state().now(), Instant{world.host.truth});
  EXPECT_EQ(world.ask(R"({"request": "status"})")["at"], world.host.truth);

  world.set_wall_by(-40 * k_day);
  world.settle();
  EXPECT_EQ(daemon()["clock"], nullptr);
  EXPECT_EQ(daemon()["held_observations"], nullptr);
  EXPECT_GT(daemon()["dropped_observations"], 3);
  EXPECT_EQ(world.unacknowledged(), 0U);
  EXPECT_EQ(future_events(), Lines{});
  ASSERT_EQ(gaps().size(), 1U);
  EXPECT_TRUE(gaps().front().starts_with("100|110") && gaps().front().ends_with("|wrong_clock")) << gaps().front();
  EXPECT_EQ(daemon()["gaps"]["last_cause"], "wrong_clock");
  EXPECT_EQ(world.run_rows(), known_runs);
  run_4_ends();
  EXPECT_EQ(world.run_rows(), known_runs);
  expect_that_import_fills_the_gap();
}

TEST_F(WrongClockTest, WhatIsObservedAfterwardsIsBooked) {
  world.set_wall_by(40 * k_day);
  things_happen();
  world.set_wall_by(-40 * k_day);
  world.settle();
  const std::int64_t begin = elapsed();
  world.start(5, "chem", "n2");
  world.pass(100);
  world.end(5);
  world.settle();
  EXPECT_EQ(world.run_rows().back(), "5|chemistry|" + std::to_string(begin) + '|' + std::to_string(begin + 100));
}

TEST_F(WrongClockTest, WhatBeginsBetweenTheDroppedMessagesAndTheSnapshotIsInTheGap) {
  world.set_wall_by(40 * k_day);
  things_happen();
  world.set_wall_by(-40 * k_day);
  EXPECT_EQ(world.unacknowledged(), 0U) << "they are dropped, and the snapshot is to come";
  world.host.pass(30);
  world.start(5, "chem", "n2");
  const std::int64_t begin = elapsed();
  world.settle();
  EXPECT_EQ(world.run_rows(), known_runs);
  ASSERT_EQ(gaps().size(), 1U);
  EXPECT_GE(std::stoll(gaps().front().substr(gaps().front().find('|') + 1)), begin) << gaps().front();
  EXPECT_EQ(daemon()["gaps"]["count"], 1);
  EXPECT_EQ(daemon()["gaps"]["last_begin"], world.began + 100);
  world.kill();
  world.import_records();
  world.restart();
  world.settle();
  EXPECT_EQ(world.run_rows().back(), "5|chemistry|" + std::to_string(begin) + '|');
  world.end(5);
  const std::int64_t end = elapsed();
  world.settle();
  EXPECT_EQ(world.run_rows().back(), "5|chemistry|" + std::to_string(begin) + '|' + std::to_string(end));
}

TEST_F(WrongClockTest, AShapleydThatIsKilledBeforeTheSnapshotBelievesNoTimeOfIt) {
  world.set_wall_by(300);
  world.pass(100);
  world.start(3, "chem", "n2");
  world.pass(150);
  world.set_wall_by(-300);
  EXPECT_EQ(world.unacknowledged(), 0U) << "they are dropped, and the snapshot is to come";
  world.host.pass(140);  // the wrong start is of less than a minute from now
  world.restart();
  world.settle();
  world.pass(100);
  EXPECT_EQ(world.run_rows(), (Lines{"1|physics|0|", "2|chemistry|0|100"}));
  EXPECT_EQ(gaps().size(), 1U);
}

TEST_F(WrongClockTest, UntilItsMessagesAreDroppedTheGapGoesOn) {
  world.pass(1);
  world.set_wall_by(-7200);
  world.pass(100);
  world.start(3, "chem", "n2");
  world.host.set_wall_by(7200);
  // shapleyd is the first to see that the clock is right.
  world.service->tick(world.service->now());
  world.settle();
  EXPECT_EQ(world.run_rows().size(), 2U);
  ASSERT_EQ(gaps().size(), 1U);
  EXPECT_TRUE(gaps().front().starts_with("101|")) << gaps().front();
}

TEST_F(WrongClockTest, ALeapOfADay) {
  world.set_wall_by(k_day);
  things_happen();
  world.set_wall_by(-k_day);
  run_4_ends();
  EXPECT_EQ(world.run_rows(), known_runs);
  expect_that_import_fills_the_gap();
}

TEST_F(WrongClockTest, ALeapOfSecondsIsNoTruthWhenTheTimesHaveCome) {
  for (const std::int64_t ahead : {62, 100, 700}) {
    WrongClockWorld other;
    other.start(1, "phys", "n2");
    other.pass(500);
    other.set_wall_by(ahead);
    other.start(2, "chem", "n1");
    other.pass(50);
    other.end(1);
    other.pass(50);
    other.set_wall_by(-ahead);
    other.settle();
    other.pass(1000);
    other.restart();
    other.end(2);
    other.settle();
    EXPECT_EQ(other.run_rows(), (Lines{"1|physics|0|500"})) << ahead;
    other.kill();
    other.import_records();
    other.restart();
    EXPECT_EQ(other.run_rows(), (Lines{"1|physics|0|551", "2|chemistry|501|1632"})) << ahead;
  }
}

TEST_F(WrongClockTest, AStepBackNeitherStopsTheTimeNorChangesThePast) {
  world.set_wall_by(-40 * k_day);
  const std::int64_t events = world.service->books().last_sequence();
  things_happen();
  EXPECT_EQ(world.service->books().last_sequence(), events);
  EXPECT_EQ(world.ask(R"({"request": "status"})")["at"], world.host.truth);
  EXPECT_EQ(daemon()["clock"]["ahead_s"], -40 * k_day);
  world.set_wall_by(40 * k_day);
  world.settle();
  EXPECT_EQ(world.rows("SELECT key FROM events WHERE at BETWEEN 1 AND " + std::to_string(world.began - 1)), Lines{});
  run_4_ends();
  EXPECT_EQ(world.run_rows(), known_runs);
  expect_that_import_fills_the_gap();
}

TEST_F(WrongClockTest, AStepBackByMinutes) {
  world.set_wall_by(-120);
  things_happen();
  world.set_wall_by(120);
  run_4_ends();
  EXPECT_EQ(world.run_rows(), known_runs);
  expect_that_import_fills_the_gap();
}

TEST_F(WrongClockTest, ARunThatIsImportedWhileItGoesOnEndsWithItsRecord) {
  for (const std::int64_t step : {40 * k_day, std::int64_t{7200}, std::int64_t{-7200}}) {
    WrongClockWorld other;
    other.start(1, "phys", "n2");
    other.pass(500);
    other.set_wall_by(step);
    other.start(2, "chem", "n1");
    other.pass(99);
    other.set_wall_by(-step);
    other.settle();
    other.kill();
    other.import_records();
    other.restart();
    other.settle();
    EXPECT_EQ(other.run_rows(), (Lines{"1|physics|0|", "2|chemistry|501|"})) << step;
    other.restart_slurmctld();
    other.pass(1000);
    other.end(2);
    const std::string end = std::to_string(other.host.truth - other.began);
    other.settle();
    EXPECT_EQ(other.run_rows(), (Lines{"1|physics|0|", "2|chemistry|501|" + end})) << step;
  }
}

TEST_F(WrongClockTest, AJobThatWaitsCountsFromTheFirstScanAfterwards) {
  world.set_wall_by(-7200);
  world.submit(7, "phys");
  world.pass(1000);
  world.set_wall_by(7200);
  world.settle();
  const Lines waits = world.rows("SELECT begin - " + std::to_string(world.began) +
                                 ", end FROM segments WHERE kind = 'wait' AND job = 7 AND retracted IS NULL");
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_TRUE(waits.front().starts_with("110") && waits.front().ends_with("|")) << waits.front();
  const std::int64_t begin = elapsed();
  world.start(7, "phys", "n1");
  world.settle();
  EXPECT_EQ(world.run_rows().back(), "7|physics|" + std::to_string(begin) + "|");
}

TEST_F(WrongClockTest, AHostThatSleptIsNothingSpecial) {
  world.pass(3 * k_day);
  world.end(1);
  world.settle();
  EXPECT_EQ(daemon()["clock"], nullptr);
  EXPECT_EQ(world.run_rows(), (Lines{"1|physics|0|259300", "2|chemistry|0|100"}));
  EXPECT_EQ(gaps(), Lines{});
}

TEST_F(WrongClockTest, ARestartUnderTheWrongClockDoesNotBelieveIt) {
  for (const std::int64_t step : {40 * k_day, std::int64_t{7200}, std::int64_t{-7200}}) {
    WrongClockWorld other;
    other.start(1, "phys", "n2");
    other.pass(500);
    other.set_wall_by(step);
    other.start(2, "chem", "n1");
    other.pass(199);
    other.restart();
    other.pass(100);
    other.end(1);
    other.pass(100);
    other.restart_slurmctld();
    EXPECT_TRUE(other.service->clock()->doubt()) << step;
    EXPECT_EQ(other.run_rows(), Lines{"1|physics|0|"}) << step;
    other.set_wall_by(-step);
    other.settle();
    EXPECT_EQ(other.run_rows(), Lines{"1|physics|0|500"}) << step;
    ASSERT_EQ(other.gaps().size(), 1U) << step;
    EXPECT_TRUE(other.gaps().front().starts_with("500|90")) << step << ": " << other.gaps().front();
  }
}

TEST_F(WrongClockTest, AShapleydThatWasDownWhenTheClockWasSetRightKnowsWhatHappened) {
  world.set_wall_by(40 * k_day);
  things_happen();
  world.kill();
  world.set_wall_by(-40 * k_day);
  world.pass(100);
  world.restart();
  run_4_ends();
  EXPECT_EQ(world.run_rows(), known_runs);
  expect_that_import_fills_the_gap();
}

TEST_F(WrongClockTest, ABootThatSetsTheClockRightDoesNotMakeWhatItSentTrue) {
  for (const std::int64_t step : {std::int64_t{7200}, std::int64_t{-7200}}) {
    WrongClockWorld other;
    other.start(1, "phys", "n2");
    other.pass(500);
    other.set_wall_by(step);
    other.start(2, "chem", "n1");
    other.pass(100);
    other.host.ahead = 0;
    other.host.pass(3 * 3600);
    other.boot();
    other.settle();
    EXPECT_EQ(other.run_rows(), Lines{"1|physics|0|"}) << step;
    ASSERT_EQ(other.gaps().size(), 1U) << step;
    EXPECT_TRUE(other.gaps().front().ends_with("|wrong_clock")) << step;
    EXPECT_EQ(other.unacknowledged(), 0U) << step;
  }
}

TEST_F(WrongClockTest, AShapleydThatIsKilledWhileItDropsKnowsWhatIsLeft) {
  world.set_wall_by(-7200);
  things_happen();
  world.host.set_wall_by(7200);
  for (int kills = 0; kills < 4; ++kills) {
    world.restart();
    world.pass(1);
  }
  run_4_ends();
  EXPECT_EQ(world.run_rows(), known_runs);
  EXPECT_EQ(world.unacknowledged(), 0U);
}

TEST_F(WrongClockTest, AWrongClockThatNoDaemonSawIsAGapToo) {
  world.kill();
  world.set_wall_by(40 * k_day);
  things_happen();
  world.set_wall_by(-40 * k_day);
  world.restart();
  world.settle();
  EXPECT_EQ(future_events(), Lines{});
  EXPECT_GT(daemon()["dropped_observations"], 0);
  EXPECT_EQ(gaps().size(), 1U);
  EXPECT_TRUE(world.run_rows().front().starts_with("1|physics|0|")) << world.run_rows().front();
  EXPECT_EQ(world.unacknowledged(), 0U);
  // The feed goes on.
  world.start(5, "chem", "n2");
  world.pass(100);
  world.end(5);
  world.settle();
  EXPECT_TRUE(world.run_rows().back().starts_with("5|chemistry|")) << world.run_rows().back();
  run_4_ends();
  world.kill();
  world.import_records();
  world.restart();
  Lines runs = world.run_rows();
  ASSERT_EQ(runs.size(), 5U);
  runs.pop_back();
  EXPECT_EQ(runs, all_runs);
}

TEST_F(WrongClockTest, ObservationsWhoseTimeComesWaitOn) {
  world.set_wall_by(400);
  world.start(3, "chem", "n2");
  world.pass(300);
  world.pass(500);
  EXPECT_EQ(world.run_rows(), (Lines{"1|physics|0|", "2|chemistry|0|"})) << "the end of 2 claims to be of 501";
  EXPECT_NE(daemon()["held_observations"], nullptr);
}

TEST_F(WrongClockTest, AnAdministratorWhoSaysThatItIsRightIsBelieved) {
  world.set_wall_by(k_day);
  world.start(3, "chem", "n2");
  world.pass(100);
  world.service->accept_clock();
  world.settle();
  EXPECT_EQ(daemon()["clock"], nullptr);
  EXPECT_EQ(world.unacknowledged(), 0U);
  EXPECT_EQ(gaps(), Lines{});
  EXPECT_EQ(world.run_rows().back(), "3|chemistry|" + std::to_string(101 + k_day) + "|");
}

TEST_F(WrongClockTest, AHostThatBootsWithoutATimeWaitsForOne) {
  world.settle();
  const std::int64_t truth = world.host.truth;
  world.host.ahead = -truth;  // 1970
  world.boot();
  world.pass(10);
  EXPECT_EQ(daemon()["clock"]["exact"], false);
  world.start(3, "chem", "n2");
  world.pass(10);
  world.set_wall_by(truth);
  world.settle();
  EXPECT_EQ(daemon()["clock"], nullptr);
  EXPECT_EQ(world.unacknowledged(), 0U);
  EXPECT_EQ(
      world.rows("SELECT key FROM events WHERE kind <> 'ownership_stated' AND at < " + std::to_string(world.began)),
      Lines{});
  world.start(4, "chem", "n2");
  world.pass(100);
  EXPECT_EQ(world.run_rows().back(), "4|chemistry|" + std::to_string(elapsed() - 100) + "|");
}

TEST_F(WrongClockTest, AHostThatBootsFarAheadIsNotBelieved) {
  world.settle();
  world.host.ahead = 40 * k_day;
  world.boot();
  world.start(3, "chem", "n2");
  world.pass(100);
  EXPECT_EQ(daemon()["clock"]["exact"], false);
  EXPECT_EQ(future_events(), Lines{});
  world.set_wall_by(-40 * k_day);
  world.settle();
  EXPECT_EQ(daemon()["clock"], nullptr);
  EXPECT_EQ(future_events(), Lines{});
  EXPECT_EQ(world.run_rows().front(), "1|physics|0|");
  EXPECT_EQ(world.unacknowledged(), 0U);
}

TEST_F(WrongClockTest, WhatWaitsInTheFutureDoesNotMoveTheBooks) {
  world.kill();
  world.set_wall_by(40 * k_day);
  world.submit(7, "phys");
  world.pass(10);
  world.set_wall_by(-40 * k_day);
  world.restart();
  world.settle();
  EXPECT_EQ(future_events(), Lines{});
  EXPECT_EQ(world.rows("SELECT job FROM segments WHERE kind = 'wait' AND job = 7"), Lines{"7"});
  EXPECT_LE(world.service->books().state().now(), Instant{world.host.truth});
}

TEST_F(WrongClockTest, ARecordFromTheFutureHoldsNoOtherUpAndIsNotBookedWhenItsTimeComes) {
  world.host.ahead = 40 * k_day;
  world.start(9, "phys", "n1");
  world.host.ahead = 0;
  world.pass(1);
  world.start(5, "chem", "n2");
  world.pass(100);
  world.end(5);
  world.settle();
  EXPECT_EQ(world.unacknowledged(), 0U);
  EXPECT_EQ(daemon()["held_observations"], nullptr);
  EXPECT_EQ(world.run_rows(), (Lines{"1|physics|0|", "2|chemistry|0|100", "5|chemistry|101|201"}));
  EXPECT_EQ(future_events(), Lines{});
  for (int days = 0; days < 41; ++days) world.pass(k_day);
  EXPECT_EQ(world.run_rows().size(), 3U);
}

TEST_F(WrongClockTest, AMonthDoesNotCloseEarly) {
  const auto days = [&] { return world.rows("SELECT count(DISTINCT day) FROM books_by_day"); };
  const Lines before = days();
  world.set_wall_by(40 * k_day);
  things_happen();
  EXPECT_EQ(days(), before);
  EXPECT_TRUE(world.service->books().state().closed_periods().empty());
}

}  // namespace
}  // namespace shapley::daemon
