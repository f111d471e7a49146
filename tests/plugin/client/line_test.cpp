// The line that one scheduling pass serves, against the rule asked again after every start.
#include "plugin/client/places/line.hpp"

#include <algorithm>
#include <optional>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/types.hpp"

namespace shapley::client {
namespace {

Measure processors(std::int64_t count) {
  return {count * k_micro, count * k_micro};
}

using Queues = std::vector<std::vector<Asking>>;

std::vector<LinePlace> line_of(std::span<const Contender> contenders, const Queues& queues, std::int64_t reach,
                               std::size_t longest, const NodeSetTable& sets = NodeSetTable(),
                               std::int64_t widest_run = 0) {
  std::vector<OwnQueue> own;
  for (const std::vector<Asking>& queue : queues) {
    OwnQueue& made = own.emplace_back(sets, reach * k_micro);
    for (const Asking& asking : queue) (void)made.add(asking);
  }
  return serving_line(contenders, own, {sets[0].free, widest_run * k_micro}, reach * k_micro, longest);
}

// Of a task in line: its organization, and its job.
struct Served {
  std::uint32_t organization = 0;
  std::uint32_t job = 0;
  friend bool operator==(const Served&, const Served&) = default;
};

std::vector<Served> tasks_of(std::span<const LinePlace> line) {
  std::vector<Served> tasks;
  for (const LinePlace& place : line) tasks.insert(tasks.end(), place.tasks, {place.organization, place.job});
  return tasks;
}

// The rule, literally: who is below its guarantee goes first, then who leads; a start lowers the lead by its charge and
// what is lacking by what it blocks.
std::vector<Served> asked_again(std::vector<Contender> contenders, Queues queues, std::int64_t reach) {
  std::vector<Served> served;
  for (std::int64_t total = 0; total < reach * k_micro;) {
    std::optional<std::uint32_t> best;
    for (std::uint32_t u = 0; u < contenders.size(); ++u) {
      if (queues[u].empty()) continue;
      const auto goes_first = [&](std::uint32_t a, std::uint32_t b) {
        const bool a_below = contenders[a].lacking > 0;
        const bool b_below = contenders[b].lacking > 0;
        if (a_below != b_below) return a_below;
        if (contenders[a].lead != contenders[b].lead) return contenders[a].lead > contenders[b].lead;
        return contenders[a].rank < contenders[b].rank;
      };
      if (!best || goes_first(u, *best)) best = u;
    }
    if (!best) break;
    Asking& first = queues[*best].front();
    served.push_back({*best, first.job});
    contenders[*best].lead -= first.task.charge;
    contenders[*best].lacking -= first.task.blocked;
    total += first.task.blocked;
    if (--first.tasks == 0) queues[*best].erase(queues[*best].begin());
  }
  return served;
}

struct Scene {
  std::vector<Contender> contenders;
  Queues queues;
  std::int64_t reach = 0;
  std::int64_t free = 0;
};

// What waits is charged another amount than it blocks.
Scene any_scene() {
  Scene scene;
  const auto organizations = *rc::gen::inRange<std::uint32_t>(1, 6);
  std::uint32_t job = 0;
  for (std::uint32_t u = 0; u < organizations; ++u) {
    scene.contenders.push_back({.rank = u,
                                .lead = *rc::gen::inRange<std::int64_t>(-20, 60) * k_micro,
                                .lacking = *rc::gen::inRange<std::int64_t>(-5, 20) * k_micro});
    scene.queues.emplace_back();
    const auto jobs = *rc::gen::inRange(0, 20);
    for (int i = 0; i < jobs; ++i) {
      const auto blocked = *rc::gen::inRange<std::int64_t>(1, 33);
      const auto price = *rc::gen::inRange<std::int64_t>(0, 4);
      scene.queues.back().push_back({.job = job++,
                                     .task = {price * blocked * k_micro, blocked * k_micro},
                                     .tasks = *rc::gen::element<std::uint32_t>(1, 1, 1, 7)});
    }
  }
  scene.reach = *rc::gen::inRange<std::int64_t>(1, 200);
  scene.free = *rc::gen::inRange<std::int64_t>(0, 200);
  return scene;
}

RC_GTEST_PROP(ServingLine, IsTheRuleAskedAgainAfterEveryStart, ()) {
  const Scene scene = any_scene();
  const std::vector<Served> served = asked_again(scene.contenders, scene.queues, scene.reach);
  // Of one set of nodes it does not matter how much of it is free.
  const NodeSetTable sets({{.free = scene.free * k_micro, .all = 10'000 * k_micro}});
  const std::vector<Served> line = tasks_of(line_of(scene.contenders, scene.queues, scene.reach, 10'000, sets));
  // Behind its reach it has what could start now.
  RC_ASSERT(line.size() >= served.size());
  RC_ASSERT(std::equal(served.begin(), served.end(), line.begin()));
}

RC_GTEST_PROP(ServingLine, EndsWithItsLongest, ()) {
  const Scene scene = any_scene();
  const auto longest = *rc::gen::inRange<std::size_t>(0, 10);
  const std::vector<LinePlace> whole = line_of(scene.contenders, scene.queues, scene.reach, 10'000);
  const std::vector<LinePlace> cut = line_of(scene.contenders, scene.queues, scene.reach, longest);
  RC_ASSERT(cut.size() == std::min(longest, whole.size()));
  for (std::size_t i = 0; i < cut.size(); ++i) RC_ASSERT(cut[i].job == whole[i].job);
}

// By the lead that the daemon sends for guests who go last (accounting/state/ranking.hpp).
TEST(ServingLine, AnOrganizationThatGoesLastStandsBehindAllOthers) {
  constexpr std::int64_t k_last = -(std::int64_t{1} << 40U) * k_micro;
  const std::vector<Contender> contenders{{.rank = 0, .lead = 0}, {.rank = 1, .lead = k_last}};
  Queues queues(2);
  queues[1].push_back({.job = 0, .task = processors(1)});
  for (std::uint32_t job = 1; job <= 50; ++job) queues[0].push_back({.job = job, .task = processors(100'000)});
  const std::vector<LinePlace> line = line_of(contenders, queues, 10'000'000, 100);
  ASSERT_EQ(line.size(), 51U);
  EXPECT_EQ(line.back().organization, 1U);
}

TEST(ServingLine, WhatIsNotAvailableHoldsNothingUp) {
  const std::vector<Contender> contenders{{.rank = 0, .lead = 4 * k_micro}, {.rank = 1, .lead = 2 * k_micro}};
  // The first one's wide job waits for a partition that is down.
  const Queues queues{
      {{.job = 0, .task = processors(8), .hindrance = SHAPLEY_HINDRANCE_NODES}, {.job = 1, .task = processors(1)}},
      {{.job = 2, .task = processors(1)}}};
  const std::vector<LinePlace> line = line_of(contenders, queues, 100, 100);
  ASSERT_EQ(line.size(), 3U);
  EXPECT_EQ(line[0].job, 0U) << "it has its place for when the partition is up";
  EXPECT_EQ(line[1].job, 1U) << "and the job behind it the one that it would have without it";
  EXPECT_EQ(line[2].job, 2U);
}

// ---- sets of nodes ----------------------------------------------------------------------------------

// Set 0: all nodes; 1 and 2: two partitions without a common node.
NodeSetTable two_partitions(std::int64_t free_in_first, std::int64_t free_in_second) {
  return NodeSetTable(
      {{.free = (free_in_first + free_in_second) * k_micro, .all = 64 * k_micro},
       {.free = free_in_first * k_micro, .all = 32 * k_micro},
       {.free = free_in_second * k_micro, .all = 32 * k_micro}},
      [](NodeSetId a, NodeSetId b) { return a == 0 || b == 0 || a == b; },
      [](NodeSetId outer, NodeSetId inner) { return outer == 0 || outer == inner; });
}

std::vector<Asking> alike(std::uint32_t first, std::uint32_t count, NodeSetId nodes) {
  std::vector<Asking> jobs;
  for (std::uint32_t i = 0; i < count; ++i) jobs.push_back({.job = first + i, .task = processors(1), .nodes = nodes});
  return jobs;
}

// The first partition is full with what others run. Each lacks 16 to its guarantee; the other one leads by more.
TEST(ServingLine, AFullPartitionKeepsItsOrganizationOutOfNoFreeOne) {
  const std::vector<Contender> contenders{{.rank = 1, .lacking = 16 * k_micro},
                                          {.rank = 0, .lead = 64 * k_micro, .lacking = 16 * k_micro}};
  Queues queues{alike(0, 24, 1), alike(100, 64, 2)};
  for (const Asking& asking : alike(24, 24, 2)) queues[0].push_back(asking);
  const std::vector<Served> tasks = tasks_of(line_of(contenders, queues, 88, 1'000, two_partitions(0, 32)));
  std::vector<std::uint32_t> started(2);
  std::uint32_t room = 32;
  for (const Served& task : tasks) {
    if ((task.job >= 24) && room > 0) ++started[task.organization], --room;
  }
  EXPECT_EQ(started[0], 16U) << "its guarantee";
  EXPECT_EQ(started[1], 16U);
}

// The partition is down, and the node that the first jobs name is full: once it is up, they cannot start.
TEST(ServingLine, WhatWaitsForAFullNodeHoldsUpNothingWhenAPartitionComesUp) {
  const std::vector<Contender> contenders{{.rank = 1, .lacking = 16 * k_micro}, {.rank = 0, .lead = 64 * k_micro}};
  Queues queues{alike(0, 24, 1), alike(100, 64, 0)};
  for (const Asking& asking : alike(24, 24, 0)) queues[0].push_back(asking);
  for (std::vector<Asking>& queue : queues) {
    for (Asking& asking : queue) asking.hindrance = SHAPLEY_HINDRANCE_NODES;
  }
  const std::vector<Served> tasks = tasks_of(line_of(contenders, queues, 88, 1'000, two_partitions(0, 32)));
  const auto first = std::find(tasks.begin(), tasks.end(), Served{0, 24});
  const auto other =
      std::find_if(tasks.begin(), tasks.end(), [](const Served& task) { return task.organization == 1; });
  EXPECT_LT(first, other) << "it is below its guarantee";
}

TEST(ServingLine, UsedUpLicensesHoldUpNothingWhenAPartitionComesUp) {
  const std::vector<Contender> contenders{{.rank = 0, .lead = 4 * k_micro}, {.rank = 1, .lead = 2 * k_micro}};
  const Queues queues{{{.job = 0, .task = processors(8), .hindrance = SHAPLEY_HINDRANCE_LICENSES},
                       {.job = 1, .task = processors(1), .hindrance = SHAPLEY_HINDRANCE_NODES}},
                      {{.job = 2, .task = processors(1), .hindrance = SHAPLEY_HINDRANCE_NODES}}};
  const std::vector<LinePlace> line = line_of(contenders, queues, 100, 100);
  ASSERT_EQ(line.size(), 3U);
  EXPECT_EQ(line[1].job, 1U);
}

// Both come free at once: what starts in one partition counts in the other.
TEST(ServingLine, WhatStartsElsewhereCounts) {
  const std::vector<Contender> contenders{{.rank = 1}, {.rank = 0}};
  Queues queues{alike(0, 32, 1), alike(100, 32, 2)};
  for (const Asking& asking : alike(32, 32, 2)) queues[0].push_back(asking);
  const std::vector<Served> tasks = tasks_of(line_of(contenders, queues, 64, 1'000, two_partitions(32, 32)));
  const auto before = std::find(tasks.begin(), tasks.end(), Served{0, 32});
  EXPECT_EQ(std::count_if(tasks.begin(), before, [](const Served& task) { return task.organization == 1; }), 32);
}

// What waits for one partition counts up to what it has, and some more: its organization's other jobs come into line.
TEST(ServingLine, ASetOfNodesCountsUpToWhatItHas) {
  Queues queues{{}};
  for (std::uint32_t i = 0; i < 60; ++i) queues[0].push_back({.job = i, .task = processors(10), .nodes = 1});
  queues[0].push_back({.job = 60, .task = processors(10), .nodes = 2});
  const NodeSetTable sets = two_partitions(0, 0);
  const std::vector<Contender> contenders(1);
  const std::vector<LinePlace> line = line_of(contenders, queues, 100, 1'000, sets);
  EXPECT_EQ(line.size(), 7U) << "six that begin in 32 processors and half a node's more, and the one of the other";
}

// One processor of the first partition is left, and one job of 32 waits for it: what it holds up in the other partition
// is that one processor.
TEST(ServingLine, AWideTaskCountsElsewhereByWhatIsFreeForIt) {
  const std::vector<Contender> contenders{{.rank = 1, .lacking = 8 * k_micro},
                                          {.rank = 0, .lead = 6 * k_micro, .lacking = 8 * k_micro}};
  Queues queues{{{.job = 0, .task = processors(32), .nodes = 1}}, alike(100, 64, 2)};
  for (const Asking& asking : alike(1, 24, 2)) queues[0].push_back(asking);
  const std::vector<Served> tasks = tasks_of(line_of(contenders, queues, 88, 1'000, two_partitions(1, 32)));
  std::int64_t started = 0;
  std::uint32_t room = 32;
  for (const Served& task : tasks) {
    if (task.job == 0 || room == 0) continue;
    started += task.organization == 0 ? 1 : 0;
    --room;
  }
  EXPECT_NEAR(static_cast<double>(started), 13, 1);
  // In its own partition it counts whole: what is behind it there comes after 32 of the other one.
  Queues same{{{.job = 0, .task = processors(32), .nodes = 1}, {.job = 1, .task = processors(1), .nodes = 1}},
              alike(100, 64, 1)};
  const std::vector<Served> behind =
      tasks_of(line_of({{{.rank = 1}, {.rank = 0}}}, same, 88, 1'000, two_partitions(1, 0)));
  const auto second = std::find(behind.begin(), behind.end(), Served{0, 1});
  EXPECT_EQ(std::count_if(behind.begin(), second, [](const Served& task) { return task.organization == 1; }), 33);
}

// Two queues for full nodes, each longer than the line, are before the jobs that could start.
TEST(ServingLine, QueuesForFullNodesLeaveRoomForWhatCouldStart) {
  const NodeSetTable sets(
      {{.free = 32 * k_micro, .all = 96 * k_micro},
       {.free = 0, .all = 32 * k_micro},
       {.free = 0, .all = 32 * k_micro},
       {.free = 32 * k_micro, .all = 32 * k_micro}},
      [](NodeSetId a, NodeSetId b) { return a == 0 || b == 0 || a == b; },
      [](NodeSetId outer, NodeSetId inner) { return outer == 0 || outer == inner; });
  const std::vector<Contender> contenders{{.rank = 0, .lead = 64 * k_micro}, {.rank = 1}};
  Queues queues{alike(0, 200, 1), alike(1'000, 32, 3)};
  for (const Asking& asking : alike(200, 200, 2)) queues[0].push_back(asking);
  for (const Asking& asking : alike(400, 32, 3)) queues[0].push_back(asking);
  const std::vector<Served> tasks = tasks_of(line_of(contenders, queues, 40, 10'000, sets));
  EXPECT_EQ(std::count_if(tasks.begin(), tasks.end(), [](const Served& task) { return task.job >= 400; }), 40)
      << "as much as the line reaches";
}

// ---- limits that tasks have in common ---------------------------------------------------------------

// 4 of the array's tasks may run, whether they have records of their own or not.
TEST(ServingLine, AnArraysLimitIsOfAllItsRecords) {
  const std::vector<Contender> contenders(1);
  Queues queues{{}};
  for (std::uint32_t i = 0; i < 3; ++i)
    queues[0].push_back({.job = i, .task = processors(1), .array = 7, .array_room = 4});
  queues[0].push_back({.job = 3, .task = processors(1), .tasks = 4, .array = 7, .array_room = 4});
  queues[0].push_back({.job = 4, .task = processors(1)});
  const NodeSetTable sets({{.free = 32 * k_micro, .all = 32 * k_micro}});
  const std::vector<LinePlace> line = line_of(contenders, queues, 100, 100, sets);
  ASSERT_EQ(line.size(), 5U);
  EXPECT_EQ(line[3].job, 3U);
  EXPECT_EQ(line[3].tasks, 1U);
}

// One license is left, and eight jobs ask for one: seven of them hold up nothing.
TEST(ServingLine, WhatIsLeftOfLicensesIsCountedOnce) {
  const std::vector<Contender> contenders{{.rank = 1}, {.rank = 0}};
  Queues queues{{}, alike(100, 64, 0)};
  for (std::uint32_t i = 0; i < 8; ++i)
    queues[0].push_back({.job = i, .task = processors(1), .licenses = 5, .license_room = 1});
  queues[0].push_back({.job = 8, .task = processors(1)});
  const NodeSetTable sets({{.free = 32 * k_micro, .all = 32 * k_micro}});
  const std::vector<Served> tasks = tasks_of(line_of(contenders, queues, 100, 100, sets));
  const auto other = std::find(tasks.begin(), tasks.end(), Served{0, 8});
  EXPECT_EQ(std::count_if(tasks.begin(), other, [](const Served& task) { return task.organization == 1; }), 2);
}

// ---- ends that are to come --------------------------------------------------------------------------

std::int64_t tasks_among(std::span<const Served> tasks, std::uint32_t organization, std::size_t first) {
  return std::count_if(tasks.begin(), tasks.begin() + static_cast<std::ptrdiff_t>(first),
                       [&](const Served& task) { return task.organization == organization; });
}

// Each runs on 16 of 32 processors and has a guarantee of 8. The second one leads by more than the cluster has.
TEST(ServingLine, AWaveOfEndsKeepsTheGuarantee) {
  const std::vector<Contender> contenders{
      {.rank = 1, .lacking = -8 * k_micro, .running = processors(16)},
      {.rank = 0, .lead = 100 * k_micro, .lacking = -8 * k_micro, .running = processors(16)}};
  const NodeSetTable sets({{.free = 0, .all = 32 * k_micro}});
  const std::vector<Served> tasks =
      tasks_of(line_of(contenders, {alike(0, 64, 0), alike(100, 64, 0)}, 52, 1'000, sets));
  EXPECT_EQ(tasks.front().organization, 1U);
  EXPECT_GE(tasks_among(tasks, 0, 32), 7);
  EXPECT_LE(tasks_among(tasks, 0, 32), 9) << "what is left goes by lead";
}

// The second one is 3 below its guarantee; the first one leads. A third one's job of 32 processors ends.
TEST(ServingLine, TheEndOfOneWideRunIsServedByWhatIsKnown) {
  const std::vector<Contender> contenders{
      {.rank = 1, .lead = 100 * k_micro, .lacking = -10 * k_micro, .running = processors(32)},
      {.rank = 0, .lacking = 3 * k_micro, .running = processors(16)},
      {.rank = 2, .lacking = -32 * k_micro, .running = processors(32)}};
  const NodeSetTable sets({{.free = 0, .all = 80 * k_micro}});
  const std::vector<Served> tasks =
      tasks_of(line_of(contenders, {alike(0, 80, 0), alike(100, 40, 0), {}}, 80, 1'000, sets, 32));
  EXPECT_EQ(tasks_among(tasks, 1, 32), 3);
}

// Without a guarantee. 28 of 32 ends are expected to be the first one's, so its lead of -24 grows by 28 while the other
// one's grows by 4 and falls with its starts: they are equal after 14 of these. After all ends each has started as many
// as if the rule were asked then.
TEST(ServingLine, EndsAreExpectedInProportionToWhatRuns) {
  const std::vector<Contender> contenders{
      {.rank = 1, .lead = -24 * k_micro, .lacking = -28 * k_micro, .running = processors(28)},
      {.rank = 0, .lead = 0, .lacking = -4 * k_micro, .running = processors(4)}};
  const NodeSetTable sets({{.free = 0, .all = 32 * k_micro}});
  const std::vector<Served> tasks =
      tasks_of(line_of(contenders, {alike(0, 64, 0), alike(100, 64, 0)}, 52, 1'000, sets));
  EXPECT_NEAR(static_cast<double>(tasks_among(tasks, 0, 14)), 0, 1);
  EXPECT_NEAR(static_cast<double>(tasks_among(tasks, 0, 32)), 16, 1);
}

// Its nodes are away, and another one runs on the rest. 32 processors come back before the daemon has said anything.
TEST(ServingLine, NodesThatComeBackCountInTheGuarantee) {
  const std::vector<Contender> contenders{{.rank = 1, .returning = 16 * k_micro},
                                          {.rank = 0, .lead = 100 * k_micro, .returning = 8 * k_micro},
                                          {.rank = 2, .lacking = -64 * k_micro, .running = processors(64)}};
  const NodeSetTable sets({{.free = 0, .all = 64 * k_micro}});
  const std::vector<Served> tasks =
      tasks_of(line_of(contenders, {alike(0, 64, 0), alike(100, 64, 0), alike(200, 64, 0)}, 80, 1'000, sets));
  EXPECT_EQ(tasks_among(tasks, 1, 2), 2) << "in front goes who leads";
  EXPECT_GE(tasks_among(tasks, 0, 32), 14);
}

}  // namespace
}  // namespace shapley::client
