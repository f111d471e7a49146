// The line that one scheduling pass serves, against the rule asked again after every start.
#include "plugin/client/places/line.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/types.hpp"
#include "plugin/client/ranks/rank_table.hpp"

namespace shapley::client {
namespace {

Measure processors(std::int64_t count) {
  return {count * k_micro, count * k_micro};
}

using Queues = std::vector<std::vector<Asking>>;

// Runs of which no age is said have begun now.
std::vector<LinePlace> line_of(std::vector<Contender> contenders, const Queues& queues, std::int64_t reach,
                               std::size_t longest, const NodeSetTable& sets = NodeSetTable(),
                               std::int64_t widest_run = 0, std::int64_t free_later = 0) {
  for (Contender& u : contenders) u.runs.add(0, u.running.blocked - u.runs.all());
  std::vector<OwnQueue> own;
  for (const std::vector<Asking>& queue : queues) {
    OwnQueue& made = own.emplace_back(sets, reach * k_micro);
    for (const Asking& asking : queue) (void)made.add(asking);
  }
  const std::int64_t free = sets[0].free;
  return serving_line(contenders, own, {free, free + free_later * k_micro, widest_run * k_micro}, reach * k_micro,
                      longest);
}

std::vector<Asking> alike(std::uint32_t first, std::uint32_t count, NodeSetId nodes) {
  std::vector<Asking> jobs;
  for (std::uint32_t i = 0; i < count; ++i) jobs.push_back({.job = first + i, .task = processors(1), .nodes = nodes});
  return jobs;
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

// The figures of a key that brakes, and the key from them (game/braking.hpp).
struct Books {
  Int128 balance = 0;
  Int128 work = 0;
  Int128 rate = 0;
  std::int64_t doubled_turn = 0;
  Duration residual{};

  [[nodiscard]] game::KeyTerms terms() const { return game::key_terms({.pace = {1}}, residual); }
  [[nodiscard]] Int128 key() const { return game::braking_key<Int128>(balance, work, rate, terms(), doubled_turn); }
};

// The rule, literally, until what was served blocks `reach` millionths of a processor: who is below its guarantee goes
// first, then who leads; a start lowers the lead by its charge and what is lacking by what it blocks. With `books`, of
// each: who has the greater key; a start lowers what it is credited less what it is charged.
std::vector<Served> asked_again(std::vector<Contender> contenders, Queues queues, std::int64_t reach,
                                std::vector<Books> books = {}) {
  std::vector<Served> served;
  for (std::int64_t total = 0; total < reach;) {
    std::optional<std::uint32_t> best;
    for (std::uint32_t u = 0; u < contenders.size(); ++u) {
      if (queues[u].empty()) continue;
      const auto goes_first = [&](std::uint32_t a, std::uint32_t b) {
        const bool a_below = contenders[a].lacking > 0;
        const bool b_below = contenders[b].lacking > 0;
        if (a_below != b_below) return a_below;
        if (!books.empty() && books[a].key() != books[b].key()) return books[a].key() > books[b].key();
        if (contenders[a].lead != contenders[b].lead) return contenders[a].lead > contenders[b].lead;
        return contenders[a].rank < contenders[b].rank;
      };
      if (!best || goes_first(u, *best)) best = u;
    }
    if (!best) break;
    Asking& first = queues[*best].front();
    served.push_back({*best, first.job});
    if (books.empty()) {
      contenders[*best].lead -= first.task.charge;
    } else {
      books[*best].rate -= first.task.charge;
    }
    contenders[*best].lacking -= first.task.blocked;
    total += first.task.blocked;
    if (--first.tasks == 0) queues[*best].erase(queues[*best].begin());
  }
  return served;
}

struct Scene {
  std::vector<Contender> contenders;
  std::vector<Books> books;  // of a rule that brakes, of each; empty: it does not
  Queues queues;
  std::int64_t reach = 0;
  std::int64_t free = 0;
};

// The figures of a cluster of some processors, whose keys differ by some of them.
Books any_books(Duration residual) {
  const std::int64_t m = residual.value;
  const auto around = [](std::int64_t most) { return *rc::gen::inRange<std::int64_t>(-most, most + 1); };
  const std::int64_t owned = *rc::gen::inRange<std::int64_t>(0, 200) * k_micro;
  return {.balance = Int128{m} * m * around(200) * k_micro,
          .work = Int128{m} * around(100) * k_micro,
          .rate = around(100) * k_micro,
          .doubled_turn = game::twice_turn(owned, {*rc::gen::inRange(1, game::k_whole_pace)}),
          .residual = residual};
}

// As the daemon sends it.
game::FallingKey falling_key(const Books& books) {
  const game::KeyTerms terms = books.terms();
  const protocol::Braking sent{
      .balance = protocol::wide(game::looked_ahead(books.balance, books.work, books.rate, terms)),
      .work = protocol::wide(game::frozen_ahead(books.work, books.rate, terms.horizon)),
      .doubled_turn = books.doubled_turn};
  return RankTable({}, {.organizations = {"a"},
                        .leads = {0},
                        .lacking = {0},
                        .braking = {sent},
                        .residual = books.residual.value})
      .contenders()
      .front()
      .key;
}

// What waits is charged another amount than it blocks.
Scene any_scene() {
  Scene scene;
  const bool brakes = *rc::gen::arbitrary<bool>();
  const Duration residual{*rc::gen::inRange<std::int64_t>(2, 100'000)};
  const auto organizations = *rc::gen::inRange<std::uint32_t>(1, 6);
  std::uint32_t job = 0;
  for (std::uint32_t u = 0; u < organizations; ++u) {
    scene.contenders.push_back({.rank = u,
                                .lead = *rc::gen::inRange<std::int64_t>(-20, 60) * k_micro,
                                .lacking = *rc::gen::inRange<std::int64_t>(-5, 20) * k_micro});
    if (brakes) {
      scene.books.push_back(any_books(residual));
      scene.contenders.back().lead = 0;
      scene.contenders.back().key = falling_key(scene.books.back());
    }
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
  const std::int64_t reach = scene.reach * k_micro;
  const std::vector<Served> served = asked_again(scene.contenders, scene.queues, reach, scene.books);
  const std::vector<Served> kept = asked_again(scene.contenders, scene.queues, kept_reach(reach), scene.books);
  // Of one set of nodes it does not matter how much of it is free.
  const NodeSetTable sets({{.free = scene.free * k_micro, .all = 10'000 * k_micro}});
  const std::vector<Served> line = tasks_of(line_of(scene.contenders, scene.queues, scene.reach, 10'000, sets));
  RC_ASSERT(line.size() >= kept.size());
  RC_ASSERT(std::equal(kept.begin(), kept.end(), line.begin()));
  // Behind that it has, in the rule's order, what could start now: before it its organization asks for less than is
  // free.
  const std::vector<Served> all =
      asked_again(scene.contenders, scene.queues, std::numeric_limits<std::int64_t>::max(), scene.books);
  auto next = all.begin() + static_cast<std::ptrdiff_t>(kept.size());
  std::vector<std::int64_t> asked(scene.contenders.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::vector<Asking>& queue = scene.queues[line[i].organization];
    const auto asking = std::ranges::find(queue, line[i].job, &Asking::job);
    if (i >= kept.size()) {
      next = std::find(next, all.end(), line[i]);
      RC_ASSERT(next++ != all.end());
      RC_ASSERT(asked[line[i].organization] < scene.free * k_micro);
    }
    asked[line[i].organization] += asking->task.blocked;
  }
  std::size_t at = 0;
  for (const LinePlace& place : line_of(scene.contenders, scene.queues, scene.reach, 10'000, sets)) {
    const std::size_t first_beyond = at + place.tasks - place.beyond;
    at += place.tasks;
    RC_ASSERT(place.beyond == 0 || (first_beyond >= served.size() && first_beyond < kept.size()));
  }
}

// What is free is idle of its owners, and each start takes the same part of it from each, as it is not known on which
// nodes it will run. What runs that have ended leave later is taken after that.
RC_GTEST_PROP(ServingLine, WhatIsTakenOfIdleProcessorsIsGivenAgain, ()) {
  const auto free = *rc::gen::element<std::int64_t>(1, 2, 4, 8, 16, 32);
  const auto later = *rc::gen::element<std::int64_t>(0, 1, 2, 4, 8, 16, 32);
  const auto organizations = *rc::gen::inRange<std::uint32_t>(1, 6);
  std::vector<Contender> contenders;
  Queues queues;
  std::int64_t rest = free;
  std::int64_t rest_later = later;
  for (std::uint32_t u = 0; u < organizations; ++u) {
    const auto part_of = [&](std::int64_t& all) {
      const std::int64_t part = u + 1 == organizations ? all : *rc::gen::inRange<std::int64_t>(0, all + 1);
      all -= part;
      return part * k_micro;
    };
    const std::int64_t now = part_of(rest);
    const std::int64_t lead = *rc::gen::inRange<std::int64_t>(0, 20) * k_micro;
    contenders.push_back({.rank = u, .lead = lead, .idle = now + part_of(rest_later), .free = now});
    queues.push_back(alike(100 * u, 64, 0));
  }
  const NodeSetTable sets({{.free = free * k_micro, .all = 64 * k_micro}});
  const std::vector<Served> line = tasks_of(line_of(contenders, queues, 64, 1'000, sets, 0, later));
  std::vector<std::int64_t> started(organizations);
  for (std::int64_t taken = 0; taken < free + later; ++taken) {
    const auto lead = [&](std::uint32_t u) {
      const Contender& of = contenders[u];
      const std::int64_t after = later == 0 ? 0 : (of.idle - of.free) * std::max<std::int64_t>(0, taken - free) / later;
      return of.lead - started[u] * k_micro + of.free * std::min(taken, free) / free + after;
    };
    std::uint32_t best = 0;
    for (std::uint32_t u = 1; u < organizations; ++u) best = lead(u) > lead(best) ? u : best;
    RC_ASSERT(line[static_cast<std::size_t>(taken)].organization == best);
    ++started[best];
  }
}

// The reach is 10, and two and a half more are kept for those that have places.
TEST(ServingLine, HasAnEndThatIsNotSharp) {
  const std::vector<Contender> contenders{{.rank = 0}, {.rank = 1}};
  const NodeSetTable full({{.free = 0, .all = 64 * k_micro}});
  const std::vector<LinePlace> line = line_of(contenders, {alike(0, 64, 0), alike(100, 64, 0)}, 10, 1'000, full);
  ASSERT_EQ(line.size(), 13U);
  for (std::size_t i = 0; i < line.size(); ++i) EXPECT_EQ(line[i].beyond, i < 10 ? 0U : 1U) << i;
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

// How many tasks of the first organization are among the first `room`, without the job 0, which does not fit.
double started_in(std::span<const Served> tasks, std::uint32_t room) {
  double started = 0;
  for (const Served& task : tasks) {
    if (task.job == 0 || room == 0) continue;
    started += task.organization == 0 ? 1 : 0;
    --room;
  }
  return started;
}

// One processor of the first partition is left, and one job of 32 waits for it: what it holds up in the other partition
// is that one processor.
TEST(ServingLine, AWideTaskCountsElsewhereByWhatIsFreeForIt) {
  const std::vector<Contender> contenders{{.rank = 1, .lacking = 8 * k_micro},
                                          {.rank = 0, .lead = 6 * k_micro, .lacking = 8 * k_micro}};
  Queues queues{{{.job = 0, .task = processors(32), .nodes = 1}}, alike(100, 64, 2)};
  for (const Asking& asking : alike(1, 24, 2)) queues[0].push_back(asking);
  const std::vector<Served> tasks = tasks_of(line_of(contenders, queues, 88, 1'000, two_partitions(1, 32)));
  EXPECT_NEAR(started_in(tasks, 32), 13, 1);
  // In its own partition it counts whole: what is behind it there comes after 32 of the other one.
  Queues same{{{.job = 0, .task = processors(32), .nodes = 1}, {.job = 1, .task = processors(1), .nodes = 1}},
              alike(100, 64, 1)};
  const std::vector<Served> behind =
      tasks_of(line_of({{{.rank = 1}, {.rank = 0}}}, same, 88, 1'000, two_partitions(1, 0)));
  const auto second = std::find(behind.begin(), behind.end(), Served{0, 1});
  EXPECT_EQ(std::count_if(behind.begin(), second, [](const Served& task) { return task.organization == 1; }), 33);
}

// Half of all nodes is free. A job of all of them waits for the other half, and holds up nothing in a partition of the
// free ones; what asks for all nodes is behind it.
TEST(ServingLine, AWideTaskHoldsUpNothingForAPartOfItsNodes) {
  const std::vector<Contender> contenders{{.rank = 1, .lacking = 8 * k_micro}, {.rank = 0, .lacking = 8 * k_micro}};
  Queues queues{{{.job = 0, .task = processors(64), .nodes = 0}, {.job = 1, .task = processors(1), .nodes = 0}},
                alike(100, 64, 2)};
  for (const Asking& asking : alike(2, 24, 2)) queues[0].push_back(asking);
  const std::vector<Served> tasks = tasks_of(line_of(contenders, queues, 300, 1'000, two_partitions(0, 32)));
  const auto same = std::find(tasks.begin(), tasks.end(), Served{0, 1});
  EXPECT_GE(std::count_if(tasks.begin(), same, [](const Served& task) { return task.organization == 1; }), 32);
  EXPECT_NEAR(started_in(tasks, 32), 16, 1);
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
  EXPECT_EQ(std::count_if(tasks.begin(), tasks.end(), [](const Served& task) { return task.job >= 400; }), 32)
      << "as much as is free";
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

// 16 of 32 processors are free, in two halves of nodes. The first organization's first job wants a node.
TEST(ServingLine, PiecesThatAreTooSmallAreNotFree) {
  const std::vector<Contender> contenders{{.rank = 0, .lead = 4 * k_micro}, {.rank = 1}};
  const NodeSetTable sets({{.free = 16 * k_micro, .all = 32 * k_micro}});
  Asking whole{.job = 0, .task = processors(16)};
  const auto first_served = [&](std::int64_t room) {
    whole.room = room;
    Queues queues{alike(1, 8, 0), alike(100, 16, 0)};
    queues[0].insert(queues[0].begin(), whole);
    const std::vector<Served> tasks = tasks_of(line_of(contenders, queues, 40, 1'000, sets));
    return std::count_if(tasks.begin(), tasks.begin() + 10,
                         [](const Served& task) { return task.organization == 0 && task.job != 0; });
  };
  EXPECT_EQ(first_served(0), 7) << "its other jobs are served as if the whole node were not asked for";
  EXPECT_EQ(first_served(16 * k_micro), 0) << "it could start, and then its organization has had its share";
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

// The first one's runs began a second ago, the second one's some days ago: of the ends before the first one's last,
// hardly one is expected to be the second one's.
TEST(ServingLine, EndsAreExpectedOfWhatBeganLately) {
  std::vector<Contender> contenders{{.rank = 0, .lead = 0, .lacking = -16 * k_micro, .running = processors(16)},
                                    {.rank = 1, .lead = 0, .lacking = -16 * k_micro, .running = processors(16)}};
  contenders[1].runs.add(300'000, 16 * k_micro);
  const NodeSetTable sets({{.free = 0, .all = 32 * k_micro}});
  const Queues queues{alike(0, 64, 0), alike(100, 64, 0)};
  const auto of_second = [&](std::size_t first) {
    return tasks_among(tasks_of(line_of(contenders, queues, 52, 1'000, sets)), 1, first);
  };
  EXPECT_LE(of_second(15), 1);
  EXPECT_NEAR(static_cast<double>(of_second(32)), 16, 1) << "everything has ended";
  contenders[1].runs = {};
  EXPECT_NEAR(static_cast<double>(of_second(15)), 7, 1) << "all began together";
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
