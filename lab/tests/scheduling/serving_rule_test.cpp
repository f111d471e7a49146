// Horizon and guarantee in the policies: against schedules made second by second, and what they promise.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/rng.hpp"
#include "scheduling/policies/coalition_policy.hpp"
#include "scheduling/policies/policies.hpp"
#include "scheduling/policies/policy.hpp"
#include "scheduling/simulate.hpp"
#include "tests/scheduling/naive_order.hpp"
#include "tests/sim/any_instance.hpp"
#include "tests/sim/naive_ref.hpp"

namespace shapley::scheduling {
namespace {

using game::ServingRule;

ServingRule any_rule() {
  ServingRule rule;
  rule.horizon.value = *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(0, 12), rc::gen::just<std::int64_t>(1'000'000));
  rule.guarantee.millionths = *rc::gen::element(0, 300'000, 500'000, game::k_whole_guarantee);
  rule.running.millionths = *rc::gen::element(0, 100'000, 400'000, game::k_whole_running_weight);
  if (*rc::gen::inRange(0, 3) == 0) {
    rule.horizon = {};
    rule.running = {};
    rule.pace.millionths = *rc::gen::element(1, 250'000, 500'000, game::k_whole_pace);
  }
  return rule;
}

naive::Rule words_of(const ServingRule& rule) {
  return {.horizon = rule.horizon.value,
          .millionths = rule.guarantee.millionths,
          .running = rule.running.millionths,
          .pace = rule.pace.millionths};
}

std::vector<std::int64_t> starts_of(const Instance& instance, Policy& policy) {
  std::vector<std::int64_t> starts(instance.jobs.size(), -1);
  for (const Start& start : simulate(instance, policy).schedule) starts[start.job] = start.start.value;
  return starts;
}

RC_GTEST_PROP(ServingRule, DirectContrFollowsTheWordsOfTheRule, ()) {
  const Instance instance = sim::any_instance(4);
  const ServingRule rule = any_rule();
  const auto policy = make_direct_contr(instance, {.identity = true, .seed = 1, .rule = rule});
  const naive::Simulation witness(instance, words_of(rule), naive::given_by_owners);
  RC_ASSERT(starts_of(instance, *policy) == witness.starts());
}

// 33 to 64 organizations, more than a coalition can hold, with queues at which something is chosen again and again.
Instance any_instance_of_many() {
  const auto number = [](unsigned from, unsigned to) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(from, to + 1));
  };
  Instance instance;
  instance.end = {30};
  const unsigned organizations = number(k_coalition_organizations + 1, k_max_organizations);
  for (unsigned u = 0; u < organizations; ++u) instance.processors.push_back(number(0, 5) / 5);
  const unsigned jobs = number(0, 120);
  for (unsigned j = 0; j < jobs; ++j)
    instance.jobs.push_back({{number(0, 20)}, {number(1, 9)}, number(0, organizations - 1)});
  return instance;
}

RC_GTEST_PROP(ManyOrganizations, AreServedByTheWordsOfTheRule, ()) {
  const Instance instance = any_instance_of_many();
  const ServingRule rule = any_rule();
  const auto direct = make_direct_contr(instance, {.identity = true, .seed = 1, .rule = rule});
  RC_ASSERT(starts_of(instance, *direct) ==
            naive::Simulation(instance, words_of(rule), naive::given_by_owners).starts());
  const auto fair_share = make_fair_share(instance);
  RC_ASSERT(starts_of(instance, *fair_share) == naive::starts_by_fair_share(instance));
}

// Where it is known whose processors were taken; the third of second 4 has none free any more, and second 5 is not
// known.
TEST(DirectContr, JobsTakeTheProcessorsThatWereTaken) {
  Instance instance;
  instance.processors = {3, 2, 1};
  instance.end = {100};
  const auto policy = make_direct_contr(instance, {.taken = {{4, {2, 0, 2, 0}}}});
  EXPECT_EQ(policy->started(4, 0), 2);
  EXPECT_EQ(policy->started(4, 0), 0);
  EXPECT_EQ(policy->started(4, 0), 0) << "the next one that is free";
  EXPECT_EQ(policy->started(4, 0), 0) << "of the fewest free ones";
  policy->completed(5, 0, 2);
  EXPECT_EQ(policy->started(5, 0), 2) << "one free instead of two";
  EXPECT_EQ(policy->started(5, 0), 1);
}

RC_GTEST_PROP(ServingRule, ShapleyRateFollowsTheWordsOfTheRule, ()) {
  const Instance instance = sim::any_instance(4);
  const ServingRule rule = any_rule();
  const auto policy = make_shapley_rate(instance, {.method = RateMethod::exact, .seed = 1, .rule = rule});
  const naive::Simulation witness(instance, words_of(rule), naive::given_by_game);
  RC_ASSERT(starts_of(instance, *policy) == witness.starts());
}

RC_GTEST_PROP(ServingRule, CoalitionsFollowTheWordsOfTheRule, ()) {
  const Instance instance = sim::any_instance(4);
  const ServingRule rule = any_rule();
  const naive::Simulation witness(instance, words_of(rule), naive::given_by_coalitions);
  const auto all = make_coalitions_all(instance, rule);
  const auto pairs = make_coalitions_pair(instance, rule);  // exact up to four organizations
  RC_ASSERT(starts_of(instance, *all) == witness.starts());
  RC_ASSERT(starts_of(instance, *pairs) == witness.starts());
}

// With a mean residual run time of 1 s what runs is worth half a second in phi, rounded to none, and 1 s in the work.
TEST(ServingRule, CoalitionsBrakeByWhatRunsInTheSecondOfTheChoice) {
  const Instance instance{{0, 0, 1}, {{{0}, {1}, 0}, {{3}, {2}, 1}, {{0}, {1}, 0}, {{0}, {2}, 1}, {{3}, {1}, 0}}, {5}};
  const ServingRule rule{.horizon = {}, .guarantee = {500'000}, .pace = {250'000}};
  const std::vector<std::int64_t> expected{0, 4, 3, 1, -1};
  ASSERT_EQ(naive::Simulation(instance, words_of(rule), naive::given_by_coalitions).starts(), expected);
  EXPECT_EQ(starts_of(instance, *make_coalitions_all(instance, rule)), expected);
  EXPECT_EQ(starts_of(instance, *make_coalitions_pair(instance, rule)), expected);
}

RC_GTEST_PROP(ServingRule, RefFollowsTheWordsOfTheRuleInEveryCoalition, ()) {
  Instance instance = sim::any_instance(4);
  instance.residual.value = *rc::gen::element(0, 0, 1, 9);
  const ServingRule rule = any_rule();
  const auto policy = make_ref(instance, rule);
  const sim::naive::Ref witness(
      instance, {rule.horizon.value, rule.guarantee.millionths, rule.running.millionths, rule.pace.millionths});
  std::vector<std::int64_t> expected(instance.jobs.size(), -1);
  for (const sim::naive::Running& run : witness.grand().started) expected[run.job] = run.start;
  RC_ASSERT(starts_of(instance, *policy) == expected);
  for (const auto& [coalition, value] : policy->coalition_values(instance.end.value))
    RC_ASSERT(value == witness.value(coalition, instance.end.value));
}

// Longer than the random instances above, with queues at which something is chosen again and again.
Instance contended_instance(Rng& rng) {
  Instance instance;
  const std::uint64_t organizations = 2 + rng.below(3);
  for (std::uint64_t u = 0; u < organizations; ++u)
    instance.processors.push_back(static_cast<std::uint32_t>(rng.below(3) + (u == 0 ? 1 : 0)));
  for (int j = 0; j < 40; ++j) {
    instance.jobs.push_back({{static_cast<std::int64_t>(rng.below(30))},
                             {static_cast<std::int64_t>(1 + rng.below(9))},
                             static_cast<std::uint32_t>(rng.below(organizations))});
  }
  instance.end = {45};
  return instance;
}

ServingRule rule_with_running(Rng& rng) {
  constexpr std::array k_weights{100'000, 400'000, game::k_whole_running_weight};
  return {{static_cast<std::int64_t>(1 + rng.below(60))},
          {static_cast<std::int32_t>(rng.below(3) * 400'000)},
          {k_weights[rng.below(k_weights.size())]}};
}

TEST(ServingRule, BrakingFollowsTheWordsInContention) {
  int braking_matters = 0;
  int pace_matters = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    Instance instance = contended_instance(rng);
    instance.residual.value = static_cast<std::int64_t>(rng.below(6));
    const ServingRule rule{.horizon = {},
                           .guarantee = {static_cast<std::int32_t>(rng.below(3) * 400'000)},
                           .pace = {static_cast<std::int32_t>(1 + rng.below(game::k_whole_pace))}};
    const naive::Rule words = words_of(rule);
    const naive::Simulation by_owners(instance, words, naive::given_by_owners);
    const auto direct = make_direct_contr(instance, {.identity = true, .seed = 1, .rule = rule});
    ASSERT_EQ(starts_of(instance, *direct), by_owners.starts());
    const auto rate = make_shapley_rate(instance, {.method = RateMethod::exact, .seed = 1, .rule = rule});
    ASSERT_EQ(starts_of(instance, *rate), naive::Simulation(instance, words, naive::given_by_game).starts());
    naive::Rule other = words;
    other.pace = 0;
    braking_matters +=
        naive::Simulation(instance, other, naive::given_by_owners).starts() != by_owners.starts() ? 1 : 0;
    other.pace = game::k_whole_pace;
    pace_matters += naive::Simulation(instance, other, naive::given_by_owners).starts() != by_owners.starts() ? 1 : 0;
    if (seed % 10 != 0) continue;
    const auto coalitions = make_coalitions_all(instance, rule);
    ASSERT_EQ(starts_of(instance, *coalitions),
              naive::Simulation(instance, words, naive::given_by_coalitions).starts());
    const sim::naive::Ref witness(instance, {0, rule.guarantee.millionths, 0, rule.pace.millionths});
    std::vector<std::int64_t> expected(instance.jobs.size(), -1);
    for (const sim::naive::Running& run : witness.grand().started) expected[run.job] = run.start;
    const auto ref = make_ref(instance, rule);
    ASSERT_EQ(starts_of(instance, *ref), expected);
  }
  EXPECT_GT(braking_matters, 50);  // otherwise nothing was tried
  EXPECT_GT(pace_matters, 10);
}

TEST(ServingRule, WhatRunsCountsAndPassesAreOrderedByTheWords) {
  int weight_matters = 0;
  int pass_matters = 0;
  int residual_matters = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    Instance instance = contended_instance(rng);
    if (seed % 2 == 0) instance.residual.value = seed % 4 == 0 ? 1 : 60;
    const ServingRule rule = rule_with_running(rng);
    naive::Rule words = words_of(rule);
    words.once = rng.below(2) == 0;
    const auto passing = [&](std::unique_ptr<Policy> policy) {
      return words.once ? make_once_a_pass(std::move(policy)) : std::move(policy);
    };
    const auto direct = passing(make_direct_contr(instance, {.identity = true, .seed = 1, .rule = rule}));
    const naive::Simulation by_owners(instance, words, naive::given_by_owners);
    ASSERT_EQ(starts_of(instance, *direct), by_owners.starts());
    const auto rate = passing(make_shapley_rate(instance, {.method = RateMethod::exact, .seed = 1, .rule = rule}));
    ASSERT_EQ(starts_of(instance, *rate), naive::Simulation(instance, words, naive::given_by_game).starts());
    if (seed % 5 == 0) {
      const auto coalitions = passing(make_coalitions_all(instance, rule));
      ASSERT_EQ(starts_of(instance, *coalitions),
                naive::Simulation(instance, words, naive::given_by_coalitions).starts());
    }
    naive::Rule other = words;
    other.running = 0;
    weight_matters += naive::Simulation(instance, other, naive::given_by_owners).starts() != by_owners.starts() ? 1 : 0;
    other = words;
    other.once = !words.once;
    pass_matters += naive::Simulation(instance, other, naive::given_by_owners).starts() != by_owners.starts() ? 1 : 0;
    Instance measured = instance;
    measured.residual = {};
    residual_matters +=
        naive::Simulation(measured, words, naive::given_by_owners).starts() != by_owners.starts() ? 1 : 0;
  }
  EXPECT_GT(weight_matters, 50);  // otherwise nothing was tried
  EXPECT_GT(pass_matters, 100);
  EXPECT_GT(residual_matters, 10);
}

// Everything comes free at once: 12 processors of three owners, whose queues are full.
TEST(ServingRule, SharesWhatComesFreeAtOnce) {
  Instance instance{{6, 3, 3}, {}, {40'000}};
  for (std::uint32_t u = 0; u < 3; ++u)
    for (int j = 0; j < 12; ++j) instance.jobs.push_back({{10'000}, {9'000}, u});
  // Owner 2 was there first, alone: it is owed least.
  instance.jobs.push_back({{0}, {5'000}, 2});
  const auto starts_at_once = [&](const ServingRule& rule, bool once) {
    auto policy = make_shapley_rate(instance, {.method = RateMethod::exact, .seed = 1, .rule = rule});
    if (once) policy = make_once_a_pass(std::move(policy));
    std::array<int, 3> counts{};
    for (const Start& start : simulate(instance, *policy).schedule)
      counts[instance.jobs[start.job].organization] += start.start.value == 10'000 ? 1 : 0;
    return counts;
  };
  constexpr Duration k_day{86'400};
  const game::Guarantee half{game::k_whole_guarantee / 2};
  EXPECT_EQ(starts_at_once({k_day, half, {}}, true), (std::array{12, 0, 0}));
  EXPECT_EQ(starts_at_once({k_day, half, {}}, false), (std::array{8, 2, 2}));
  // With all of what runs counted each gets what it owns, corrected by what was done before.
  EXPECT_EQ(starts_at_once({k_day, half, {game::k_whole_running_weight}}, false), (std::array{6, 3, 3}));
}

TEST(Horizon, IsCheckedForWhatRunsToo) {
  // processors * (t_end + horizon + 1)^2 = 2^63, which the published terms do not reach.
  const Instance instance{{std::uint32_t{1} << 31U}, {}, {32'768}};
  const Duration horizon{32'767};
  EXPECT_TRUE(check_horizon(instance, {.horizon = horizon}));
  EXPECT_FALSE(check_horizon(instance, {horizon, {}, {1}}));
  EXPECT_TRUE(check_horizon(instance, {{horizon.value - 1}, {}, {1}}));
}

// The remembered choices of fair_schedules.hpp hold over long stretches only when times are long.
TEST(ServingRule, RefRemembersChoicesSafelyWithAHorizon) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Rng rng(seed);
    Instance instance;
    for (int u = 0; u < 4; ++u) instance.processors.push_back(static_cast<std::uint32_t>(1 + rng.below(2)));
    for (int j = 0; j < 60; ++j) {
      instance.jobs.push_back({{static_cast<std::int64_t>(rng.below(120))},
                               {static_cast<std::int64_t>(1 + rng.below(30))},
                               static_cast<std::uint32_t>(rng.below(4))});
    }
    instance.end = {160};
    const ServingRule rule{{static_cast<std::int64_t>(rng.below(200))},
                           {static_cast<std::int32_t>(rng.below(3) * 400'000)},
                           {static_cast<std::int32_t>(rng.below(3) * 100'000)}};
    const sim::naive::Ref witness(instance, {rule.horizon.value, rule.guarantee.millionths, rule.running.millionths});
    std::vector<std::int64_t> expected(instance.jobs.size(), -1);
    for (const sim::naive::Running& run : witness.grand().started) expected[run.job] = run.start;
    const auto policy = make_ref(instance, rule);
    ASSERT_EQ(starts_of(instance, *policy), expected) << "seed " << seed;
  }
}

// v(C) of the schedules that coalitions would have under FCFS, stopped at t and seen a horizon later.
RC_GTEST_PROP(ServingRule, CoalitionsAreValuedAHorizonAhead, ()) {
  const Instance instance = sim::any_instance(4);
  const Duration horizon{*rc::gen::inRange<std::int64_t>(0, 50)};
  const std::int64_t stop = instance.end.value;
  const auto grand = game::grand_coalition(instance.organizations());
  FcfsSchedules schedules(instance.processors, {grand});
  std::vector<Job> released = instance.jobs;
  std::stable_sort(released.begin(), released.end(), [](const Job& a, const Job& b) { return a.release < b.release; });
  std::erase_if(released, [&](const Job& job) { return job.release.value >= stop; });
  for (const Job& job : released) schedules.release(job);
  schedules.run_before(stop);
  std::vector<std::int64_t> left;  // of the running jobs
  std::size_t next = 0;
  std::int64_t expected = 0;
  for (std::int64_t t = 0; t < stop; ++t) {
    std::erase(left, 0);
    while (left.size() < instance.total_processors() && next < released.size() && released[next].release.value <= t)
      left.push_back(released[next++].duration.value);
    for (std::int64_t& seconds : left) {
      --seconds;
      expected += stop + horizon.value - t;
    }
  }
  RC_ASSERT(schedules.value_at(0, stop, {horizon}) == expected);
}

using PolicyPtr = std::unique_ptr<Policy>;
using Maker = std::function<PolicyPtr(const Instance&, const ServingRule&)>;

std::vector<Permutation> some_permutations(const Instance& instance) {
  return draw_permutations(instance.organizations(), 3, 7);
}

// Everything that ranks by phi - psi.
const std::array k_makers{
    Maker([](const Instance& i, const ServingRule& r) { return make_ref(i, r); }),
    Maker([](const Instance& i, const ServingRule& r) { return make_rand(i, some_permutations(i), r); }),
    Maker([](const Instance& i, const ServingRule& r) { return make_coalitions_loo(i, r); }),
    Maker([](const Instance& i, const ServingRule& r) { return make_coalitions_pair(i, r); }),
    Maker([](const Instance& i, const ServingRule& r) { return make_coalitions_all(i, r); }),
    Maker([](const Instance& i, const ServingRule& r) { return make_hindsight(i, r); }),
    Maker([](const Instance& i, const ServingRule& r) { return make_hindsight_pair(i, r); }),
    Maker([](const Instance& i, const ServingRule& r) {
      return make_direct_contr(i, {.identity = false, .seed = 3, .rule = r});
    }),
    Maker([](const Instance& i, const ServingRule& r) {
      return make_shapley_rate(i, {.method = RateMethod::exact, .seed = 3, .rule = r});
    }),
    Maker([](const Instance& i, const ServingRule& r) {
      return make_shapley_rate(i, {.method = RateMethod::sampled, .seed = 3, .rule = r});
    }),
    Maker([](const Instance& i, const ServingRule& r) {
      return make_shapley_rate(i, {.method = RateMethod::leave_one_out, .seed = 3, .rule = r});
    }),
};

struct Load {
  Instance instance;
  std::int64_t longest = 0;  // of all jobs
};

// Organization 0 has a job waiting at every instant from 0 on; the others have what they have.
Load always_waiting() {
  constexpr std::int64_t k_end = 60;
  Load load;
  load.instance.end = {k_end};
  const int organizations = *rc::gen::inRange(2, 5);
  for (int u = 0; u < organizations; ++u) load.instance.processors.push_back(*rc::gen::inRange(0U, 4U));
  const int jobs = *rc::gen::inRange(0, 60);
  for (int j = 0; j < jobs; ++j) {
    load.instance.jobs.push_back({{*rc::gen::inRange<std::int64_t>(0, k_end)},
                                  {*rc::gen::inRange<std::int64_t>(1, 12)},
                                  *rc::gen::inRange(1U, static_cast<unsigned>(organizations))});
  }
  const auto every = static_cast<std::int64_t>(load.instance.total_processors()) * k_end + 1;
  for (std::int64_t j = 0; j < every; ++j)
    load.instance.jobs.push_back({{0}, {*rc::gen::inRange<std::int64_t>(1, 4)}, 0});
  for (const Job& job : load.instance.jobs) load.longest = std::max(load.longest, job.duration.value);
  return load;
}

std::int64_t running_of(const Instance& instance, std::uint32_t organization, const std::vector<std::int64_t>& starts,
                        std::int64_t t) {
  std::int64_t running = 0;
  for (std::size_t j = 0; j < starts.size(); ++j) {
    const Job& job = instance.jobs[j];
    if (job.organization == organization && starts[j] >= 0 && starts[j] <= t && t < starts[j] + job.duration.value)
      ++running;
  }
  return running;
}

// An organization that always has small jobs waiting is never below the guarantee for longer than it takes jobs to end.
RC_GTEST_PROP(Guarantee, IsHeldAsSoonAsJobsEnd, ()) {
  const Load load = always_waiting();
  const Instance& instance = load.instance;
  ServingRule rule = any_rule();
  for (const Maker& make : k_makers) {
    const PolicyPtr policy = make(instance, rule);
    const std::vector<std::int64_t> starts = starts_of(instance, *policy);
    std::int64_t since = 0;  // no organization was below at any instant before
    for (std::int64_t t = 0; t < instance.end.value; ++t) {
      const bool below = running_of(instance, 0, starts, t) * game::k_whole_guarantee <
                         std::int64_t{rule.guarantee.millionths} * instance.processors[0];
      if (!below) since = t + 1;
      RC_ASSERT(t + 1 - since <= load.longest);
    }
  }
}

// Two equal organizations that are always busy, after one was alone: by turns with everything under the published rule,
// without end; with a horizon beyond the run times, evenly.
std::vector<double> shares_after_head_start(Duration horizon) {
  constexpr std::int64_t k_slice = 2'000;
  constexpr std::int64_t k_slices = 100;
  Instance instance{{4, 4}, {}, {k_slice * k_slices}};
  Rng rng(11);
  for (std::int64_t t = 0; t < instance.end.value; t += 100) {
    for (int j = 0; j < 10; ++j) {
      instance.jobs.push_back({{t}, {static_cast<std::int64_t>(50 + rng.below(100))}, 0});
      if (t >= 2 * k_slice) instance.jobs.push_back({{t}, {static_cast<std::int64_t>(50 + rng.below(100))}, 1});
    }
  }
  const auto policy = make_direct_contr(instance, {.identity = false, .seed = 1, .rule = {horizon, {}}});
  std::vector<double> shares(k_slices);
  for (const Start& start : simulate(instance, *policy).schedule) {
    const Job& job = instance.jobs[start.job];
    if (job.organization != 0) continue;
    for (std::int64_t t = start.start.value; t < std::min((start.start + job.duration), instance.end).value; ++t)
      shares[static_cast<std::size_t>(t / k_slice)] += 1.0 / (8.0 * k_slice);
  }
  return shares;
}

TEST(Horizon, DampsTheSwing) {
  const auto extremes = [](const std::vector<double>& shares) {
    const auto [least, most] = std::minmax_element(shares.end() - 30, shares.end());
    return std::pair(*least, *most);
  };
  const auto [least, most] = extremes(shares_after_head_start({0}));
  EXPECT_LT(least, 0.05);
  EXPECT_GT(most, 0.95);
  const auto [damped_least, damped_most] = extremes(shares_after_head_start({2'000}));
  EXPECT_GT(damped_least, 0.45);
  EXPECT_LT(damped_most, 0.55);
}

TEST(Horizon, IsRefusedWhereUtilitiesWouldOverflow) {
  const Instance instance{{1'000'000}, {}, {1'000'000}};
  EXPECT_TRUE(validate(instance));
  EXPECT_TRUE(check_horizon(instance, {.horizon = {1'000'000}}));
  const auto refused = check_horizon(instance, {.horizon = game::k_longest_horizon});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::limit);
  EXPECT_NE(refused.error().what.find("choose a shorter one"), std::string::npos) << refused.error().what;
}

}  // namespace
}  // namespace shapley::scheduling
