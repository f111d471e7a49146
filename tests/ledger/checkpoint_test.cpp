// Checkpoints in parts: only what changed is written, whenever the writing ends the books can be restored,
// and a thread that makes one beside the writer makes what the writer would have.
#include "ledger/recovery/checkpoint.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/mutex.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/recovery/background.hpp"
#include "ledger/store/ledger.hpp"
#include "ledger/store/ledger_file.hpp"
#include "ledger_fixture.hpp"
#include "random_events.hpp"

namespace shapley::ledger {
namespace {

using namespace testing;
using accounting::Event;
using accounting::State;

// So that small books have many parts, and a checkpoint takes many transactions.
CheckpointWriting in_small_steps() {
  CheckpointWriting how;
  how.part.lines = 3;
  how.transaction_bytes = 100;
  return how;
}

Expected<void> save_in_small_steps(const std::filesystem::path& file, const State& state, std::int64_t sequence,
                                   CheckpointWriting how = in_small_steps()) {
  const Database database = must(open_second_writer(file));
  Mutex turns;
  return write_checkpoint(database, turns, state, sequence, state.now(), how);
}

std::set<std::string> parts_named(const std::filesystem::path& file) {
  std::set<std::string> named;
  for (const std::string& list : rows(file, "SELECT parts FROM checkpoints")) {
    std::istringstream words(list);
    for (std::string word; words >> word;) named.insert(word);
  }
  return named;
}

std::set<std::string> parts_stored(const std::filesystem::path& file) {
  const auto ids = rows(file, "SELECT id FROM checkpoint_parts");
  return {ids.begin(), ids.end()};
}

TEST(TextParts, are_the_text) {
  for (const std::string text : {"", "\n", "one line", "one\n", "one\ntwo", "one\n\n\ntwo\n"}) {
    for (const std::size_t lines : {1U, 2U, 100U}) {
      std::string joined;
      for (const std::string_view part : cut(text, {.lines = lines})) {
        EXPECT_FALSE(part.empty());
        joined += part;
      }
      EXPECT_EQ(joined, text);
    }
  }
}

TEST(TextParts, a_line_more_or_less_changes_few) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "job " + std::to_string(i) + " with some words\n";
  const auto parts = cut(text);
  EXPECT_GT(parts.size(), 20'000U / 128 / 2);
  EXPECT_LT(parts.size(), 20'000U / 128 * 2);
  const std::set<std::string_view> known(parts.begin(), parts.end());
  const std::size_t middle = text.find("job 10000 ");
  const std::size_t end = text.find('\n', middle) + 1;
  for (const std::string& changed : {text.substr(0, middle) + text.substr(end),
                                     text.substr(0, middle) + "job 5 of another name\n" + text.substr(middle)}) {
    std::size_t fresh = 0;
    for (const std::string_view part : cut(changed)) fresh += known.contains(part) ? 0 : 1;
    EXPECT_GE(fresh, 1U);
    EXPECT_LE(fresh, 2U);
  }
}

TEST(TextParts, are_of_bounded_size) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "always the same line\n";
  EXPECT_EQ(cut(text).size(), 1U) << "equal lines have equal hashes";
  for (const std::string_view part : cut(text, {.lines = 1'000'000, .most_bytes = 500})) EXPECT_LE(part.size(), 600U);
}

// A kill between any two transactions of a checkpoint, and after its last: what is there then gives the books of all
// events, and the checkpoint after that is whole.
RC_GTEST_PROP(Checkpoint, ends_at_any_moment_without_harm, ()) {
  const std::vector<Event> history = *any_history();
  const TemporaryDirectory directory;
  const auto file = directory.path() / "ledger.db";
  State state;
  std::int64_t last_whole = 0;
  std::optional<Ledger> ledger = writer(file);
  for (std::size_t begin = 0; begin < history.size();) {
    const auto size = std::min(*rc::gen::inRange<std::size_t>(1, 40), history.size() - begin);
    for (const Event& event : must(ledger->append(std::span(history).subspan(begin, size), {0})).accepted) {
      static_cast<void>(must(state.apply(event)));
    }
    begin += size;
    if (*rc::gen::inRange(0, 3) != 0) continue;
    auto how = in_small_steps();
    // Half of them come to their end.
    const int last = *rc::gen::arbitrary<bool>() ? 1'000'000 : *rc::gen::inRange(0, 40);
    int transactions = 0;
    bool ended = false;
    how.between = [&]() -> Expected<void> {
      ended = ++transactions > last;
      return ended ? fail(Errc::io, "killed") : Expected<void>{};
    };
    const auto saved = save_in_small_steps(file, state, ledger->last_sequence(), how);
    RC_ASSERT(saved.has_value() == !ended);
    // The row may have been written before the end came.
    const auto newest = rows(file, "SELECT COALESCE(MAX(sequence), 0) FROM checkpoints");
    RC_ASSERT(newest == std::vector<std::string>{std::to_string(ledger->last_sequence())} ||
              (ended && newest == std::vector<std::string>{std::to_string(last_whole)}));
    last_whole = std::stoll(newest.front());
    if (saved) RC_ASSERT(parts_stored(file) == parts_named(file));
    if (!ended) continue;
    ledger.reset();
    ledger = writer(file);
  }
  const Instant t = state.now() + Duration{1000};
  auto recovered = must(ledger->recover());
  RC_ASSERT(recovered.replayed == ledger->last_sequence() - last_whole);
  auto scratch = must(ledger->recover_from_scratch());
  const auto expected = standings(scratch.state, t);
  RC_ASSERT(standings(recovered.state, t) == expected);
  must(save_in_small_steps(file, recovered.state, ledger->last_sequence()));
  RC_ASSERT(parts_stored(file) == parts_named(file));
  auto again = must(ledger->recover());
  RC_ASSERT(again.replayed == 0);
  RC_ASSERT(standings(again.state, t) == expected);
  RC_ASSERT(must(audit(*ledger)).clean());
}

// The thread reads and writes beside the owner's appends; its checkpoint is that of the moment when it was begun.
RC_GTEST_PROP(CheckpointThread, makes_what_its_owner_would, ()) {
  constexpr accounting::StateOptions k_memory{.memory_horizon = Duration{100'000}};
  const std::vector<Event> history = *any_history();
  const TemporaryDirectory directory;
  const auto file = directory.path() / "ledger.db";
  Ledger ledger = writer(file);
  State state(k_memory);
  bool complete = true;
  const auto live = [&](std::span<const Event> events) {
    for (const Event& event : must(ledger.append(events, {0})).accepted) {
      complete = complete && must(state.apply(event)) != accounting::Applied::needs_replay;
    }
  };
  for (std::size_t begin = 0; begin < history.size() && complete;) {
    const auto first = std::min(*rc::gen::inRange<std::size_t>(1, 60), history.size() - begin);
    live(std::span(history).subspan(begin, first));
    begin += first;
    if (!complete) break;
    state.compact();
    const State then = must(State::load(state.save(), k_memory));
    const std::int64_t upto = ledger.last_sequence();
    const auto thread =
        must(CheckpointThread::start(file, ledger.turns(), {.state = k_memory, .upto = upto, .now = state.now()}));
    const auto meanwhile = std::min(*rc::gen::inRange<std::size_t>(0, 60), history.size() - begin);
    for (std::size_t i = 0; i < meanwhile; ++i) live(std::span(history).subspan(begin + i, 1));
    begin += meanwhile;
    must(thread->take());
    RC_ASSERT(thread->has_ended());
    const Database database = must(open_beside_writer(file));
    auto saved = must(read_checkpoint(database, upto, k_memory));
    RC_ASSERT(saved.has_value());
    RC_ASSERT(saved->state.memory_horizon() == then.memory_horizon());
    State expected = must(State::load(then.save(), k_memory));
    RC_ASSERT(standings(saved->state, then.now()) == standings(expected, then.now()));
    if (!complete) break;
    auto recovered = must(ledger.recover(k_memory));
    RC_ASSERT(recovered.replayed == ledger.last_sequence() - upto);
    RC_ASSERT(standings(recovered.state, state.now()) == standings(state, state.now()));
  }
}

class CheckpointTest : public LedgerTest {
 protected:
  // Appends so many jobs that ran one after the other.
  static void add_jobs(Ledger& ledger, State& state, std::uint32_t first, std::uint32_t jobs) {
    std::vector<Event> events;
    for (std::uint32_t job = first; job < first + jobs; ++job) {
      for (Event& event : usual_job(job)) events.push_back(std::move(event));
    }
    for (const Event& event : must(ledger.append(events, {0})).accepted) static_cast<void>(must(state.apply(event)));
  }
};

TEST_F(CheckpointTest, writes_only_what_is_not_there) {
  Ledger ledger = writer(file());
  State state;
  add_jobs(ledger, state, 1, 3000);
  must(ledger.save_checkpoint(state, ledger.last_sequence(), state.now()));
  const auto before = parts_stored(file());
  ASSERT_GT(before.size(), 50U);
  add_jobs(ledger, state, 3001, 20);
  must(ledger.save_checkpoint(state, ledger.last_sequence(), state.now()));
  std::size_t fresh = 0;
  for (const std::string& part : parts_stored(file())) fresh += before.contains(part) ? 0 : 1;
  EXPECT_GE(fresh, 1U);
  EXPECT_LE(fresh, 12U) << "of " << before.size();
  EXPECT_EQ(must(ledger.recover()).replayed, 0);
}

TEST_F(CheckpointTest, a_damaged_part_is_not_used_again) {
  Ledger ledger = writer(file());
  State state;
  add_jobs(ledger, state, 1, 1000);
  must(ledger.save_checkpoint(state, ledger.last_sequence(), state.now()));
  tamper(file(), "UPDATE checkpoint_parts SET text = replace(text, '1', '2') WHERE id = 3");
  EXPECT_EQ(must(ledger.recover()).replayed, ledger.last_sequence());
  must(ledger.save_checkpoint(state, ledger.last_sequence(), state.now()));
  EXPECT_EQ(must(ledger.recover()).replayed, 0);
  EXPECT_EQ(parts_stored(file()), parts_named(file()));
}

TEST_F(CheckpointTest, passes_over_lists_that_name_nothing_sound) {
  Ledger ledger = writer(file());
  State state;
  add_jobs(ledger, state, 1, 10);
  must(ledger.save_checkpoint(state, ledger.last_sequence(), state.now()));
  add_jobs(ledger, state, 11, 10);
  for (const std::string list : {"'x'", "'1 '", "' 1'", "'1  2'", "'99999999999999999999'", "'-1'", "''", "x'00ff'",
                                 "'777'", "parts || ' ' || parts"}) {
    must(ledger.save_checkpoint(state, ledger.last_sequence(), state.now()));
    EXPECT_EQ(must(ledger.recover()).replayed, 0);
    tamper(file(), "UPDATE checkpoints SET parts = " + list + " WHERE sequence = 100");
    EXPECT_EQ(must(ledger.recover()).replayed, 50) << list;
  }
}

// Equal parts of one text are stored as often as they come.
TEST_F(CheckpointTest, no_list_names_a_part_twice) {
  Ledger ledger = writer(file());
  State state;
  add_jobs(ledger, state, 1, 50);
  auto how = in_small_steps();
  how.part.lines = 1;
  for (int i = 0; i < 2; ++i) {
    must(save_in_small_steps(file(), state, ledger.last_sequence(), how));
    EXPECT_LT(rows(file(), "SELECT DISTINCT text FROM checkpoint_parts").size(), parts_stored(file()).size());
    EXPECT_EQ(parts_stored(file()), parts_named(file()));
    EXPECT_EQ(must(ledger.recover()).replayed, 0);
  }
}

TEST_F(CheckpointTest, ends_on_request) {
  Ledger ledger = writer(file());
  State state;
  add_jobs(ledger, state, 1, 1000);
  const std::atomic<bool> stop = true;
  auto how = in_small_steps();
  how.stop = &stop;
  const auto saved = save_in_small_steps(file(), state, ledger.last_sequence(), how);
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, Errc::unavailable);
  const auto saved_by_ledger = ledger.save_checkpoint(state, ledger.last_sequence(), state.now(), &stop);
  ASSERT_FALSE(saved_by_ledger);
  EXPECT_EQ(saved_by_ledger.error().code, Errc::unavailable);
  EXPECT_EQ(rows(file(), "SELECT COUNT(*) FROM checkpoints"), std::vector<std::string>{"0"});
  must(ledger.save_checkpoint(state, ledger.last_sequence(), state.now()));
  const auto read = read_checkpoint(must(open_beside_writer(file())), ledger.last_sequence(), {}, &stop);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Errc::unavailable);
}

TEST_F(CheckpointTest, a_thread_whose_owner_goes_leaves_a_ledger_that_opens) {
  Ledger ledger = writer(file());
  State state;
  add_jobs(ledger, state, 1, 2000);
  for (int i = 0; i < 5; ++i) {
    const auto abandoned = must(CheckpointThread::start(file(), ledger.turns(), {.upto = 5000, .now = state.now()}));
  }
  const auto thread = must(CheckpointThread::start(file(), ledger.turns(), {.upto = 10'000, .now = state.now()}));
  must(thread->take());
  EXPECT_EQ(must(ledger.recover()).replayed, 0);
  EXPECT_EQ(parts_stored(file()), parts_named(file()));
}

TEST_F(CheckpointTest, a_thread_says_what_it_cannot_do) {
  const auto thread =
      must(CheckpointThread::start(directory() / "absent.db", std::make_shared<Mutex>(), {.upto = 1, .now = {1}}));
  const auto written = thread->take();
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Errc::not_found) << written.error().what;
}

// Books rebuilt in a thread of their own, while the ledger is written on, are those that all events give.

using accounting::Applied;

constexpr accounting::StateOptions k_short_memory{
    .memory_horizon = Duration{600}, .most_finished = 3, .shortest_memory_horizon = Duration{60}};

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
  // Late ones are from before what a checkpoint remembers.
  const std::vector<Event> history = pick_late_history();
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
  const auto rebuild = must(Rebuild::start(directory() / "absent.db", std::make_shared<Mutex>(), {}));
  const auto books = rebuild->take();
  ASSERT_FALSE(books.has_value());
  EXPECT_EQ(books.error().code, Errc::not_found) << books.error().what;
}

}  // namespace
}  // namespace shapley::ledger
