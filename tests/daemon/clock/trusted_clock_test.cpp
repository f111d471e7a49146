// The wall clock against the time since boot.
#include "daemon/books/trusted_clock.hpp"

#include <gtest/gtest.h>

#include "tests/daemon/world/host_clock.hpp"

namespace shapley::daemon {
namespace {

class TrustedClockTest : public testing::Test {
 protected:
  Instant read() { return clock.read(host.reading()); }
  Instant truth() const { return Instant{host.truth}; }
  [[nodiscard]] bool is_right() { return read() == truth() && !clock.doubt(); }

  HostClock host;
  TrustedClock clock{host.reading(), {}};
};

TEST_F(TrustedClockTest, FollowsAWallClockThatIsNotSet) {
  for (int i = 0; i < 1000; ++i) {
    host.pass(7);
    ASSERT_TRUE(is_right());
  }
}

TEST_F(TrustedClockTest, AHostThatSleptIsNothingSpecial) {
  host.pass(3 * k_day);
  EXPECT_TRUE(is_right());
}

TEST_F(TrustedClockTest, SmallCorrectionsAreFollowedAndDoNotAddUp) {
  for (int i = 0; i < 100; ++i) {
    host.set_wall_by(50);
    host.pass(1);
    ASSERT_EQ(read().value, host.wall());
    ASSERT_FALSE(clock.doubt());
  }
}

TEST_F(TrustedClockTest, ASmallStepBackHoldsTheTime) {
  const Instant before = read();
  host.set_wall_by(-50);
  host.pass(20);
  EXPECT_EQ(read(), before);
  host.pass(31);
  EXPECT_EQ(read(), before + Duration{1});
}

TEST_F(TrustedClockTest, AStepLeavesTheTrustedTimeWhereItIs) {
  for (const std::int64_t step : {40 * k_day, k_day, std::int64_t{61}, std::int64_t{-61}, -k_day, -400 * k_day}) {
    host.set_wall_by(step);
    for (int i = 0; i < 100; ++i) {
      host.pass(10);
      ASSERT_EQ(read(), truth());
      ASSERT_TRUE(clock.doubt());
      ASSERT_EQ(clock.doubt()->ahead, Duration{step});
      ASSERT_TRUE(clock.doubt()->is_exact);
    }
    EXPECT_EQ(clock.doubt()->since, truth() - Duration{990});
    host.set_wall_by(-step);
    host.pass(1);
    ASSERT_TRUE(is_right());
    EXPECT_EQ(clock.grounds(), Grounds::agreement);
  }
}

TEST_F(TrustedClockTest, AClockThatComesBackInTwoStepsIsInDoubtUntilTheLast) {
  host.set_wall_by(40 * k_day);
  read();
  host.set_wall_by(-39 * k_day);
  read();
  EXPECT_EQ(clock.doubt()->ahead, Duration{k_day});
  host.set_wall_by(-k_day);
  EXPECT_TRUE(is_right());
}

TEST_F(TrustedClockTest, ATimeServiceThatKeepsItsWordIsBelieved) {
  host.set_wall_by(k_day);
  host.synchronized = true;
  read();
  host.pass(299);
  read();
  ASSERT_TRUE(clock.doubt());
  host.pass(1);
  EXPECT_EQ(read().value, host.wall());
  EXPECT_FALSE(clock.doubt());
  EXPECT_EQ(clock.grounds(), Grounds::synchronization);
}

TEST_F(TrustedClockTest, ATimeServiceThatWaversBeginsAgain) {
  host.set_wall_by(k_day);
  host.synchronized = true;
  read();
  host.pass(200);
  host.synchronized = false;
  read();
  host.synchronized = true;
  host.pass(200);
  read();
  host.pass(200);
  read();
  EXPECT_TRUE(clock.doubt());
  host.set_wall_by(k_day);  // it found another time
  host.pass(200);
  read();
  EXPECT_TRUE(clock.doubt());
}

TEST_F(TrustedClockTest, AnAdministratorsWordCountsForTheDoubtAtHand) {
  clock.accept();
  host.set_wall_by(-k_day);
  read();
  ASSERT_TRUE(clock.doubt()) << "said before there was a doubt";
  clock.accept();
  EXPECT_EQ(read().value, host.wall()) << "it may go back then";
  EXPECT_EQ(clock.grounds(), Grounds::administrator);
  host.set_wall_by(k_day);
  read();
  EXPECT_TRUE(clock.doubt()) << "nothing was said of this one";
}

TEST_F(TrustedClockTest, AClockThatIsNotSetForADayIsBelieved) {
  host.set_wall_by(40 * k_day);
  read();
  host.pass(k_day - 1);
  read();
  ASSERT_TRUE(clock.doubt());
  host.set_wall_by(3600);
  read();
  host.pass(k_day - 1);
  read();
  ASSERT_TRUE(clock.doubt()) << "it was set once more meanwhile";
  host.pass(1);
  EXPECT_EQ(read().value, host.wall());
  EXPECT_EQ(clock.grounds(), Grounds::steadiness);
}

TEST_F(TrustedClockTest, AtAStartAPauseOfWeeksIsBelieved) {
  clock = TrustedClock(host.reading(), {.last_written = truth() - Duration{29 * k_day}});
  EXPECT_TRUE(is_right());
  EXPECT_TRUE(clock.offset());
}

TEST_F(TrustedClockTest, AtAStartALongerPauseIsBelievedOfATimeServiceOnly) {
  const TrustedClock::Past past{.last_written = truth() - Duration{40 * k_day}};
  clock = TrustedClock(host.reading(), past);
  ASSERT_TRUE(clock.doubt());
  EXPECT_FALSE(clock.doubt()->is_exact);
  EXPECT_FALSE(clock.offset());
  EXPECT_EQ(read(), *past.last_written);
  host.pass(100);
  EXPECT_EQ(read(), *past.last_written + Duration{100});
  host.synchronized = true;
  read();
  host.pass(300);
  EXPECT_TRUE(is_right());

  clock = TrustedClock(host.reading(), past);
  EXPECT_TRUE(is_right()) << "it was synchronized before";
}

TEST_F(TrustedClockTest, AtAStartAClockBeforeTheLedgerIsNotBelieved) {
  const Instant written = truth();
  host.set_wall_by(-40 * k_day);
  host.synchronized = true;  // its word is not enough against the ledger's
  clock = TrustedClock(host.reading(), {.last_written = written});
  EXPECT_EQ(read(), written);
  ASSERT_TRUE(clock.doubt());
  host.set_wall_by(40 * k_day);
  host.pass(3600);
  EXPECT_TRUE(is_right()) << "any time up to a month after the ledger's will do";
  EXPECT_EQ(clock.grounds(), Grounds::agreement);
}

TEST_F(TrustedClockTest, AtAStartWithinOneBootTheTimeSinceBootDecides) {
  const auto offset = clock.offset();
  host.set_wall_by(3600);
  host.pass(600);
  clock = TrustedClock(host.reading(), {.last_written = truth() - Duration{1000}, .offset = offset});
  EXPECT_EQ(read(), truth());
  ASSERT_TRUE(clock.doubt());
  EXPECT_TRUE(clock.doubt()->is_exact);
  EXPECT_EQ(clock.doubt()->ahead, Duration{3600});
  EXPECT_FALSE(clock.doubt()->is_witnessed);
  EXPECT_EQ(clock.doubt()->since, truth());
  const Instant since = truth() - Duration{100};
  clock = TrustedClock(host.reading(),
                       {.last_written = since, .offset = offset, .doubt = TrustedClock::Doubt{.since = since}});
  ASSERT_TRUE(clock.doubt());
  EXPECT_TRUE(clock.doubt()->is_witnessed);
  EXPECT_EQ(clock.doubt()->since, since);
  host.set_wall_by(-3600);
  EXPECT_TRUE(is_right());
}

TEST_F(TrustedClockTest, ANewLedgerTakesTheClockAsItIs) {
  host.set_wall_by(-1000 * k_day);
  clock = TrustedClock(host.reading(), {});
  EXPECT_EQ(read().value, host.wall());
  EXPECT_FALSE(clock.doubt());
}

TEST(KernelClock, BothClocksGoOnTogether) {
  const ClockReading first = read_kernel_clock();
  TrustedClock clock(first, {});
  EXPECT_GT(first.since_boot, Duration{0});
  EXPECT_EQ(clock.read(read_kernel_clock()) >= first.wall, true);
  EXPECT_FALSE(clock.doubt());
  EXPECT_EQ(boot_name(), boot_name());
  EXPECT_FALSE(boot_name().empty());
}

}  // namespace
}  // namespace shapley::daemon
