// hindsight whose memory is bounded: fewer coalitions, by an event of the ledger, and the books stay a function of it.
#include <string>
#include <vector>

#include "accounting/state/ranking.hpp"
#include "base/rng.hpp"
#include "state_fixture.hpp"
#include "tests/support/must.hpp"

namespace shapley::accounting {
namespace {

constexpr std::int64_t k_bounded_jobs = 400;
constexpr std::int64_t k_bound_end = 2 * k_bounded_jobs + 100;

// So many organizations, each with a node of its own; jobs of all wait for a while and run somewhere.
std::vector<Event> events_of(std::size_t organizations) {
  Rng rng(organizations);
  std::vector<std::string> names;
  std::vector<Event> events;
  for (std::size_t u = 0; u < organizations; ++u) names.push_back("o" + std::to_string(u));
  events.emplace_back(OrganizationsDeclared{at(0), names});
  for (std::size_t u = 0; u < organizations; ++u) {
    events.emplace_back(owned("n" + std::to_string(u), 0, {{names[u], k_whole_node}}));
    events.emplace_back(capacity("n" + std::to_string(u), 0, 1 + static_cast<std::int64_t>(u % 3)));
  }
  for (std::int64_t i = 0; i < k_bounded_jobs; ++i) {
    const auto job = static_cast<std::uint32_t>(i + 1);
    const std::string& name = names[rng.below(organizations)];
    const std::int64_t begin = 50 + 2 * i;
    const SegmentOpened pending = wait(job, name, begin - static_cast<std::int64_t>(rng.below(40)), 2);
    SegmentOpened started = run(job, name, begin, {{"n" + std::to_string(rng.below(organizations)), cores(1)}});
    started.released = pending.begin;
    events.insert(events.end(), {pending, SegmentClosed{pending.key, at(begin), CloseReason::started, "RUNNING"},
                                 started, closed(started, begin + 1 + static_cast<std::int64_t>(rng.below(30)))});
  }
  return events;
}

HindsightBounded bounded(std::int64_t t, Coalitions coalitions) {
  return {.at = at(t), .coalitions = coalitions, .needed = 2'000, .bound = 1'000};
}

State state_after(const std::vector<Event>& events) {
  State state;
  for (const Event& event : events) {
    const auto applied = state.apply(event);
    EXPECT_TRUE(applied && *applied == Applied::changed) << event_key(event);
  }
  return state;
}

std::vector<Utility> contributions(State& state) {
  std::vector<Utility> phi;
  for (const Standing& row : state.advance(at(k_bound_end)).standings()) phi.push_back(row.phi(hindsight()));
  return phi;
}

TEST(HindsightBound, PairsFollowFromTheLedgerHoweverItIsRead) {
  std::vector<Event> events = events_of(8);
  State exact = state_after(events);
  const std::vector<Utility> of_all = contributions(exact);
  const std::size_t needed = exact.bytes_of_coalitions();

  // It was asked before, and the bound came while there was much to correct.
  State live;
  const std::size_t middle = events.size() / 2;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (i == middle) {
      (void)contributions(live);
      ASSERT_TRUE(live.apply(bounded(k_bounded_jobs, Coalitions::pairs)));
    }
    ASSERT_TRUE(live.apply(events[i]));
  }
  const std::vector<Utility> of_pairs = contributions(live);
  EXPECT_NE(of_pairs, of_all);
  EXPECT_TRUE(live.kept().contains(hindsight()));
  EXPECT_LT(live.bytes_of_coalitions(), needed / 2);
  Utility phi{};
  Utility psi{};
  for (const Standing& row : live.advance(at(k_bound_end)).standings()) {
    phi += row.phi(hindsight());
    psi += row.psi;
  }
  EXPECT_EQ(phi, psi);

  events.insert(events.begin() + static_cast<std::ptrdiff_t>(middle), bounded(k_bounded_jobs, Coalitions::pairs));
  State at_once = state_after(events);
  EXPECT_EQ(contributions(at_once), of_pairs);
  auto loaded = must(State::load(at_once.save()));
  EXPECT_EQ(contributions(loaded), of_pairs);
  ASSERT_NE(loaded.hindsight_bounded(), nullptr);
  EXPECT_EQ(loaded.hindsight_bounded()->coalitions, Coalitions::pairs);
  std::rotate(events.begin() + 20, events.begin() + static_cast<std::ptrdiff_t>(middle),
              events.begin() + static_cast<std::ptrdiff_t>(middle) + 1);
  State early = state_after(events);
  EXPECT_EQ(contributions(early), of_pairs);
}

TEST(HindsightBound, PairsOfFiveOrganizationsAreAllCoalitionsThatCount) {
  std::vector<Event> events = events_of(5);
  State exact = state_after(events);
  const std::vector<Utility> expected = contributions(exact);
  events.emplace_back(bounded(k_bound_end, Coalitions::pairs));
  State state = state_after(events);
  EXPECT_EQ(contributions(state), expected);
}

TEST(HindsightBound, WithoutCoalitionsItsStandInRanks) {
  std::vector<Event> events = events_of(6);
  events.emplace_back(bounded(k_bound_end, Coalitions::pairs));
  events.emplace_back(bounded(k_bound_end + 1, Coalitions::none));
  State state = state_after(events);
  EXPECT_FALSE(state.kept().contains(hindsight()));
  EXPECT_LT(state.bytes_of_coalitions(), 4'096U);
  EXPECT_EQ(state.advance(at(k_bound_end + 1)).ranking(hindsight()),
            state.advance(at(k_bound_end + 1)).ranking(parse_estimator("direct_contr")));
  auto loaded = must(State::load(state.save()));
  EXPECT_FALSE(loaded.kept().contains(hindsight()));
  EXPECT_EQ(loaded.save(), state.save());
  ASSERT_NE(loaded.hindsight_bounded(), nullptr);
  EXPECT_EQ(loaded.hindsight_bounded()->coalitions, Coalitions::none);
}

TEST(HindsightBound, ABoundLeavesSomethingOut) {
  State state;
  EXPECT_EQ(state.apply(bounded(1, Coalitions::all)).error().code, Errc::invalid_argument);
}

}  // namespace
}  // namespace shapley::accounting
