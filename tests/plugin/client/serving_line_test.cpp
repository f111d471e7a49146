// The line that one scheduling pass serves, against the rule asked again after every start.
#include "plugin/client/places/serving_line.hpp"

#include <algorithm>
#include <optional>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace shapley::client {
namespace {

using Queues = std::vector<std::vector<Asking>>;

// Of a task in line: whose, and which job.
struct Served {
  std::uint32_t organization = 0;
  std::uint32_t job = 0;
  friend bool operator==(const Served&, const Served&) = default;
};

// The rule, literally: who is below its guarantee goes first, then who leads; a start of q processors lowers the lead
// and what is lacking by q.
std::vector<Served> asked_again(std::vector<Contender> contenders, Queues queues, std::int64_t reach) {
  std::vector<Served> served;
  for (std::int64_t total = 0; total < reach;) {
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
    contenders[*best].lead -= first.processors;
    contenders[*best].lacking -= first.processors;
    total += first.processors;
    if (--first.tasks == 0) queues[*best].erase(queues[*best].begin());
  }
  return served;
}

struct Scene {
  std::vector<Contender> contenders;
  Queues queues;
  std::int64_t reach = 0;
};

Scene any_scene() {
  Scene scene;
  const auto organizations = *rc::gen::inRange<std::uint32_t>(1, 6);
  std::uint32_t job = 0;
  for (std::uint32_t u = 0; u < organizations; ++u) {
    scene.contenders.push_back({.rank = u,
                                .lead = *rc::gen::inRange<std::int64_t>(-20, 60),
                                .lacking = *rc::gen::inRange<std::int64_t>(-5, 20)});
    scene.queues.emplace_back();
    const auto jobs = *rc::gen::inRange(0, 20);
    for (int i = 0; i < jobs; ++i) {
      scene.queues.back().push_back({.job = job++,
                                     .processors = *rc::gen::inRange<std::int64_t>(1, 33),
                                     .tasks = *rc::gen::element<std::uint32_t>(1, 1, 1, 7)});
    }
  }
  scene.reach = *rc::gen::inRange<std::int64_t>(1, 200);
  return scene;
}

RC_GTEST_PROP(ServingLine, IsTheRuleAskedAgainAfterEveryStart, ()) {
  const Scene scene = any_scene();
  const std::vector<Served> served = asked_again(scene.contenders, scene.queues, scene.reach);
  const std::vector<LinePlace> line = serving_line(scene.contenders, scene.queues, scene.reach, 10'000);
  // In line a job stands where its first task is served.
  std::vector<Served> first_tasks;
  for (const Served& one : served) {
    if (std::find(first_tasks.begin(), first_tasks.end(), one) == first_tasks.end()) first_tasks.push_back(one);
  }
  RC_ASSERT(line.size() == first_tasks.size());
  for (std::size_t i = 0; i < line.size(); ++i) {
    RC_ASSERT((Served{line[i].organization, line[i].job}) == first_tasks[i]);
    const auto tasks = std::count(served.begin(), served.end(), first_tasks[i]);
    RC_ASSERT(line[i].tasks == static_cast<std::uint32_t>(tasks));
    const auto from = std::find(served.begin(), served.end(), first_tasks[i]);
    const auto last = std::find(served.rbegin(), served.rend(), first_tasks[i]).base();
    const bool parted =
        std::any_of(from, last, [&](const Served& s) { return s.organization != first_tasks[i].organization; });
    RC_ASSERT(line[i].parted == parted);
  }
}

RC_GTEST_PROP(ServingLine, EndsWithItsLongest, ()) {
  const Scene scene = any_scene();
  const auto longest = *rc::gen::inRange<std::size_t>(0, 10);
  const std::vector<LinePlace> whole = serving_line(scene.contenders, scene.queues, scene.reach, 10'000);
  const std::vector<LinePlace> cut = serving_line(scene.contenders, scene.queues, scene.reach, longest);
  RC_ASSERT(cut.size() == std::min(longest, whole.size()));
  for (std::size_t i = 0; i < cut.size(); ++i) RC_ASSERT(cut[i].job == whole[i].job);
}

// Three organizations and eight free processors: the example of docs/concepts.md.
TEST(ServingLine, WhatIsNotAvailableHoldsNothingUp) {
  const std::vector<Contender> contenders{{.rank = 0, .lead = 4, .lacking = 0}, {.rank = 1, .lead = 2, .lacking = 0}};
  // The first one's wide job waits for a partition that is down.
  const Queues queues{
      {{.job = 0, .processors = 8, .tasks = 1, .nodes_available = false}, {.job = 1, .processors = 1, .tasks = 1}},
      {{.job = 2, .processors = 1, .tasks = 1}}};
  const std::vector<LinePlace> line = serving_line(contenders, queues, 100, 100);
  ASSERT_EQ(line.size(), 3U);
  EXPECT_EQ(line[0].job, 0U) << "it has its place for when the partition is up";
  EXPECT_EQ(line[1].job, 1U) << "and the job behind it the one that it would have without it";
  EXPECT_EQ(line[2].job, 2U);
}

}  // namespace
}  // namespace shapley::client
