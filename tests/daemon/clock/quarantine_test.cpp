// Which messages are read, which wait, and which events are written of those that a wrong clock made.
#include "daemon/books/quarantine.hpp"

#include <map>
#include <optional>

#include <gtest/gtest.h>

#include "host_clock.hpp"
#include "tests/daemon/records.hpp"

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

TEST_F(QuarantineTest, UnderATrustedClockThePastIsReadHoweverOldItIs) {
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

TEST_F(QuarantineTest, AClockThatComesBackShowsTheTrueTimes) {
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

TEST_F(QuarantineTest, OneEventCoversAllThatOneErrorMade) {
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

TEST_F(QuarantineTest, WhatWasNotReportedWhenASessionEndsIsReportedWhenItComesAgain) {
  quarantine.note_mistimed(7, Instant{k_present + 7200}, {}, Instant{k_present});
  quarantine.begin_session();
  EXPECT_TRUE(quarantine.take_events(Instant{k_present}).empty());
}

TEST_F(QuarantineTest, ARestartKnowsTheErrorsThatWereReported) {
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

// Records that slurmctld wrote under a wrong clock.

constexpr std::int64_t k_now = 1'700'000'000;

class ClockErrorsTest : public testing::Test {
 protected:
  // The clock was wrong by `ahead` from an hour ago until half an hour ago.
  void err_by(std::int64_t ahead) {
    errors.add({.from = Instant{k_now - 3600 + ahead}, .to = Instant{k_now - 1800 + ahead}, .ahead = Duration{ahead}});
  }
  [[nodiscard]] protocol::JobUpdate corrected(const protocol::JobUpdate& record, std::int64_t at = k_now) const {
    const FindRun find_run = [this](JobId /*job*/, Instant start) -> std::optional<KnownRun> {
      const auto found = books.find(start.value);
      if (found == books.end()) return std::nullopt;
      return KnownRun{found->second};
    };
    return errors.corrected(record, Instant{at}, find_run).value_or(record);
  }

  ClockErrors errors;
  std::map<std::int64_t, std::optional<Instant>> books;  // runs, by start
};

TEST_F(ClockErrorsTest, WithoutAnErrorARecordStaysAsItIs) {
  const auto record = ended({.id = 1, .start = k_now - 100}, k_now - 50);
  EXPECT_EQ(corrected(record), record);
}

TEST_F(ClockErrorsTest, ASubmissionInTheFutureIsTakenAsNow) {
  const auto record = waiting({.id = 1, .start = k_now + 40 * k_day});
  EXPECT_EQ(corrected(record).submit_time, k_now);
}

TEST_F(ClockErrorsTest, TimesOfTheFutureAreSetBack) {
  err_by(40 * k_day);
  const Job job{.id = 1, .start = k_now - 3000 + 40 * k_day};
  EXPECT_EQ(corrected(running(job)), running({.id = 1, .start = k_now - 3000}));
  EXPECT_EQ(corrected(ended(job, k_now - 2000 + 40 * k_day)), ended({.id = 1, .start = k_now - 3000}, k_now - 2000));
  EXPECT_EQ(corrected(waiting(job)), waiting({.id = 1, .start = k_now - 3000}));
}

TEST_F(ClockErrorsTest, ATrueStartStaysAndAWrongEndIsSetBack) {
  err_by(40 * k_day);
  books[k_now - 5000] = std::nullopt;
  EXPECT_EQ(corrected(ended({.id = 1, .start = k_now - 5000}, k_now - 2000 + 40 * k_day)),
            ended({.id = 1, .start = k_now - 5000}, k_now - 2000));
}

TEST_F(ClockErrorsTest, TimesOfTheFutureThatNoErrorExplainsStay) {
  err_by(40 * k_day);
  const auto record = running({.id = 1, .start = k_now + 50 * k_day});
  EXPECT_EQ(corrected(record).start_time, record.start_time);
}

TEST_F(ClockErrorsTest, WhenTheTimeHasComeWhatWasSetBackStaysSo) {
  err_by(40 * k_day);
  const std::int64_t shown = k_now - 3000 + 40 * k_day;
  const std::int64_t later = k_now + 41 * k_day;
  const auto record = ended({.id = 1, .start = shown}, shown + 500);
  EXPECT_EQ(corrected(record, later), record) << "another job, whose time it is";
  books[k_now - 3000] = Instant{k_now - 2500};
  EXPECT_EQ(corrected(record, later), ended({.id = 1, .start = k_now - 3000}, k_now - 2500));
  books[k_now - 9000] = Instant{k_now - 2500};
  EXPECT_EQ(corrected(ended({.id = 1, .start = k_now - 9000}, shown + 500), later),
            ended({.id = 1, .start = k_now - 9000}, k_now - 2500));
}

TEST_F(ClockErrorsTest, ARunThatTheBooksDoNotKnowBeganUnderTheClockThatWasBehind) {
  err_by(-7200);
  const Job job{.id = 1, .start = k_now - 3000 - 7200};
  auto right = running({.id = 1, .start = k_now - 3000});
  EXPECT_EQ(corrected(running(job)).start_time, right.start_time);
  EXPECT_EQ(corrected(ended(job, k_now - 2000 - 7200)).end_time, k_now - 2000);
  EXPECT_EQ(corrected(ended(job, k_now - 100)).end_time, k_now - 100) << "it ended when the clock was right again";
  books[job.start] = std::nullopt;
  EXPECT_EQ(corrected(running(job)), running(job)) << "it began when the clock was right";
}

TEST_F(ClockErrorsTest, ARunThatIsOpenDidNotEndBeforeTheClockWasBehind) {
  err_by(-7200);
  const Job job{.id = 1, .start = k_now - 20'000};
  books[job.start] = std::nullopt;
  EXPECT_EQ(corrected(ended(job, k_now - 2000 - 7200)), ended(job, k_now - 2000));
  books[job.start] = Instant{k_now - 2000};
  EXPECT_EQ(corrected(ended(job, k_now - 2000 - 7200)), ended(job, k_now - 2000)) << "as before";
  books[job.start] = Instant{k_now - 2000 - 7200};
  EXPECT_EQ(corrected(ended(job, k_now - 2000 - 7200)), ended(job, k_now - 2000 - 7200)) << "it ended before that";
}

TEST_F(ClockErrorsTest, AnObservationIsOfTheLastErrorThatShowsItsTime) {
  const auto ahead = [&](std::int64_t at, Wrong wrong) {
    const ClockError* error = errors.find(Instant{at}, wrong);
    return error == nullptr ? 0 : error->ahead.value;
  };
  EXPECT_EQ(ahead(k_now, Wrong::ahead), 0);
  err_by(100);
  err_by(200);
  err_by(-300);
  errors.add({.from = Instant{0}, .to = k_end_of_time, .ahead = {}});
  EXPECT_EQ(ahead(k_now - 2500, Wrong::ahead), 200);
  EXPECT_EQ(ahead(k_now - 3500, Wrong::ahead), 100);
  EXPECT_EQ(ahead(k_now - 2500, Wrong::behind), -300);
  EXPECT_EQ(ahead(k_now - 3901, Wrong::behind), 0);
  EXPECT_EQ(ahead(k_now, Wrong::ahead), 0);
}

TEST_F(ClockErrorsTest, AnUnknownErrorIsGuessedForRecordsOnly) {
  const accounting::ObservationsMistimed dropped{.at = Instant{k_now},
                                                 .since = Instant{k_now - 10},
                                                 .observed_from = Instant{k_now + 40 * k_day},
                                                 .observed_to = Instant{k_now + 40 * k_day + 1000},
                                                 .ahead = {}};
  errors.add(error_of(dropped));
  EXPECT_EQ(errors.find(dropped.observed_from, Wrong::ahead), nullptr);
  const std::int64_t guessed = 40 * k_day + 10;
  const auto record = ended({.id = 1, .start = k_now + 200 + guessed}, k_now + 300 + guessed);
  EXPECT_EQ(corrected(record, k_now + 299).end_time, record.end_time) << "that time has not come";
  EXPECT_EQ(corrected(record, k_now + 300), ended({.id = 1, .start = k_now + 200}, k_now + 300));
}

TEST_F(ClockErrorsTest, AnEndShownBeforeTheStartIsAnotherClocks) {
  // The first error's time reaches far back: nothing was observed for days before it.
  errors.add({.from = Instant{k_now + 36 * k_day}, .to = Instant{k_now + 40 * k_day}, .ahead = Duration{40 * k_day}});
  errors.add(
      {.from = Instant{k_now + 37 * k_day - 500}, .to = Instant{k_now + 37 * k_day}, .ahead = Duration{37 * k_day}});
  books[k_now - 900] = std::nullopt;
  EXPECT_EQ(corrected(ended({.id = 1, .start = k_now - 900 + 40 * k_day}, k_now - 100 + 37 * k_day)),
            ended({.id = 1, .start = k_now - 900}, k_now - 100));
}

TEST_F(ClockErrorsTest, OfSeveralErrorsTheOneCountsThatLeadsToAKnownRun) {
  err_by(40 * k_day);
  err_by(40 * k_day + 500);
  const Job shown{.id = 1, .start = k_now - 2500 + 40 * k_day};
  EXPECT_EQ(corrected(running(shown)).start_time, k_now - 3000) << "the last one";
  books[k_now - 2500] = std::nullopt;
  EXPECT_EQ(corrected(running(shown)).start_time, k_now - 2500);
}

}  // namespace
}  // namespace shapley::daemon
