// Clusters of one consortium: against schedules made second by second, an example by hand, and the sum
// over clusters against one game over all of them.
#include "scheduling/consortium.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scheduling/policies/policies.hpp"
#include "tests/scheduling/naive_order.hpp"
#include "tests/sim/any_instance.hpp"

namespace shapley::scheduling {
namespace {

using PolicyPtr = std::unique_ptr<Policy>;
using Instances = std::array<Instance, 2>;
using Policies = std::array<PolicyPtr, 2>;

// Two clusters of `organizations`, with one end.
Instances any_clusters(std::size_t organizations) {
  Instances clusters{sim::any_instance(4), sim::any_instance(4)};
  for (Instance& cluster : clusters) {
    cluster.processors.resize(organizations, 1);
    for (Job& job : cluster.jobs) job.organization %= static_cast<std::uint32_t>(organizations);
    cluster.end = clusters.front().end;
  }
  return clusters;
}

std::vector<ConsortiumCluster> with(const Instances& clusters, const Policies& policies) {
  return {{&clusters[0], policies[0].get()}, {&clusters[1], policies[1].get()}};
}

std::vector<std::int64_t> starts_of(const Instance& instance, const SimulationResult& result) {
  std::vector<std::int64_t> starts(instance.jobs.size(), -1);
  for (const Start& start : result.schedule) starts[start.job] = start.start.value;
  return starts;
}

ConsortiumRule any_consortium_rule() {
  ConsortiumRule rule;
  rule.serving.horizon.value =
      *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(0, 12), rc::gen::just<std::int64_t>(1'000'000));
  rule.serving.guarantee.millionths = *rc::gen::element(0, 300'000, game::k_whole_guarantee);
  rule.serving.running.millionths = *rc::gen::element(0, 400'000, game::k_whole_running_weight);
  rule.every.value = *rc::gen::inRange<std::int64_t>(1, 6);
  rule.stale_after.value =
      *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(0, 6), rc::gen::just<std::int64_t>(1'000'000));
  return rule;
}

PolicyPtr direct_contr(const Instance& instance, const game::ServingRule& rule = {}) {
  return make_direct_contr(instance, {.identity = true, .seed = 1, .rule = rule});
}
PolicyPtr shapley_rate(const Instance& instance, const game::ServingRule& rule = {}) {
  return make_shapley_rate(instance, {.method = RateMethod::exact, .seed = 1, .rule = rule});
}

// What u's key has from the other cluster at t: that second by second, as it was stated after the last multiple of
// `every`, the seconds from then on as the one of the statement, up to the limit, at which what runs counts no more.
std::int64_t stated(const naive::Simulation& other, const ConsortiumRule& rule, std::size_t u, std::int64_t t,
                    std::int64_t running_factor) {
  if (t == 0) return 0;
  const std::int64_t at = (t - 1) / rule.every.value * rule.every.value;
  const std::int64_t until = std::min(t, at + rule.stale_after.value);
  std::int64_t sum = t < at + rule.stale_after.value ? running_factor * other.rate_less_used(u, at) : 0;
  for (std::int64_t i = 0; i < until; ++i)
    sum += other.rate_less_used(u, std::min(i, at)) * (until + rule.serving.horizon.value - i);
  return sum;
}

void expect_the_words(PolicyPtr (*make)(const Instance&, const game::ServingRule&), const naive::GivenRates& given) {
  const Instances clusters = any_clusters(*rc::gen::inRange<std::size_t>(1, 4));
  const ConsortiumRule rule = any_consortium_rule();
  const Policies policies{make(clusters[0], {}), make(clusters[1], {})};
  const ConsortiumResult found = simulate_consortium(with(clusters, policies), rule, {});

  const naive::Rule words{rule.serving.horizon.value, rule.serving.guarantee.millionths,
                          rule.serving.running.millionths};
  std::vector<naive::Simulation> witnesses;
  witnesses.reserve(2);
  for (std::size_t c = 0; c < 2; ++c) {
    witnesses.emplace_back(clusters[c], words, given,
                           [&, c](std::size_t u, std::int64_t t, std::int64_t running_factor) {
                             return stated(witnesses[1 - c], rule, u, t, running_factor);
                           });
  }
  for (std::int64_t t = 0; t < clusters[0].end.value; ++t)
    for (naive::Simulation& witness : witnesses) witness.step(t);
  for (std::size_t c = 0; c < 2; ++c) RC_ASSERT(starts_of(clusters[c], found.clusters[c]) == witnesses[c].starts());
}

RC_GTEST_PROP(Consortium, DirectContrFollowsTheWordsOfTheRule, ()) {
  expect_the_words(direct_contr, naive::given_by_owners);
}
RC_GTEST_PROP(Consortium, ShapleyRateFollowsTheWordsOfTheRule, ()) {
  expect_the_words(shapley_rate, naive::given_by_game);
}

// A cluster that ranks by its own figures does what the policy does that ranks by them.
RC_GTEST_PROP(Consortium, WithoutTheSumEachClusterIsAlone, ()) {
  const Instances clusters = any_clusters(3);
  ConsortiumRule rule = any_consortium_rule();
  rule.by_sum = false;
  const auto same = [&](auto&& make) {
    const Policies books{make(clusters[0], game::ServingRule{}), make(clusters[1], game::ServingRule{})};
    const ConsortiumResult found = simulate_consortium(with(clusters, books), rule, {});
    for (std::size_t c = 0; c < 2; ++c) {
      const PolicyPtr alone = make(clusters[c], rule.serving);
      RC_ASSERT(found.clusters[c].schedule == simulate(clusters[c], *alone).schedule);
    }
  };
  same(direct_contr);
  same(shapley_rate);
  same([](const Instance& instance, const game::ServingRule& r) -> PolicyPtr { return make_hindsight(instance, r); });
}

// A owns 2 processors on cluster 1, B 2 on cluster 2. B runs on both of 1 from 0 to 10, A on both of 2 from 10 to 20.
TEST(Consortium, TheExampleByHand) {
  const Instances clusters{Instance{{2, 0}, {{{0}, {10}, 1}, {{0}, {10}, 1}}, {40}},
                           Instance{{0, 2}, {{{10}, {10}, 0}, {{10}, {10}, 0}}, {40}}};
  const Policies policies{direct_contr(clusters[0]), direct_contr(clusters[1])};
  const std::array<Instant, 3> samples{Instant{10}, Instant{20}, Instant{30}};
  const ConsortiumResult found = simulate_consortium(with(clusters, policies), {}, samples);
  const auto of_both = [&](std::size_t sample, std::size_t u, Int128 KeyFigures::*figure) {
    Int128 sum = 0;
    for (const Standings& books : found.standings[sample]) sum += books.figures[u].*figure;
    return static_cast<std::int64_t>(sum);
  };
  // psi of two runs of 10 s, `after` seconds after they began, second by second.
  const auto psi = [](std::int64_t after) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(after, 10); ++i) sum += 2 * (after - i);
    return sum;
  };
  constexpr std::array<std::int64_t, 3> k_by_hand{110, 200, 200};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::int64_t t = samples[i].value;
    EXPECT_EQ(of_both(i, 0, &KeyFigures::balance), k_by_hand[i]);
    EXPECT_EQ(of_both(i, 0, &KeyFigures::balance), psi(t) - psi(t - 10));
    EXPECT_EQ(of_both(i, 1, &KeyFigures::balance), -k_by_hand[i]);
    EXPECT_EQ(of_both(i, 0, &KeyFigures::given_less_got), i == 0 ? 20 : 0);
  }
  // Alone, each goes on charging its guest.
  EXPECT_EQ(found.standings[2][0].figures[1].balance, -510);
  EXPECT_EQ(found.standings[2][1].figures[0].balance, -310);
}

// k! (phi - psi) at the end, of one game over both clusters: what the coalition does in a second is the sum.
template <typename Busy>
std::vector<std::int64_t> of_one_game(const Instances& clusters, const std::array<std::vector<std::int64_t>, 2>& starts,
                                      Busy&& busy) {
  const std::size_t k = clusters.front().organizations();
  const std::int64_t end = clusters.front().end.value;
  std::vector<std::int64_t> sum(k);
  for (std::int64_t t = 0; t < end; ++t) {
    std::array<naive::Second, 2> seconds;
    for (std::size_t c = 0; c < 2; ++c) {
      naive::Second& second = seconds[c];
      second = {t, std::vector<std::int64_t>(k), std::vector<std::int64_t>(k), {}};
      for (std::size_t j = 0; j < starts[c].size(); ++j) {
        const Job& job = clusters[c].jobs[j];
        const bool ended = starts[c][j] >= 0 && starts[c][j] + job.duration.value <= t;
        if (job.release.value > t || ended) continue;
        ++second.demand[job.organization];
        if (starts[c][j] >= 0 && starts[c][j] <= t) ++second.running[job.organization];
      }
    }
    const auto given = naive::scaled_shapley(k, [&](std::uint32_t coalition) {
      return busy(clusters[0], seconds[0], coalition) + busy(clusters[1], seconds[1], coalition);
    });
    for (std::size_t u = 0; u < k; ++u)
      sum[u] += (given[u] - naive::factorial(k) * (seconds[0].running[u] + seconds[1].running[u])) * (end - t);
  }
  return sum;
}

template <typename Make, typename Busy>
void expect_one_game(const Instances& clusters, Make&& make, Busy&& busy) {
  const Policies policies{make(clusters[0]), make(clusters[1])};
  const std::array<Instant, 1> at_end{clusters.front().end};
  const ConsortiumResult found = simulate_consortium(with(clusters, policies), any_consortium_rule(), at_end);
  std::vector<std::int64_t> sum(clusters.front().organizations());
  for (const Standings& books : found.standings.front()) {
    RC_ASSERT(books.scale == naive::factorial(sum.size()));
    for (std::size_t u = 0; u < sum.size(); ++u) sum[u] += static_cast<std::int64_t>(books.figures[u].balance);
  }
  RC_ASSERT(sum == of_one_game(clusters,
                               {starts_of(clusters[0], found.clusters[0]), starts_of(clusters[1], found.clusters[1])},
                               busy));
}

RC_GTEST_PROP(Consortium, TheSumOfRatesIsTheValueOfOneGame, ()) {
  const Instances clusters = any_clusters(3);
  expect_one_game(
      clusters, [](const Instance& instance) { return shapley_rate(instance); }, naive::worth_of_rate);
}

// When every duration is known, hindsight is the value over the schedules that coalitions would have had; of all
// together, over the one that was made.
RC_GTEST_PROP(Consortium, TheSumOfHindsightIsTheValueOfOneGame, ()) {
  Instances clusters = any_clusters(3);
  for (Instance& cluster : clusters) {
    cluster.end = {100};
    for (std::uint32_t& own : cluster.processors) own = std::max(own, 1U);
  }
  expect_one_game(
      clusters, [](const Instance& instance) -> PolicyPtr { return make_hindsight(instance); },
      [](const Instance& instance, const naive::Second& second, std::uint32_t coalition) {
        if (coalition + 1U != 1U << instance.organizations())
          return naive::busy_under_fcfs(instance, coalition, second.begin);
        std::int64_t running = 0;
        for (const std::int64_t of_one : second.running) running += of_one;
        return running;
      });
}

// The figures of a policy are those that its own choices are made from, after the starts of the instant, too.
TEST(Consortium, FiguresGoOnAsTheyAreExtrapolated) {
  const Instance instance{{1, 1}, {{{0}, {50}, 0}, {{0}, {50}, 0}, {{3}, {50}, 1}}, {40}};
  for (const auto& make : {direct_contr, shapley_rate}) {
    const PolicyPtr policy = make(instance, {});
    const std::array<Instant, 2> samples{Instant{10}, Instant{35}};
    const std::vector<ConsortiumCluster> alone{{&instance, policy.get()}};
    const ConsortiumResult found = simulate_consortium(alone, {}, samples);
    for (std::size_t u = 0; u < 2; ++u) {
      const KeyFigures later = extrapolated(found.standings[0][0].figures[u], {25});
      const KeyFigures& then = found.standings[1][0].figures[u];
      EXPECT_EQ(static_cast<std::int64_t>(later.balance), static_cast<std::int64_t>(then.balance));
      EXPECT_EQ(static_cast<std::int64_t>(later.given_less_got), static_cast<std::int64_t>(then.given_less_got));
      EXPECT_EQ(static_cast<std::int64_t>(later.rate_less_used), static_cast<std::int64_t>(then.rate_less_used));
      EXPECT_NE(then.balance, 0);
    }
  }
}

}  // namespace
}  // namespace shapley::scheduling
