// REF by potentials against REF as printed, and what holds for every policy.
#include <algorithm>
#include <array>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/rng.hpp"
#include "scheduling/easy.hpp"
#include "scheduling/policies/policies.hpp"
#include "scheduling/simulate.hpp"
#include "scheduling/utility_functions.hpp"
#include "sim/registry.hpp"
#include "tests/sim/any_instance.hpp"
#include "tests/sim/naive_ref.hpp"

namespace shapley::sim {
namespace {

// The same schedule, psi, phi and coalition values.
void expect_equal_to_printed(const scheduling::Instance& instance) {
  const naive::Ref witness(instance);
  const auto policy = scheduling::make_ref(instance);
  const scheduling::SimulationResult result = scheduling::simulate(instance, *policy);

  const auto grand = static_cast<std::uint32_t>((1U << instance.organizations()) - 1);
  const std::int64_t end = instance.end.value;
  std::vector<std::pair<std::size_t, std::int64_t>> expected;
  for (const naive::Running& run : witness.grand().started) expected.emplace_back(run.job, run.start);
  std::sort(expected.begin(), expected.end());
  std::vector<std::pair<std::size_t, std::int64_t>> found;
  for (const scheduling::Start& start : result.schedule) found.emplace_back(start.job, start.start.value);
  RC_ASSERT(found == expected);

  const auto phi = policy->contributions(end);
  for (std::size_t u = 0; u < instance.organizations(); ++u) {
    RC_ASSERT(result.psi[u] == witness.psi(grand, u, end));
    RC_ASSERT((*phi)[u].numerator == witness.scaled_phi(grand, u, end));
  }
  for (const auto& [coalition, value] : policy->coalition_values(end))
    RC_ASSERT(value == witness.value(coalition, end));
}

RC_GTEST_PROP(Ref, EqualsThePrintedAlgorithm, ()) {
  expect_equal_to_printed(any_instance(4));
}

// The coalitions of seven organizations fill two words of a set.
TEST(Ref, EqualsThePrintedAlgorithmBeyondAWordOfCoalitions) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    scheduling::Instance instance;
    for (int u = 0; u < 7; ++u) instance.processors.push_back(static_cast<std::uint32_t>(rng.below(3)));
    for (int j = 0; j < 24; ++j) {
      instance.jobs.push_back({{static_cast<std::int64_t>(rng.below(6))},
                               {static_cast<std::int64_t>(1 + rng.below(6))},
                               static_cast<std::uint32_t>(rng.below(7))});
    }
    instance.end = {14};
    expect_equal_to_printed(instance);
  }
}

// Times so long that sums over coalitions leave 63 bits. The witness is REF for any utility: potentials of every
// coalition in 128 bits, at every event.
TEST(Ref, EqualsTheOneForAnyUtilityWhereSumsAreWide) {
  const auto psi_sp = scheduling::find_utility_function("psi_sp");
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    scheduling::Instance instance;
    for (int u = 0; u < 6; ++u) instance.processors.push_back(static_cast<std::uint32_t>(rng.below(2)));
    instance.processors.push_back(1);
    for (int j = 0; j < 40; ++j) {
      instance.jobs.push_back({{static_cast<std::int64_t>(rng.below(1U << 29U))},
                               {static_cast<std::int64_t>(1 + rng.below(1U << 28U))},
                               static_cast<std::uint32_t>(rng.below(7))});
    }
    instance.end = {std::int64_t{1} << 30U};
    ASSERT_TRUE(scheduling::validate(instance));
    const auto policy = scheduling::make_ref(instance);
    const auto witness = scheduling::make_ref_arbitrary(instance, **psi_sp);
    const scheduling::SimulationResult found = scheduling::simulate(instance, *policy);
    const scheduling::SimulationResult expected = scheduling::simulate(instance, *witness);
    EXPECT_EQ(found.psi, expected.psi) << "seed " << seed;
    EXPECT_EQ(found.schedule, expected.schedule) << "seed " << seed;
  }
}

// Members join, leave and exchange processors while jobs wait and run, by every kind of rule.
TEST(Ref, EqualsThePrintedAlgorithmWhenOwnersChange) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const std::size_t k = 2 + rng.below(3);
    const auto owners = [&] {
      std::vector<std::uint32_t> processors(k);
      for (std::uint32_t& one : processors) one = static_cast<std::uint32_t>(rng.below(3));
      processors[rng.below(k)] = 2;
      return processors;
    };
    scheduling::EasyInstance easy{.endowments = {{{0}, owners()}}, .jobs = {}, .requested = {}, .latest = {1'000}};
    easy.endowments.push_back({{static_cast<std::int64_t>(1 + rng.below(4))}, owners()});
    easy.endowments.push_back({{static_cast<std::int64_t>(5 + rng.below(4))}, owners()});
    for (int j = 0; j < 16; ++j) {
      easy.jobs.push_back({{static_cast<std::int64_t>(rng.below(10))},
                           {static_cast<std::int64_t>(1 + rng.below(6))},
                           static_cast<std::uint32_t>(rng.below(k))});
      easy.requested.push_back(easy.jobs.back().duration);
    }
    constexpr std::array<naive::Rule, 5> k_rules{
        {{}, {.horizon = 7}, {.millionths = 500'000, .pace = 250'000}, {.pace = 500'000}, {.millionths = 750'000}}};
    const naive::Rule& rule = k_rules[seed % k_rules.size()];
    const auto policy = scheduling::make_ref(scheduling::first_instance(easy),
                                             {.horizon = {rule.horizon},
                                              .guarantee = {static_cast<std::int32_t>(rule.millionths)},
                                              .pace = {static_cast<std::int32_t>(rule.pace)}});
    const auto schedule = scheduling::simulate_easy(easy, policy.get());
    ASSERT_TRUE(schedule);
    scheduling::Instance instance{easy.endowments.front().processors, easy.jobs, {1}};
    for (std::size_t j = 0; j < easy.jobs.size(); ++j)
      instance.end = std::max(instance.end, Instant{schedule->start[j]} + easy.jobs[j].duration);
    const naive::Ref witness(instance, rule, {easy.endowments.begin() + 1, easy.endowments.end()});
    std::vector<std::int64_t> expected(easy.jobs.size(), scheduling::k_never_started);
    for (const naive::Running& run : witness.grand().started) expected[run.job] = run.start;
    ASSERT_EQ(schedule->start, expected);
    for (const auto& [coalition, value] : policy->coalition_values(instance.end.value))
      ASSERT_EQ(value, witness.value(coalition, instance.end.value)) << "coalition " << coalition;
  }
}

// Efficiency: what was given in sum is what was got in sum, for every policy that keeps exact contributions.
RC_GTEST_PROP(Policies, ContributionsSumToTheValue, ()) {
  const scheduling::Instance instance = any_instance(5);
  for (const char* name :
       {"ref", "direct_contr", "direct_contr_identity", "shapley_rate", "shapley_rate_sampled", "hindsight"}) {
    const auto policy = make_policy(name, instance, {});
    const scheduling::SimulationResult result = scheduling::simulate(instance, **policy);
    const auto phi = (*policy)->contributions(instance.end.value);
    Int128 sum = 0;
    for (const scheduling::Rational& value : *phi) sum += value.numerator;
    RC_ASSERT(sum == phi->front().denominator * result.value);
  }
}

// Greedy: no processor is free while a job waits, whatever the policy.
RC_GTEST_PROP(Policies, NoProcessorIsIdleWhileAJobWaits, ()) {
  const scheduling::Instance instance = any_instance(5);
  for (const std::string& name : policy_names()) {
    const auto policy = make_policy(name, instance, {});
    const scheduling::SimulationResult result = scheduling::simulate(instance, **policy);
    std::vector<std::int64_t> starts(instance.jobs.size(), instance.end.value);
    for (const scheduling::Start& start : result.schedule) starts[start.job] = start.start.value;
    for (std::int64_t t = 0; t < instance.end.value; ++t) {
      std::uint64_t busy = 0;
      bool waits = false;
      for (std::size_t j = 0; j < instance.jobs.size(); ++j) {
        const scheduling::Job& job = instance.jobs[j];
        busy += starts[j] <= t && t < starts[j] + job.duration.value ? 1 : 0;
        waits = waits || (job.release.value <= t && t < starts[j]);
      }
      RC_ASSERT(busy <= instance.total_processors());
      RC_ASSERT(!waits || busy == instance.total_processors());
    }
  }
}

TEST(Policies, ResourceUtilizationOfFigure7) {
  // SR13 Figure 7: 2 + 2 processors, four jobs of 3 and two of 6. Long jobs first use 100 % until 6, short first 75 %.
  scheduling::Instance instance{{2, 2}, {}, {6}};
  for (int i = 0; i < 4; ++i) instance.jobs.push_back({{0}, {3}, 0});
  for (int i = 0; i < 2; ++i) instance.jobs.push_back({{0}, {6}, 1});
  const auto fair_share = make_policy("fair_share", instance, {});
  EXPECT_EQ(scheduling::simulate(instance, **fair_share).work, 18);  // of 24: 75 %
  const auto round_robin = make_policy("round_robin", instance, {});
  EXPECT_EQ(scheduling::simulate(instance, **round_robin).work, 24);  // 100 %
}

TEST(Registry, RefusesWithTheRemedy) {
  const scheduling::Instance wide{std::vector<std::uint32_t>(17, 1), {}, {10}};
  const auto ref = make_policy("ref", wide, {});
  ASSERT_FALSE(ref.has_value());
  EXPECT_NE(ref.error().what.find("use rand or shapley_rate_sampled"), std::string::npos) << ref.error().what;
  const auto unknown = make_policy("reff", wide, {});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().what.find("known are ref, rand"), std::string::npos) << unknown.error().what;
  EXPECT_FALSE(make_policy("rand", wide, {.permutations = {{0, 1}}}).has_value());
}

}  // namespace
}  // namespace shapley::sim
