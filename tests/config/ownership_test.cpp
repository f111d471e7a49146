#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "config/configuration.hpp"

namespace shapley::config {
namespace {

using accounting::OwnershipSpan;
using accounting::OwnershipStated;

constexpr Instant k_2026{1767225600};  // date -u -d 2026-01-01 +%s
constexpr Instant k_2027{1798761600};
constexpr Instant k_2030{1893456000};

std::vector<OwnershipStated> stated(const std::string& yaml) {
  const auto configuration = parse(yaml);
  if (!configuration) {
    ADD_FAILURE() << format_faults(configuration.error(), "test");
    return {};
  }
  return ownership_statements(*configuration, Instant{42});
}

TEST(Ownership, OfWholeNodesIsOneSpanEach) {
  const auto statements = stated("organizations: [{name: a, nodes: [\"n[2,1]\"]}, {name: b, nodes: [m]}]");
  const std::vector<OwnershipStated> expected = {
      {"m", Instant{42}, {{k_beginning_of_time, {{"b", 1'000'000}}}}},
      {"n1", Instant{42}, {{k_beginning_of_time, {{"a", 1'000'000}}}}},
      {"n2", Instant{42}, {{k_beginning_of_time, {{"a", 1'000'000}}}}},
  };
  EXPECT_EQ(statements, expected);
}

TEST(Ownership, ChangesHandsAtItsDates) {
  const auto statements = stated(R"(
organizations:
  - {name: a, nodes: [{nodes: n, share: 1/3, from: 2026-01-01, until: 2030-01-01}]}
  - {name: b, nodes: [{nodes: n, share: 2/3, from: 2027-01-01}]}
)");
  const std::vector<OwnershipSpan> expected = {
      {k_beginning_of_time, {}},  // commons
      {k_2026, {{"a", 333'333}}},
      {k_2027, {{"a", 333'333}, {"b", 666'666}}},
      {k_2030, {{"b", 666'666}}},
  };
  ASSERT_EQ(statements.size(), 1U);
  EXPECT_EQ(statements[0].spans, expected);
}

TEST(Ownership, EndsInCommons) {
  const auto statements = stated("organizations: [{name: a, nodes: [{nodes: n, until: 2026-01-01}]}]");
  const std::vector<OwnershipSpan> expected = {{k_beginning_of_time, {{"a", 1'000'000}}}, {k_2026, {}}};
  ASSERT_EQ(statements.size(), 1U);
  EXPECT_EQ(statements[0].spans, expected);
}

TEST(Ownership, MergesWhatDoesNotChange) {
  // One claim follows the other without a gap, and a second part of the same organization adds up.
  const auto statements = stated(R"(
organizations:
  - name: a
    nodes:
      - {nodes: n, share: 1/4, until: 2026-01-01}
      - {nodes: n, share: 25%, from: 2026-01-01}
      - {nodes: n, share: 0.5}
)");
  const std::vector<OwnershipSpan> expected = {{k_beginning_of_time, {{"a", 750'000}}}};
  ASSERT_EQ(statements.size(), 1U);
  EXPECT_EQ(statements[0].spans, expected);
}

TEST(Ownership, OfNobodyIsNotStated) {
  EXPECT_TRUE(stated("organizations: [{name: a}]").empty());
}

}  // namespace
}  // namespace shapley::config
