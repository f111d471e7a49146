// The books that come back from a ledger are those that were there: checkpoints, replays, projections.
#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ledger/audit/audit.hpp"
#include "ledger/store/ledger.hpp"
#include "ledger_fixture.hpp"
#include "random_events.hpp"

namespace shapley::ledger {
namespace {

using namespace testing;
using accounting::Event;
using accounting::State;

constexpr std::int64_t k_day = 24 * 3600;

// Appends and applies as shapleyd does: append, then apply what was accepted, in order.
void live(Ledger& ledger, State& state, std::span<const Event> batch) {
  const auto appended = must(ledger.append(batch, latest({batch.begin(), batch.end()})));
  for (const Event& event : appended.accepted) {
    const auto applied = state.apply(event);
    if (!applied) throw std::runtime_error(applied.error().what);
  }
}

// The whole promise at once: live books, books from a checkpoint and books from nothing agree; projections can be
// rebuilt; an audit finds nothing.
RC_GTEST_PROP(LedgerProperty, every_way_back_leads_to_the_same_books, ()) {
  const std::vector<Event> history = *any_history();
  const TemporaryDirectory directory;
  const auto file = directory.path() / "ledger.db";
  State state;
  {
    Ledger ledger = writer(file);
    for (std::size_t begin = 0; begin < history.size();) {
      const auto size = std::min(*rc::gen::inRange<std::size_t>(1, 40), history.size() - begin);
      live(ledger, state, std::span(history).subspan(begin, size));
      begin += size;
      if (*rc::gen::inRange(0, 4) == 0) must(ledger.save_checkpoint(state, ledger.last_sequence(), state.now()));
      if (*rc::gen::inRange(0, 6) == 0) must(ledger.record_standings(state.now(), state, state.standings()));
    }
  }
  const Instant t = state.now() + Duration{*rc::gen::inRange<std::int64_t>(0, 40 * k_day)};
  Ledger ledger = writer(file);
  auto recovered = must(ledger.recover());
  auto scratch = must(ledger.recover_from_scratch());
  RC_ASSERT(recovered.last_sequence == ledger.last_sequence());
  RC_ASSERT(scratch.last_sequence == ledger.last_sequence());
  const auto expected = standings(state, t);
  RC_ASSERT(standings(recovered.state, t) == expected);
  RC_ASSERT(standings(scratch.state, t) == expected);

  const auto before = dump(ledger);
  must(ledger.rebuild_projections());
  RC_ASSERT(dump(ledger) == before);

  const auto report = must(audit(ledger));
  RC_ASSERT(problems(report) == "");
  RC_ASSERT(report.events == ledger.last_sequence());
  RC_ASSERT(problems(must(audit(reader(file)))) == "");
}

// Projections do not depend on the order in which facts were learned.
RC_GTEST_PROP(LedgerProperty, projections_are_a_function_of_the_set_of_events, ()) {
  std::vector<Event> history = *any_history();
  const TemporaryDirectory directory;
  Ledger in_order = writer(directory.path() / "a.db");
  must(in_order.append(history, {0}));
  for (std::size_t i = history.size(); i > 1; --i)
    std::swap(history[i - 1], history[*rc::gen::inRange<std::size_t>(0, i)]);
  Ledger shuffled = writer(directory.path() / "b.db");
  must(shuffled.append(history, {0}));
  RC_ASSERT(dump(in_order) == dump(shuffled));
}

class Recovery : public LedgerTest {
 protected:
  // Three jobs of two organizations on shared nodes, one of them still running.
  static std::vector<Event> some_events() {
    const auto first = opened(1, 10'000, "a", 4);
    const auto second = opened(2, 10'050, "b", 2);
    return {accounting::OrganizationsDeclared{{9'000}, {"a", "b"}},
            accounting::OwnershipStated{"n1", {9'000}, {{k_beginning_of_time, {{"b", 500'000}}}}},
            accounting::CapacityChanged{"n1", {9'000}, 0, {8 * k_micro}},
            first,
            second,
            closed(first, 10'100),
            opened(3, 10'200, "b", 8)};
  }

  // Appends one more run and a checkpoint after it.
  void run_and_checkpoint(Ledger& ledger, State& state, std::uint32_t job) {
    const auto segment = opened(job, 20'000 + job, "a", 1);
    live(ledger, state, std::vector<Event>{segment, closed(segment, 20'100 + job)});
    must(ledger.save_checkpoint(state, ledger.last_sequence(), state.now()));
  }
};

TEST_F(Recovery, replays_only_what_came_after_the_checkpoint) {
  Ledger ledger = writer(file());
  State state;
  live(ledger, state, some_events());
  must(ledger.save_checkpoint(state, ledger.last_sequence(), state.now()));
  live(ledger, state, std::vector<Event>{opened(4, 10'300, "a", 1)});
  auto recovered = must(ledger.recover());
  EXPECT_EQ(recovered.last_sequence, 8);
  EXPECT_EQ(recovered.replayed, 1);
  EXPECT_EQ(standings(recovered.state, {11'000}), standings(state, {11'000}));
  EXPECT_EQ(must(ledger.recover_from_scratch()).replayed, 8);
}

TEST_F(Recovery, an_empty_ledger_gives_empty_books) {
  const Ledger ledger = writer(file());
  const auto recovered = must(ledger.recover());
  EXPECT_EQ(recovered.last_sequence, 0);
  EXPECT_EQ(recovered.replayed, 0);
  EXPECT_TRUE(must(audit(ledger)).clean());
}

TEST_F(Recovery, keeps_the_newest_three_checkpoints) {
  Ledger ledger = writer(file());
  State state;
  for (std::uint32_t job = 1; job <= 5; ++job) run_and_checkpoint(ledger, state, job);
  EXPECT_EQ(rows(file(), "SELECT sequence FROM checkpoints ORDER BY sequence"),
            (std::vector<std::string>{"6", "8", "10"}));
}

TEST_F(Recovery, passes_over_a_checkpoint_that_does_not_fit) {
  {
    Ledger ledger = writer(file());
    State state;
    for (std::uint32_t job = 1; job <= 3; ++job) run_and_checkpoint(ledger, state, job);
  }
  const auto replayed = [&] { return must(reader(file()).recover()).replayed; };
  EXPECT_EQ(replayed(), 0);
  tamper(file(),
         "UPDATE checkpoint_parts SET text = replace(text, '1', '2') WHERE id = (SELECT parts FROM checkpoints WHERE "
         "sequence = 6)");
  EXPECT_EQ(replayed(), 2);
  tamper(file(), "UPDATE checkpoints SET at = at + 1 WHERE sequence = 4");
  EXPECT_EQ(replayed(), 4);
  tamper(file(), "UPDATE checkpoints SET sha = x'00' WHERE sequence = 2");
  EXPECT_EQ(replayed(), 6);
}

TEST_F(Recovery, passes_over_a_checkpoint_whose_events_are_not_there) {
  const auto other = directory() / "other.db";
  {
    Ledger ledger = writer(file());
    State state;
    run_and_checkpoint(ledger, state, 1);
    Ledger longer = writer(other);
    State more;
    run_and_checkpoint(longer, more, 1);
    run_and_checkpoint(longer, more, 2);
  }
  // Checkpoints from a copy that went on differently.
  tamper(file(), "ATTACH '" + other.string() +
                     "' AS o; DELETE FROM checkpoint_parts; INSERT INTO checkpoint_parts SELECT * FROM "
                     "o.checkpoint_parts; INSERT INTO checkpoints SELECT * FROM o.checkpoints WHERE sequence = 4");
  EXPECT_EQ(must(reader(file()).recover()).last_sequence, 2);
}

TEST_F(Recovery, a_checkpoint_must_speak_of_known_events) {
  Ledger ledger = writer(file());
  const auto saved = ledger.save_checkpoint(State{}, 1, {0});
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, Errc::invalid_argument);
  EXPECT_TRUE(ledger.save_checkpoint(State{}, 0, {0}));
}

TEST_F(Recovery, an_event_older_than_the_checkpoints_memory_costs_a_replay_and_nothing_else) {
  const accounting::StateOptions short_memory{.memory_horizon = Duration{1000}};
  Ledger ledger = writer(file());
  State state(short_memory);
  live(ledger, state, some_events());
  state.advance({1'000'000});
  state.compact();
  must(ledger.save_checkpoint(state, ledger.last_sequence(), state.now()));
  const auto late = opened(9, 9'500, "a", 2);
  must(ledger.append(std::vector<Event>{late, closed(late, 9'600)}, {1'000'001}));

  auto recovered = must(ledger.recover(short_memory));
  EXPECT_EQ(recovered.replayed, 9);
  auto scratch = must(ledger.recover_from_scratch(short_memory));
  EXPECT_EQ(standings(recovered.state, {1'000'100}), standings(scratch.state, {1'000'100}));
  EXPECT_NE(standings(recovered.state, {1'000'100}), standings(state, {1'000'100}));
  EXPECT_TRUE(must(audit(ledger)).clean());
}

TEST_F(Recovery, the_newest_checkpoint_that_remembers_far_enough_is_the_one_to_begin_from) {
  const accounting::StateOptions short_memory{.memory_horizon = Duration{1000}};
  Ledger ledger = writer(file());
  State state(short_memory);
  live(ledger, state, some_events());
  must(ledger.save_checkpoint(state, ledger.last_sequence(), state.now()));  // remembers everything
  live(ledger, state, std::vector<Event>{opened(4, 12'000, "a", 1), opened(5, 12'000, "b", 1)});
  state.compact();
  must(ledger.save_checkpoint(state, ledger.last_sequence(), state.now()));  // back to 11,000
  live(ledger, state, std::vector<Event>{opened(6, 1'000'000, "a", 1)});
  state.compact();
  must(ledger.save_checkpoint(state, ledger.last_sequence(), state.now()));
  const auto late = opened(9, 11'500, "a", 2);
  must(ledger.append(std::vector<Event>{late, closed(late, 11'600)}, {1'000'001}));
  auto recovered = must(ledger.recover(short_memory));
  auto scratch = must(ledger.recover_from_scratch(short_memory));
  EXPECT_EQ(recovered.replayed, 3) << "from the second one";
  EXPECT_EQ(standings(recovered.state, {1'000'100}), standings(scratch.state, {1'000'100}));

  const auto later = opened(10, 9'500, "a", 2);
  must(ledger.append(std::vector<Event>{later, closed(later, 9'600)}, {1'000'002}));
  recovered = must(ledger.recover(short_memory));
  scratch = must(ledger.recover_from_scratch(short_memory));
  EXPECT_EQ(recovered.replayed, 7) << "from the first one";
  EXPECT_EQ(standings(recovered.state, {1'000'100}), standings(scratch.state, {1'000'100}));
}

TEST_F(Recovery, another_thread_can_follow_it_and_end_it) {
  Ledger ledger = writer(file());
  must(ledger.append(some_events(), {0}));
  ReplayWatch watch;
  EXPECT_EQ(watch.percent(), 0);
  EXPECT_EQ(must(ledger.recover({}, &watch)).last_sequence, 7);
  EXPECT_EQ(watch.done, 7);
  EXPECT_EQ(watch.percent(), 100);
  watch.stop = true;
  EXPECT_FALSE(ledger.recover({}, &watch).has_value());
  EXPECT_TRUE(ledger.recover().has_value()) << "the connection is as good as before";
}

TEST_F(Recovery, works_from_a_reader_too) {
  {
    Ledger ledger = writer(file());
    State state;
    live(ledger, state, some_events());
    must(ledger.save_checkpoint(state, ledger.last_sequence(), state.now()));
  }
  const Ledger ledger = reader(file());
  EXPECT_EQ(must(ledger.recover()).last_sequence, 7);
  Ledger writable = reader(file());
  EXPECT_EQ(writable.save_checkpoint(State{}, 0, {0}).error().code, Errc::denied);
  EXPECT_EQ(writable.rebuild_projections().error().code, Errc::denied);
}

TEST_F(Recovery, standings_of_a_day_are_kept_once_and_can_be_made_again) {
  Ledger ledger = writer(file());
  State state;
  live(ledger, state, some_events());
  for (const std::int64_t at : {k_day - 10, k_day - 5}) {
    state.advance({at});
    must(ledger.record_standings({at}, state, state.advance({at}).standings()));
  }
  EXPECT_EQ(
      rows(file(), "SELECT organization, day, at, sequence, psi, owned FROM books_by_day WHERE organization = 'a'"),
      std::vector<std::string>{"a|0|86395|7|30538200000000|0"});
  // What arrives later about that day belongs to later days' rows.
  const auto late = opened(9, 10'400, "a", 2);
  live(ledger, state, std::vector<Event>{late, closed(late, 10'500)});
  const auto before = dump(ledger);
  tamper(file(),
         "DELETE FROM segment_events; DELETE FROM ownership; UPDATE books_by_day SET psi = '0'; UPDATE "
         "contributions_by_day SET phi = '1', balance = '1'");
  EXPECT_NE(dump(ledger), before);
  must(ledger.rebuild_projections());
  EXPECT_EQ(dump(ledger), before);
}

}  // namespace
}  // namespace shapley::ledger
