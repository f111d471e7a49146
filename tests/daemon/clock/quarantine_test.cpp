// Which messages are read, which wait, and what is told of those that a wrong clock made.
#include "daemon/books/quarantine.hpp"

#include <gtest/gtest.h>

#include "host_clock.hpp"

namespace shapley::daemon {
namespace {

using accounting::ObservationsMistimed;
using Fate = Quarantine::Fate;

constexpr std::int64_t k_read_until = 100'000;  // by the books
constexpr std::int64_t k_present = 100'100;
constexpr std::int64_t k_tolerance_s = TrustedClock::k_tolerance.value;

class QuarantineTest : public testing::Test {
 protected:
  [[nodiscard]] Fate fate(std::int64_t observed_at, std::int64_t now) {
    return quarantine.judge(Instant{observed_at}, Instant{now}).fate;
  }
  // What is taken off; 0, too, for what is not read.
  [[nodiscard]] std::int64_t taken_off(std::int64_t observed_at, std::int64_t now) {
    return quarantine.judge(Instant{observed_at}, Instant{now}).ahead.value;
  }
  void doubt(std::int64_t ahead, std::int64_t now, bool is_exact = true) {
    const TrustedClock::Doubt doubt{.since = Instant{k_present}, .ahead = Duration{ahead}, .is_exact = is_exact};
    quarantine.note_clock(doubt, Grounds::agreement, Instant{now});
  }
  void believe(std::int64_t now, Grounds grounds = Grounds::agreement) {
    quarantine.note_clock(std::nullopt, grounds, Instant{now});
  }

  Quarantine quarantine{{}, Instant{k_read_until}};
};

TEST_F(QuarantineTest, UnderAClockThatNobodyDoubtsThePastIsReadHoweverOldItIs) {
  EXPECT_EQ(fate(k_present, k_present), Fate::read);
  EXPECT_EQ(fate(k_present + k_tolerance_s, k_present), Fate::read);
  EXPECT_EQ(fate(k_present - 90 * k_day, k_present), Fate::read) << "a spool that was put back";
  EXPECT_EQ(quarantine.holds_since(), std::nullopt);
}

TEST_F(QuarantineTest, OneMessageFromTheFutureHoldsNothingUp) {
  EXPECT_EQ(fate(k_present + k_tolerance_s + 1, k_present), Fate::drop);
  EXPECT_EQ(quarantine.holds_since(), std::nullopt);
  EXPECT_EQ(fate(k_present, k_present), Fate::read);
}

TEST_F(QuarantineTest, WhatAClockAheadMadeWaitsUntilItsTimeComes) {
  doubt(7200, k_present);
  EXPECT_EQ(fate(k_present - 1, k_present), Fate::read) << "from before";
  EXPECT_EQ(fate(k_present + 7200, k_present + 5), Fate::hold);
  EXPECT_EQ(quarantine.holds_since(), Instant{k_present + 5});
  EXPECT_EQ(fate(k_present + 7200, k_present + 7200 - k_tolerance_s - 1), Fate::hold);
  EXPECT_EQ(quarantine.holds_since(), Instant{k_present + 5});
  EXPECT_EQ(fate(k_present + 7200, k_present + 7200 - k_tolerance_s), Fate::read);
  EXPECT_EQ(taken_off(k_present + 7200, k_present + 7200 - k_tolerance_s), 0);
  EXPECT_EQ(quarantine.holds_since(), std::nullopt);
}

TEST_F(QuarantineTest, WhileTheClockIsBehindEverythingWaits) {
  doubt(-7200, k_present);
  for (const std::int64_t time : {k_present - 7200, k_present, k_present + k_day})
    EXPECT_EQ(fate(time, k_present), Fate::hold) << time;
}

TEST_F(QuarantineTest, AClockThatComesBackTellsTheTrueTimes) {
  for (const std::int64_t ahead : {40 * k_day, std::int64_t{7200}, std::int64_t{-7200}, -40 * k_day}) {
    quarantine = Quarantine({}, Instant{k_read_until});
    doubt(ahead, k_present);
    believe(k_present + 500);
    for (const std::int64_t time : {k_present, k_present + 250, k_present + 500}) {
      EXPECT_EQ(fate(time + ahead, k_present + 500), Fate::read) << ahead;
      EXPECT_EQ(taken_off(time + ahead, k_present + 500), ahead);
      quarantine.note_read(Instant{time});
    }
    EXPECT_EQ(taken_off(k_present + 500, k_present + 500), 0) << ahead;
  }
}

TEST_F(QuarantineTest, AClockThatWasSetTwiceHasTwoErrors) {
  doubt(40 * k_day, k_present);
  doubt(-7200, k_present + 1000);
  believe(k_present + 2000);
  EXPECT_EQ(taken_off(k_present + 500 + 40 * k_day, k_present + 2000), 40 * k_day);
  EXPECT_EQ(taken_off(k_present + 1500 - 7200, k_present + 2000), -7200);
}

TEST_F(QuarantineTest, AClockThatDriftsWhileItIsWrongHasOneError) {
  doubt(40 * k_day, k_present);
  doubt(40 * k_day + 3, k_present + 1000);
  believe(k_present + 2000);
  EXPECT_EQ(taken_off(k_present + 1 + 40 * k_day, k_present + 2000), 40 * k_day);
  EXPECT_EQ(taken_off(k_present + 1999 + 40 * k_day, k_present + 2000), 40 * k_day);
}

TEST_F(QuarantineTest, AClockThatIsBelievedOnOtherGroundsWasRight) {
  for (const Grounds grounds : {Grounds::synchronization, Grounds::administrator, Grounds::steadiness}) {
    for (const std::int64_t ahead : {40 * k_day, -7200 * std::int64_t{1}}) {
      quarantine = Quarantine({}, Instant{k_read_until});
      doubt(ahead, k_present);
      EXPECT_EQ(fate(k_present + ahead, k_present), Fate::hold);
      believe(k_present + 500 + ahead, grounds);
      EXPECT_EQ(fate(k_present + ahead, k_present + 500 + ahead), Fate::read) << name_of(grounds);
      EXPECT_EQ(taken_off(k_present + ahead, k_present + 500 + ahead), 0) << name_of(grounds);
    }
  }
}

TEST_F(QuarantineTest, WhatAnUnknownErrorMadeIsDropped) {
  doubt(40 * k_day, k_present, false);
  EXPECT_EQ(fate(k_present + 40 * k_day, k_present), Fate::hold);
  believe(k_present + 500);
  EXPECT_EQ(fate(k_present + 40 * k_day, k_present + 500), Fate::drop);
  EXPECT_EQ(fate(k_present + 500, k_present + 500), Fate::read);
}

TEST_F(QuarantineTest, ASessionThatSendsAgainWhatWasReadIsNotTakenForAClockThatWentBack) {
  doubt(40 * k_day, k_present);
  believe(k_present + 500);
  quarantine.note_read(Instant{k_present + 5000});
  EXPECT_EQ(fate(k_present + 600, k_present + 5000), Fate::drop) << "within a session times rise";
  quarantine.begin_session();
  EXPECT_EQ(fate(k_present + 600, k_present + 5000), Fate::read);
}

TEST_F(QuarantineTest, OneEventTellsOfAllThatOneErrorMade) {
  doubt(7200, k_present);
  EXPECT_EQ(fate(k_present + 7200, k_present + 3), Fate::hold);
  believe(k_present + 500);
  EXPECT_EQ(fate(k_present + 7200, k_present + 500), Fate::read);
  quarantine.note_mistimed(7, Instant{k_present + 7200}, Duration{7200}, Instant{k_present + 500});
  quarantine.note_mistimed(8, Instant{k_present + 7300}, Duration{7200}, Instant{k_present + 500});
  quarantine.note_mistimed(9, Instant{k_present + 9000}, {}, Instant{k_present + 500});
  const std::vector<ObservationsMistimed> told{{.at = Instant{k_present + 501},
                                                .message = 8,
                                                .messages = 2,
                                                .since = Instant{k_present + 3},
                                                .observed_from = Instant{k_present + 7200},
                                                .observed_to = Instant{k_present + 7300},
                                                .ahead = Duration{7200}},
                                               {.at = Instant{k_present + 501},
                                                .message = 9,
                                                .messages = 1,
                                                .since = Instant{k_present + 500},
                                                .observed_from = Instant{k_present + 9000},
                                                .observed_to = Instant{k_present + 9000},
                                                .ahead = {}}};
  EXPECT_EQ(quarantine.take_events(Instant{k_present + 501}), told);
  EXPECT_TRUE(quarantine.take_events(Instant{k_present + 502}).empty());
}

TEST_F(QuarantineTest, WhatWasNotToldWhenASessionEndsIsToldWhenItComesAgain) {
  quarantine.note_mistimed(7, Instant{k_present + 7200}, {}, Instant{k_present});
  quarantine.begin_session();
  EXPECT_TRUE(quarantine.take_events(Instant{k_present}).empty());
}

TEST_F(QuarantineTest, ARestartKnowsTheErrorsThatWereTold) {
  const ObservationsMistimed known{.at = Instant{k_present},
                                   .message = 8,
                                   .messages = 2,
                                   .since = Instant{k_present - 500},
                                   .observed_from = Instant{k_present - 500 + 40 * k_day},
                                   .observed_to = Instant{k_present - 1 + 40 * k_day},
                                   .ahead = Duration{40 * k_day}};
  quarantine = Quarantine({known}, Instant{k_read_until});
  EXPECT_EQ(fate(k_present - 200 + 40 * k_day, k_present), Fate::read);
  EXPECT_EQ(taken_off(k_present - 200 + 40 * k_day, k_present), 40 * k_day);
  EXPECT_EQ(fate(k_present + 7200, k_present), Fate::drop) << "of another error";
}

}  // namespace
}  // namespace shapley::daemon
