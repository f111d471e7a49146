// Books rebuilt in a thread of their own, while the ledger is written on, are those that all events give.
#include "ledger/recovery/rebuild.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ledger/store/ledger.hpp"
#include "ledger_fixture.hpp"
#include "random_events.hpp"

namespace shapley::ledger {
namespace {

using namespace testing;
using accounting::Applied;
using accounting::Event;
using accounting::State;

constexpr accounting::StateOptions k_short_memory{
    .horizon = Duration{600}, .most_finished = 3, .shortest_horizon = Duration{60}};

// Applies what the rebuilt books lack, as their owner does; false: something is older than they remember.
bool catch_up(const Ledger& ledger, Recovered& books) {
  bool complete = true;
  must(ledger.for_each_event(books.last_sequence, [&](const StoredEvent& stored) -> Expected<void> {
    const auto applied = books.state.apply(stored.event);
    if (applied && *applied == Applied::needs_replay) complete = false;
    return {};
  }));
  return complete;
}

// Late events, checkpoints that no longer remember what they are about, and events that come while the thread runs.
RC_GTEST_PROP(RebuildProperty, gives_the_books_of_all_events, ()) {
  std::vector<Event> history = *any_history();
  // The last ones come late: from before what a checkpoint remembers.
  const auto late = *rc::gen::inRange<std::size_t>(0, history.size() + 1);
  std::rotate(history.begin(), history.begin() + static_cast<std::ptrdiff_t>(late), history.end());
  const TemporaryDirectory directory;
  const auto file = directory.path() / "ledger.db";
  Ledger ledger = writer(file);
  const auto before = *rc::gen::inRange<std::size_t>(0, history.size() + 1);
  State state(k_short_memory);
  for (std::size_t i = 0; i < before; ++i) {
    must(ledger.append(std::span(history).subspan(i, 1), {0}));
    const auto applied = state.apply(history[i]);
    if (applied && *applied == Applied::needs_replay) state = std::move(must(ledger.recover(k_short_memory)).state);
    if (*rc::gen::inRange(0, 8) == 0) {
      state.compact();
      must(ledger.save_checkpoint(state, ledger.last_sequence(), state.now()));
    }
  }
  const Rebuild::Options options{.state = k_short_memory, .left_to_owner = *rc::gen::inRange<std::int64_t>(0, 5)};
  auto rebuild = must(Rebuild::start(file, ledger.turns(), options));
  const auto during = *rc::gen::inRange<std::size_t>(before, history.size() + 1);
  for (std::size_t i = before; i < during; ++i) must(ledger.append(std::span(history).subspan(i, 1), {0}));
  Recovered books = must(rebuild->take()).books;
  RC_ASSERT(books.last_sequence <= ledger.last_sequence());
  must(ledger.append(std::span(history).subspan(during), {0}));
  const bool complete = catch_up(ledger, books);
  RC_TAG(complete ? "complete" : "once more");
  if (!complete) {
    books =
        must(must(Rebuild::start(file, ledger.turns(), {.state = k_short_memory, .left_to_owner = 0}))->take()).books;
  }

  auto expected = must(ledger.recover_from_scratch(k_short_memory));
  const Instant t = std::max(expected.state.now(), books.state.now()) + Duration{1000};
  RC_ASSERT(standings(books.state, t) == standings(expected.state, t));
}

class RebuildTest : public LedgerTest {};

TEST_F(RebuildTest, ends_when_its_owner_goes) {
  Ledger ledger = writer(file());
  std::vector<Event> events;
  for (std::uint32_t job = 1; job <= 5000; ++job) {
    const auto segment = opened(job, 20'000 + job, "a", 1);
    events.insert(events.end(), {segment, closed(segment, 20'100 + job)});
  }
  must(ledger.append(events, {0}));
  { const auto abandoned = must(Rebuild::start(file(), ledger.turns(), {})); }
  const auto rebuild = must(Rebuild::start(file(), ledger.turns(), {}));
  EXPECT_EQ(must(rebuild->take()).books.last_sequence, 10'000);
  EXPECT_TRUE(rebuild->has_ended());
  EXPECT_EQ(rebuild->percent(), 100);
}

TEST_F(RebuildTest, says_what_it_cannot_read) {
  const auto rebuild = must(Rebuild::start(directory() / "absent.db", std::make_shared<std::mutex>(), {}));
  const auto books = rebuild->take();
  ASSERT_FALSE(books.has_value());
  EXPECT_EQ(books.error().code, Errc::not_found) << books.error().what;
}

}  // namespace
}  // namespace shapley::ledger
