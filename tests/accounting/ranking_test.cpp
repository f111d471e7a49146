// Ranks against State itself, asked in another way: if nothing more runs, phi - psi one horizon from now is what books
// say then whose open segments all end now.
#include "accounting/state/ranking.hpp"

#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scenario.hpp"

namespace shapley::accounting {
namespace {

RankingDeclared rule(std::int64_t horizon, std::int64_t guarantee = 0, std::vector<GuaranteedPart> exceptions = {}) {
  return {scenario::k_begin, "direct_contr", horizon, guarantee, std::move(exceptions)};
}

State stopped(const State& state) {
  State copy = *State::load(state.save());
  for (const JobId job : state.jobs_with_open_segments()) {
    for (const SegmentKey& key : state.find_job(job)->segments) {
      const LiveSegment* segment = state.find_segment(key);
      if (segment == nullptr || segment->end) continue;
      RC_ASSERT(copy.apply(SegmentClosed{key, state.now(), CloseReason::ended, ""}).has_value());
    }
  }
  return copy;
}

RC_GTEST_PROP(Ranking, TheKeyIsTheStandingOfStoppedBooksOneHorizonLater, ()) {
  State state;
  scenario::apply_all(state, (*scenario::arbitrary()).events);
  const auto horizon = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
  // The books begin again from zero at the end of a period: the key does not look beyond it.
  RC_ASSERT(state.apply(PeriodDeclared{state.now() + Duration{1}, Period::none}).has_value());
  const std::vector<Standing> rows = state.standings(state.now());
  const std::vector<Standing> later = stopped(state).standings(state.now() + Duration{horizon});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const EstimatorId estimator : estimator_ids()) {
      // By hindsight coalitions learn from what ends, and go on after it.
      if (estimator_names()[estimator.value] == "hindsight") continue;
      RC_ASSERT(key_of(rows[i], estimator, Duration{horizon}) == later[i].balance(estimator));
    }
  }
}

RC_GTEST_PROP(Ranking, TheLatestRuleOrdersByGuaranteeAndKey, ()) {
  State state;
  scenario::apply_all(state, (*scenario::arbitrary()).events);
  const auto horizon = *rc::gen::inRange<std::int64_t>(0, 1'000);
  const auto guarantee = *rc::gen::inRange<std::int64_t>(0, k_whole_node + 1);
  const std::string own = *rc::gen::elementOf(state.organizations());
  const auto own_part = *rc::gen::inRange<std::int64_t>(0, k_whole_node + 1);
  RC_ASSERT(state.ranking_rule() == published_rule());
  RankingDeclared declared = rule(horizon, guarantee, {{own, own_part}});
  declared.at = state.now() + Duration{1};
  RC_ASSERT(state.apply(rule(7, 8)).has_value());  // an earlier one that comes late
  RC_ASSERT(state.apply(declared).has_value());
  RC_ASSERT(state.ranking_rule() == declared);
  RC_ASSERT(State::load(state.save())->ranking_rule() == declared);

  const std::vector<Standing> rows = state.standings(state.now());
  const std::vector<Rank> ranks = state.ranking(state.now());
  RC_ASSERT(ranks.size() + 1 == rows.size());  // commons has none
  bool below_is_over = false;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Standing& row = rows[ranks[i].organization.value];
    const std::string& name = state.organizations()[row.organization.value];
    const Int128 part = name == own ? own_part : guarantee;
    const bool below = row.waiting.value > 0 && Int128{row.used.value} * k_whole_node < part * row.owned.value;
    RC_ASSERT(ranks[i].below_guarantee == below);
    RC_ASSERT(!below || !below_is_over);
    below_is_over = below_is_over || !below;
    const bool same_group = i > 0 && ranks[i - 1].below_guarantee == below;
    if (same_group) RC_ASSERT(ranks[i - 1].key >= ranks[i].key);
    RC_TAG(below ? "below" : "not below");
  }
}

TEST(Ranking, LooksUpGuaranteesByName) {
  const RankingDeclared declared = rule(0, 500'000, {{"bob", 0}, {"cid", 800'000}});
  EXPECT_EQ(guarantee_of(declared, "ann").millionths, 500'000);
  EXPECT_EQ(guarantee_of(declared, "bob").millionths, 0);
  EXPECT_EQ(guarantee_of(declared, "cid").millionths, 800'000);
  EXPECT_EQ(guarantee_of(declared, "dan").millionths, 500'000);
}

}  // namespace
}  // namespace shapley::accounting
