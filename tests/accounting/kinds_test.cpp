// Kinds of nodes: which ones placements distinguish, how they are divided, and what is defined when.
#include "accounting/ownership/kinds.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "state_fixture.hpp"

namespace shapley::accounting {
namespace {

using Names = std::vector<std::string>;
using NodeSets = std::vector<Names>;

TEST(Kinds, AreTheSmallestSetsThatPlacementsAreMadeOf) {
  const NodeSets sets{{"a1", "a2", "a3", "g1"}, {"g1", "g2"}};
  // a1 to a3 are the most: they stay of kind 0. g2 is in one set, and g1, which is in both, is tried after it.
  EXPECT_EQ(kinds_for(KindLists{}, sets), (KindLists{{"g2"}, {"g1"}}));
}

TEST(Kinds, OnePlacementDistinguishesNothing) {
  EXPECT_EQ(kinds_for(KindLists{}, NodeSets{{"a1", "a2"}}), KindLists{});
}

TEST(Kinds, AreDividedWhereAPlacementNeedsAPart) {
  const KindLists before{{"g1", "g2", "g3"}};
  const NodeSets sets{{"a1", "a2"}, {"g1", "g2", "g3"}, {"g3"}};
  EXPECT_EQ(kinds_for(before, sets), (KindLists{{"g1", "g2"}, {"g3"}}));
}

TEST(Kinds, StayApartWhenNoPlacementNeedsThatAnyMore) {
  const KindLists before{{"g1", "g2"}, {"g3"}};
  EXPECT_EQ(kinds_for(before, NodeSets{{"a1"}, {"g1", "g2", "g3"}}), before);
  EXPECT_EQ(kinds_for(before, NodeSets{}), before);
}

TEST(Kinds, ANewNodeBecomesOneOfThoseInTheSameSets) {
  const KindLists before{{"g1"}};
  EXPECT_EQ(kinds_for(before, NodeSets{{"a1", "a2"}, {"g1", "g2"}}), (KindLists{{"g1", "g2"}}));
}

TEST(Kinds, ANumberIsUsedAgainOnlyIfNoOtherIsLeft) {
  EXPECT_EQ(kinds_for(KindLists{{}, {"g1"}}, NodeSets{{"a1", "a2"}, {"g1"}, {"h1"}}), (KindLists{{}, {"g1"}, {"h1"}}));
  KindLists before(k_most_listed_kinds);
  before.back() = {"g1"};
  EXPECT_EQ(kinds_for(before, NodeSets{{"a1", "a2"}, {"g1"}, {"h1"}}).front(), Names{"h1"});
}

TEST(Kinds, OfPlacementsAreListedAsEventsHaveThem) {
  const std::map<std::string, std::string> placed{{"partition=all", "a[1-9],g[1-3]"}, {"partition=gpu", "g[1-3]"}};
  EXPECT_EQ(kinds_for(std::vector<std::string>{}, placed), std::vector<std::string>{"g[1-3]"});
  EXPECT_EQ(kinds_for(std::vector<std::string>{"g[1-3]"}, placed), std::vector<std::string>{"g[1-3]"});
}

// Every set is made of whole kinds, no node is of two, and asking again changes nothing; above the limit kinds merge.
TEST(Kinds, OfAnySetsTellThemApart) {
  std::size_t merged = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    KindLists kinds;
    const std::uint64_t nodes = 1 + rng.below(120);
    for (int change = 0; change < 4; ++change) {
      NodeSets sets(1 + rng.below(9));
      for (Names& set : sets) {
        for (std::uint64_t node = 0; node < nodes; ++node) {
          if (rng.below(2) == 0) set.push_back("n" + std::to_string(node));
        }
      }
      kinds = kinds_for(kinds, sets);
      ASSERT_LE(kinds.size(), k_most_listed_kinds);
      std::map<std::string, std::size_t> number_of;
      for (std::size_t i = 0; i < kinds.size(); ++i) {
        for (const std::string& node : kinds[i]) ASSERT_TRUE(number_of.emplace(node, i + 1).second) << node;
      }
      std::set<std::vector<bool>> alike;  // in which sets nodes are
      std::map<std::size_t, std::set<std::vector<bool>>> of_kind;
      for (std::uint64_t node = 0; node < nodes; ++node) {
        const std::string name = "n" + std::to_string(node);
        std::vector<bool> in;
        for (const Names& set : sets) in.push_back(std::ranges::find(set, name) != set.end());
        if (std::ranges::find(in, true) == in.end()) continue;
        alike.insert(in);
        of_kind[number_of.contains(name) ? number_of[name] : 0].insert(in);
      }
      std::size_t mixed = 0;
      for (const auto& [kind, sets_of] : of_kind) mixed += sets_of.size() > 1 ? 1 : 0;
      // The smallest ones, in one of them.
      ASSERT_LE(mixed, alike.size() > hindsight::k_most_kinds ? 1U : 0U);
      merged += mixed;
      ASSERT_EQ(kinds_for(kinds, sets), kinds);
    }
  }
  EXPECT_GT(merged, 0U);
}

HindsightDefined kinds_at(std::int64_t t, std::vector<std::string> kinds, JobsStart jobs = JobsStart::whole) {
  return {.at = at(t), .jobs = jobs, .kinds = std::move(kinds)};
}

TEST(KindHistory, SaysWhatHoldsWhen) {
  KindHistory history;
  history.define(kinds_at(20, {"g[1-2]", "h1"}));
  history.define(kinds_at(10, {"g[1-2]"}));
  history.define(kinds_at(30, {"g1", "h1", "g2"}, JobsStart::parts));
  const std::vector<std::string_view> g{"g1", "g2"};
  EXPECT_FALSE(history.starts_whole(at(9)));
  EXPECT_TRUE(history.starts_whole(at(10)));
  EXPECT_FALSE(history.starts_whole(at(30)));
  EXPECT_EQ(history.kinds_of(g, at(9)), 0b1U);
  EXPECT_EQ(history.kinds_of(g, at(29)), 0b10U);
  EXPECT_EQ(history.kinds_of(g, at(30)), 0b1010U);
  EXPECT_EQ(history.kinds_of({}, at(30)), 0b1111U);
  EXPECT_EQ(history.kind_of("h1", at(19)), 0);
  EXPECT_EQ(history.kind_of("h1", at(20)), 2);
  EXPECT_EQ(history.divisions(), (std::vector<KindDivided>{{at(10), 0, 1}, {at(20), 0, 2}, {at(30), 1, 3}}));
  EXPECT_EQ(history.changes_since(at(20)), (std::vector<Instant>{at(20), at(30)}));
}

}  // namespace
}  // namespace shapley::accounting
