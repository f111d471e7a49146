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

RankingDeclared rule(std::int64_t horizon, std::int64_t guarantee = 0, std::vector<GuaranteedPart> exceptions = {},
                     std::int64_t running_weight = 0) {
  return {scenario::k_begin, "direct_contr", horizon, guarantee, std::move(exceptions), running_weight};
}

// Everything that is open ends at `end`.
State stopped(const State& state, Instant end) {
  State copy = *State::load(state.save());
  for (const JobId job : state.jobs_with_open_segments()) {
    for (const SegmentKey& key : state.find_job(job)->segments) {
      const LiveSegment* segment = state.find_segment(key);
      if (segment == nullptr || segment->end) continue;
      RC_ASSERT(copy.apply(SegmentClosed{key, end, CloseReason::ended, ""}).has_value());
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
  const std::vector<Standing> later = stopped(state, state.now()).standings(state.now() + Duration{horizon});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const EstimatorId estimator : estimator_ids()) {
      // By hindsight coalitions learn from what ends, and go on after it.
      if (estimator_names()[estimator.value] == "hindsight") continue;
      RC_ASSERT(key_of(rows[i], estimator, {Duration{horizon}}) == later[i].balance(estimator));
    }
  }
}

// With the whole weight what runs goes on for the mean residual run time. Books count whole seconds, each from its
// begin on; c counts from the middle of each. So twice the key is short of it by R for each second.
RC_GTEST_PROP(Ranking, TheKeyWithTheWholeWeightIsTheStandingOfBooksThatStopAfterTheMean, ()) {
  State state;
  scenario::apply_all(state, (*scenario::arbitrary()).events);
  RC_ASSERT(state.apply(PeriodDeclared{state.now() + Duration{1}, Period::none}).has_value());
  const auto residual = *rc::gen::inRange<std::int64_t>(1, 1'000);
  const auto horizon = residual + *rc::gen::inRange<std::int64_t>(0, 10'000);
  // A node that changes hands meanwhile changes what runs give.
  RC_PRE(state.now() + Duration{residual} < state.next_dated_change());
  RC_ASSERT(state.apply(ResidualMeasured{scenario::k_begin, residual, 20}).has_value());
  RC_ASSERT(state.apply(rule(horizon, 0, {}, k_whole_node)).has_value());
  const std::vector<Standing> rows = state.standings(state.now());
  const std::vector<Standing> later =
      stopped(state, state.now() + Duration{residual}).standings(state.now() + Duration{horizon});
  // What is rounded down in c.
  const std::int64_t c = state.key_terms().running_factor;
  const std::int64_t rounded = residual * (2 * horizon - residual) - 2 * c;
  RC_ASSERT(rounded == 0 || rounded == 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const EstimatorId estimator : estimator_ids()) {
      if (estimator_names()[estimator.value] == "hindsight") continue;
      const Int128 running = rows[i].rate(estimator).value - rows[i].used.value;
      const Int128 twice = 2 * key_of(rows[i], estimator, state.key_terms()).value;
      RC_ASSERT(twice == 2 * later[i].balance(estimator).value - running * (residual + rounded));
      RC_TAG(running == 0 ? "even" : "runs on others' processors");
    }
  }
}

// What the rule was before what runs counted: by rules of before, which have no weight, and by the published one.
RC_GTEST_PROP(Ranking, WithoutTheWeightOrTheHorizonTheKeyIsTheOldOne, ()) {
  State state;
  scenario::apply_all(state, (*scenario::arbitrary()).events);
  const bool is_published = *rc::gen::arbitrary<bool>();
  const auto horizon = is_published ? 0 : *rc::gen::inRange<std::int64_t>(1, 1'000'000);
  RC_ASSERT(state.apply(ResidualMeasured{scenario::k_begin, 77, 20}).has_value());
  RC_ASSERT(state.apply(rule(horizon, 0, {}, is_published ? k_whole_node : 0)).has_value());
  const std::vector<Standing> rows = state.standings(state.now());
  for (const Rank& rank : state.ranking(state.now())) {
    const Standing& row = rows[rank.organization.value];
    const Int128 old = row.balance(k_default_estimator).value +
                       Int128{horizon} * (row.given(k_default_estimator).value - row.got.value);
    RC_ASSERT(rank.key.value == old);
  }
}

// How often `step` can be taken off `amount` before it is below nought; less than nothing where it is that already.
std::int64_t naive_whole(Int128 amount, Int128 step) {
  std::int64_t count = 0;
  for (; amount >= step; amount -= step) ++count;
  for (; amount < 0; amount += step) --count;
  return count;
}

RC_GTEST_PROP(Ranking, LeadsAndWhatIsLackingAreThoseOfTheirDefinitions, ()) {
  State state;
  scenario::apply_all(state, (*scenario::arbitrary()).events);
  const auto horizon = *rc::gen::inRange<std::int64_t>(50, 5'000);
  const auto guarantee = *rc::gen::inRange<std::int64_t>(0, k_whole_node + 1);
  const auto weight = *rc::gen::element<std::int64_t>(100'000, 333'333, k_whole_node);
  RC_ASSERT(state.apply(rule(horizon, guarantee, {}, weight)).has_value());
  RC_ASSERT(state.apply(ResidualMeasured{scenario::k_begin, *rc::gen::inRange(50, 5'000), 20}).has_value());
  const std::int64_t c = state.key_terms().running_factor;
  RC_ASSERT(c > 0);
  const std::vector<Standing> rows = state.standings(state.now());
  const std::vector<Rank> ranks = state.ranking(state.now());
  std::int64_t least = k_longest_lead;
  for (const Rank& rank : ranks) least = std::min(least, naive_whole(rank.key.value, Int128{c} * k_micro));
  for (const Rank& rank : ranks) {
    RC_ASSERT(rank.lead == naive_whole(rank.key.value, Int128{c} * k_micro) - least);
    const Standing& row = rows[rank.organization.value];
    std::int64_t lacking = 0;
    while (Int128{row.used.value + lacking * k_micro} * k_whole_node < Int128{guarantee} * row.owned.value) ++lacking;
    RC_ASSERT(std::max<std::int64_t>(0, rank.lacking) == lacking);
    for (const Rank& other : ranks) RC_ASSERT(other.key > rank.key || other.lead <= rank.lead);
    RC_TAG(rank.lead > 0 ? "leads" : "does not lead");
  }
}

TEST(Ranking, LeadsAreWholeProcessorsAndBounded) {
  std::vector<Standing> rows(3);
  for (std::uint32_t i = 0; i < 3; ++i) rows[i].organization = {i};
  rows[0].owned = MicroProcessors{10 * k_micro};
  const auto balance = [&](std::size_t row, Int128 amount) { rows[row].psi = {-amount}; };
  const std::vector<OrgId> order{{0}, {1}, {2}};
  const std::vector<std::string> names{"a", "b", "c"};
  const RankingDeclared half = rule(0, 500'000);
  // One processor is worth 100. a: 2.5 of them, b: -1, c: -0.01.
  balance(0, 250 * k_micro);
  balance(1, -100 * k_micro);
  balance(2, -k_micro);
  const game::KeyTerms terms{Duration{1}, 100};
  const std::vector<Rank> ranks = rank(rows, order, names, half, terms, k_default_estimator);
  ASSERT_EQ(ranks.size(), 3U);
  EXPECT_EQ(ranks[0].organization, OrgId{0});
  EXPECT_EQ(ranks[0].lead, 3);  // 2 and -1
  EXPECT_EQ(ranks[0].lacking, 5);
  EXPECT_EQ(ranks[1].organization, OrgId{2});
  EXPECT_EQ(ranks[1].lead, 0);  // -1, as b has
  EXPECT_EQ(ranks[2].lead, 0);
  EXPECT_LE(ranks[2].lacking, 0);
  balance(0, Int128{1} << 110U);
  EXPECT_EQ(rank(rows, order, names, half, terms, k_default_estimator)[0].lead, k_longest_lead);
  // Where what runs does not count, a processor is worth the first unit of a job.
  balance(0, 3 * k_micro);
  EXPECT_EQ(rank(rows, order, names, half, {Duration{0}}, k_default_estimator)[0].lead, 103);
}

TEST(Ranking, CountsWhatRunsByTheMeanInForceThen) {
  State state;
  const auto at = [](std::int64_t s) { return scenario::k_begin + Duration{s}; };
  ASSERT_TRUE(state.apply(OrganizationsDeclared{at(0), {"a"}}).has_value());
  ASSERT_TRUE(state.apply(rule(10'000, 0, {}, k_whole_node)).has_value());
  state.advance(at(5));
  EXPECT_EQ(state.residual_measured(), nullptr);
  EXPECT_EQ(state.key_terms().running_factor, game::k_assumed_residual.value * (20'000 - 3'600) / 2);
  const ResidualMeasured first{at(10), 100, 20};
  const ResidualMeasured second{at(20), 400, 99};
  ASSERT_TRUE(state.apply(first).has_value());
  ASSERT_NE(state.residual_measured(), nullptr);
  EXPECT_EQ(*state.residual_measured(), first);
  EXPECT_EQ(state.key_terms(), (game::KeyTerms{Duration{10'000}, 100 * (20'000 - 100) / 2}));
  ASSERT_TRUE(state.apply(second).has_value());
  EXPECT_EQ(*state.residual_measured(), second);
  ASSERT_TRUE(state.apply(ResidualMeasured{at(15), 200, 50}).has_value());  // late
  EXPECT_EQ(*state.residual_measured(), second);
  EXPECT_EQ(*State::load(state.save())->residual_measured(), second);
  EXPECT_FALSE(state.apply(ResidualMeasured{at(20), 401, 99}).has_value());
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
