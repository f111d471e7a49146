// Books that are replayed forget what no later event concerns, and are the same books.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ledger/recovery/fold.hpp"
#include "ledger/store/rows.hpp"
#include "ledger_fixture.hpp"
#include "random_events.hpp"

namespace shapley::ledger {
namespace {

using namespace testing;
using accounting::Event;
using accounting::State;

constexpr ReplayPace k_hasty{.events_between_compactions = 1, .most_events_reached_back = 200'000};
constexpr std::int64_t k_week = 7 * 24 * 3600;

const Database& database_of(const Ledger& ledger) {
  return ledger.rows().database();
}

class LookbackTest : public LedgerTest {
 protected:
  // Numbers 1 to 6: at 10,000, 20,000, 15,000 (late), 30,000, one that is described late, and a retraction of the
  // first.
  void SetUp() override {
    const auto first = opened(1, 10'000, "a", 1);
    ledger_ = writer(file());
    must(ledger_->append(std::vector<Event>{first, opened(2, 20'000, "a", 1), opened(3, 15'000, "a", 1),
                                            opened(4, 30'000, "a", 1), described({5}, {1}, "a")},
                         {0}));
    must(ledger_->append(std::vector<Event>{closed(first, 12'000), accounting::SegmentRetracted{first.key, {40'000}},
                                            opened(6, 50'000, "a", 1)},
                         {0}));
  }
  const Database& database() const { return database_of(*ledger_); }

  std::optional<Ledger> ledger_;
};

TEST_F(LookbackTest, knows_what_later_numbers_reach_back_to) {
  const Lookback lookback = must(Lookback::by_sequence(database(), 0, 8, k_hasty));
  EXPECT_EQ(lookback.from(1), Instant{10'000});
  EXPECT_EQ(lookback.from(7), Instant{10'000}) << "the retraction changes what was since the begin";
  EXPECT_EQ(lookback.from(8), Instant{50'000});
  EXPECT_EQ(lookback.from(9), k_end_of_time);
  const Lookback before = must(Lookback::by_sequence(database(), 0, 5, k_hasty));
  EXPECT_EQ(before.from(2), Instant{15'000});
  EXPECT_EQ(before.from(4), Instant{30'000}) << "a description is accepted however old it is";
  const Lookback rest = must(Lookback::by_sequence(database(), 7, 8, k_hasty));
  EXPECT_EQ(rest.from(1), Instant{50'000}) << "the retraction is done";
}

TEST_F(LookbackTest, knows_what_later_times_reach_back_to) {
  const Lookback lookback = must(Lookback::by_time(database(), 0, 8));
  EXPECT_EQ(lookback.from(30'000), Instant{10'000});
  EXPECT_EQ(lookback.from(40'000), Instant{10'000});
  EXPECT_EQ(lookback.from(40'001), k_end_of_time);
  EXPECT_EQ(must(Lookback::by_time(database(), 0, 6)).from(0), k_end_of_time);
}

// The begin of a run reaches back to its release, for six hours.
TEST_F(LookbackTest, knows_that_a_run_reaches_back_to_its_release) {
  const auto released = [](std::uint32_t job, std::int64_t begin, std::int64_t at) {
    auto run = opened(job, begin, "a", 1);
    run.released = Instant{at};
    return run;
  };
  must(ledger_->append(std::vector<Event>{released(10, 100'000, 90'000), released(11, 200'000, 60'000),
                                          released(12, 300'000, 300'000), opened(13, 400'000, "a", 1)},
                       {0}));
  const Lookback numbers = must(Lookback::by_sequence(database(), 0, 12, k_hasty));
  EXPECT_EQ(numbers.from(9), Instant{90'000});
  EXPECT_EQ(numbers.from(10), Instant{200'000 - 6 * 3600}) << "not permanently";
  EXPECT_EQ(numbers.from(11), Instant{300'000});
  EXPECT_EQ(numbers.from(12), Instant{400'000}) << "it does not say";
  const Lookback times = must(Lookback::by_time(database(), 8, 12));
  EXPECT_EQ(times.from(100'000), Instant{90'000});
  EXPECT_EQ(times.from(200'000), Instant{200'000 - 6 * 3600});
  EXPECT_EQ(times.from(200'001), k_end_of_time);
  // So does its retraction: an organization may have joined by that release alone.
  must(ledger_->append(std::vector<Event>{accounting::SegmentRetracted{released(10, 100'000, 90'000).key, {500'000}}},
                       {0}));
  EXPECT_EQ(must(Lookback::by_sequence(database(), 8, 13, k_hasty)).from(13), Instant{90'000});
  EXPECT_EQ(must(Lookback::by_time(database(), 8, 13)).from(450'000), Instant{90'000});
}

// What happened in a week is not remembered for the sake of one event; the books forget as shapleyd's own do.
TEST_F(LookbackTest, gives_up_on_events_that_reach_back_too_far) {
  for (std::uint32_t job = 10; job < 20; ++job) {
    must(ledger_->append(std::vector<Event>{opened(job, 100'000 + job * k_week, "a", 1)}, {0}));
  }
  must(ledger_->append(std::vector<Event>{opened(30, 60'000, "a", 1)}, {0}));
  EXPECT_EQ(must(Lookback::by_sequence(database(), 0, 19, k_hasty)).from(15), Instant{60'000});
  const Lookback bounded =
      must(Lookback::by_sequence(database(), 0, 19, {.events_between_compactions = 1, .most_events_reached_back = 4}));
  EXPECT_EQ(bounded.from(10), Instant{60'000}) << "a few events are remembered";
  const Instant latest{100'000 + 15 * k_week};  // before number 15
  EXPECT_EQ(bounded.from(15), latest - accounting::StateOptions{}.memory_horizon);
  const Lookback rest =
      must(Lookback::by_sequence(database(), 12, 19, {.events_between_compactions = 1, .most_events_reached_back = 4}));
  EXPECT_EQ(rest.from(15), Instant{60'000}) << "so few events since number 12";
}

TEST_F(LookbackTest, the_books_forget_as_they_go) {
  for (std::uint32_t job = 100; job < 200; ++job) {
    const auto run = opened(job, 1000 * std::int64_t{job}, "a", 1);
    must(ledger_->append(std::vector<Event>{run, closed(run, 1000 * std::int64_t{job} + 1500)}, {0}));
  }
  Fold fold = must(Fold::by_number(database(), {.state = accounting::State(k_remembers_nothing)}, 208,
                                   k_remembers_nothing, {.pace = k_hasty}));
  must(fold.advance_to_event(208));
  // The four that never ended, and the last ones.
  EXPECT_LE(fold.books().state.remembered_jobs(), 8U);
  EXPECT_EQ(fold.books().state.find_job({150}), nullptr);
}

TEST_F(LookbackTest, a_fold_keeps_what_it_is_asked_to_keep) {
  Ledger ledger = writer(directory() / "two.db");
  for (const std::uint32_t job : {1U, 2U}) {
    const auto run = opened(job, 10'000 * std::int64_t{job}, "a", 1);
    must(ledger.append(std::vector<Event>{run, closed(run, 10'000 * std::int64_t{job} + 100)}, {0}));
  }
  Fold fold = must(Fold::by_time({{.database = &database_of(ledger)}},
                                 {.state = accounting::State(k_remembers_nothing)}, {.keep = Instant{10'050}}));
  must(fold.advance_to({20'000}));
  must(fold.forget());
  EXPECT_NE(fold.books().state.find_job({1}), nullptr);
  fold.keep(k_end_of_time);
  must(fold.forget());
  EXPECT_EQ(fold.books().state.find_job({1}), nullptr);
  EXPECT_NE(fold.books().state.find_job({2}), nullptr) << "the run goes on";
}

TEST_F(LookbackTest, a_fold_by_time_reads_several_files) {
  std::vector<Ledger> files;
  for (const std::uint32_t job : {1U, 2U}) {
    files.push_back(writer(directory() / (std::to_string(job) + ".db")));
    const auto run = opened(job, 1000 + job, "a", 1);
    must(files.back().append(std::vector<Event>{closed(run, 2000 + job), run}, {0}));
  }
  Fold fold = must(Fold::by_time({{.database = &database_of(files[0])}, {.database = &database_of(files[1])}},
                                 {.state = accounting::State(k_remembers_nothing)}));
  std::vector<std::int64_t> times;
  while (const StoredEvent* stored = must(fold.next({2001}))) {
    times.push_back(time_of(stored->event).value);
    must(fold.apply(*stored));
  }
  EXPECT_EQ(times, (std::vector<std::int64_t>{1001, 1002, 2001}));
  EXPECT_EQ(fold.books().state.now(), Instant{2001});
}

// The begin of a run that comes next reaches back to its release, and nothing of that time may be forgotten before it.
TEST_F(LookbackTest, a_fold_keeps_what_the_next_event_reaches_back_to) {
  Ledger ledger = writer(directory() / "one.db");
  const auto first = opened(1, 10'000, "a", 1);
  auto late = opened(2, 20'000, "a", 1);
  late.released = Instant{10'050};
  must(ledger.append(std::vector<Event>{first, closed(first, 10'100), late}, {0}));
  Fold fold = must(Fold::by_time({{.database = &database_of(ledger)}},
                                 {.state = accounting::State(k_remembers_nothing)}, {.pace = k_hasty}));
  must(fold.advance_to({10'100}));
  ASSERT_NE(must(fold.next({20'000})), nullptr);
  EXPECT_TRUE(fold.has_just_forgotten());
  EXPECT_LE(fold.books().state.memory_horizon(), Instant{10'050});
}

// However long ago the checkpoint was made.
TEST_F(LookbackTest, books_from_a_checkpoint_forget_as_they_go) {
  must(ledger_->save_checkpoint(must(ledger_->recover()).state, 8, {50'000}));
  for (std::uint32_t job = 100; job < 200; ++job) {
    const auto run = opened(job, 1000 * std::int64_t{job}, "a", 1);
    must(ledger_->append(std::vector<Event>{run, closed(run, 1000 * std::int64_t{job} + 1500)}, {0}));
  }
  Recovered books = must(recover_books(database(), k_remembers_nothing, nullptr, {}, k_hasty));
  EXPECT_EQ(books.replayed, 200);
  EXPECT_LE(books.state.remembered_jobs(), 8U);
  Recovered all = must(ledger_->recover_from_scratch());
  EXPECT_GT(all.state.remembered_jobs(), 100U);
  EXPECT_EQ(standings(books.state, books.state.now()), standings(all.state, books.state.now()));
}

// Whatever comes late, and however little may be remembered for its sake.
RC_GTEST_PROP(ForgettingReplay, gives_the_books_of_those_that_remember_everything, ()) {
  std::vector<Event> history = *any_history();
  const auto late = *rc::gen::inRange<std::size_t>(0, history.size() + 1);
  std::rotate(history.begin(), history.begin() + static_cast<std::ptrdiff_t>(late), history.end());
  const TemporaryDirectory directory;
  Ledger ledger = writer(directory.path() / "ledger.db");
  must(ledger.append(history, {0}));
  const Database& database = database_of(ledger);
  const std::int64_t head = ledger.last_sequence();
  ReplayPace pace = k_hasty;
  pace.most_events_reached_back = *rc::gen::elementOf(std::vector<std::int64_t>{1, 10, 200'000});
  Fold fold = must(Fold::by_number(database, {.state = accounting::State(k_remembers_nothing)}, head,
                                   k_remembers_nothing, {.pace = pace}));
  State everything;
  std::int64_t applied = 0;
  for (const std::int64_t upto : {*rc::gen::inRange<std::int64_t>(0, head + 1), head}) {
    must(fold.advance_to_event(upto));
    must(ledger.for_each_event(applied, [&](const StoredEvent& stored) -> Expected<void> {
      if (stored.sequence > upto) return {};
      applied = stored.sequence;
      must(everything.apply(stored.event));
      return {};
    }));
    State& state = fold.books().state;
    const Instant t = std::max(state.now(), everything.now());
    RC_ASSERT(standings(state, t) == standings(everything, t));
  }
}

}  // namespace
}  // namespace shapley::ledger
