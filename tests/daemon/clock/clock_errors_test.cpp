// Records that slurmctld wrote under a wrong clock.
#include "daemon/observer/clock_errors.hpp"

#include <map>
#include <optional>

#include <gtest/gtest.h>

#include "host_clock.hpp"
#include "tests/daemon/records.hpp"

namespace shapley::daemon {
namespace {

constexpr std::int64_t k_now = 1'700'000'000;

class ClockErrorsTest : public testing::Test {
 protected:
  // The clock was wrong by `ahead` from an hour ago until half an hour ago.
  void err_by(std::int64_t ahead) {
    errors.add({.from = Instant{k_now - 3600 + ahead}, .to = Instant{k_now - 1800 + ahead}, .ahead = Duration{ahead}});
  }
  [[nodiscard]] protocol::JobRecord corrected(const protocol::JobRecord& record, std::int64_t at = k_now) const {
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

TEST_F(ClockErrorsTest, AnErrorThatNobodyKnowsIsGuessedForRecordsOnly) {
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
