// Ranks by the sum over clusters: the example of docs/equations.md by hand, and the books of another cluster against
// what its statement says of them later.
#include "accounting/state/consortium.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "accounting/events/event_check.hpp"
#include "accounting/state/ranking.hpp"
#include "scenario.hpp"
#include "state_fixture.hpp"

namespace shapley::accounting {
namespace {

const EstimatorId k_direct = k_default_estimator;

ConsortiumDeclared consortium(Instant at, std::vector<OtherCluster> others, std::int64_t weight = k_whole_weight) {
  return {at, "uni", weight, std::move(others)};
}

OtherCluster south(std::int64_t stale_after = 100'000, std::int64_t weight = k_whole_weight) {
  return {.cluster = "south", .weight = weight, .stale_after = stale_after, .key = "SHA256:0", .names = {}};
}

// What the books say of themselves at `t`.
StandingReceived statement_of(State& books, Instant t, std::string cluster = "south") {
  StandingReceived statement{.at = t, .cluster = std::move(cluster), .figures = {}, .signature = std::string(128, '0')};
  statement.figures = {.consortium = "uni",
                       .ledger = std::string(32, '1'),
                       .event = 1,
                       .hash = std::string(64, '2'),
                       .time = t,
                       .contribution = "direct_contr",
                       .period = books.period(),
                       .period_begin = std::max(books.period_begin(), Instant{0}),
                       .weights = {},
                       .organizations = {}};
  for (const RankRow& row : books.advance(t).own_rank_rows(k_direct)) {
    statement.figures.organizations.push_back({row.organization, row.figures, row.owned, row.used, row.waiting});
  }
  std::ranges::sort(statement.figures.organizations, {}, &OrganizationElsewhere::organization);
  return statement;
}

KeyFigures figures_of_row(const std::vector<RankRow>& rows, const std::string& organization) {
  const auto row = std::ranges::find(rows, organization, &RankRow::organization);
  EXPECT_NE(row, rows.end()) << organization;
  return row == rows.end() ? KeyFigures{} : row->figures;
}

class ConsortiumTest : public StateTest {
 protected:
  // A owns two processors here, B two in the south. B runs on both of these from 0 to 10, A on both there from 10
  // to 20.
  void SetUp() override {
    apply(owned("n1", 0, {{"A", k_whole_node}}));
    apply(capacity("n1", 0, 2));
    for (const Event& event : {Event(owned("s1", 0, {{"B", k_whole_node}})), Event(capacity("s1", 0, 2))})
      EXPECT_EQ(south_.apply(event).value(), Applied::changed);
    const SegmentOpened here = run(1, "B", 0, {{"n1", cores(2)}});
    const SegmentOpened there = run(1, "A", 10, {{"s1", cores(2)}});
    for (const Event& event : {Event(here), Event(closed(here, 10))}) apply(event);
    for (const Event& event : {Event(there), Event(closed(there, 20))})
      EXPECT_EQ(south_.apply(event).value(), Applied::changed);
  }

  KeyFigures sum(const std::string& organization, std::int64_t t) {
    return figures_of_row(state_.advance(at(t)).rank_rows(k_direct), organization);
  }

  State south_;
};

TEST_F(ConsortiumTest, WhatIsLentOnOneClusterIsRepaidOnAnother) {
  apply(consortium(at(0), {south()}));
  EXPECT_EQ(units(sum("A", 10).balance), 110);
  apply(statement_of(south_, at(20)));
  EXPECT_EQ(units(sum("A", 20).balance), 200);
  EXPECT_EQ(sum("A", 20).given_less_got, CpuTime{});
  EXPECT_EQ(units(sum("B", 20).balance), -200);
  // Ten seconds later, by the statement of then: what each gave is repaid, and the standings stay.
  EXPECT_EQ(units(sum("A", 30).balance), 200);
  // Alone this cluster would go on charging B.
  EXPECT_EQ(units(figures_of_row(state_.advance(at(30)).own_rank_rows(k_direct), "B").balance), -510);
}

TEST_F(ConsortiumTest, AnotherNameAndAnotherWorthOfProcessorsCount) {
  OtherCluster other = south(100'000, 3 * k_whole_weight);
  other.names = {{"astro", "A"}};
  apply(consortium(at(0), {other}, 2 * k_whole_weight));
  apply(owned("n2", 0, {{"astro", k_whole_node}}));
  apply(statement_of(south_, at(20)));
  // In the south A got 20 processor-seconds, which are worth 30 here.
  EXPECT_EQ(sum("astro", 20).given_less_got, (CpuTime{-30 * k_micro}));
  EXPECT_EQ(sum("A", 20).given_less_got, (CpuTime{20 * k_micro}));
}

TEST_F(ConsortiumTest, AnOrganizationThatHasAnotherNameThereIsNotTheOneThatHasItsNameThere) {
  OtherCluster other = south();
  other.names = {{"astro", "A"}};
  apply(consortium(at(0), {other}));
  apply(owned("n2", 0, {{"astro", k_whole_node}}));
  StandingReceived statement = statement_of(south_, at(20));
  statement.figures.organizations.push_back(
      {"astro", {.balance = {1'000 * k_micro}, .given_less_got = {}, .rate_less_used = {}}, {}, {}, {}});
  std::ranges::sort(statement.figures.organizations, {}, &OrganizationElsewhere::organization);
  apply(statement);
  EXPECT_EQ(units(sum("astro", 20).balance), -110);
}

// By a rule that brakes the keys are those of the sums, with U of what is owned on both clusters. The south's
// processors are worth half of one here. m = 3600 and nothing runs, so R' = R and S' = S + m R.
TEST_F(ConsortiumTest, BrakesByWhatIsOwnedOnAllClusters) {
  apply(consortium(at(0), {south(50, k_whole_weight)}, 2 * k_whole_weight));
  apply(RankingDeclared{at(0), "direct_contr", 0, 500'000, {{"B", 0}}, 0, Guests::ranked, KeyRule::braking});
  apply(owned("n2", 0, {{"B", k_whole_node}}));
  apply(capacity("n2", 0, 16));
  apply(statement_of(south_, at(20)));
  for (const std::int64_t t : {20, 60, 5'000}) {  // from 70 on the south's figures stand still
    const std::vector<RankRow> rows = state_.advance(at(t)).rank_rows(k_direct);
    for (const RankRow& row : rows) {
      const bool is_b = row.organization == "B";
      EXPECT_EQ(row.pooled, is_b ? cores(17) : row.organization == "A" ? cores(2) : cores(0));
      const Int128 work = row.figures.given_less_got.value;
      const Int128 doubled = is_b ? 17 * k_micro : k_micro;  // (1 - 0) 17, (1 - .5) 2, and the least
      const Int128 key = row.figures.balance.value + 3600 * work + (work < 0 ? -1 : 1) * (work * work / doubled);
      EXPECT_EQ(game::key_after(falling_key(row, state_.key_terms()), 0), key) << row.organization << ' ' << t;
    }
  }
}

// A signed statement may say what no cluster has.
TEST_F(ConsortiumTest, OwnedElsewhereIsWhatAClusterCanOwn) {
  apply(consortium(at(0), {south(100'000, k_greatest_weight)}, k_least_weight));
  StandingReceived statement = statement_of(south_, at(20));
  for (OrganizationElsewhere& row : statement.figures.organizations)
    row.owned = row.organization == "A" ? -k_max_wanted : k_max_wanted;
  apply(statement);
  const ProcessorMillionths most{std::int64_t{1} << 56U};  // less than a million processors of this weight
  for (const RankRow& row : state_.advance(at(20)).rank_rows(k_direct))
    EXPECT_EQ(row.pooled, row.organization == "A" ? cores(2) : most) << row.organization;
}

// A hundred clusters, as many as a file may name, each of which states the most that a statement may have, of
// processors that are worth the most that a file may say.
TEST_F(ConsortiumTest, WhatAllClustersStateHasASum) {
  std::vector<OtherCluster> others;
  for (int i = 100; i < 200; ++i) {
    others.push_back(south(0, k_greatest_weight));
    others.back().cluster = "c" + std::to_string(i);
  }
  apply(consortium(at(0), others, k_least_weight));
  apply(RankingDeclared{at(0), "direct_contr", 0, 500'000, {}, 0, Guests::ranked, KeyRule::braking});
  constexpr Int128 k_seconds = 1'000'000'000;
  for (const OtherCluster& other : others) {
    StandingReceived statement = statement_of(south_, at(20), other.cluster);
    for (OrganizationElsewhere& row : statement.figures.organizations) {
      const std::int64_t sign = row.organization == "A" ? 1 : row.organization == "B" ? -1 : 0;
      row.figures.balance.value = sign * k_max_held.value * k_seconds * k_seconds;
      row.figures.given_less_got.value = sign * k_max_held.value * k_seconds;
      row.figures.rate_less_used.value = sign * k_max_held.value;
      row.owned = sign == 0 ? ProcessorMillionths{} : k_max_held;
    }
    apply(statement);
  }
  EXPECT_GT(sum("A", 20).rate_less_used, ProcessorMillionths{});
  for (const std::int64_t t : {20, 100'000}) {
    const std::vector<Rank> ranks = state_.advance(at(t)).ranking();
    EXPECT_EQ(ranks.front().organization, "A");
    EXPECT_GT(ranks.front().key, Utility{});
    EXPECT_EQ(ranks.front().lead, k_longest_lead);
    EXPECT_EQ(ranks.back().organization, "B");
    EXPECT_LT(ranks.back().key, Utility{});
    const Outlook ahead = outlook(state_.advance(at(t)), k_direct);
    EXPECT_EQ(order_after(ahead, Duration{1'000}).size(), ranks.size());
  }
}

TEST_F(ConsortiumTest, WhatIsTooOldStandsStill) {
  apply(consortium(at(0), {south(50)}));
  State books;
  for (const Event& event : {Event(owned("s1", 0, {{"B", k_whole_node}})), Event(capacity("s1", 0, 2)),
                             Event(run(1, "A", 10, {{"s1", cores(2)}}))})
    EXPECT_EQ(books.apply(event).value(), Applied::changed);
  apply(statement_of(books, at(20)));
  EXPECT_EQ(state_.shares_elsewhere().front().stale_at, at(70));
  const auto elsewhere = [&](std::int64_t t) {
    KeyFigures rest = sum("A", t);
    const KeyFigures here = figures_of_row(state_.advance(at(t)).own_rank_rows(k_direct), "A");
    rest.balance -= here.balance;
    rest.given_less_got -= here.given_less_got;
    rest.rate_less_used -= here.rate_less_used;
    return rest;
  };
  EXPECT_EQ(elsewhere(69).rate_less_used, -cores(2));
  EXPECT_EQ(elsewhere(70).rate_less_used, ProcessorMillionths{}) << "what ran has ended";
  EXPECT_EQ(elsewhere(70).given_less_got, (CpuTime{-2 * 60 * k_micro}));
  EXPECT_EQ(elsewhere(500).given_less_got, elsewhere(70).given_less_got);
  EXPECT_EQ(elsewhere(500).balance, elsewhere(70).balance);
  // When it comes back the sum is whole again at once.
  apply(statement_of(books, at(600)));
  EXPECT_EQ(elsewhere(600).given_less_got, (CpuTime{-2 * 590 * k_micro}));
}

TEST_F(ConsortiumTest, AClusterThatLeavesCountsNoMore) {
  apply(consortium(at(0), {south()}));
  apply(statement_of(south_, at(20)));
  EXPECT_EQ(units(sum("A", 20).balance), 200);
  apply(consortium(at(30), {}));
  EXPECT_EQ(sum("A", 30), figures_of_row(state_.advance(at(30)).own_rank_rows(k_direct), "A"));
  apply(consortium(at(40), {south()}));
  EXPECT_EQ(units(sum("A", 40).balance), 200) << "it joins again";
}

TEST_F(ConsortiumTest, OnlyTheNewestStatementIsRemembered) {
  apply(consortium(at(0), {south()}));
  apply(statement_of(south_, at(25)));
  const StandingReceived older = statement_of(south_, at(20));
  State copy = State::load(state_.save()).value();
  EXPECT_EQ(copy.apply(older).value(), Applied::changed);
  EXPECT_EQ(copy.save(), state_.save()) << "in any order the same books";
  apply(statement_of(south_, at(30)));
  EXPECT_EQ(state_.shares_elsewhere().front().statement->at, at(30));
}

// What another cluster stated before its ledger was replaced counts no more from the instant of acceptance on, in any
// order of the events; that it was found changes nothing.
TEST_F(ConsortiumTest, OfAReplacedLedgerNothingCountsOnceItIsAccepted) {
  const LedgerReplaced found{
      at(30), "south", std::string(32, '1'), 1, std::string(32, '2'), 1, std::string(64, '3'), "shapleyd", ""};
  LedgerReplaced accepted = found;
  accepted.at = at(40);
  accepted.author = "uid 0 (root)";
  accepted.reason = "it burnt";
  apply(consortium(at(0), {south()}));
  apply(statement_of(south_, at(20)));
  apply(found);
  EXPECT_EQ(units(sum("A", 30).balance), 200);
  State late = State::load(state_.save()).value();
  apply(accepted);
  EXPECT_EQ(sum("A", 40), figures_of_row(state_.advance(at(40)).own_rank_rows(k_direct), "A"));
  EXPECT_EQ(state_.shares_elsewhere().front().statement, nullptr);
  StandingReceived first = statement_of(south_, at(40));
  apply(first);
  EXPECT_EQ(units(sum("A", 40).balance), 200) << "of the instant of acceptance";
  for (const Event& event : {Event(first), Event(accepted)}) EXPECT_EQ(late.apply(event).value(), Applied::changed);
  EXPECT_EQ(late.save(), state_.save());
  EXPECT_EQ(state_.replaced_ledgers(), (std::vector<LedgerReplaced>{found, accepted}));
  for (std::string LedgerReplaced::*part : {&LedgerReplaced::cluster, &LedgerReplaced::ledger, &LedgerReplaced::hash,
                                            &LedgerReplaced::author, &LedgerReplaced::former_ledger}) {
    LedgerReplaced wrong = found;
    wrong.*part = "";
    EXPECT_EQ(state_.apply(wrong).error().code, Errc::invalid_argument);
  }
}

// The south's processors are worth half of what they were from 40 on: what was given and got there before keeps its
// worth, so that neither S nor R jumps; what follows has the new one.
TEST_F(ConsortiumTest, AWeightHoldsFromItsDeclarationOn) {
  const OtherCluster before = south(100'000, 2 * k_whole_weight);
  OtherCluster after = south();
  apply(consortium(at(0), {before}));
  State there;
  for (const Event& event : {Event(owned("s1", 0, {{"B", k_whole_node}})), Event(capacity("s1", 0, 2)),
                             Event(run(1, "A", 10, {{"s1", cores(2)}}))})
    EXPECT_EQ(there.apply(event).value(), Applied::changed);
  apply(statement_of(there, at(40)));
  const KeyFigures then = sum("A", 40);
  ConsortiumDeclared declared = consortium(at(40), {after});
  const std::vector<const StandingReceived*> statements = state_.statements();
  declared.clusters[0].earlier =
      earlier_figures(*state_.consortium(), declared, "south", statements.at(0), Duration{3600}, Period::none);
  State undated = State::load(state_.save()).value();
  EXPECT_EQ(undated.apply(consortium(at(40), {after})).value(), Applied::changed);
  EXPECT_NE(figures_of_row(undated.advance(at(40)).rank_rows(k_direct), "A").balance, then.balance);
  apply(declared);
  EXPECT_EQ(sum("A", 40).balance, then.balance);
  EXPECT_EQ(sum("A", 40).given_less_got, then.given_less_got);
  // A runs on two processors there from 10 on: 30 s at twice their worth, 20 s at their worth, until 60.
  const auto elsewhere = [&](std::int64_t t) {
    KeyFigures rest = sum("A", t);
    const KeyFigures here = figures_of_row(state_.advance(at(t)).own_rank_rows(k_direct), "A");
    rest.balance -= here.balance;
    rest.given_less_got -= here.given_less_got;
    return rest;
  };
  const auto got = [](std::int64_t seconds) {
    return 2 * seconds * (seconds + 1) / 2;
  };  // of two processors, to its end
  const auto expect_at_60 = [&] {
    EXPECT_EQ(elsewhere(60).given_less_got, (CpuTime{-(2 * 60 + 40) * k_micro}));
    EXPECT_EQ(units(elsewhere(60).balance), -(2 * (got(30) + 20 * 60) + got(20)));
  };
  expect_at_60();
  apply(statement_of(there, at(60)));
  expect_at_60();
  // A second change, of which nothing else but a new cluster is declared: what is earlier stays.
  ConsortiumDeclared next = consortium(at(60), {after});
  next.clusters[0].earlier =
      earlier_figures(*state_.consortium(), next, "south", state_.statements().at(0), Duration{3600}, Period::none);
  const KeyFigures at_70 = [&] {
    State copy = State::load(state_.save()).value();
    return figures_of_row(copy.advance(at(70)).rank_rows(k_direct), "A");
  }();
  apply(next);
  expect_at_60();
  EXPECT_EQ(sum("A", 70), at_70);
  // Of a cluster that joins, or of which nothing came, nothing is earlier.
  EXPECT_TRUE(
      earlier_figures(consortium(at(0), {}), next, "south", state_.statements().at(0), Duration{3600}, Period::none)
          .empty());
  EXPECT_TRUE(earlier_figures(declared, next, "south", nullptr, Duration{3600}, Period::none).empty());
}

TEST_F(ConsortiumTest, APeriodThatEndsEndsTheFiguresOfTheOtherClusterToo) {
  constexpr Instant k_boundary{1'793'491'200};  // 2026-11-01
  State here;
  State there;
  for (State* books : {&here, &there}) {
    EXPECT_EQ(books->apply(PeriodDeclared{k_boundary - Duration{86'400}, Period::monthly}).value(), Applied::changed);
    OwnershipStated owner = owned("n1", 0, {{"A", k_whole_node}});
    owner.effective = k_boundary - Duration{3'600};
    EXPECT_EQ(books->apply(owner).value(), Applied::changed);
    CapacityChanged offered = capacity("n1", 0, 2);
    offered.at = k_boundary - Duration{3'600};
    EXPECT_EQ(books->apply(offered).value(), Applied::changed);
  }
  EXPECT_EQ(here.apply(consortium(k_boundary - Duration{3'600}, {south()})).value(), Applied::changed);
  SegmentOpened started = run(1, "B", 0, {{"n1", cores(1)}});
  started.key.anchor = started.begin = k_boundary - Duration{600};
  EXPECT_EQ(there.apply(started).value(), Applied::changed);
  EXPECT_EQ(here.apply(statement_of(there, k_boundary - Duration{100})).value(), Applied::changed);
  // What an earlier weight made is of the period that ends, too.
  ConsortiumDeclared declared = consortium(k_boundary - Duration{50}, {south()});
  declared.clusters[0].earlier = {{"A", {1'000 * k_micro}, {10 * k_micro}}};
  EXPECT_EQ(here.apply(declared).value(), Applied::changed);
  const Instant last = k_boundary - Duration{1};
  EXPECT_NE(figures_of_row(here.advance(last).rank_rows(k_direct), "A"),
            figures_of_row(there.advance(last).own_rank_rows(k_direct), "A"));
  for (const std::int64_t later : {0, 1, 500}) {
    const Instant t = k_boundary + Duration{later};
    EXPECT_EQ(figures_of_row(here.advance(t).rank_rows(k_direct), "A"),
              figures_of_row(there.advance(t).own_rank_rows(k_direct), "A"));
  }
}

// As long as nothing starts or ends there, the statement says what the other cluster's own books say.
RC_GTEST_PROP(Consortium, AStatementGoesOnAsTheBooksThatMadeIt, ()) {
  State there;
  scenario::apply_all(there, (*scenario::arbitrary()).events);
  RC_ASSERT(there.apply(PeriodDeclared{there.now() + Duration{1}, Period::none}).has_value());
  const Instant t = there.now();
  const auto h = *rc::gen::inRange<std::int64_t>(0, 10'000);
  RC_PRE(t + Duration{h} < there.next_dated_change());
  const std::vector<RankRow> then = there.advance(t).own_rank_rows(k_direct);
  const std::vector<RankRow> later = there.advance(t + Duration{h}).own_rank_rows(k_direct);
  for (std::size_t i = 0; i < then.size(); ++i)
    RC_ASSERT(figures_after(then[i].figures, Duration{h}) == later[i].figures);
}

RC_GTEST_PROP(Consortium, AWeightIsAProductRoundedDown, (std::int32_t balance, std::int32_t given, std::int32_t rate)) {
  const auto weight = *rc::gen::inRange<std::int64_t>(k_least_weight, k_greatest_weight + 1);
  const auto own = *rc::gen::inRange<std::int64_t>(k_least_weight, k_greatest_weight + 1);
  const KeyFigures scaled = weighted({{balance}, {given}, {rate}}, weight, own);
  const auto naive = [&](Int128 value) { return floor_of_quotient(value * weight, own); };
  RC_ASSERT(scaled.balance.value == naive(balance));
  RC_ASSERT(scaled.given_less_got.value == naive(given));
  RC_ASSERT(scaled.rate_less_used.value == naive(rate));
}

}  // namespace
}  // namespace shapley::accounting
