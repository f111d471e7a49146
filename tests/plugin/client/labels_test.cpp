// Labels: the front of the line is in order, and few jobs get another one.
#include "plugin/client/places/labels.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace shapley::client {
namespace {

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

}  // namespace
}  // namespace shapley::client
