// Books that are replayed forget what no later event concerns, and are the same books.
#include <algorithm>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ledger/recovery/replay.hpp"
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
  Replay replay(database(), k_remembers_nothing, {.state = accounting::State(k_remembers_nothing)},
                Forgetting(must(Lookback::by_sequence(database(), 0, 208, k_hasty)), k_hasty));
  must(replay.advance_to(208));
  // The four that never ended, and the last ones.
  EXPECT_LE(replay.books().state.remembered_jobs(), 8U);
  EXPECT_EQ(replay.books().state.find_job({150}), nullptr);
}

TEST(Forgetting, keeps_what_it_is_asked_to_keep) {
  State books(k_remembers_nothing);
  const auto run = opened(1, 10'000, "a", 1);
  must(books.apply(run));
  must(books.apply(closed(run, 10'100)));
  books.advance({20'000});
  Forgetting forgetting({}, k_hasty);
  EXPECT_TRUE(forgetting.before(1, books, Instant{10'050}));
  EXPECT_NE(books.find_job({1}), nullptr);
  EXPECT_TRUE(forgetting.before(2, books));
  EXPECT_EQ(books.find_job({1}), nullptr);
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
  Replay replay(database, k_remembers_nothing, {.state = accounting::State(k_remembers_nothing)},
                Forgetting(must(Lookback::by_sequence(database, 0, head, pace)), pace));
  State everything;
  std::int64_t applied = 0;
  for (const std::int64_t upto : {*rc::gen::inRange<std::int64_t>(0, head + 1), head}) {
    must(replay.advance_to(upto));
    must(ledger.for_each_event(applied, [&](const StoredEvent& stored) -> Expected<void> {
      if (stored.sequence > upto) return {};
      applied = stored.sequence;
      must(everything.apply(stored.event));
      return {};
    }));
    State& state = replay.books().state;
    const Instant t = std::max(state.now(), everything.now());
    RC_ASSERT(standings(state, t) == standings(everything, t));
  }
}

}  // namespace
}  // namespace shapley::ledger
