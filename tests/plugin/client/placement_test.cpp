// What is copied of Slurm's texts about the nodes that a job may use: whole, sorted, each once, and within bounds.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "plugin/client/places/places.hpp"
#include "plugin/client/scan/records.hpp"
#include "protocol/messages.hpp"

namespace shapley::client {
namespace {

using Names = std::vector<std::string>;
using protocol::k_max_features_text, protocol::k_max_node_names, protocol::k_max_placement_text;

Names copied(const std::vector<const char*>& names) {
  return node_names(names.data(), names.size());
}

TEST(Placement, TextsAreCut) {
  EXPECT_EQ(placement_text(nullptr), "");
  EXPECT_EQ(placement_text(""), "");
  EXPECT_EQ(placement_text("n[1-4],gpu1"), "n[1-4],gpu1");
  const std::string longest(k_max_placement_text, 'n');
  EXPECT_EQ(placement_text(longest.c_str()), longest);
  EXPECT_EQ(placement_text((longest + "x").c_str()), longest);
}

TEST(Placement, NamesAscendEachOnce) {
  EXPECT_EQ(node_names(nullptr, 0), Names{});
  EXPECT_EQ(copied({"main"}), Names{"main"});
  EXPECT_EQ(copied({"main", "gpu", nullptr, "long", "", "gpu"}), (Names{"gpu", "long", "main"}));
  const std::string longest(k_max_placement_text, 'n');
  EXPECT_EQ(copied({(longest + "x").c_str()}), Names{longest});
}

TEST(Placement, TheFirstNamesOfManyAreKept) {
  Names all;
  for (std::size_t i = 0; i < k_max_node_names + 5; ++i) all.push_back("p" + std::to_string(2000 - i));
  std::vector<const char*> pointers;
  for (const std::string& name : all) pointers.push_back(name.c_str());
  Names expected(all.begin(), all.begin() + k_max_node_names);
  std::reverse(expected.begin(), expected.end());
  EXPECT_EQ(copied(pointers), expected);

  std::string list;  // half as long, so that the number of names bounds it
  for (std::size_t i = 0; i < k_max_node_names + 5; ++i) list += "f" + std::to_string(2000 - i) + ",";
  const Names features = node_features(list.c_str());
  EXPECT_EQ(features.size(), k_max_node_names);
  EXPECT_EQ(features.back(), "f2000");
}

TEST(Placement, FeaturesAscendEachOnce) {
  EXPECT_EQ(node_features(nullptr), Names{});
  EXPECT_EQ(node_features(""), Names{});
  EXPECT_EQ(node_features(",,"), Names{});
  EXPECT_EQ(node_features("ib"), Names{"ib"});
  EXPECT_EQ(node_features(",ib,gpu,,ib,"), (Names{"gpu", "ib"}));
}

// The bound falls within a name, after a name, and on the end of the text.
TEST(Placement, AFeatureThatTheBoundCutsIsLeftOut) {
  const std::string filler = std::string(1000, 'a') + "," + std::string(1000, 'b') + "," + std::string(1000, 'c') + ",";
  const std::string last(k_max_features_text - filler.size(), 'd');
  const Names three{std::string(1000, 'a'), std::string(1000, 'b'), std::string(1000, 'c')};
  Names four = three;
  four.push_back(last.substr(0, k_max_placement_text));
  EXPECT_EQ(node_features((filler + last).c_str()), four);
  EXPECT_EQ(node_features((filler + last + ",e").c_str()), four);
  EXPECT_EQ(node_features((filler + last + "d,e").c_str()), three);
  EXPECT_EQ(node_features(std::string(k_max_features_text + 1, 'd').c_str()), Names{});
}

RC_GTEST_PROP(PlacementProperty, FeaturesAreTheSetOfTheNamesBetweenTheCommas, ()) {
  const auto names = *rc::gen::container<Names>(rc::gen::element<std::string>("", "a", "ab", "b", "gpu", "ib", "x y"));
  std::string list;
  for (const std::string& name : names) list += name + ",";
  std::set<std::string> expected(names.begin(), names.end());
  expected.erase("");
  RC_ASSERT(node_features(list.c_str()) == Names(expected.begin(), expected.end()));
}

TEST(Placement, EveryMemberOfANodeArrives) {
  const char* const partitions[] = {"main", "gpu"};
  const char* const reservations[] = {"works", "spring", "works"};
  const shapley_tres_t tres{"cpu", 8};
  const shapley_node_t node{.name = "n1",
                            .cpus = 8,
                            .usable = true,
                            .tres = &tres,
                            .tres_count = 1,
                            .memory = 4000,
                            .gres = "gpu:2",
                            .partitions = partitions,
                            .partitions_count = 2,
                            .features = "ib,amd",
                            .reservations = reservations,
                            .reservations_count = 3,
                            .allocation_unit = 2};
  const protocol::NodeRecord expected{.name = "n1",
                                      .cpus = 8,
                                      .usable = true,
                                      .tres = {{"cpu", 8}},
                                      .memory = 4000,
                                      .gres = {{"gres/gpu", 2}},
                                      .partitions = {"gpu", "main"},
                                      .features = {"amd", "ib"},
                                      .reservations = {"spring", "works"},
                                      .allocation_unit = 2};
  EXPECT_EQ(to_record(node), expected);
  EXPECT_GT(approximate_bytes(to_record(node)), approximate_bytes(protocol::NodeRecord{}) + 6 * sizeof(std::string));
}

TEST(Placement, WhatAJobAsksForIsCountedAsMemory) {
  const std::string list(k_max_placement_text, 'n');
  shapley_job_t job{};
  const std::size_t nothing = approximate_bytes(to_record(job));
  job.required_nodes = job.excluded_nodes = job.features = job.reservation = list.c_str();
  EXPECT_EQ(approximate_bytes(to_record(job)), nothing + 4 * list.size());
}

// Labels: the front of the line is in order, and few jobs get another one.

constexpr LabelRange k_range{10, 90};

std::vector<std::uint32_t> any_line() {
  const auto size = *rc::gen::inRange<std::size_t>(0, 40);
  std::vector<std::uint32_t> line;
  for (std::size_t i = 0; i < size; ++i) {
    // Some without, some outside the range, some alike.
    line.push_back(*rc::gen::oneOf(rc::gen::inRange<std::uint32_t>(0, 100), rc::gen::just(k_no_label)));
  }
  return line;
}

bool is_in_range(std::uint32_t label) {
  return label >= k_range.first && label < k_range.end;
}

// The naive one: of every label the longest descending list that ends with it.
std::size_t longest_descending(const std::vector<std::uint32_t>& line) {
  std::vector<std::size_t> ending(line.size(), 0);
  std::size_t longest = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!is_in_range(line[i])) continue;
    ending[i] = 1;
    for (std::size_t j = 0; j < i; ++j) {
      if (is_in_range(line[j]) && line[j] > line[i]) ending[i] = std::max(ending[i], ending[j] + 1);
    }
    longest = std::max(longest, ending[i]);
  }
  return longest;
}

RC_GTEST_PROP(Labels, AWholeLineDescends, ()) {
  const std::vector<std::uint32_t> line = any_line();
  const std::vector<std::uint32_t> labels = relabel(line, k_range, k_whole_line);
  RC_ASSERT(labels.size() == line.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    RC_ASSERT(is_in_range(labels[i]));
    if (i > 0) RC_ASSERT(labels[i - 1] > labels[i]);
  }
}

RC_GTEST_PROP(Labels, TheFrontIsInOrderBeforeAllThatIsBehindIt, ()) {
  const std::vector<std::uint32_t> line = any_line();
  const auto depth = *rc::gen::inRange<std::size_t>(0, 45);
  const std::vector<std::uint32_t> labels = relabel(line, k_range, depth);
  for (std::size_t i = 0; i < std::min(depth, labels.size()); ++i) {
    for (std::size_t j = i + 1; j < labels.size(); ++j) RC_ASSERT(labels[i] > labels[j]);
  }
  for (const std::uint32_t label : labels) RC_ASSERT(is_in_range(label));
  RC_ASSERT(boundary(labels, labels.size()) == 0U);
}

// Where gaps are wide no job gets another label for want of room.
RC_GTEST_PROP(Labels, AsManyAsPossibleKeepTheirs, ()) {
  const LabelRange wide{10, 90'000'000};
  std::vector<std::uint32_t> line = any_line();
  for (std::uint32_t& label : line) {
    label = is_in_range(label) ? label * 1'000'000 : k_no_label;
  }
  const std::vector<std::uint32_t> labels = relabel(line, wide, k_whole_line);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < line.size(); ++i) kept += labels[i] == line[i];
  for (std::uint32_t& label : line) label = label == k_no_label ? label : label / 1'000'000;
  RC_ASSERT(kept == longest_descending(line));
}

TEST(Labels, AJobThatComesInGetsALabelBetweenItsNeighboursAndNothingElseChanges) {
  const std::vector<std::uint32_t> line{80, k_no_label, 60, 40};
  EXPECT_EQ(relabel(line, k_range, 2), (std::vector<std::uint32_t>{80, 70, 60, 40}));
}

TEST(Labels, WithoutAGapTheNeighboursMove) {
  const std::vector<std::uint32_t> labels = relabel(std::vector<std::uint32_t>{61, k_no_label, 60, 40}, k_range, 4);
  EXPECT_EQ(labels[0], 61U);
  EXPECT_GT(labels[1], labels[2]);
  EXPECT_EQ(labels[3], 40U);
}

TEST(Labels, TheDepthIsThatOfTheRulersMarks) {
  EXPECT_EQ(depth_after(7, 7), 0U) << "nothing happened";
  EXPECT_EQ(depth_after(6, 7), 2U);
  EXPECT_EQ(depth_after(7, 8), 2U);
  EXPECT_EQ(depth_after(15, 16), 4U);
  EXPECT_EQ(depth_after(1000, 1030), 256U) << "1024 lies between";
}

// The line that one scheduling pass serves, against the rule asked again after every start.

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
// By the lead that the daemon sends for guests who go last (accounting/state/ranking.hpp).
TEST(ServingLine, AnOrganizationThatGoesLastStandsBehindAllOthers) {
  constexpr std::int64_t k_last = -(std::int64_t{1} << 40U);
  const std::vector<Contender> contenders{{.rank = 0, .lead = 0}, {.rank = 1, .lead = k_last}};
  Queues queues(2);
  queues[1].push_back({.job = 0});
  for (std::uint32_t job = 1; job <= 50; ++job) queues[0].push_back({.job = job, .processors = 100'000});
  const std::vector<LinePlace> line = serving_line(contenders, queues, 10'000'000, 100);
  ASSERT_EQ(line.size(), 51U);
  EXPECT_EQ(line.back().organization, 1U);
}

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
