// What the books remember of jobs, what they forget, and what they ask for when late events concern what they forgot.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "state_fixture.hpp"
#include "tests/support/must.hpp"

namespace shapley::accounting {
namespace {

TEST(StateMemory, ForgetsTheOldestOfManyFinishedJobsSooner) {
  State state({.memory_horizon = Duration{1000}, .most_finished = 2, .shortest_memory_horizon = Duration{100}});
  const auto finish = [&](std::uint32_t job, std::int64_t begin, std::int64_t end) {
    const SegmentOpened opened = run(job, "ann", begin, {{"n1", cores(1)}});
    ASSERT_TRUE(state.apply(opened).has_value());
    ASSERT_TRUE(state.apply(closed(opened, end)).has_value());
  };
  const auto remembered = [&] {
    std::vector<std::uint32_t> jobs;
    for (std::uint32_t job = 1; job <= 5; ++job) {
      if (state.find_job({job}) != nullptr) jobs.push_back(job);
    }
    return jobs;
  };
  ASSERT_TRUE(state.apply(run(1, "ann", 0, {{"n1", cores(1)}})).has_value());  // runs on
  finish(2, 0, 10);
  finish(3, 0, 20);
  finish(4, 0, 30);
  finish(5, 25, 30);
  state.advance(at(50));
  state.compact();
  EXPECT_EQ(state.memory_horizon(), at(-50)) << "nothing of the last 100 seconds is forgotten";
  EXPECT_EQ(remembered(), (std::vector<std::uint32_t>{1, 2, 3, 4, 5}));
  state.advance(at(115));
  state.compact();
  EXPECT_EQ(state.memory_horizon(), at(15));
  EXPECT_EQ(remembered(), (std::vector<std::uint32_t>{1, 3, 4, 5}));
  state.advance(at(500));
  state.compact();
  EXPECT_EQ(state.memory_horizon(), at(30)) << "two of those that finished are kept";
  EXPECT_EQ(remembered(), (std::vector<std::uint32_t>{1, 4, 5}));
  state.advance(at(1100));
  state.compact();
  EXPECT_EQ(state.memory_horizon(), at(100));
  EXPECT_EQ(remembered(), (std::vector<std::uint32_t>{1}));
}

TEST_F(StateTest, KeepsWhatItIsAskedToKeep) {
  const SegmentOpened old = run(1, "ann", 0, {{"n1", cores(1)}});
  apply(old);
  apply(closed(old, 100));
  state_.advance(at(5000));
  state_.compact(at(100));
  EXPECT_EQ(state_.memory_horizon(), at(100));
  EXPECT_EQ(state_.remembered_jobs(), 1U);
  state_.compact(at(4500));
  EXPECT_EQ(state_.memory_horizon(), at(4000)) << "its own horizon, 1000 seconds";
  EXPECT_EQ(state_.remembered_jobs(), 0U);
}

TEST_F(StateTest, AsksForReplayOfWhatIsOlderThanItsMemory) {
  const SegmentOpened old = run(1, "ann", 0, {{"n1", cores(1)}});
  const SegmentOpened open = run(2, "ann", 0, {{"n1", cores(1)}});
  apply(old);
  apply(open);
  apply(closed(old, 100));
  EXPECT_EQ(state_.memory_horizon(), k_beginning_of_time);
  state_.advance(at(2000));
  state_.compact();
  EXPECT_EQ(state_.memory_horizon(), at(1000));
  const std::string before = state_.save();
  for (const Event& event : std::vector<Event>{
           old,
           closed(old, 100),
           run(3, "ann", 999, {{"n1", cores(1)}}),
           closed(open, 999),
           SegmentRetracted{old.key, at(2000)},   // forgotten
           SegmentRetracted{open.key, at(2000)},  // would retract what happened before the horizon
           OrganizationsDeclared{at(999), {"ann"}},
           owned("n1", 999, {{"ann", 1'000'000}}),
           capacity("n1", 999, 1),
           PeriodDeclared{at(999), Period::monthly},
       }) {
    EXPECT_TRUE(state_.is_too_old(event)) << event_key(event);
    apply(event, Applied::needs_replay);
    EXPECT_EQ(state_.save(), before) << event_key(event);
  }
  EXPECT_FALSE(state_.is_too_old(open)) << "it is known";
  apply(open, Applied::duplicate);
  apply(run(3, "ann", 1000, {{"n1", cores(1)}}));
  // What the books do not depend on is never too old.
  apply(JobDescribed{.job = {9},
                     .submit = at(3),
                     .organization = "ann",
                     .array_task = {},
                     .account = {},
                     .partition = {},
                     .qos = {},
                     .name = {},
                     .wckey = {}});
  apply(ConfigurationLoaded{at(3), "a: 1"});
}

TEST_F(StateTest, WithoutFiguresItsMemoryFollowsEventsHoweverOld) {
  const SegmentOpened open = run(1, "ann", 0, {{"n1", cores(1)}});
  const SegmentOpened finished = run(2, "ann", 1500, {{"n1", cores(1)}});
  for (const Event& event : std::vector<Event>{capacity("n1", 0, 8), open, finished, closed(finished, 1600)})
    apply(event);
  state_.advance(at(2000));
  state_.compact();
  const SegmentOpened late = run(3, "bob", 100, {{"n1", cores(8)}, {"n2", cores(1)}});
  apply(late, Applied::needs_replay);
  State unlike({.memory_horizon = Duration{1000}});
  ASSERT_TRUE(unlike.apply(open).has_value());
  unlike.advance(at(2000));
  unlike.compact();
  unlike.keep_memory_only(at(50));
  EXPECT_EQ(unlike.memory_horizon(), at(50)) << "nothing later was known, so nothing later is forgotten";
  state_.keep_memory_only(at(1600));
  EXPECT_EQ(state_.memory_horizon(), at(1000));

  apply(late);
  apply(late, Applied::duplicate);
  EXPECT_EQ(state_.jobs_with_open_segments(), (std::vector<JobId>{{1}, {3}}));
  EXPECT_EQ(state_.find_job({3})->organization, "bob");
  apply(closed(late, 200));
  EXPECT_EQ(state_.find_segment(late.key)->end, at(200));
  apply(SegmentRetracted{open.key, at(2000)});
  EXPECT_EQ(state_.find_segment(open.key), nullptr);
  apply(capacity("n1", 300, 4));
  apply(capacity("n2", 300, 4));
  EXPECT_EQ(state_.capacity("n1"), cores(4));
  EXPECT_EQ(state_.capacity("n2"), cores(4));
  apply(owned("n1", 300, {{"bob", 1'000'000}}));
  apply(PeriodDeclared{at(300), Period::monthly});
  EXPECT_FALSE(state_.apply(closed(late, 300)).has_value()) << "another end of the same segment";
  EXPECT_EQ(state_.find_segment(finished.key)->end, at(1600));
}

// Arrays of four tasks that have waited since long before the horizon; a task of each starts.
TEST(StateMemory, AnArrayFromBeforeTheHorizonGoesOn) {
  State state({.memory_horizon = Duration{36'000}});
  const auto applied = [&](const Event& event) { return must(state.apply(event)); };
  const auto waits = [](std::uint32_t array, std::uint32_t ordinal, std::int64_t begin, std::uint32_t tasks) {
    SegmentOpened opened = wait(array, "ann", 0, tasks);
    opened.key.ordinal = ordinal;
    opened.begin = at(begin);
    opened.tasks = tasks;
    return opened;
  };
  const auto starts = [](std::uint32_t task, std::uint32_t array, std::int64_t begin) {
    SegmentOpened opened = run(task, "ann", begin, {{"n1", cores(1)}});
    opened.released = at(0);
    opened.waited_as = {array};
    return opened;
  };
  applied(HindsightDefined{.at = at(-1), .jobs = JobsStart::whole, .kinds = {}});
  applied(capacity("n1", 0, 8));
  for (const std::uint32_t array : {10U, 20U, 30U}) applied(waits(array, 0, 0, 4));
  state.advance(at(100'000));
  state.compact();
  ASSERT_EQ(state.memory_horizon(), at(64'000));
  // The array's record is read with or after that of the task.
  EXPECT_EQ(applied(starts(11, 10, 100'000)), Applied::changed);
  EXPECT_EQ(applied(closed(waits(10, 0, 0, 4), 100'010)), Applied::changed);
  EXPECT_EQ(applied(waits(10, 1, 100'010, 3)), Applied::changed);
  // Tasks were cancelled: what stays is opened before what waited is cut.
  EXPECT_EQ(applied(starts(21, 20, 100'000)), Applied::changed);
  EXPECT_EQ(applied(waits(20, 1, 64'000, 2)), Applied::changed);
  EXPECT_EQ(applied(closed(waits(20, 0, 0, 4), 64'000)), Applied::changed);
  // Without what stays the run did not wait until it began: it was released six hours before at the earliest.
  EXPECT_EQ(applied(starts(31, 30, 100'000)), Applied::changed);
  EXPECT_EQ(applied(closed(waits(30, 0, 0, 4), 64'000)), Applied::needs_replay);
  EXPECT_EQ(applied(starts(32, 99, 80'000)), Applied::needs_replay) << "its wait is not known";
}

TEST(StateMemory, KnowsTheTasksOfAnArrayAsLongAsItKnowsTheJobs) {
  State state({.memory_horizon = Duration{1000}});
  const auto describe = [&](std::uint32_t job, std::int64_t submit, std::uint32_t array) {
    JobDescribed described;
    described.job = {job};
    described.submit = at(submit);
    described.array_job = array;
    ASSERT_TRUE(state.apply(described).has_value());
  };
  describe(9, 0, 7);
  describe(8, 500, 7);
  describe(7, 0, 7);
  describe(5, 0, 0);
  EXPECT_EQ(state.tasks_of({7}), (std::vector<JobId>{{8}, {9}})) << "the array itself apart";
  EXPECT_TRUE(state.tasks_of({0}).empty());
  EXPECT_EQ(must(State::load(state.save())).tasks_of({7}), (std::vector<JobId>{{8}, {9}}));
  describe(9, 600, 6);
  EXPECT_EQ(state.tasks_of({7}), (std::vector<JobId>{{8}})) << "its number went to another job";
  state.advance(at(1550));
  state.compact();
  EXPECT_TRUE(state.tasks_of({7}).empty());
  EXPECT_EQ(state.tasks_of({6}), (std::vector<JobId>{{9}}));
}

TEST(StateMemory, KnowsTheLastStartOfRunsThatItForgot) {
  State state({.memory_horizon = Duration{1000}});
  const auto finish = [&](std::uint32_t job, std::int64_t begin, std::int64_t end) {
    const SegmentOpened opened = run(job, "ann", begin, {{"n1", cores(1)}});
    EXPECT_TRUE(state.apply(opened).has_value());
    EXPECT_TRUE(state.apply(closed(opened, end)).has_value());
    return opened.key;
  };
  const auto last = [](const State& books) { return books.last_starts().at(books.find_organization("ann")->value); };
  finish(1, 0, 500);
  const SegmentKey mistaken = finish(2, 20, 30);
  finish(3, 10, 1900);
  ASSERT_TRUE(state.apply(SegmentRetracted{mistaken, at(40)}).has_value());
  EXPECT_EQ(last(state), at(10));
  EXPECT_EQ(state.last_starts().at(0), k_beginning_of_time) << "guests never ran";
  state.advance(at(1600));
  state.compact();
  EXPECT_EQ(last(state), at(10));
  state.advance(at(5000));
  state.compact();
  EXPECT_EQ(state.find_job({3}), nullptr);
  EXPECT_EQ(last(state), at(10));
  EXPECT_EQ(last(must(State::load(state.save()))), at(10));
  const SegmentKey late = finish(4, 4000, 4500);
  EXPECT_EQ(last(state), at(4000));
  ASSERT_TRUE(state.apply(SegmentRetracted{late, at(5000)}).has_value());
  EXPECT_EQ(last(state), at(10));
}

TEST_F(StateTest, RemembersJobsAndSegments) {
  const SegmentOpened waiting = wait(7, "ann", 0, 2);
  const SegmentOpened running = run(7, "ann", 5, {{"n1", cores(2)}});
  apply(running);
  apply(waiting);
  ASSERT_NE(state_.find_job({7}), nullptr);
  EXPECT_EQ(state_.find_job({7})->organization, "ann");
  EXPECT_EQ(state_.find_job({7})->segments, (std::vector<SegmentKey>{running.key, waiting.key}));
  apply(SegmentClosed{waiting.key, at(5), CloseReason::started, "RUNNING"});
  ASSERT_NE(state_.find_segment(waiting.key), nullptr);
  EXPECT_EQ(state_.find_segment(waiting.key)->opened, waiting);
  EXPECT_EQ(state_.find_segment(waiting.key)->end, at(5));
  EXPECT_EQ(state_.find_segment(running.key)->end, std::nullopt);
  EXPECT_EQ(state_.jobs_with_open_segments(), (std::vector<JobId>{{7}}));

  // A job that moved to another account is described again, with the later submit time first in effect.
  apply(JobDescribed{.job = {7},
                     .submit = at(0),
                     .organization = "bob",
                     .array_task = {},
                     .account = {},
                     .partition = {},
                     .qos = {},
                     .name = {},
                     .wckey = {}});
  EXPECT_EQ(state_.find_job({7})->organization, "bob");
  EXPECT_EQ(state_.find_organization("bob"), std::nullopt) << "a description is no entry in the books";

  apply(closed(running, 100));
  EXPECT_TRUE(state_.jobs_with_open_segments().empty());
  state_.advance(at(1050));
  state_.compact();
  EXPECT_EQ(state_.find_segment(waiting.key), nullptr) << "ended before the horizon";
  EXPECT_NE(state_.find_segment(running.key), nullptr) << "ended after it";
  state_.advance(at(1101));
  state_.compact();
  EXPECT_EQ(state_.find_job({7}), nullptr);
}

TEST_F(StateTest, RemembersSinceWhenARunCouldHaveStarted) {
  SegmentOpened task = run(8, "ann", 100, {{"n1", cores(1)}});
  task.released = at(40);
  task.waited_as = {7};
  apply(task);
  apply(run(9, "ann", 100, {{"n1", cores(1)}}));
  state_ = std::move(*State::load(state_.save()));
  EXPECT_EQ(state_.find_segment(task.key)->opened, task);
  apply(task, Applied::duplicate);
  EXPECT_EQ(state_.find_segment(run_key(9, 100))->opened.released, std::nullopt);
  task.released = at(41);
  refuse(task, Errc::conflict);
}

TEST_F(StateTest, RefusesARunThatBeganBeforeItsRelease) {
  SegmentOpened early = run(8, "ann", 100, {{"n1", cores(1)}});
  early.released = at(101);
  refuse(early, Errc::invalid_argument);
  early.released = at(100);
  apply(early);
}

// Which events the books refuse, and which they know to be repetitions.

TEST_F(StateTest, KnowsRepetitionsFromContradictions) {
  const SegmentOpened opened = run(1, "ann", 0, {{"n1", cores(1)}});
  const std::vector<std::pair<Event, Event>> twins{
      {opened, run(1, "bob", 0, {{"n1", cores(1)}})},
      {closed(opened, 3), closed(opened, 4)},
      {SegmentRetracted{opened.key, at(5)}, SegmentRetracted{opened.key, at(6)}},
      {OrganizationsDeclared{at(0), {"ann", "bob"}}, OrganizationsDeclared{at(0), {"bob", "ann"}}},
      {owned("n1", 0, {{"ann", 1'000'000}}), owned("n1", 0, {{"ann", 999'999}})},
      {capacity("n1", 0, 4), capacity("n1", 0, 5)},
      {PeriodDeclared{at(0), Period::monthly}, PeriodDeclared{at(0), Period::yearly}},
      {JobDescribed{.job = {1},
                    .submit = at(0),
                    .organization = "ann",
                    .array_task = {},
                    .account = "a",
                    .partition = {},
                    .qos = {},
                    .name = {},
                    .wckey = {}},
       JobDescribed{.job = {1},
                    .submit = at(0),
                    .organization = "ann",
                    .array_task = 0,
                    .account = "a",
                    .partition = {},
                    .qos = {},
                    .name = {},
                    .wckey = {}}},
      {ConfigurationLoaded{at(0), "a: 1"}, ConfigurationLoaded{at(0), "a: 2"}},
      {ControllerBegan{7, at(0), std::string(64, 'a'), "ctl1", PeerAnswer::answered},
       ControllerBegan{7, at(0), std::string(64, 'a'), "ctl2", PeerAnswer::answered}},
      {change_to(described(1, "moved"), at(4)), change_to(described(1, "moved again"), at(4))}};
  for (const auto& [fact, contradiction] : twins) {
    apply(fact);
    const std::string before = state_.save();
    apply(fact, Applied::duplicate);
    EXPECT_EQ(state_.save(), before);
    refuse(contradiction, Errc::conflict);
  }
}

TEST_F(StateTest, TellsCloseReasonsApart) {
  const SegmentOpened opened = run(1, "ann", 0, {{"n1", cores(1)}});
  apply(SegmentClosed{opened.key, at(3), CloseReason::ended, "COMPLETED"});
  refuse(SegmentClosed{opened.key, at(3), CloseReason::ended, "FAILED"}, Errc::conflict);
  refuse(SegmentClosed{opened.key, at(3), CloseReason::requeued, "COMPLETED"}, Errc::conflict);
}

TEST_F(StateTest, RefusesSegmentsThatEndBeforeTheyBegin) {
  const SegmentOpened first = run(1, "ann", 5, {{"n1", cores(1)}});
  apply(first);
  refuse(closed(first, 4), Errc::conflict);
  const SegmentOpened second = run(2, "ann", 5, {{"n1", cores(1)}});
  apply(closed(second, 4));
  refuse(second, Errc::conflict);
  // Without effect, but a fact.
  const SegmentOpened third = run(3, "ann", 5, {{"n1", cores(1)}});
  apply(third);
  apply(closed(third, 5));
  EXPECT_EQ(row("ann", 5).used, cores(1));
}

TEST_F(StateTest, RefusesMalformedEvents) {
  const SegmentOpened good = run(1, "ann", 0, {{"n1", cores(1)}, {"n2", cores(1)}});
  const auto changed = [&](auto change) {
    SegmentOpened event = good;
    change(event);
    return event;
  };
  const std::vector<Event> malformed{
      changed([](auto& e) { e.organization.clear(); }),
      changed([](auto& e) { e.organization = "commons"; }),
      changed([](auto& e) { e.processors = cores(3); }),
      changed([](auto& e) { e.begin = {-1}; }),
      changed([](auto& e) { e.key.anchor = k_end_of_time; }),
      changed([](auto& e) { std::swap(e.nodes[0], e.nodes[1]); }),
      changed([](auto& e) { e.nodes[1].node = "n1"; }),
      changed([](auto& e) { e.nodes[0].node.clear(); }),
      changed([](auto& e) { e.nodes[0].processors = {0}; }),
      changed([](auto& e) { e.nodes[0].processors = {-1}; }),
      changed([](auto& e) { e.nodes[0].processors = e.processors = cores(2'000'000); }),
      changed([](auto& e) { e.key.kind = SegmentKind::wait; }),
      wait(1, "ann", 0, -1),
      SegmentClosed{good.key, {-5}, CloseReason::ended, ""},
      SegmentRetracted{good.key, {-5}},
      OrganizationsDeclared{at(0), {"ann", "ann"}},
      OrganizationsDeclared{at(0), {""}},
      owned("", 0, {}),
      owned("n1", 0, {{"ann", 600'000}, {"bob", 600'000}}),
      owned("n1", 0, {{"ann", 300'000}, {"ann", 300'000}}),
      owned("n1", 0, {{"ann", 0}}),
      owned("n1", 0, {{"", 5}}),
      owned("n1", 0, {{"guests", 1'000'000}}),
      OwnershipStated{"n1", at(0), {{at(5), {}}, {at(5), {}}}},
      OwnershipStated{"n1", k_beginning_of_time, {}},
      capacity("", 0, 1),
      capacity("n1", 0, -1),
      PeriodDeclared{{-1}, Period::monthly},
      ConfigurationLoaded{{-1}, ""},
      ControllerBegan{7, at(0), std::string(63, 'a'), "ctl1", PeerAnswer::silent},
      ControllerBegan{7, at(0), std::string(64, 'A'), "ctl1", PeerAnswer::silent},
      ControllerBegan{7, at(0), std::string(64, 'a'), "", PeerAnswer::silent},
      ControllerBegan{-1, at(0), std::string(64, 'a'), "ctl1", PeerAnswer::silent},
  };
  for (const Event& event : malformed) refuse(event, Errc::invalid_argument);
}

}  // namespace
}  // namespace shapley::accounting
