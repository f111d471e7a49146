// What a wrong wall clock does to the books, and what is left of it when the clock is right again.
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
  // Of the events about wrong clocks: how many messages, how far ahead.
  [[nodiscard]] Lines told() const {
    return world.rows(
        "SELECT json_extract(payload, '$.messages'), json_extract(payload, '$.ahead') FROM events "
        "WHERE kind = 'observations_mistimed' ORDER BY seq");
  }
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
  void run_4_ends() {
    world.pass(2000 - elapsed());
    world.end(4);
    world.settle();
  }

  WrongClockWorld world;
};

TEST_F(WrongClockTest, NothingOfTheFutureIsBookedAndAClockThatIsSetRightHealsTheBooks) {
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
  EXPECT_EQ(daemon()["dropped_observations"], 0);
  EXPECT_EQ(world.unacknowledged(), 0U);
  EXPECT_EQ(future_events(), Lines{});
  ASSERT_EQ(told().size(), 1U);
  EXPECT_TRUE(told().front().ends_with("|" + std::to_string(40 * k_day))) << told().front();
  run_4_ends();
  EXPECT_EQ(world.run_rows(), all_runs);
}

TEST_F(WrongClockTest, ALeapOfADay) {
  world.set_wall_by(k_day);
  things_happen();
  world.set_wall_by(-k_day);
  run_4_ends();
  EXPECT_EQ(world.run_rows(), all_runs);
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
  EXPECT_EQ(world.run_rows(), all_runs);
}

TEST_F(WrongClockTest, AStepBackByMinutes) {
  world.set_wall_by(-120);
  things_happen();
  world.set_wall_by(120);
  run_4_ends();
  EXPECT_EQ(world.run_rows(), all_runs);
}

TEST_F(WrongClockTest, AHostThatSleptIsNothingSpecial) {
  world.pass(3 * k_day);
  world.end(1);
  world.settle();
  EXPECT_EQ(daemon()["clock"], nullptr);
  EXPECT_EQ(world.run_rows(), (Lines{"1|physics|0|259300", "2|chemistry|0|100"}));
  EXPECT_EQ(told(), Lines{});
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
    EXPECT_EQ(other.run_rows(), (Lines{"1|physics|0|800", "2|chemistry|501|"})) << step;
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
  EXPECT_EQ(world.run_rows(), all_runs);
}

TEST_F(WrongClockTest, WhatHasAnUnknownErrorIsDroppedAndASnapshotMakesUpForIt) {
  world.kill();
  world.set_wall_by(40 * k_day);  // no daemon sees that
  things_happen();
  world.set_wall_by(-40 * k_day);
  world.restart();
  world.settle();
  EXPECT_EQ(future_events(), Lines{});
  EXPECT_GT(daemon()["dropped_observations"], 0);
  ASSERT_EQ(told().size(), 1U);
  EXPECT_TRUE(told().front().ends_with("|0")) << told().front();
  // Slurm's records say of 1 that it ended in 40 days: it is counted until the observation.
  EXPECT_EQ(world.run_rows().front(), "1|physics|0|" + std::to_string(1102));
  EXPECT_EQ(world.unacknowledged(), 0U);
  // The feed goes on.
  world.start(5, "chem", "n2");
  world.pass(100);
  world.end(5);
  world.settle();
  EXPECT_TRUE(world.run_rows().back().starts_with("5|chemistry|")) << world.run_rows().back();
  EXPECT_EQ(told().size(), 1U);
  // 3 and 4 are booked as if the clock had gone wrong when that was found, at 1101: a thousand seconds late.
  while (elapsed() < 2000) world.pass(1);
  run_4_ends();
  EXPECT_EQ(world.run_rows()[2], "3|chemistry|1200|1600");
  EXPECT_EQ(world.run_rows()[3], "4|physics|1500|2000");
}

TEST_F(WrongClockTest, WhenTheirTimeComesObservationsAreRead) {
  world.set_wall_by(400);
  world.start(3, "chem", "n2");
  world.pass(300);
  EXPECT_EQ(world.run_rows(), (Lines{"1|physics|0|", "2|chemistry|0|"})) << "the end of 2 claims to be of 501";
  world.pass(50);
  EXPECT_EQ(world.run_rows(), (Lines{"1|physics|0|", "2|chemistry|0|100"}));
  world.pass(300);
  EXPECT_EQ(world.run_rows(), (Lines{"1|physics|0|", "2|chemistry|0|100", "3|chemistry|501|"}));
  EXPECT_EQ(told(), Lines{});
}

TEST_F(WrongClockTest, AnAdministratorWhoSaysThatItIsRightIsBelieved) {
  world.set_wall_by(k_day);
  world.start(3, "chem", "n2");
  world.pass(100);
  world.service->accept_clock();
  world.settle();
  EXPECT_EQ(daemon()["clock"], nullptr);
  EXPECT_EQ(world.unacknowledged(), 0U);
  EXPECT_EQ(told(), Lines{});
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

TEST_F(WrongClockTest, ARecordFromTheFutureHoldsNoOtherUp) {
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
