// The policies that simulate some or all coalitions, against each other and against coalitions scheduled second by
// second.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scheduling/simulate.hpp"
#include "sim/registry.hpp"
#include "tests/sim/any_instance.hpp"

namespace shapley::sim {
namespace {

struct Outcome {
  scheduling::SimulationResult simulation;
  std::vector<std::string> phi;
};

Outcome run(const char* name, const scheduling::Instance& instance, const PolicyOptions& options = {}) {
  const auto policy = make_policy(name, instance, options);
  Outcome outcome{scheduling::simulate(instance, **policy), {}};
  const auto phi = (*policy)->contributions(instance.end.value);
  for (const scheduling::Rational& value : *phi) outcome.phi.push_back(scheduling::to_string(value));
  return outcome;
}

std::vector<scheduling::Permutation> every_permutation(std::size_t k) {
  scheduling::Permutation permutation(k);
  std::iota(permutation.begin(), permutation.end(), 0U);
  std::vector<scheduling::Permutation> all;
  do {
    all.push_back(permutation);
  } while (std::next_permutation(permutation.begin(), permutation.end()));
  return all;
}

// v(C) at the end under FCFS: every second is a step, every unit part that begins at t is worth end - t.
std::int64_t naive_fcfs_value(const scheduling::Instance& instance, std::uint32_t coalition) {
  std::vector<const scheduling::Job*> queue;
  for (const scheduling::Job& job : instance.jobs) {
    if ((coalition >> job.organization & 1U) != 0) queue.push_back(&job);
  }
  std::stable_sort(queue.begin(), queue.end(), [](const auto* a, const auto* b) { return a->release < b->release; });
  std::int64_t processors = 0;
  for (std::size_t u = 0; u < instance.organizations(); ++u)
    processors += (coalition >> u & 1U) != 0 ? instance.processors[u] : 0;
  std::vector<std::int64_t> left;  // of the running jobs
  std::size_t next = 0;
  std::int64_t value = 0;
  for (std::int64_t t = 0; t < instance.end.value; ++t) {
    std::erase(left, 0);
    while (static_cast<std::int64_t>(left.size()) < processors && next < queue.size() &&
           queue[next]->release.value <= t)
      left.push_back(queue[next++]->duration.value);
    for (std::int64_t& seconds : left) {
      --seconds;
      value += instance.end.value - t;
    }
  }
  return value;
}

RC_GTEST_PROP(Coalitions, AllIsRandOverEveryPermutation, ()) {
  const scheduling::Instance instance = any_instance(4);
  const Outcome all = run("coalitions_all", instance);
  const Outcome rand = run("rand", instance, {.permutations = every_permutation(instance.organizations())});
  RC_ASSERT(all.phi == rand.phi);
  RC_ASSERT(all.simulation.schedule == rand.simulation.schedule);
}

RC_GTEST_PROP(Coalitions, PairsAreExactUpToFourOrganizations, ()) {
  const scheduling::Instance instance = any_instance(4);
  const Outcome all = run("coalitions_all", instance);
  const Outcome pair = run("coalitions_pair", instance);
  RC_ASSERT(all.phi == pair.phi);
  RC_ASSERT(all.simulation.schedule == pair.simulation.schedule);
}

RC_GTEST_PROP(Coalitions, PairsInterpolateTheMeanMarginsOfFive, ()) {
  scheduling::Instance instance = any_instance(5);
  instance.processors.resize(5, 1);
  const auto value = [&](std::uint32_t c) { return naive_fcfs_value(instance, c); };
  const auto policy = make_policy("coalitions_pair", instance, {});
  (void)scheduling::simulate(instance, **policy);
  const auto phi = (*policy)->contributions(instance.end.value);
  for (std::uint32_t u = 0; u < 5; ++u) {
    // Mean marginal contribution by size of what u joins, the middle one on the line between its neighbours.
    std::array<double, 5> mean{};
    for (const int size : {0, 1, 3, 4}) {
      double sum = 0;
      int count = 0;
      for (std::uint32_t c = 0; c < 32; ++c) {
        if ((c >> u & 1U) != 0 || std::popcount(c) != size) continue;
        sum += static_cast<double>(value(c | 1U << u) - value(c));
        ++count;
      }
      mean[static_cast<std::size_t>(size)] = sum / count;
    }
    mean[2] = (mean[1] + mean[3]) / 2;
    const double expected = std::accumulate(mean.begin(), mean.end(), 0.0) / 5;
    const double found = static_cast<double>((*phi)[u].numerator) / static_cast<double>((*phi)[u].denominator);
    RC_ASSERT(std::abs(found - expected) < 1e-6);
  }
}

RC_GTEST_PROP(Coalitions, LeaveOneOutIsTheMeanOfFirstAndLast, ()) {
  const scheduling::Instance instance = any_instance(6);
  const auto grand = static_cast<std::uint32_t>((1U << instance.organizations()) - 1);
  const auto policy = make_policy("coalitions_loo", instance, {});
  (void)scheduling::simulate(instance, **policy);
  const auto phi = (*policy)->contributions(instance.end.value);
  for (std::size_t u = 0; u < instance.organizations(); ++u) {
    const std::uint32_t self = 1U << u;
    RC_ASSERT((*phi)[u].denominator == 2);
    RC_ASSERT((*phi)[u].numerator == naive_fcfs_value(instance, self) + naive_fcfs_value(instance, grand) -
                                         naive_fcfs_value(instance, grand ^ self));
  }
}

// By job; -1: not before the end.
std::vector<std::int64_t> starts_by(const char* name, const scheduling::Instance& instance) {
  std::vector<std::int64_t> starts(instance.jobs.size(), -1);
  const auto policy = make_policy(name, instance, {});
  for (const scheduling::Start& start : scheduling::simulate(instance, **policy).schedule)
    starts[start.job] = start.start.value;
  return starts;
}

// Who owns nothing and sends nothing changes nothing, and with 60 of these there are more than a coalition can hold.
RC_GTEST_PROP(ManyOrganizations, AreServedAsTheFewAmongThemThatMatter, ()) {
  const scheduling::Instance few = any_instance(4);
  const scheduling::Instance many = after_idle_ones(few, 60);
  for (const char* name :
       {"direct_contr", "direct_contr@9/0.5/0.1/once", "direct_contr@braking/0.5", "direct_contr_identity",
        "round_robin", "fair_share", "ut_fair_share", "curr_fair_share", "fcfs", "shapley_rate_loo",
        "shapley_rate_loo@9/0.5", "shapley_rate_loo@braking/0.5/once", "karma", "fair_tree"}) {
    RC_ASSERT(starts_by(name, few) == starts_by(name, many));
  }
}

TEST(ManyOrganizations, AreRefusedByCoalitionsWithTheRemedy) {
  // `most` organizations have a policy of this name, `more` are refused.
  const auto expect_limit = [](const std::string& name, std::size_t most, std::size_t more,
                               const std::string& refusal) {
    const auto of = [&](std::size_t organizations) {
      return make_policy(name, {std::vector<std::uint32_t>(organizations, 1), {}, {10}}, {});
    };
    EXPECT_TRUE(of(most)) << name;
    const auto refused = of(more);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().what, "policy " + name + refusal);
  };
  for (const char* name : {"rand", "coalitions_loo", "coalitions_pair", "hindsight_pair"})
    expect_limit(name, 32, 64, ": 64 organizations exceed its limit of 32; use shapley_rate_sampled");
  for (const char* name : {"direct_contr", "shapley_rate_sampled", "fair_share", "karma"})
    expect_limit(name, 64, 65, ": 65 organizations exceed its limit of 64; merge small organizations");
}

TEST(Karma, LendersAreServedFirstLater) {
  // Two processors each. Organization 0 idles while 1 borrows both of its processors for 10 s: per second, each is
  // dealt 1 credit (m/2); 0 donates its guaranteed processor, lent to 1: +1; 1 runs 3 beyond its guarantee of 1: -3. So
  // 0 has 20 credits and 1 has -20 at t = 10, when both want all four processors: 0 gets its guaranteed one, then 1 its
  // own, and the other two go to 0, who has more credits.
  scheduling::Instance instance{{2, 2}, {}, {12}};
  for (int i = 0; i < 4; ++i) instance.jobs.push_back({{0}, {10}, 1});
  for (int i = 0; i < 4; ++i) instance.jobs.push_back({{10}, {10}, 1});
  for (int i = 0; i < 4; ++i) instance.jobs.push_back({{10}, {10}, 0});
  const auto karma = make_policy("karma", instance, {});
  const scheduling::SimulationResult result = scheduling::simulate(instance, **karma);
  std::array<int, 2> at_ten{};
  for (const scheduling::Start& start : result.schedule) {
    if (start.start.value == 10) ++at_ten[instance.jobs[start.job].organization];
  }
  EXPECT_EQ(at_ten[0], 3);
  EXPECT_EQ(at_ten[1], 1);
}

TEST(FairTree, BeforeTheFirstPeriodEndsAllAreEqual) {
  // Organization 1 submits first, and both processors come free at 70. After a minute 0 goes first: only 1 has used
  // something.
  const scheduling::Instance instance{
      {1, 1}, {{{0}, {70}, 1}, {{0}, {70}, 1}, {{0}, {9}, 1}, {{1}, {9}, 0}, {{1}, {9}, 0}, {{1}, {9}, 0}}, {200}};
  const auto starts = [&](const scheduling::FairTreeOptions& options) {
    std::vector<std::int64_t> found(instance.jobs.size(), -1);
    const auto policy = scheduling::make_fair_tree(instance, options);
    for (const scheduling::Start& start : scheduling::simulate(instance, *policy).schedule)
      found[start.job] = start.start.value;
    return found;
  };
  constexpr Duration k_week{7 * 86'400};
  EXPECT_EQ(starts({.period = {1000}, .half_life = k_week, .ties_by_submission = true}),
            (std::vector<std::int64_t>{0, 0, 70, 70, 79, 79}));
  EXPECT_EQ(starts({.period = {1000}, .half_life = k_week}), (std::vector<std::int64_t>{0, 0, 79, 70, 70, 79}));
  EXPECT_EQ(starts({.period = {60}, .half_life = k_week, .ties_by_submission = true}),
            (std::vector<std::int64_t>{0, 0, 79, 70, 70, 79}));
  EXPECT_EQ(starts({}), starts({.period = {300}, .half_life = k_week}));
}

TEST(FairTree, ForgetsWhatFairShareRemembers) {
  // One processor each. Organization 0 uses 1000 s early, organization 1 half of that 60 days later; then both wait.
  // FAIRSHARE serves 1, who used less in all; Slurm has forgotten what 0 used (60 days are 8.6 half-lives) and serves
  // 0.
  constexpr std::int64_t late = 60 * 86'400;
  scheduling::Instance instance{{1, 1}, {}, {late + 3'000}};
  instance.jobs = {{{0}, {1'000}, 0},        {{late}, {500}, 1},       {{late + 900}, {400}, 0},
                   {{late + 900}, {400}, 0}, {{late + 900}, {400}, 1}, {{late + 900}, {400}, 1}};
  const auto starts_first = [&](const char* name) {
    const auto policy = make_policy(name, instance, {});
    std::array<int, 2> first{};
    for (const scheduling::Start& start : scheduling::simulate(instance, **policy).schedule) {
      if (start.start.value == late + 900) ++first[instance.jobs[start.job].organization];
    }
    return first;
  };
  EXPECT_EQ(starts_first("fair_share"), (std::array<int, 2>{0, 2}));
  EXPECT_EQ(starts_first("fair_tree"), (std::array<int, 2>{2, 0}));
}

}  // namespace
}  // namespace shapley::sim
