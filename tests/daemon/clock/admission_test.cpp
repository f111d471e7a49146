// Which messages are read, wait, or are dropped, because of the wall clock.
#include "daemon/books/admission.hpp"

#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include "tests/daemon/world/host_clock.hpp"

namespace shapley::daemon {
namespace {

using Fate = Admission::Fate;

constexpr std::int64_t k_read_until = 100'000;  // by the books
constexpr std::int64_t k_present = 100'100;
constexpr std::int64_t k_tolerance_s = TrustedClock::k_tolerance.value;

class AdmissionTest : public testing::Test {
 protected:
  [[nodiscard]] Fate fate(std::int64_t observed_at, std::int64_t now) {
    return admission.judge({.sequence = 1, .observed_at = Instant{observed_at}}, Instant{now});
  }
  // In a session after the clock is right again.
  [[nodiscard]] Fate fate_of(std::uint64_t sequence, bool begins_snapshot = false) {
    return admission.judge(
        {.sequence = sequence, .observed_at = Instant{k_present}, .begins_snapshot = begins_snapshot},
        Instant{k_present});
  }
  void doubt(std::int64_t ahead, bool is_witnessed = true) {
    admission.note_clock(
        TrustedClock::Doubt{.since = Instant{k_present}, .ahead = Duration{ahead}, .is_witnessed = is_witnessed},
        Grounds::agreement);
  }
  void believe(Grounds grounds = Grounds::agreement) { admission.note_clock(std::nullopt, grounds); }

  Admission admission{Instant{k_read_until}};
};

TEST_F(AdmissionTest, UnderATrustedClockThePastIsReadHoweverOldItIs) {
  EXPECT_EQ(fate(k_present, k_present), Fate::read);
  EXPECT_EQ(fate(k_present + k_tolerance_s, k_present), Fate::read);
  EXPECT_EQ(fate(k_present - 90 * k_day, k_present), Fate::read) << "a spool that was put back";
  EXPECT_EQ(admission.holds_since(), std::nullopt);
  EXPECT_FALSE(admission.wants_session());
}

TEST_F(AdmissionTest, WhatAClockAheadMadeWaitsEvenWhenItsTimeComes) {
  doubt(7200);
  EXPECT_EQ(fate(k_present - 1, k_present), Fate::read) << "from before";
  EXPECT_EQ(fate(k_present + 7200, k_present + 5), Fate::hold);
  EXPECT_EQ(admission.holds_since(), Instant{k_present + 5});
  EXPECT_EQ(fate(k_present + 7200, k_present + 7200), Fate::hold);
  EXPECT_EQ(fate(k_present - 1, k_present + 7200), Fate::hold) << "it was made after the one before it";
  EXPECT_EQ(admission.holds_since(), Instant{k_present + 5});
  admission.begin_session(2);
  EXPECT_EQ(fate(k_present + 7200, k_present + 9000), Fate::hold) << "it comes again";
  doubt(40 * k_day);
  admission.begin_session(2);
  EXPECT_EQ(fate(k_present + 7200, k_present + 9000), Fate::hold) << "the clock was set once more";
}

TEST_F(AdmissionTest, WhileTheClockIsBehindEverythingWaits) {
  doubt(-7200);
  for (const std::int64_t time : {k_present - 7200, k_present, k_present + k_day})
    EXPECT_EQ(fate(time, k_present), Fate::hold) << time;
}

TEST_F(AdmissionTest, AStepBackThatWasNotObservedShowsInTheTimes) {
  doubt(-7200, false);
  EXPECT_EQ(fate(k_read_until + 1, k_present), Fate::read) << "from before the step";
  admission.note_read(Instant{k_read_until + 50});
  EXPECT_EQ(fate(k_read_until + 50 - k_tolerance_s, k_present), Fate::read);
  EXPECT_EQ(fate(k_read_until + 50 - k_tolerance_s - 1, k_present), Fate::hold);

  admission = Admission(std::nullopt);
  doubt(-7200, false);
  EXPECT_EQ(fate(k_read_until + 1, k_present), Fate::hold) << "there is nothing to compare with";
}

TEST_F(AdmissionTest, WhenTheClockIsRightAgainWhatWaitedIsDroppedInTheNextSession) {
  for (const std::int64_t ahead : {40 * k_day, std::int64_t{7200}, std::int64_t{-7200}, -40 * k_day}) {
    admission = Admission(Instant{k_read_until});
    doubt(ahead);
    EXPECT_EQ(fate(k_present + ahead, k_present), Fate::hold);
    EXPECT_FALSE(admission.wants_session());
    believe();
    EXPECT_TRUE(admission.wants_session());
    EXPECT_EQ(admission.holds_since(), std::nullopt);
    EXPECT_EQ(fate_of(7), Fate::hold) << "it may be of before or after the step";
    admission.begin_session(3);
    EXPECT_FALSE(admission.wants_session());
    for (const std::uint64_t sequence : {7, 8, 9}) EXPECT_EQ(fate_of(sequence, sequence == 8), Fate::drop) << sequence;
    EXPECT_EQ(fate_of(10), Fate::drop) << "the snapshot has it, too";
    EXPECT_EQ(fate_of(11, true), Fate::read);
    EXPECT_EQ(fate_of(12), Fate::read);
    EXPECT_TRUE(admission.awaits_snapshot());
    admission.note_snapshot_read();
    EXPECT_FALSE(admission.awaits_snapshot());
    EXPECT_EQ(fate_of(13), Fate::read);
  }
}

TEST_F(AdmissionTest, AClockAheadThatHeldNothingWasNotTheFeeders) {
  doubt(40 * k_day);
  EXPECT_EQ(fate(k_present + 100, k_present + 100), Fate::read);
  believe();
  EXPECT_FALSE(admission.wants_session());
  admission =
      Admission(Instant{k_read_until}, TrustedClock::Doubt{.since = Instant{k_present}, .ahead = Duration{40 * k_day}});
  believe();
  EXPECT_TRUE(admission.wants_session()) << "what an earlier process held is not known";
}

TEST_F(AdmissionTest, ASessionThatEndsBeforeItsSnapshotIsFollowedByAnotherOne) {
  doubt(-7200);
  believe();
  admission.begin_session(2);
  EXPECT_EQ(fate_of(7), Fate::drop);
  EXPECT_EQ(fate_of(8), Fate::drop);
  EXPECT_EQ(fate_of(9, true), Fate::read);
  admission.begin_session(1);
  EXPECT_EQ(fate_of(9, true), Fate::drop) << "it comes again, and is a part of a snapshot";
  EXPECT_EQ(fate_of(10, true), Fate::read);
}

TEST_F(AdmissionTest, WithoutABacklogNothingWasObservedUnderTheWrongClock) {
  doubt(-7200);
  believe();
  admission.begin_session(0);
  EXPECT_EQ(fate_of(1), Fate::read);
  EXPECT_FALSE(admission.awaits_snapshot());
}

TEST_F(AdmissionTest, AClockThatGoesWrongAgainBeforeTheSnapshotHoldsAll) {
  doubt(-7200);
  believe();
  admission.begin_session(2);
  EXPECT_EQ(fate_of(7), Fate::drop);
  doubt(-300);
  EXPECT_EQ(fate_of(8), Fate::hold);
  admission.begin_session(1);
  EXPECT_EQ(fate_of(8), Fate::hold);
  EXPECT_FALSE(admission.wants_session()) << "not before the clock is right";
  believe();
  EXPECT_TRUE(admission.wants_session());
}

TEST_F(AdmissionTest, AClockThatIsBelievedOnOtherGroundsWasRight) {
  for (const Grounds grounds : {Grounds::synchronization, Grounds::administrator, Grounds::steadiness}) {
    for (const std::int64_t ahead : {40 * k_day, std::int64_t{-7200}}) {
      admission = Admission(Instant{k_read_until});
      doubt(ahead);
      EXPECT_EQ(fate(k_present + ahead, k_present), Fate::hold);
      believe(grounds);
      EXPECT_EQ(fate(k_present + ahead, k_present + 500 + ahead), Fate::read) << name_of(grounds);
      EXPECT_FALSE(admission.wants_session()) << name_of(grounds);
    }
  }
}

TEST_F(AdmissionTest, AMessageFromTheFutureWasMadeByAWrongClockThatNoProcessSaw) {
  EXPECT_EQ(fate(k_present + k_tolerance_s + 1, k_present), Fate::hold);
  EXPECT_TRUE(admission.wants_session());
  EXPECT_EQ(admission.holds_since(), std::nullopt) << "it does not wait for the clock";
  admission.begin_session(1);
  EXPECT_EQ(fate(k_present + k_tolerance_s + 1, k_present), Fate::drop);
}

}  // namespace
}  // namespace shapley::daemon
