// The rule that brakes, put into what it meets on a real cluster (docs/internals/circumstances.md): the seconds around
// the end of a period, books that are new or were restored, a clock that steps, a consortium whose other side is empty
// or was never heard, none, one and a thousand organizations.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "accounting/state/consortium.hpp"
#include "accounting/state/ranking.hpp"
#include "state_fixture.hpp"

namespace shapley::accounting {
namespace {

constexpr Instant k_november{1'793'491'200};  // 2026-11-01

RankingDeclared braking(Instant from) {
  return {from, "direct_contr", 0, 500'000, {}, 0, Guests::ranked, KeyRule::braking};
}

Event moved(OwnershipStated event, Instant to) {
  event.effective = to;
  return event;
}
Event moved(CapacityChanged event, Instant to) {
  event.at = to;
  return event;
}
Event moved(SegmentOpened event, Instant to) {
  event.begin = event.key.anchor = to;
  return event;
}

// A owns four processors and B two. Both are there from `begin` on; B runs on five of the six from `runs` on, to the
// end of the test.
State books_of_two(Instant begin, Instant runs, Period period) {
  State state;
  for (const Event& event :
       std::vector<Event>{PeriodDeclared{begin, period}, moved(owned("n1", 0, {{"A", k_whole_node}}), begin),
                          moved(owned("n2", 0, {{"B", k_whole_node}}), begin), moved(capacity("n1", 0, 4), begin),
                          moved(capacity("n2", 0, 2), begin), braking(begin), ResidualMeasured{begin, 7'200, 20},
                          moved(run(1, "B", 0, {{"n1", cores(4)}, {"n2", cores(1)}}), runs)}) {
    EXPECT_TRUE(state.apply(event).has_value()) << event_key(event);
  }
  return state;
}

void expect_same_ranks(const std::vector<Rank>& found, const std::vector<Rank>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], expected[i]) << found[i].organization;
}

// B runs across the end of the month. From its first second on the ranks, how they fall, and the forecast are those of
// books that began then with what runs; the second before still has all of October.
TEST(BrakingScenes, APeriodBeginsWithWhatRuns) {
  State across = books_of_two(k_november - Duration{86'400}, k_november - Duration{40'000}, Period::monthly);
  State fresh = books_of_two(k_november, k_november, Period::monthly);

  const Instant last_second = k_november - Duration{1};
  const Outlook october = outlook(across.advance(last_second), k_default_estimator);
  EXPECT_EQ(october.until, k_november);
  EXPECT_TRUE(october.by_date);
  EXPECT_TRUE(turns(october, 0, 1).empty()) << "there is no second left in which anything could turn";
  const std::vector<Rank> before = across.advance(last_second).ranking();
  ASSERT_EQ(before.front().organization, "A");
  EXPECT_GT(game::settling_seconds(before.front().falling), 86'400);

  // A gives four processors a second and gets none: R' = 4 m, S' = 4 m^2 / 2, U = 1.
  const std::vector<Rank> at_once = across.advance(k_november).ranking();
  EXPECT_EQ(at_once.front().falling.work, Int128{4} * 7'200 * k_micro);
  EXPECT_EQ(at_once.front().falling.balance, Int128{4} * 7'200 * 7'200 / 2 * k_micro);
  EXPECT_EQ(at_once.front().falling.doubled_turn, 2 * k_micro);
  for (const std::int64_t later : {0, 1, 2, 3'600, 86'399}) {
    const Instant t = k_november + Duration{later};
    SCOPED_TRACE(later);
    expect_same_ranks(across.advance(t).ranking(), fresh.advance(t).ranking());
    const Outlook one = outlook(across.advance(t), k_default_estimator);
    const Outlook other = outlook(fresh.advance(t), k_default_estimator);
    EXPECT_EQ(one.until, other.until);
    EXPECT_EQ(turns(one, 0, 1), turns(other, 0, 1));
    EXPECT_EQ(turns(one, 0, 2), turns(other, 0, 2));
  }
}

// A run that ends with the last second of a period, and one that begins with the first of the next.
TEST(BrakingScenes, ARunThatEndsWithThePeriodLeavesNothing) {
  State state = books_of_two(k_november - Duration{86'400}, k_november - Duration{40'000}, Period::monthly);
  const SegmentKey key{SegmentKind::run, {1}, k_november - Duration{40'000}, 0};
  ASSERT_TRUE(state.apply(SegmentClosed{key, k_november, CloseReason::ended, "COMPLETED"}).has_value());
  for (const Rank& rank : state.advance(k_november).ranking()) {
    EXPECT_EQ(rank.key, Utility{}) << rank.organization;
    EXPECT_EQ(rank.lead, 0) << rank.organization;
    EXPECT_EQ(game::settling_seconds(rank.falling), 0) << rank.organization;
  }
  ASSERT_TRUE(state.apply(moved(run(2, "A", 0, {{"n2", cores(2)}}), k_november)).has_value());
  const std::vector<Rank> ranks = state.advance(k_november).ranking();
  EXPECT_EQ(ranks.front().organization, "B");
  EXPECT_EQ(ranks.back().organization, "A");
  EXPECT_EQ(ranks.back().falling.work, Int128{-2} * 7'200 * k_micro);
}

// New books assume m of an hour. They have no organization, then only declared ones, then nodes.
TEST(BrakingScenes, NewBooksHaveEvenKeys) {
  State state;
  ASSERT_TRUE(state.apply(braking(k_start)).has_value());
  for (const Rank& rank : state.advance(k_start).ranking()) EXPECT_EQ(rank.key, Utility{}) << rank.organization;
  ASSERT_TRUE(state.apply(OrganizationsDeclared{k_start, {"B", "A"}}).has_value());
  ASSERT_TRUE(state.apply(owned("n1", 0, {{"A", k_whole_node}})).has_value());
  ASSERT_TRUE(state.apply(capacity("n1", 0, 4)).has_value());
  const std::vector<Rank> ranks = state.advance(at(0)).ranking();
  ASSERT_GE(ranks.size(), 2U);
  EXPECT_EQ(ranks[0].organization, "B") << "ties go to the order of the declaration";
  EXPECT_EQ(ranks[1].organization, "A");
  for (const Rank& rank : ranks) {
    EXPECT_EQ(rank.key, Utility{});
    EXPECT_EQ(rank.lead, 0);
    EXPECT_EQ(rank.falling.residual, 3'600);
    EXPECT_EQ(game::settling_seconds(rank.falling), 0);
  }
  const Outlook ahead = outlook(state.advance(at(0)), k_default_estimator);
  EXPECT_TRUE(turns(ahead, 0, 1).empty());
}

// A restored ledger has the events of the original up to some event, and a checkpoint is State's own text.
TEST(BrakingScenes, RestoredBooksRankAsTheirOriginal) {
  State original = books_of_two(at(0), at(500), Period::none);
  for (const std::int64_t t : {500, 501, 90'000}) {
    State restored = *State::load(original.save());
    State replayed = books_of_two(at(0), at(500), Period::none);
    expect_same_ranks(restored.advance(at(t)).ranking(), original.advance(at(t)).ranking());
    expect_same_ranks(replayed.advance(at(t)).ranking(), original.advance(at(t)).ranking());
    EXPECT_EQ(turns(outlook(restored.advance(at(t)), k_default_estimator), 0, 1),
              turns(outlook(original.advance(at(t)), k_default_estimator), 0, 1));
  }
}

// A clock that went back asks for ranks of the past: books stay where they are. One that goes ahead by a century makes
// keys of figures beyond what a cluster reaches, and the order is still that of the debts.
TEST(BrakingScenes, AClockThatSteps) {
  State state = books_of_two(at(0), at(500), Period::none);
  const std::vector<Rank> now = state.advance(at(90'000)).ranking();
  expect_same_ranks(state.advance(at(100)).ranking(), now);
  EXPECT_EQ(outlook(state.advance(at(100)), k_default_estimator).at, at(90'000));
  for (const std::int64_t years : {1, 10, 30}) {
    const std::vector<Rank> later = state.advance(at(years * 365 * 86'400)).ranking();
    EXPECT_EQ(later.front().organization, "A");
    EXPECT_EQ(later.back().organization, "B");
    EXPECT_GT(later.front().key, now.front().key);
    EXPECT_LT(later.back().key, now.back().key);
    EXPECT_GE(later.front().lead, now.front().lead);
  }
}

class BrakingWithAnother : public StateTest {
 protected:
  void SetUp() override {
    state_ = books_of_two(at(0), at(500), Period::none);
    const OtherCluster south{
        .cluster = "south", .weight = k_whole_weight, .stale_after = 600, .key = "SHA256:0", .names = {}};
    alone_ = State::load(state_.save()).value();
    apply(ConsortiumDeclared{at(600), "uni", k_whole_weight, {south}});
  }
  void state(std::int64_t time, std::vector<OrganizationElsewhere> organizations) {
    StandingReceived statement{.at = at(time), .cluster = "south", .figures = {}, .signature = std::string(128, '0')};
    statement.figures = {.consortium = "uni",
                         .ledger = std::string(32, '1'),
                         .event = ++event_,
                         .hash = std::string(64, '2'),
                         .time = at(time),
                         .contribution = "direct_contr",
                         .period = state_.period(),
                         .period_begin = std::max(state_.period_begin(), Instant{0}),
                         .weights = {},
                         .organizations = std::move(organizations)};
    apply(statement);
  }
  void expect_as_alone(std::int64_t t) {
    expect_same_ranks(state_.advance(at(t)).ranking(), alone_.advance(at(t)).ranking());
  }

  State alone_;
  std::int64_t event_ = 0;
};

TEST_F(BrakingWithAnother, AnEmptyOneIsNothing) {
  expect_as_alone(700);
  state(700, {});
  for (const std::int64_t t : {700, 1'300, 1'301, 500'000}) expect_as_alone(t);
}

// An organization that owns eight processors there brakes by all of its twelve, as long as it is heard and afterwards:
// silence takes no node away. When its nodes there are gone, it brakes by what it has here.
TEST_F(BrakingWithAnother, SilenceKeepsThePace) {
  const auto turn_of_a = [&](std::int64_t t) {
    for (const Rank& rank : state_.advance(at(t)).ranking())
      if (rank.organization == "A") return rank.falling.doubled_turn;
    return std::int64_t{0};
  };
  EXPECT_EQ(turn_of_a(700), 2 * k_micro);
  state(700, {{.organization = "A", .figures = {}, .owned = cores(8), .used = {}, .waiting = {}}});
  for (const std::int64_t t : {700, 1'300, 1'301, 500'000}) EXPECT_EQ(turn_of_a(t), 6 * k_micro) << t;
  state(500'000, {{.organization = "A", .figures = {}, .owned = {}, .used = {}, .waiting = {}}});
  EXPECT_EQ(turn_of_a(500'000), 2 * k_micro);
  expect_as_alone(500'001);
}

RankRow row_of(std::string name, std::int64_t balance, std::int64_t work, std::int64_t processors) {
  RankRow row;
  row.organization = std::move(name);
  row.figures = {{Int128{balance} * k_micro}, {Int128{work} * k_micro}, {}};
  row.owned = row.pooled = cores(processors);
  row.waiting = cores(1);
  row.guarantee = 500'000;
  return row;
}

TEST(BrakingScenes, NoneAndOneOrganizationHaveRanks) {
  const game::KeyTerms terms = key_terms(braking({}), Duration{3'600});
  EXPECT_TRUE(rank({}, terms).empty());
  const std::vector<Rank> one = rank(std::vector<RankRow>{row_of("A", -50'000, 7, 4)}, terms);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one.front().lead, 0) << "it is the one with the least key";
  State state;
  ASSERT_TRUE(state.apply(braking(k_start)).has_value());
  EXPECT_EQ(outlook(state.advance(at(0)), k_default_estimator).rows.size(), state.advance(at(0)).ranking().size());
}

// Places are a merge of the falling keys. Of a thousand organizations the one that starts `lead` processors is then
// still at the least key or above it, and with one more below it; and the order is that of the keys.
TEST(BrakingScenes, AThousandOrganizations) {
  const game::KeyTerms terms = key_terms(braking({}), Duration{3'600});
  std::vector<RankRow> rows;
  for (std::int64_t i = 0; i < 1'000; ++i)
    rows.push_back(
        row_of("o" + std::to_string(i), (i * 7'919 % 2'003 - 1'001) * 1'000'000, i * 104'729 % 4'001 - 2'000, i % 65));
  rows[17].owned = rows[17].used = cores(10);  // has its guarantee, and more
  const std::vector<Rank> ranks = rank(rows, terms);
  ASSERT_EQ(ranks.size(), 1'000U);
  Int128 least = ranks.front().key.value;
  for (const Rank& rank : ranks) least = std::min(least, rank.key.value);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    names.push_back(ranks[i].organization);
    EXPECT_GE(game::key_after(ranks[i].falling, ranks[i].lead * k_micro), least) << ranks[i].organization;
    EXPECT_LT(game::key_after(ranks[i].falling, (ranks[i].lead + 1) * k_micro), least) << ranks[i].organization;
    if (i == 0) continue;
    EXPECT_GE(ranks[i - 1].below_guarantee, ranks[i].below_guarantee) << "who is below goes first";
    if (ranks[i - 1].below_guarantee == ranks[i].below_guarantee) {
      EXPECT_GE(ranks[i - 1].key, ranks[i].key);
    }
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

}  // namespace
}  // namespace shapley::accounting
