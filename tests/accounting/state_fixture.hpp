// Events in numbers small enough to check by hand, and books to apply them to.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "accounting/state/state.hpp"

namespace shapley::accounting {

inline constexpr Instant k_start{1'700'000'000};

inline Instant at(std::int64_t offset) {
  return {k_start.value + offset};
}

inline ProcessorMillionths cores(std::int64_t count) {
  return {count * k_micro};
}

inline EstimatorId hindsight() {
  return parse_estimator("hindsight").value();
}

inline SegmentKey run_key(std::uint32_t job, std::int64_t anchor = 0, std::uint32_t ordinal = 0) {
  return {SegmentKind::run, {job}, at(anchor), ordinal};
}

inline SegmentOpened run(std::uint32_t job, std::string organization, std::int64_t begin,
                         std::vector<NodeShare> nodes) {
  SegmentOpened opened{run_key(job, begin), std::move(organization), at(begin), {}, std::move(nodes)};
  for (const NodeShare& share : opened.nodes) opened.processors += share.processors;
  return opened;
}

inline SegmentOpened wait(std::uint32_t job, std::string organization, std::int64_t begin, std::int64_t count) {
  return {{SegmentKind::wait, {job}, at(begin), 0}, std::move(organization), at(begin), cores(count), {}};
}

inline SegmentClosed closed(const SegmentOpened& opened, std::int64_t end) {
  return {opened.key, at(end), CloseReason::ended, "COMPLETED"};
}

inline OwnershipStated owned(std::string node, std::int64_t effective, std::vector<OwnerPart> owners) {
  return {std::move(node), at(effective), {{k_beginning_of_time, std::move(owners)}}};
}

inline CapacityChanged capacity(std::string node, std::int64_t when, std::int64_t count) {
  return {std::move(node), at(when), 0, cores(count)};
}

inline JobDescribed described(std::uint32_t job, const std::string& account) {
  return {.job = {job},
          .submit = at(0),
          .organization = account,
          .array_task = {},
          .account = account,
          .partition = {},
          .qos = {},
          .name = {},
          .wckey = {}};
}

class StateTest : public ::testing::Test {
 protected:
  void apply(const Event& event, Applied expected = Applied::changed) {
    const auto applied = state_.apply(event);
    ASSERT_TRUE(applied.has_value()) << applied.error().what;
    EXPECT_EQ(*applied, expected) << event_key(event);
  }

  void refuse(const Event& event, Errc code) {
    const std::string before = state_.save();
    const auto applied = state_.apply(event);
    ASSERT_FALSE(applied.has_value()) << event_key(event);
    EXPECT_EQ(applied.error().code, code) << applied.error().what;
    EXPECT_NE(applied.error().what.find(event_key(event)), std::string::npos) << applied.error().what;
    EXPECT_EQ(state_.save(), before);
  }

  Standing row(std::string_view name, std::int64_t t) {
    return state_.advance(at(t)).standings()[state_.find_organization(name).value().value];
  }

  // psi and phi in processors * seconds^2, so that expectations read like the paper.
  static double units(Utility utility) { return static_cast<double>(utility.value) / static_cast<double>(k_micro); }

  const EstimatorId direct = parse_estimator("direct_contr").value();
  State state_{StateOptions{Duration{1000}}};
};

}  // namespace shapley::accounting
