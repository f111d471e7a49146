// What the books do with each kind of event, in numbers small enough to check by hand.
#include "accounting/state/state.hpp"

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "accounting/state/ranking.hpp"
#include "state_fixture.hpp"

namespace shapley::accounting {
namespace {

TEST_F(StateTest, BeginsWithGuestsAndCommons) {
  EXPECT_EQ(state_.organizations(), (std::vector<std::string>{"guests", "commons"}));
  EXPECT_EQ(state_.advance(k_start).standings().size(), 2U);
  EXPECT_EQ(state_.now(), k_start);
  EXPECT_EQ(state_.period_begin(), k_beginning_of_time);
  EXPECT_TRUE(state_.closed_periods().empty());
}

TEST_F(StateTest, CreditsTheJobsOrganizationAndTheNodesOwner) {
  apply(owned("n1", 0, {{"bob", 1'000'000}}));
  apply(capacity("n1", 0, 8));
  apply(run(1, "ann", 0, {{"n1", cores(2)}}));
  // Two processors for ten seconds: 2 * (10 + 9 + ... + 1) = 110.
  EXPECT_EQ(units(row("ann", 10).psi), 110);
  EXPECT_EQ(units(row("ann", 10).phi(direct)), 0);
  EXPECT_EQ(units(row("bob", 10).phi(direct)), 110);
  EXPECT_EQ(row("bob", 10).given(direct), (CpuTime{20 * k_micro}));
  // ann needs bob and bob needs an organization with jobs: half to each.
  EXPECT_EQ(units(row("ann", 10).phi(hindsight())), 55);
  EXPECT_EQ(units(row("bob", 10).phi(hindsight())), 55);
  EXPECT_EQ(row("bob", 10).owned, cores(8));
  EXPECT_EQ(row("bob", 10).lent, cores(2));
  EXPECT_EQ(row("ann", 10).borrowed, cores(2));
  EXPECT_EQ(row("ann", 10).used, cores(2));
  EXPECT_EQ(units(row("ann", 10).balance(direct)), -110);
}

TEST_F(StateTest, ALaterStatementReplacesTheDatesThatAnEarlierOneAnnounced) {
  OwnershipStated announced = owned("n1", 0, {{"bob", 1'000'000}});
  announced.spans.push_back({at(20), {{"ann", 1'000'000}}});
  apply(announced);
  apply(owned("n1", 10, {{"ann", 1'000'000}}));
  apply(capacity("n1", 0, 8));
  EXPECT_EQ(row("ann", 15).owned, cores(8));
  EXPECT_EQ(row("ann", 25).owned, cores(8));
}

TEST_F(StateTest, WaitsRaiseDemandOnly) {
  apply(owned("n1", 0, {{"ann", 1'000'000}}));
  apply(owned("n2", 0, {{"bob", 1'000'000}}));
  apply(capacity("n1", 0, 4));
  apply(capacity("n2", 0, 4));
  // ann fills both nodes; bob's job waits for 4 processors, which bob's node could have served.
  apply(run(1, "ann", 0, {{"n1", cores(4)}, {"n2", cores(4)}}));
  apply(wait(2, "bob", 0, 4));
  EXPECT_EQ(row("bob", 10).waiting, cores(4));
  EXPECT_EQ(units(row("bob", 10).psi), 0);
  // v(ann) = 4, v(bob) = 4, v(both) = 8: each gives what it owns.
  EXPECT_EQ(units(row("ann", 10).phi(hindsight())), 4 * 55);
  EXPECT_EQ(units(row("bob", 10).phi(hindsight())), 4 * 55);
}

TEST_F(StateTest, RemembersAPlacementAsLongAsWaitsOrRunsAreOfIt) {
  apply(capacity("n1", 0, 4));
  SegmentOpened asked = wait(1, "a", 100, 2);
  asked.placement = "nodes=n1";
  apply(asked);
  EXPECT_EQ(state_.placement_uses().at("nodes=n1").since, at(100));
  apply(PlacementResolved{"nodes=n1", at(100), 0, "n1"});
  apply(closed(asked, 110));
  SegmentOpened long_run = run(1, "a", 110, {{"n1", cores(2)}});
  long_run.placement = "nodes=n1";
  apply(long_run);
  state_.advance(at(5000));
  state_.compact();
  ASSERT_EQ(state_.find_segment(asked.key), nullptr) << "the wait is forgotten";
  EXPECT_EQ(state_.placements(), std::vector<std::string>{"nodes=n1"});
  const PlacementUse use = state_.placement_uses().at("nodes=n1");
  EXPECT_EQ(use.since, at(110));
  EXPECT_EQ(use.demand, (std::map<OrgId, ProcessorMillionths>{{state_.find_organization("a").value(), cores(2)}}));
  apply(closed(long_run, 5000));
  EXPECT_TRUE(state_.placement_uses().at("nodes=n1").demand.empty());
  state_.advance(at(9000));
  state_.compact();
  EXPECT_TRUE(state_.placements().empty());
}

TEST_F(StateTest, LeavesUnknownNodesToCommons) {
  apply(run(1, "ann", 0, {{"stranger", cores(3)}}));
  EXPECT_EQ(units(row("commons", 10).phi(direct)), 3 * 55);
  EXPECT_EQ(row("commons", 10).owned, cores(3));
  EXPECT_EQ(state_.capacity("stranger"), std::nullopt);
  EXPECT_EQ(state_.nodes(), (std::vector<std::string>{"stranger"}));
}

TEST_F(StateTest, ApportionsFractionsByLargestRemainder) {
  // A third each of 1,000,001: 333333.333333 twice and 333334.333334 for commons, whose remainder is the largest.
  apply(owned("n1", 0, {{"ann", 333'333}, {"bob", 333'333}}));
  SegmentOpened opened = run(1, "guests", 0, {{"n1", {1'000'001}}});
  apply(opened);
  EXPECT_EQ(row("ann", 1).phi(direct).value, 333'333);
  EXPECT_EQ(row("bob", 1).phi(direct).value, 333'333);
  EXPECT_EQ(row("commons", 1).phi(direct).value, 333'335);
}

TEST_F(StateTest, SplitsARunWhenItsNodeChangesHands) {
  OwnershipStated stated = owned("n1", 0, {{"ann", 1'000'000}});
  stated.spans.push_back({at(4), {{"bob", 1'000'000}}});
  apply(stated);
  apply(run(1, "guests", 0, {{"n1", cores(1)}}));
  // Until 4 it is ann's, though the hand-over is known.
  EXPECT_EQ(units(row("ann", 4).phi(direct)), 4 + 3 + 2 + 1);
  EXPECT_EQ(row("ann", 4).owned, cores(0));
  EXPECT_EQ(row("bob", 4).owned, cores(1));
  // At 10: ann's seconds are worth 10 + 9 + 8 + 7, bob's 6 + ... + 1.
  EXPECT_EQ(units(row("ann", 10).phi(direct)), 34);
  EXPECT_EQ(units(row("bob", 10).phi(direct)), 21);
  EXPECT_EQ(units(row("guests", 10).psi), 55);
}

TEST_F(StateTest, LetsALaterStatementRewriteOnlyWhatFollowsIt) {
  apply(owned("n1", 0, {{"ann", 1'000'000}}));
  apply(run(1, "guests", 0, {{"n1", cores(1)}}));
  state_.advance(at(10));
  // An event at 10 says that the node was bob's since 5, as agreed at 5.
  apply(owned("n1", 5, {{"bob", 1'000'000}}));
  EXPECT_EQ(units(row("ann", 10).phi(direct)), 10 + 9 + 8 + 7 + 6);
  EXPECT_EQ(units(row("bob", 10).phi(direct)), 5 + 4 + 3 + 2 + 1);
}

TEST_F(StateTest, CountsADrainedNodeForWhatStillRunsOnIt) {
  apply(owned("n1", 0, {{"ann", 1'000'000}}));
  apply(capacity("n1", 0, 8));
  const SegmentOpened opened = run(1, "bob", 0, {{"n1", cores(3)}});
  apply(opened);
  apply(capacity("n1", 5, 0));
  EXPECT_EQ(row("ann", 6).owned, cores(3));
  apply(closed(opened, 7));
  EXPECT_EQ(row("ann", 7).owned, cores(0));
  EXPECT_EQ(state_.capacity("n1"), cores(0));
}

// n1 has 8 CPUs and 32 GiB and is worth 80 by its dearest partition; ann's jobs are in one that bills a tenth of a CPU.
class PricedNode : public StateTest {
 protected:
  static constexpr std::int64_t k_gib = 1024;

  static CapacityChanged node(std::int64_t when, bool usable = true) {
    return {.node = "n1",
            .at = at(when),
            .ordinal = 0,
            .processors = cores(usable ? 80 : 0),
            .whole = cores(80),
            .cpus = 8,
            .memory = 32 * k_gib,
            .gres = {},
            .usable_cpus = usable ? 8 : 0};
  }
  static SegmentOpened cheap(std::uint32_t job, std::uint32_t cpus, std::int64_t memory) {
    return run(job, "ann", 1, {{"n1", {k_micro / 10 * cpus}, cpus, memory, {}}});
  }
  void begin() {
    apply(owned("n1", 0, {{"ann", 1'000'000}}));
    apply(node(0));
  }
};

TEST_F(PricedNode, IsOwnedAndUsedInCpusWhateverTheyCost) {
  begin();
  apply(cheap(1, 3, 0));
  apply(cheap(2, 1, 16 * k_gib));  // half of the memory
  apply(run(3, "bob", 1, {{"n1", cores(10), 1, 0, {}}}));
  const Standing ann = row("ann", 5);
  EXPECT_EQ(ann.owned, cores(8));
  EXPECT_EQ(ann.used, cores(3 + 4));
  EXPECT_EQ(ann.lent, cores(1));
  EXPECT_EQ(ann.charged, (ProcessorMillionths{400'000}));
  EXPECT_EQ(row("bob", 5).borrowed, cores(1));
  EXPECT_EQ(row("bob", 5).charged, cores(10));
  // psi and phi are by price.
  EXPECT_EQ(ann.got, (CpuTime{4 * 400'000}));
  EXPECT_EQ(ann.given(direct), (CpuTime{4 * (400'000 + 10 * k_micro)}));
}

TEST_F(PricedNode, HasNoDebtorBelowItsGuaranteeWhoRunsOnAllOfIt) {
  begin();
  apply(RankingDeclared{at(0), "direct_contr", 0, 500'000, {}, 0});
  apply(wait(9, "ann", 1, 1));
  apply(cheap(1, 3, 0));
  EXPECT_TRUE(state_.advance(at(2)).ranking()[0].below_guarantee) << "it uses 3 of 8";
  EXPECT_EQ(state_.advance(at(2)).ranking()[0].lacking, 1);
  apply(cheap(2, 5, 0));
  for (const Rank& rank : state_.advance(at(3)).ranking()) EXPECT_FALSE(rank.below_guarantee) << rank.organization;
  EXPECT_EQ(state_.advance(at(3)).rank_rows(direct)[0].figures.rate_less_used, ProcessorMillionths{})
      << "the key is by price";
}

TEST_F(PricedNode, IsSharedByThoseWhoBlockMoreThanItHas) {
  begin();
  apply(cheap(1, 6, 0));
  apply(run(2, "bob", 1, {{"n1", cores(1), 1, 24 * k_gib, {}}}));  // three quarters of the memory
  EXPECT_EQ(row("ann", 5).used, cores(4));
  EXPECT_EQ(row("bob", 5).used, cores(4));
  EXPECT_EQ(row("ann", 5).charged, (ProcessorMillionths{600'000})) << "by price both fit";
}

TEST_F(PricedNode, OffersWhatItsJobsBlockWhileItDrains) {
  begin();
  const SegmentOpened opened = cheap(1, 3, 0);
  apply(opened);
  apply(node(5, false));
  EXPECT_EQ(row("ann", 6).owned, cores(3));
  apply(closed(opened, 7));
  EXPECT_EQ(row("ann", 7).owned, cores(0));
}

// ann may count on 4 of its 8 processors. While the node drains ann owns the 3 that its job blocks.
TEST_F(PricedNode, ReturnsWhatItDoesNotOfferNow) {
  begin();
  apply(RankingDeclared{at(0), "direct_contr", 0, 500'000, {}, 0});
  const SegmentOpened opened = cheap(1, 3, 0);
  apply(opened);
  EXPECT_EQ(state_.advance(at(4)).ranking({}, {"n1"})[0].returning, 0) << "all of it is offered";
  apply(node(5, false));
  const Rank draining = state_.advance(at(6)).ranking({}, {"n1"})[0];
  EXPECT_EQ(draining.organization, "ann");
  EXPECT_EQ(draining.lacking, -1);  // 1.5 - 3, rounded up
  EXPECT_EQ(draining.returning, 2);
  EXPECT_EQ(state_.advance(at(6)).ranking({}, {"n2"})[0].returning, 0);
  EXPECT_EQ(state_.advance(at(6)).ranking()[0].returning, 0) << "it may have been removed";
  apply(closed(opened, 7));
  EXPECT_EQ(state_.advance(at(7)).ranking({}, {"n1"})[0].lacking, 0);
  EXPECT_EQ(state_.advance(at(7)).ranking({}, {"n1"})[0].returning, 4);
  apply(node(8));
  EXPECT_EQ(state_.advance(at(8)).ranking({}, {"n1"})[0].lacking, 4);
  EXPECT_EQ(state_.advance(at(8)).ranking({}, {"n1"})[0].returning, 0);
}

// The node of a ledger that an older version wrote says later that its CPUs are counted; the runs go on.
TEST_F(PricedNode, CountsWhatRunsFromTheCapacityThatSaysSo) {
  apply(owned("n1", 0, {{"ann", 1'000'000}}));
  CapacityChanged old = node(0);
  old.usable_cpus.reset();
  apply(old);
  apply(cheap(1, 3, 0));
  EXPECT_EQ(row("ann", 5).owned, cores(80));
  EXPECT_EQ(row("ann", 5).used, (ProcessorMillionths{300'000}));
  apply(node(10));
  EXPECT_EQ(row("ann", 10).owned, cores(8));
  EXPECT_EQ(row("ann", 10).used, cores(3));
}

TEST_F(PricedNode, MayBeUsedWholeOrNotAtAll) {
  CapacityChanged wrong = node(0);
  wrong.usable_cpus = 7;
  refuse(wrong, Errc::invalid_argument);
  wrong = node(0);
  wrong.cpus = 0;
  wrong.usable_cpus = 0;
  refuse(wrong, Errc::invalid_argument);
}

TEST_F(StateTest, OrdersCapacityChangesOfOneSecond) {
  apply(CapacityChanged{"n1", at(0), 1, cores(5)});
  apply(CapacityChanged{"n1", at(0), 0, cores(9)});
  EXPECT_EQ(state_.capacity("n1"), cores(5));
  EXPECT_EQ(row("commons", 0).owned, cores(5));
}

TEST_F(StateTest, LetsCloseAndRetractionComeFirst) {
  const SegmentOpened opened = run(1, "ann", 0, {{"n1", cores(1)}});
  apply(closed(opened, 3));
  EXPECT_EQ(state_.find_segment(opened.key), nullptr);
  EXPECT_EQ(state_.find_job({1}), nullptr);
  apply(opened);
  EXPECT_EQ(units(row("ann", 10).psi), 10 + 9 + 8);

  const SegmentOpened never = run(2, "ann", 0, {{"n1", cores(1)}});
  apply(SegmentRetracted{never.key, at(5)});
  apply(never);
  EXPECT_EQ(units(row("ann", 10).psi), 10 + 9 + 8);
  EXPECT_EQ(row("ann", 10).used, cores(0));
  EXPECT_EQ(state_.find_segment(never.key), nullptr);
}

TEST_F(StateTest, TheNewestDescriptionOfAJobIsKnownInAnyOrder) {
  const JobDescribed first = described(1, "ann");
  const JobChanged second = change_to(described(1, "bob"), at(5));
  const JobChanged third = change_to(described(1, "cat"), at(9));
  apply(third);
  apply(second);
  apply(first);
  for (const bool restored : {false, true}) {
    if (restored) state_ = std::move(*State::load(state_.save()));
    const JobMemory* job = state_.find_job({1});
    ASSERT_NE(job, nullptr);
    EXPECT_EQ(job->organization, "cat");
    ASSERT_TRUE(job->description);
    EXPECT_EQ(job->description->submit, at(0));
    EXPECT_EQ(job->description->since, at(9));
    EXPECT_EQ(job->description->content, content_hash(third.description()));
  }
  JobDescribed again = described(1, "dan");
  again.submit = at(20);
  apply(again);
  EXPECT_EQ(state_.find_job({1})->organization, "dan");
  EXPECT_EQ(state_.find_job({1})->description->since, k_beginning_of_time);
}

TEST_F(StateTest, RemembersWhichControllerBeganLast) {
  EXPECT_EQ(state_.last_beginning(), nullptr);
  const ControllerBegan second{120, at(9), std::string(64, 'b'), "ctl2", PeerAnswer::silent};
  apply(second);
  apply(ControllerBegan{0, at(3), std::string(64, '0'), "ctl1", PeerAnswer::answered});
  ASSERT_NE(state_.last_beginning(), nullptr);
  EXPECT_EQ(*state_.last_beginning(), second);
  const auto loaded = State::load(state_.save());
  ASSERT_TRUE(loaded);
  ASSERT_NE(loaded->last_beginning(), nullptr);
  EXPECT_EQ(*loaded->last_beginning(), second);
}

TEST_F(StateTest, RanksByBalanceAndBreaksTiesByTheConfiguration) {
  apply(OrganizationsDeclared{at(0), {"cid", "ann", "bob"}});
  const auto names = [&](const std::vector<OrgId>& order) {
    std::vector<std::string> result;
    for (const OrgId id : order) result.push_back(state_.organizations()[id.value]);
    return result;
  };
  const auto ranked = [&](Instant t) {
    std::vector<std::string> order;
    for (const Rank& rank : state_.advance(t).ranking()) order.push_back(rank.organization);
    return order;
  };
  EXPECT_EQ(ranked(at(1)), (std::vector<std::string>{"cid", "ann", "bob", "guests"}));
  apply(owned("n1", 0, {{"bob", 1'000'000}}));
  apply(run(1, "cid", 1, {{"n1", cores(1)}}));
  EXPECT_EQ(ranked(at(5)), (std::vector<std::string>{"bob", "ann", "guests", "cid"}));
  // zoe and eve are met in jobs only; ann leaves the configuration and keeps her place behind those who stay.
  apply(run(2, "zoe", 6, {{"n1", cores(1)}}));
  apply(run(3, "eve", 6, {{"n1", cores(1)}}));
  apply(OrganizationsDeclared{at(7), {"bob", "dan"}});
  EXPECT_EQ(names(state_.configured_order()),
            (std::vector<std::string>{"bob", "dan", "cid", "ann", "eve", "zoe", "guests", "commons"}));
}

TEST_F(StateTest, ClosesPeriodsAndCorrectsThemWhenNewsComeLate) {
  const Instant april = parse_instant("2024-04-01").value();
  const Instant may = parse_instant("2024-05-01").value();
  const auto key = [](std::uint32_t job, Instant begin) { return SegmentKey{SegmentKind::run, {job}, begin, 0}; };
  const Instant begin = april - Duration{10};
  apply(PeriodDeclared{begin - Duration{5}, Period::monthly});
  const SegmentOpened opened{key(1, begin), "ann", begin, cores(1), {{"n1", cores(1)}}};
  apply(opened);
  EXPECT_EQ(state_.period_begin(), begin - Duration{5});
  EXPECT_EQ(state_.period(), Period::monthly);
  const auto ann = [&](const std::vector<Standing>& rows) { return rows[state_.find_organization("ann")->value]; };
  EXPECT_EQ(units(ann(state_.advance(april + Duration{3}).standings()).psi), 3 + 2 + 1);
  EXPECT_EQ(state_.period_begin(), april);
  ASSERT_EQ(state_.closed_periods().size(), 1U);
  EXPECT_EQ(state_.closed_periods()[0].begin, begin - Duration{5});
  EXPECT_EQ(state_.closed_periods()[0].end, april);
  EXPECT_EQ(units(ann(state_.closed_periods()[0].standings).psi), 55);
  EXPECT_EQ(ann(state_.closed_periods()[0].standings).used, cores(1));
  // It had ended 4 seconds before the month did.
  apply(SegmentClosed{opened.key, april - Duration{4}, CloseReason::ended, ""});
  EXPECT_EQ(units(ann(state_.closed_periods()[0].standings).psi), 10 + 9 + 8 + 7 + 6 + 5);
  EXPECT_EQ(units(ann(state_.closed_periods()[0].standings).phi(hindsight()) +
                  ann(state_.closed_periods()[0].standings).phi(hindsight())),
            45);
  EXPECT_EQ(ann(state_.closed_periods()[0].standings).used, cores(0));
  EXPECT_EQ(units(ann(state_.advance(april + Duration{3}).standings()).psi), 0);
  // A quarterly rule declared in April has its next boundary on the first of July: that of May is gone.
  apply(PeriodDeclared{april + Duration{100}, Period::quarterly});
  state_.advance(may + Duration{1});
  EXPECT_EQ(state_.period_begin(), april);
  EXPECT_EQ(state_.closed_periods().size(), 1U);
  state_.advance(parse_instant("2024-07-01").value());
  EXPECT_EQ(state_.closed_periods().size(), 2U);
}

TEST_F(StateTest, KeepsABoundaryThatFallsOnANewDeclaration) {
  const Instant may = parse_instant("2024-05-01").value();
  apply(PeriodDeclared{may - Duration{100}, Period::monthly});
  apply(PeriodDeclared{may, Period::monthly});
  EXPECT_EQ(state_.period_begin(), may);
  // A rule that is declared on a boundary of its own calendar waits for the next one.
  State other;
  ASSERT_TRUE(other.apply(PeriodDeclared{may, Period::monthly}).has_value());
  EXPECT_EQ(other.closed_periods().size(), 0U);
  EXPECT_EQ(other.period_begin(), may);
}

TEST_F(StateTest, LetsTimeStandStillRatherThanGoBack) {
  state_.advance(at(10));
  state_.advance(at(5));
  EXPECT_EQ(state_.now(), at(10));
  state_.advance(k_end_of_time);
  EXPECT_LT(state_.now(), k_end_of_time) << "the calendar ends with the year 9999";
}

TEST_F(StateTest, RemembersWhatAWrongClockMade) {
  const ObservationsMistimed later{at(20), 9, 2, at(18), at(1018), at(1019), Duration{1000}};
  const ObservationsMistimed sooner{at(10), 3, 1, at(10), at(900), at(900), {}};
  state_.advance(at(30));
  for (const auto& event : {later, sooner}) EXPECT_EQ(state_.apply(event).value(), Applied::changed);
  EXPECT_EQ(state_.apply(later).value(), Applied::duplicate);
  ObservationsMistimed contrary = later;
  contrary.messages = 7;
  EXPECT_EQ(state_.apply(contrary).error().code, Errc::conflict);
  EXPECT_EQ(state_.now(), at(30)) << "what was claimed does not move the books";
  const std::vector<ObservationsMistimed> all{sooner, later};
  EXPECT_EQ(state_.mistimed_observations(), all);
  EXPECT_EQ(State::load(state_.save()).value().mistimed_observations(), all);
}

TEST_F(StateTest, RemembersGapsOfObservation) {
  const ObservationGap later{at(50), at(60), GapCause::dropped};
  const ObservationGap sooner{at(10), at(20), GapCause::unobserved};
  state_.advance(at(100));
  for (const auto& event : {later, sooner}) EXPECT_EQ(state_.apply(event).value(), Applied::changed);
  EXPECT_EQ(state_.apply(later).value(), Applied::duplicate);
  ObservationGap contrary = later;
  contrary.cause = GapCause::slurmctld_down;
  EXPECT_EQ(state_.apply(contrary).error().code, Errc::conflict);
  EXPECT_EQ(state_.apply(ObservationGap{at(20), at(20), GapCause::dropped}).error().code, Errc::invalid_argument);
  const std::vector<ObservationGap> all{sooner, later};
  EXPECT_EQ(state_.observation_gaps(), all);
  EXPECT_EQ(State::load(state_.save()).value().observation_gaps(), all);
}

TEST_F(StateTest, RemembersWhatSlurmctldLost) {
  const StateLost later{at(60), at(50), 3, 4800, 1, 16};
  const StateLost sooner{at(20), at(20), 0, 0, 1, 0};
  for (const auto& event : {later, sooner}) EXPECT_EQ(state_.apply(event).value(), Applied::changed);
  EXPECT_EQ(state_.apply(later).value(), Applied::duplicate);
  StateLost contrary = later;
  contrary.closed = 4;
  EXPECT_EQ(state_.apply(contrary).error().code, Errc::conflict);
  EXPECT_EQ(state_.apply(StateLost{at(30), at(31)}).error().code, Errc::invalid_argument);
  StateLost negative{at(30), at(30)};
  negative.retracted_seconds = -1;
  EXPECT_EQ(state_.apply(negative).error().code, Errc::invalid_argument);
  const std::vector<StateLost> all{sooner, later};
  EXPECT_EQ(state_.state_losses(), all);
  EXPECT_EQ(State::load(state_.save()).value().state_losses(), all);
}

TEST_F(StateTest, KnowsTheLastNameOfEachUser) {
  for (const UserNamed& user : {UserNamed{at(60), 1'000, "ada"}, UserNamed{at(60), 1'001, "eve"},
                                UserNamed{at(90), 1'001, "evelyn"}, UserNamed{at(10), 1'001, "e"}}) {
    EXPECT_EQ(state_.apply(user).value(), Applied::changed);
    EXPECT_EQ(state_.apply(user).value(), Applied::duplicate);
  }
  const UserNames names{{1'000, "ada"}, {1'001, "evelyn"}};
  EXPECT_EQ(state_.user_names(), names);
  EXPECT_EQ(State::load(state_.save()).value().user_names(), names);
  EXPECT_TRUE(state_.is_called({at(95), 1'001, "evelyn"})) << "already";
  EXPECT_TRUE(state_.is_called({at(80), 1'001, "eve"})) << "it was named later";
  EXPECT_FALSE(state_.is_called({at(95), 1'001, "eve"}));
  EXPECT_FALSE(state_.is_called({at(95), 1'002, "eve"}));
  EXPECT_EQ(state_.apply(UserNamed{at(60), 1'000, "other"}).error().code, Errc::conflict);
  EXPECT_EQ(state_.apply(UserNamed{at(70), 1'000, ""}).error().code, Errc::invalid_argument);
}

TEST_F(StateTest, KnowsTheLastNameOfItsCluster) {
  EXPECT_EQ(state_.cluster(), nullptr);
  const ClusterNamed renamed{at(60), "new", "uid 0 (root)", "a new machine room"};
  for (const auto& event : {renamed, ClusterNamed{at(10), "old", "the first feeder", ""}}) {
    EXPECT_EQ(state_.apply(event).value(), Applied::changed);
  }
  ASSERT_NE(state_.cluster(), nullptr);
  EXPECT_EQ(*state_.cluster(), renamed);
  EXPECT_EQ(*State::load(state_.save()).value().cluster(), renamed);
  EXPECT_EQ(state_.apply(ClusterNamed{at(60), "other", "", ""}).error().code, Errc::conflict);
  EXPECT_EQ(state_.apply(ClusterNamed{at(70), "", "", ""}).error().code, Errc::invalid_argument);
}

AdjustmentMade joined(std::uint32_t number, const char* organization, const char* into) {
  AdjustmentMade made{.number = number,
                      .at = at(50),
                      .kind = AdjustmentKind::merge,
                      .organization = organization,
                      .into = into,
                      .what = "",
                      .reverses = 0,
                      .runs = 0,
                      .facts = 0,
                      .author = "uid 0",
                      .reason = "a test"};
  return made;
}

AdjustmentMade reversal(std::uint32_t number, std::uint32_t reverses) {
  AdjustmentMade made = joined(number, "", "");
  made.kind = AdjustmentKind::reverse;
  made.reverses = reverses;
  return made;
}

TEST_F(StateTest, KnowsWhichOrganizationIsAPartOfWhichByTheAdjustmentsInForce) {
  EXPECT_EQ(state_.apply(OrganizationsDeclared{at(0), {"a", "b", "c"}}).value(), Applied::changed);
  const auto row = [this](const char* name) { return state_.organizations()[state_.find_organization(name)->value]; };
  // In any order: what is in force follows from the numbers.
  EXPECT_EQ(state_.apply(joined(2, "b", "c")).value(), Applied::changed);
  EXPECT_EQ(state_.apply(joined(1, "a", "b")).value(), Applied::changed);
  EXPECT_EQ(state_.apply(joined(1, "a", "b")).value(), Applied::duplicate);
  EXPECT_EQ(state_.apply(joined(1, "a", "c")).error().code, Errc::conflict);
  EXPECT_EQ(row("a"), "c");
  EXPECT_EQ(row("b"), "c");
  EXPECT_EQ(state_.apply(reversal(3, 2)).value(), Applied::changed);
  EXPECT_EQ(row("a"), "b");
  EXPECT_EQ(row("b"), "b");
  State loaded = State::load(state_.save()).value();
  EXPECT_EQ(loaded.adjustments(), state_.adjustments());
  EXPECT_EQ(loaded.find_organization("a"), loaded.find_organization("b"));
  // Books that hold such a circle nevertheless stay finite.
  EXPECT_EQ(state_.apply(joined(4, "b", "a")).value(), Applied::changed);
  EXPECT_EQ(state_.advance(at(60)).standings().size(), state_.organizations().size());
}

TEST_F(StateTest, RefusesAdjustmentsThatMakeNoSense) {
  AdjustmentMade nameless = joined(1, "a", "b");
  nameless.author.clear();
  AdjustmentMade groundless = joined(1, "a", "b");
  groundless.reason.clear();
  for (const AdjustmentMade& made : {nameless, groundless, joined(0, "a", "b"), joined(1, "a", "a"),
                                     joined(1, "guests", "b"), joined(1, "a", ""), reversal(2, 2), reversal(2, 0)}) {
    EXPECT_EQ(state_.apply(made).error().code, Errc::invalid_argument);
  }
  EXPECT_TRUE(state_.adjustments().empty());
}

TEST_F(StateTest, TheHighestRevisionOfAStatementSpeaksInAnyOrder) {
  const auto stated = [](const char* owner, std::uint32_t revision) {
    return OwnershipStated{
        .node = "n1", .effective = at(0), .spans = {{at(0), {{owner, k_whole_node}}}}, .revision = revision};
  };
  EXPECT_EQ(event_key(stated("a", 0)), event_key(stated("b", 0)));
  EXPECT_EQ(event_key(stated("a", 4)), event_key(stated("a", 0)) + "/4");
  for (const bool later_first : {false, true}) {
    State state;
    ASSERT_TRUE(state.apply(CapacityChanged{.node = "n1", .at = at(0), .processors = {k_micro}}).has_value());
    for (const std::uint32_t revision : {later_first ? 7U : 0U, later_first ? 0U : 7U}) {
      ASSERT_EQ(state.apply(stated(revision == 7 ? "b" : "a", revision)).value(), Applied::changed);
    }
    EXPECT_EQ(state.advance(at(1)).standings()[state.find_organization("b")->value].owned,
              ProcessorMillionths{k_micro});
    EXPECT_EQ(state.advance(at(1)).standings()[state.find_organization("a")->value].owned, ProcessorMillionths{});
  }
}

TEST(Estimators, HaveNamesOfTheirOwn) {
  std::set<std::string_view> members;
  for (const EstimatorId id : estimator_ids()) {
    EXPECT_EQ(parse_estimator(name_of(id)), id);
    EXPECT_TRUE(members.insert(estimators()[id.value].member).second) << name_of(id);
    EXPECT_FALSE(estimators()[id.value].meaning.empty()) << name_of(id);
  }
  EXPECT_EQ(members.size(), estimators().size());
  EXPECT_EQ(parse_estimator("ref"), std::nullopt);
  EXPECT_EQ(name_of(k_default_estimator), "direct_contr") << "ledgers that name none were ranked by it";
  EXPECT_EQ(figure_name("phi", k_default_estimator), "phi_direct");
}

}  // namespace
}  // namespace shapley::accounting
