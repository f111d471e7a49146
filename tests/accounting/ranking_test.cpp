// Ranks against State itself, asked in another way: if nothing more runs, phi - psi one horizon from now is what books
// say then whose open segments all end now.
#include "accounting/state/ranking.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

#include "base/json.hpp"
#include "scenario.hpp"

namespace shapley::accounting {
namespace {

RankingDeclared rule(std::int64_t horizon, std::int64_t guarantee = 0, std::vector<GuaranteedPart> exceptions = {},
                     std::int64_t running_weight = 0) {
  return {scenario::k_begin, "direct_contr", horizon, guarantee, std::move(exceptions), running_weight};
}

Utility key_of(const Standing& standing, EstimatorId estimator, const game::KeyTerms& terms) {
  RankRow row;
  row.figures = figures_of(standing, estimator);
  return {game::key_after(falling_key(row, terms), 0)};
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
  const std::vector<Standing> rows = state.standings();
  const std::vector<Standing> later = stopped(state, state.now()).advance(state.now() + Duration{horizon}).standings();
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
  const std::vector<Standing> rows = state.standings();
  const std::vector<Standing> later =
      stopped(state, state.now() + Duration{residual}).advance(state.now() + Duration{horizon}).standings();
  // What is rounded down in c.
  const std::int64_t c = state.key_terms().running_factor;
  const std::int64_t rounded = residual * (2 * horizon - residual) - 2 * c;
  RC_ASSERT(rounded == 0 || rounded == 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const EstimatorId estimator : estimator_ids()) {
      if (estimator_names()[estimator.value] == "hindsight") continue;
      const Int128 running = rows[i].rate(estimator).value - rows[i].charged.value;
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
  const std::vector<Standing> rows = state.standings();
  for (const Rank& rank : state.ranking()) {
    const Standing& row = rows[state.find_organization(rank.organization)->value];
    const Int128 old = row.balance(k_default_estimator).value +
                       Int128{horizon} * (row.given(k_default_estimator).value - row.got.value);
    RC_ASSERT(rank.key.value == old);
  }
}

// How often `step` can be subtracted from `amount` before it is below zero; negative where it is below zero already.
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
  const std::vector<Standing> rows = state.standings();
  const std::vector<Rank> ranks = state.ranking();
  std::int64_t least = k_longest_lead;
  for (const Rank& rank : ranks) least = std::min(least, naive_whole(rank.key.value, Int128{c} * k_micro));
  for (const Rank& rank : ranks) {
    RC_ASSERT(rank.lead == naive_whole(rank.key.value, Int128{c} * k_micro) - least);
    const Standing& row = rows[state.find_organization(rank.organization)->value];
    std::int64_t lacking = 0;
    while (Int128{row.used.value + lacking * k_micro} * k_whole_node < Int128{guarantee} * row.owned.value) ++lacking;
    RC_ASSERT(std::max<std::int64_t>(0, rank.lacking) == lacking);
    for (const Rank& other : ranks) RC_ASSERT(other.key > rank.key || other.lead <= rank.lead);
    RC_TAG(rank.lead > 0 ? "leads" : "does not lead");
  }
}

// A rule that brakes, over one that has measured m.
RankingDeclared braking(Instant at, std::int64_t guarantee, std::vector<GuaranteedPart> exceptions = {}) {
  return {.at = at,
          .contribution = "direct_contr",
          .guarantee = guarantee,
          .exceptions = std::move(exceptions),
          .rule = KeyRule::braking};
}

// The key's equation, of the rows that the books have then.
Int128 naive_braking_key(const Standing& row, EstimatorId estimator, Int128 m, std::int64_t guarantee) {
  const Int128 rate = row.rate(estimator).value - row.charged.value;
  const Int128 work = row.given(estimator).value - row.got.value;
  const Int128 ahead = work + m * rate;
  const Int128 balance = row.phi(estimator).value - row.psi.value + m * work + m * m / 2 * rate;
  // U: half of what the guarantee leaves of what it owns, half a processor at least.
  const Int128 pace = std::max<Int128>(1, (k_whole_node - guarantee) / 2);
  const Int128 doubled = std::max<Int128>(k_micro, 2 * pace * row.owned.value / k_whole_node);
  return balance + (ahead < 0 ? -(ahead * ahead / doubled) : ahead * ahead / doubled);
}

RC_GTEST_PROP(Ranking, BrakesByEachOrganizationsOwnGuarantee, ()) {
  State state;
  scenario::apply_all(state, (*scenario::arbitrary()).events);
  const auto part = [] { return *rc::gen::inRange<std::int64_t>(0, k_whole_node + 1); };
  const std::int64_t guarantee = part();
  const GuaranteedPart own{*rc::gen::elementOf(state.organizations()), part()};
  const auto m = *rc::gen::inRange<std::int64_t>(2, 5'000);
  RC_ASSERT(state.apply(ResidualMeasured{scenario::k_begin, m, 20}).has_value());
  RC_ASSERT(state.apply(braking(scenario::k_begin, guarantee, {own})).has_value());
  const std::vector<Standing> rows = state.standings();
  const std::vector<Rank> ranks = state.ranking();
  Int128 least = ranks.front().key.value;
  for (const Rank& rank : ranks) least = std::min(least, rank.key.value);
  for (const Rank& rank : ranks) {
    Standing row = rows[state.find_organization(rank.organization)->value];
    const auto key = [&] {
      return naive_braking_key(row, k_default_estimator, m,
                               rank.organization == own.organization ? own.parts_per_million : guarantee);
    };
    RC_ASSERT(rank.key.value == key());
    // Processors that start count as what runs.
    std::int64_t lead = 0;
    for (; key() >= least && lead < 1'000; ++lead) row.charged += ProcessorMillionths{k_micro};
    RC_ASSERT(std::min<std::int64_t>(rank.lead, 999) == lead - 1);
    RC_TAG(lead > 1 ? "leads" : "does not lead");
  }
}

// The nodes are usable as a whole from now on.
State after_return(const State& state, const NodeNames& nodes) {
  State copy = *State::load(state.save());
  for (const std::string& node : nodes) {
    const CapacityChanged* known = state.last_capacity(node);
    if (known == nullptr) continue;
    CapacityChanged back = *known;
    back.ordinal = known->at == state.now() ? known->ordinal + 1 : 0;
    back.at = state.now();
    back.processors = std::max(known->processors, known->whole);  // 0: its worth is not known
    if (back.usable_cpus) back.usable_cpus = back.cpus;
    RC_ASSERT(copy.apply(back).has_value());
  }
  return copy;
}

RC_GTEST_PROP(Ranking, ReturningIsByHowMuchLackingRisesWhenTheNodesAreBack, ()) {
  State state;
  scenario::apply_all(state, (*scenario::arbitrary()).events);
  const auto guarantee = *rc::gen::inRange<std::int64_t>(0, k_whole_node + 1);
  RC_ASSERT(state.apply(rule(0, guarantee)).has_value());
  const auto picked = *rc::gen::inRange(0U, 16U);  // a bit for each
  NodeNames away;
  for (unsigned i = 0; i < 4; ++i) {
    if ((picked >> i & 1U) != 0) away.insert(std::array{"n1", "n2", "n3", "unknown"}.at(i));
  }
  State later = after_return(state, away);
  std::map<std::string, std::int64_t> lacking;
  for (const Rank& rank : later.advance(state.now()).ranking()) lacking[rank.organization] = rank.lacking;
  std::vector<Rank> ranks = state.ranking(std::nullopt, away);
  bool returns = false;
  for (Rank& rank : ranks) {
    RC_ASSERT(rank.returning == std::max<std::int64_t>(0, lacking.at(rank.organization) - rank.lacking));
    returns = returns || rank.returning > 0;
    rank.returning = 0;
  }
  RC_ASSERT(ranks == state.ranking());
  RC_TAG(returns ? "some return" : "none returns");
}

TEST(Ranking, LeadsAreWholeProcessorsAndBounded) {
  std::vector<RankRow> rows(3);
  for (std::size_t i = 0; i < 3; ++i) rows[i].organization = std::string(1, static_cast<char>('a' + i));
  for (RankRow& row : rows) row.guarantee = 500'000;
  rows[0].owned = ProcessorMillionths{10 * k_micro};
  const auto balance = [&](std::size_t row, Int128 amount) { rows[row].figures.balance = {amount}; };
  // One processor is worth 100. a: 2.5 of them, b: -1, c: -0.01.
  balance(0, 250 * k_micro);
  balance(1, -100 * k_micro);
  balance(2, -k_micro);
  const game::KeyTerms terms{Duration{1}, 100};
  const std::vector<Rank> ranks = rank(rows, terms);
  ASSERT_EQ(ranks.size(), 3U);
  EXPECT_EQ(ranks[0].organization, "a");
  EXPECT_EQ(ranks[0].lead, 3);  // 2 and -1
  EXPECT_EQ(ranks[0].lacking, 5);
  EXPECT_EQ(ranks[1].organization, "c");
  EXPECT_EQ(ranks[1].lead, 0);  // -1, as b has
  EXPECT_EQ(ranks[2].lead, 0);
  EXPECT_LE(ranks[2].lacking, 0);
  balance(0, Int128{1} << 110U);
  EXPECT_EQ(rank(rows, terms)[0].lead, k_longest_lead);
  // Where what runs does not count, a processor is worth the first unit of a job.
  balance(0, 3 * k_micro);
  EXPECT_EQ(rank(rows, {Duration{0}})[0].lead, 103);
}

// a owes, so a guest who is even goes before it, unless guests go last. Its debt gives no one else a lead then.
TEST(Ranking, GuestsGoLastByTheRuleAndElseByTheirKey) {
  std::vector<RankRow> rows;
  for (const auto& [name, balance] : {std::pair("a", -300), std::pair("b", -100), std::pair("guests", 0)}) {
    RankRow& row = rows.emplace_back();
    row.organization = name;
    row.figures.balance = {balance * k_micro};
    row.waiting = {k_micro};
  }
  const game::KeyTerms terms{Duration{1}, 100};
  const auto order = [&] {
    std::vector<std::pair<std::string, std::int64_t>> leads;
    for (const Rank& each : rank(rows, terms)) leads.emplace_back(each.organization, each.lead);
    return leads;
  };
  using Leads = std::vector<std::pair<std::string, std::int64_t>>;
  EXPECT_EQ(order(), (Leads{{"guests", 3}, {"b", 2}, {"a", 0}}));
  rows[2].last = true;
  EXPECT_EQ(order(), (Leads{{"b", 2}, {"a", 0}, {"guests", -k_longest_lead}}));
  rows[2].figures.balance = {-500 * k_micro};
  EXPECT_EQ(order(), (Leads{{"b", 2}, {"a", 0}, {"guests", -k_longest_lead}})) << "what guests owe lifts no lead";
}

// Of the node of one cluster: its owner, and the organization whose job holds it whole during [begin, begin + 10).
State cluster_of(const std::string& owner, const std::string& user, std::int64_t begin) {
  const auto at = [](std::int64_t s) { return scenario::k_begin + Duration{s}; };
  const ProcessorMillionths two{2 * k_micro};
  const SegmentOpened run{{SegmentKind::run, {1}, at(begin), 0}, user, at(begin), two, {{"n1", two}}};
  State state;
  for (const Event& event :
       std::vector<Event>{OrganizationsDeclared{at(0), {"a", "b"}},
                          OwnershipStated{"n1", at(0), {{k_beginning_of_time, {{owner, k_whole_node}}}}},
                          CapacityChanged{"n1", at(0), 0, two}, rule(100, 500'000), run,
                          SegmentClosed{run.key, at(begin + 10), CloseReason::ended, "COMPLETED"}}) {
    EXPECT_TRUE(state.apply(event).has_value()) << event_key(event);
  }
  return state;
}

// b runs on a's two processors of one cluster for 10 s, then a on b's two of another one. On its own each cluster goes
// on charging the organization that it served; together b owes only that it was served earlier.
TEST(Ranking, FiguresOfTheSameOrganizationInTwoClustersBooksAddUp) {
  State first = cluster_of("a", "b", 0);
  State second = cluster_of("b", "a", 10);
  const Instant t = scenario::k_begin + Duration{20};
  std::vector<RankRow> rows = first.advance(t).rank_rows(k_default_estimator);
  const std::vector<RankRow> elsewhere = second.advance(t).rank_rows(k_default_estimator);
  ASSERT_EQ(rows.size(), 3U);  // a, b, guests
  EXPECT_EQ(rows[0].figures, (KeyFigures{{Int128{310} * k_micro}, {Int128{20} * k_micro}, {}}));
  EXPECT_EQ(elsewhere[0].figures, (KeyFigures{{Int128{-110} * k_micro}, {Int128{-20} * k_micro}, {}}));
  EXPECT_EQ(rank(rows, first.key_terms()), first.advance(t).ranking(k_default_estimator));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].organization, elsewhere[i].organization);
    rows[i].figures += elsewhere[i].figures;
  }
  const std::vector<Rank> ranks = rank(rows, first.key_terms());
  EXPECT_EQ(ranks[0].organization, "a");
  EXPECT_EQ(ranks[0].key, Utility{Int128{200} * k_micro});
  EXPECT_EQ(ranks[2].organization, "b");
  EXPECT_EQ(ranks[2].key, Utility{Int128{-200} * k_micro});
  for (const RankRow& row : rows) {
    const nlohmann::json json = json_of(row);
    EXPECT_EQ(json.size(), 10U);
    EXPECT_EQ(from_json<RankRow>(json).value(), row);
  }
}

// Who owns which nodes, as of the present: a node that is new, one of two owners, one that is sold later.
TEST(Ranking, OwnedNodesAreThoseOfThePresent) {
  State state = cluster_of("a", "b", 0);
  const auto at = [](std::int64_t s) { return scenario::k_begin + Duration{s}; };
  const auto owned = [&] {
    std::map<std::string, std::vector<OwnerPart>> owners;
    for (const OwnedNodes& same : state.owned_nodes()) {
      for (const std::string& node : same.nodes) EXPECT_TRUE(owners.emplace(node, same.owners).second) << node;
    }
    return owners;
  };
  using Owned = std::map<std::string, std::vector<OwnerPart>>;
  EXPECT_EQ(owned(), (Owned{{"n1", {{"a", k_whole_node}}}}));
  const std::uint64_t epoch = state.owners_epoch();
  const OwnershipStated sold{"n2", at(20), {{k_beginning_of_time, {{"b", 400'000}}}, {at(100), {{"a", k_whole_node}}}}};
  ASSERT_TRUE(state.apply(sold).has_value());
  state.advance(at(20));
  EXPECT_EQ(owned(), (Owned{{"n1", {{"a", k_whole_node}}}, {"n2", {{"b", 400'000}, {"commons", 600'000}}}}));
  const std::uint64_t later = state.owners_epoch();
  EXPECT_GT(later, epoch);
  state.advance(at(99));
  EXPECT_EQ(state.owners_epoch(), later);
  state.advance(at(100));
  EXPECT_GT(state.owners_epoch(), later);
  EXPECT_EQ(owned(), (Owned{{"n1", {{"a", k_whole_node}}}, {"n2", {{"a", k_whole_node}}}}));
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
  declared.guests = *rc::gen::element(Guests::ranked, Guests::last);
  declared.at = state.now() + Duration{1};
  RC_ASSERT(state.apply(rule(7, 8)).has_value());  // an earlier one that comes late
  RC_ASSERT(state.apply(declared).has_value());
  RC_ASSERT(state.ranking_rule() == declared);
  RC_ASSERT(State::load(state.save())->ranking_rule() == declared);

  const std::vector<Standing> rows = state.standings();
  const std::vector<Rank> ranks = state.ranking();
  RC_ASSERT(ranks.size() + 1 == rows.size());  // commons has none
  bool below_is_over = false;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Standing& row = rows[state.find_organization(ranks[i].organization)->value];
    const std::string& name = state.organizations()[row.organization.value];
    const Int128 part = name == own ? own_part : guarantee;
    const bool below = row.waiting.value > 0 && Int128{row.used.value} * k_whole_node < part * row.owned.value;
    RC_ASSERT(ranks[i].below_guarantee == below);
    const bool is_last = declared.guests == Guests::last && name == "guests";
    RC_ASSERT(ranks[i].last == is_last);
    RC_ASSERT((ranks[i].lead == -k_longest_lead) == is_last);
    if (is_last) {
      RC_ASSERT(i + 1 == ranks.size());
      continue;
    }
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

// The forecast against books that are asked second by second.

constexpr std::int64_t k_watched = 60;  // seconds

// By hindsight a contribution does not go on as it does now: coalitions start and end jobs although no real job does.
std::int64_t watched_of(EstimatorId estimator) {
  return estimator_names()[estimator.value] == "hindsight" ? 0 : k_watched;
}

// Somewhere in the middle of a scenario, under an arbitrary rule.
State arbitrary_books() {
  std::vector<Event> events = (*scenario::arbitrary()).events;
  const Instant cut = scenario::Shape{}.at(*rc::gen::inRange(0, scenario::k_steps));
  std::erase_if(events, [&](const Event& event) { return time_of(event) > cut; });
  State state;
  scenario::apply_all(state, events);
  const auto horizon = *rc::gen::element<std::int64_t>(0, 1, 10, 1'000, 604'800);
  const auto guarantee = *rc::gen::element<std::int64_t>(0, 500'000, 1'000'000);
  const auto weight = *rc::gen::element<std::int64_t>(0, 100'000, 1'000'000);
  const auto guests = *rc::gen::element(Guests::ranked, Guests::last);
  RankingDeclared rule{cut, "direct_contr", horizon, guarantee, {}, weight, guests};
  if (*rc::gen::arbitrary<bool>()) {
    rule = braking(cut, guarantee);
    rule.guests = guests;
  }
  RC_ASSERT(state.apply(rule).has_value());
  if (const auto residual = *rc::gen::element<std::int64_t>(0, 3, 400, 1'000'000); residual > 0)
    RC_ASSERT(state.apply(ResidualMeasured{cut, residual, 20}).has_value());
  return state;
}

// The key's equation, of the rows that the books have then.
Int128 naive_key(State& books, Instant t, OrgId organization, EstimatorId estimator) {
  const Standing row = books.advance(t).standings()[organization.value];
  const RankingDeclared rule = books.ranking_rule();
  const ResidualMeasured* measured = books.residual_measured();
  const std::int64_t residual = measured == nullptr ? 3600 : measured->seconds;
  if (rule.rule == KeyRule::braking) return naive_braking_key(row, estimator, residual, rule.guarantee);
  const Int128 m = std::min<std::int64_t>(residual, rule.horizon);
  const Int128 c = rule.running_weight * (m * rule.horizon * 2 - m * m) / 2'000'000;
  return row.phi(estimator).value - row.psi.value + rule.horizon * (row.given(estimator).value - row.got.value) +
         c * (row.rate(estimator).value - row.charged.value);
}

RC_GTEST_PROP(Forecast, IsWhatTheBooksSaySecondBySecond, ()) {
  State state = arbitrary_books();
  const EstimatorId estimator =
      *rc::gen::elementOf(std::vector<EstimatorId>(estimator_ids().begin(), estimator_ids().end()));
  const Outlook ahead = outlook(state, estimator);
  RC_ASSERT(ahead.at == state.now());
  std::vector<std::vector<bool>> before;  // by second: the order of each pair as the books have it
  State later = *State::load(state.save());
  for (std::int64_t d = 0; d <= watched_of(estimator) && ahead.at + Duration{d} < ahead.until; ++d) {
    const std::vector<Rank> ranks = later.advance(ahead.at + Duration{d}).ranking(estimator);
    const std::vector<std::size_t> order = order_after(ahead, Duration{d});
    RC_ASSERT(order.size() == ranks.size());
    std::vector<std::size_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      RC_ASSERT(ahead.rows[order[i]].organization == ranks[i].organization);
      RC_ASSERT(ahead.rows[order[i]].below_guarantee() == ranks[i].below_guarantee);
      RC_ASSERT(key_after(ahead, order[i], Duration{d}) == ranks[i].key);
      RC_ASSERT(ranks[i].key.value ==
                naive_key(later, later.now(), *later.find_organization(ranks[i].organization), estimator));
      place[order[i]] = i;
    }
    std::vector<bool>& pairs = before.emplace_back();
    for (std::size_t a = 0; a < place.size(); ++a)
      for (std::size_t b = 0; b < place.size(); ++b) pairs.push_back(place[a] < place[b]);
  }
  const std::size_t n = ahead.rows.size();
  const Instant watched_until = ahead.at + Duration{static_cast<std::int64_t>(before.size())};
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      if (a == b) continue;
      std::vector<Instant> seen;
      for (std::size_t d = 1; d < before.size(); ++d)
        if (before[d][a * n + b] != before[d - 1][a * n + b])
          seen.push_back(ahead.at + Duration{static_cast<std::int64_t>(d)});
      std::vector<Instant> told = turns(ahead, a, b);
      RC_ASSERT(told.size() <= (ahead.terms.brakes ? 6U : 2U));
      std::erase_if(told, [&](Instant turn) { return turn >= watched_until; });
      RC_ASSERT(told == seen);
      RC_TAG(seen.empty() ? "no turn" : "a turn");
    }
  }
}

// Far ahead there are too many seconds to ask for each: the books are asked on both sides of each turn, and between
// them.
RC_GTEST_PROP(Forecast, TurnsFarAheadAreTheBooksOwn, ()) {
  State state = arbitrary_books();
  RC_ASSERT(state.apply(PeriodDeclared{state.now() + Duration{1}, Period::none}).has_value());
  const Outlook ahead = outlook(state, k_default_estimator);
  const auto is_first = [&](std::size_t a, std::size_t b, Instant t) {
    State later = *State::load(state.save());
    for (const Rank& rank : later.advance(t).ranking(k_default_estimator)) {
      if (rank.organization == ahead.rows[a].organization) return true;
      if (rank.organization == ahead.rows[b].organization) return false;
    }
    return false;
  };
  for (std::size_t a = 0; a < ahead.rows.size(); ++a) {
    for (std::size_t b = a + 1; b < ahead.rows.size(); ++b) {
      bool before = is_first(a, b, ahead.at);
      Instant since = ahead.at;
      std::vector<Instant> all = turns(ahead, a, b);
      for (const Instant turn : all) {
        const Instant middle{since.value + (turn.value - since.value) / 2};
        if (middle < turn) RC_ASSERT(is_first(a, b, middle) == before);
        RC_ASSERT(is_first(a, b, Instant{turn.value - 1}) == before);
        RC_ASSERT(is_first(a, b, turn) != before);
        before = !before;
        since = turn;
      }
      RC_ASSERT(is_first(a, b, Instant{ahead.until.value - 1}) == before);
      RC_TAG(all.empty() ? "no turn" : "a turn");
    }
  }
}

// Two organizations whose keys turn back and forth while R' changes its sign. Turns U of whole processors and powers of
// two of them keep what is rounded equal on both sides.
RC_GTEST_PROP(Forecast, TurnsOfKeysThatBrakeAreThoseSecondBySecond, ()) {
  constexpr std::int64_t k_seconds = 1'500;
  const auto around = [](std::int64_t most) { return *rc::gen::inRange<std::int64_t>(-most, most + 1); };
  Outlook ahead;
  ahead.until = ahead.at + Duration{k_seconds};
  ahead.terms = key_terms(braking({}, 0), Duration{*rc::gen::element<std::int64_t>(2, 10, 60)});
  for (int i = 0; i < 2; ++i) {
    RankRow row;
    row.figures = {{Int128{around(60'000)} * k_micro}, {Int128{around(400)} * k_micro}, {around(4) * k_micro}};
    row.pooled = {*rc::gen::element<std::int64_t>(0, 1, 2, 4, 8, 16) * k_micro};
    ahead.rows.push_back(row);
  }
  const auto naive = [&](std::size_t i, std::int64_t d) {
    Int128 balance = ahead.rows[i].figures.balance.value;
    Int128 work = ahead.rows[i].figures.given_less_got.value;
    const Int128 rate = ahead.rows[i].figures.rate_less_used.value;
    const std::int64_t m = ahead.terms.horizon.value;
    for (std::int64_t second = 0; second < d; ++second) balance += work += rate;
    balance += m * work + m * m / 2 * rate;
    work += m * rate;
    const Int128 distance = work * work / std::max<Int128>(k_micro, ahead.rows[i].pooled.value);
    return work < 0 ? balance - distance : balance + distance;
  };
  std::vector<Instant> seen;
  bool before = naive(0, 0) >= naive(1, 0);
  for (std::int64_t d = 0; d < k_seconds; ++d) {
    RC_ASSERT(key_after(ahead, 0, Duration{d}).value == naive(0, d));
    const bool now = naive(0, d) >= naive(1, d);
    if (now != before) seen.push_back(ahead.at + Duration{d});
    before = now;
  }
  RC_ASSERT(turns(ahead, 0, 1) == seen);
  RC_TAG(std::to_string(seen.size()) + " turns");
}

// By hand. A and B own a processor each. From 0 to 10 A runs on both: the keys part. From 20 on B runs on both.
// psi and phi by the closed form: at 20 A has 310, B has 0 and phi is 155 each, so A is 155 behind and B 155 ahead,
// with given - got = -10 and +10. From then on each second adds 1 to A's difference of rates and takes 1 from B's:
// D(d) = key(B) - key(A) = 310 + 20 d - d(d+1), which is 0 at d = (19 + sqrt(361 + 1240)) / 2 = 29.5: turns at 30.
State example_of_the_concepts_page() {
  const auto second = [](std::int64_t s) { return scenario::k_begin + Duration{s}; };
  const ProcessorMillionths one{k_micro};
  const auto run = [&](std::uint32_t job, const char* organization, std::int64_t begin) {
    return SegmentOpened{.key = {SegmentKind::run, JobId{job}, second(begin), 0},
                         .organization = organization,
                         .begin = second(begin),
                         .processors = one + one,
                         .nodes = {{"n1", one}, {"n2", one}}};
  };
  State state;
  for (const Event& event : std::vector<Event>{
           OrganizationsDeclared{second(0), {"A", "B"}},
           OwnershipStated{"n1", second(0), {{second(0), {{"A", k_whole_node}}}}},
           OwnershipStated{"n2", second(0), {{second(0), {{"B", k_whole_node}}}}},
           CapacityChanged{"n1", second(0), 0, one},
           CapacityChanged{"n2", second(0), 0, one},
           run(1, "A", 0),
           SegmentClosed{{SegmentKind::run, JobId{1}, second(0), 0}, second(10), CloseReason::ended, "COMPLETED"},
           run(2, "B", 20),
       }) {
    EXPECT_TRUE(state.apply(event).has_value());
  }
  return state;
}

TEST(Forecast, TheExampleOfTheConceptsPage) {
  State state = example_of_the_concepts_page();
  const auto second = [](std::int64_t s) { return scenario::k_begin + Duration{s}; };
  const Outlook ahead = outlook(state.advance(second(20)), k_default_estimator);
  ASSERT_EQ(ahead.rows.size(), 3U);  // A, B, guests
  EXPECT_EQ(turns(ahead, 1, 0), std::vector<Instant>{second(50)});
  EXPECT_EQ(turns(ahead, 0, 1), std::vector<Instant>{second(50)});
  // guests stays at 0; A rises from -155 by -10 d + d(d+1)/2, B falls likewise: both pass 0 at the same time.
  EXPECT_EQ(turns(ahead, 0, 2), std::vector<Instant>{second(50)});
  EXPECT_FALSE(ahead.by_date);
  EXPECT_EQ(ahead.until, second(20) + k_longest_forecast);
}

// With H = 10 the difference has 10 (20 - 2 d) more, so it is 510 - d(d+1): turns at 23. What runs counts against B:
// with the whole weight and m = 4, c = 4 (10 - 4/2) = 32, and the rates differ by 2. 510 - 64 - d(d+1): turns at 21.
TEST(Forecast, WhatRunsTurnsRanksSooner) {
  const auto second = [](std::int64_t s) { return scenario::k_begin + Duration{s}; };
  const auto turn_of = [&](std::int64_t weight) {
    State state = example_of_the_concepts_page();
    EXPECT_TRUE(state.apply(RankingDeclared{second(0), "direct_contr", 10, 0, {}, weight}).has_value());
    EXPECT_TRUE(state.apply(ResidualMeasured{second(1), 4, 20}).has_value());
    return turns(outlook(state.advance(second(20)), k_default_estimator), 1, 0);
  };
  EXPECT_EQ(turn_of(0), std::vector<Instant>{second(43)});
  EXPECT_EQ(turn_of(1'000'000), std::vector<Instant>{second(41)});
}

TEST(Forecast, EndsWithThePeriodAndWhereANodeChangesHands) {
  State state;
  const Instant begin = scenario::k_begin;
  ASSERT_TRUE(state.apply(OrganizationsDeclared{begin, {"A", "B"}}).has_value());
  EXPECT_EQ(state.next_dated_change(), k_end_of_time);
  ASSERT_TRUE(state.apply(PeriodDeclared{begin, Period::monthly}).has_value());
  EXPECT_EQ(state.next_dated_change(), scenario::k_month_end);
  const Outlook month = outlook(state.advance(begin), k_default_estimator);
  EXPECT_EQ(month.until, scenario::k_month_end);
  EXPECT_TRUE(month.by_date);
  const Instant sold = begin + Duration{7};
  ASSERT_TRUE(state.apply(OwnershipStated{"n1", begin, {{begin, {{"A", k_whole_node}}}, {sold, {{"B", k_whole_node}}}}})
                  .has_value());
  EXPECT_EQ(outlook(state.advance(begin), k_default_estimator).until, sold);
  EXPECT_EQ(outlook(state.advance(sold), k_default_estimator).until, scenario::k_month_end);
}

}  // namespace
}  // namespace shapley::accounting
