// What is copied of Slurm's texts about the nodes that a job may use: whole, sorted, each once, and within bounds.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <random>
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

// The first job starts and another comes into line, for longer than there are labels behind the line, or between two
// neighbours.
TEST(Labels, AStreamOfStartsMovesFew) {
  constexpr LabelRange k_wide{4, 40'000};
  constexpr int k_starts = 5'000;
  std::mt19937 random(5);
  const std::map<const char*, std::function<std::ptrdiff_t()>> places{
      {"at the end", [] { return 99; }},
      {"in the middle", [] { return 50; }},
      {"near the front", [] { return 2; }},
      {"anywhere", [&] { return static_cast<std::ptrdiff_t>(random() % 100); }}};
  for (const auto& [where, place] : places) {
    std::vector<std::uint32_t> line = relabel(std::vector<std::uint32_t>(100, k_no_label), k_wide, k_whole_line);
    std::size_t moved = 0;
    for (int start = 0; start < k_starts; ++start) {
      line.erase(line.begin());
      line.insert(line.begin() + place(), k_no_label);
      const std::vector<std::uint32_t> labels = relabel(line, k_wide, 2);
      for (std::size_t i = 0; i < line.size(); ++i) moved += line[i] != k_no_label && labels[i] != line[i] ? 1 : 0;
      line = labels;
      ASSERT_TRUE(std::ranges::is_sorted(line, std::greater<>()));
    }
    EXPECT_LE(static_cast<double>(moved) / k_starts, 3.0) << where;
    std::printf("%s: %.2f others move for each job that comes into line\n", where,
                static_cast<double>(moved) / k_starts);
  }
}

TEST(Labels, TheDepthIsThatOfTheRulersMarks) {
  EXPECT_EQ(depth_after(7, 7), 0U) << "nothing happened";
  EXPECT_EQ(depth_after(6, 7), 2U);
  EXPECT_EQ(depth_after(7, 8), 2U);
  EXPECT_EQ(depth_after(15, 16), 4U);
  EXPECT_EQ(depth_after(1000, 1030), 256U) << "1024 lies between";
}

}  // namespace
}  // namespace shapley::client
