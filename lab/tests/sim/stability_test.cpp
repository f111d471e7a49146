// The measures of `experiment stability` second by second, its verdict, and the names that carry a rule.
#include "sim/experiments/stability.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "scheduling/simulate.hpp"
#include "sim/registry.hpp"
#include "tests/sim/any_instance.hpp"

namespace shapley::sim {
namespace {

using scheduling::Instance;
using scheduling::Job;

// By job; those that do not start have the end.
std::vector<std::int64_t> starts_of(const Instance& instance, const std::vector<scheduling::Start>& schedule) {
  std::vector<std::int64_t> starts(instance.jobs.size(), instance.end.value);
  for (const scheduling::Start& start : schedule) starts[start.job] = start.start.value;
  return starts;
}

double naive_share(const Instance& instance, const std::vector<std::int64_t>& starts, std::uint32_t organization,
                   std::int64_t begin, std::int64_t end) {
  std::int64_t busy = 0;
  for (std::int64_t t = begin; t < end; ++t) {
    for (std::size_t j = 0; j < starts.size(); ++j) {
      const Job& job = instance.jobs[j];
      if (job.organization == organization && starts[j] <= t && t < starts[j] + job.duration.value)
        busy += job.processors;
    }
  }
  return static_cast<double>(busy) / static_cast<double>(instance.total_processors()) /
         static_cast<double>(end - begin);
}

double naive_deviation(const std::vector<double>& values) {
  double pairs = 0;  // the mean of squared differences is twice the variance
  for (const double a : values)
    for (const double b : values) pairs += (a - b) * (a - b);
  const auto n = static_cast<double>(values.size());
  return values.empty() ? 0 : std::sqrt(pairs / (2 * n * n));
}

// Seconds in a row, up to an instant before the end, in which the organization had a job waiting and none started.
std::int64_t naive_longest_without_start(const Instance& instance, const std::vector<std::int64_t>& starts,
                                         std::uint32_t organization) {
  std::int64_t longest = 0;
  std::int64_t row = 0;
  for (std::int64_t t = 0; t < instance.end.value; ++t) {
    bool waits = false;
    bool begins = false;
    for (std::size_t j = 0; j < starts.size(); ++j) {
      const Job& job = instance.jobs[j];
      if (job.organization != organization || job.release >= instance.end) continue;
      waits = waits || (job.release.value <= t && t < starts[j]);
      begins = begins || starts[j] == t;
    }
    if (begins) row = 0;
    row = waits ? row + 1 : 0;
    longest = std::max(longest, row);
  }
  return longest;
}

RC_GTEST_PROP(StabilityMeasures, AreThoseOfEverySecond, ()) {
  Instance instance = any_instance(4);
  instance.processors.front() = std::max(instance.processors.front(), 1U);
  const Duration slice{*rc::gen::inRange<std::int64_t>(1, 6)};
  const auto policy = make_policy("round_robin", instance, {});
  const auto schedule = scheduling::simulate(instance, **policy).schedule;
  const auto starts = starts_of(instance, schedule);
  const StabilityMeasures found = measure_stability(instance, schedule, slice);

  double deviation = 0;
  double late = 0;
  std::int64_t without_start = 0;
  for (std::uint32_t u = 0; u < instance.organizations(); ++u) {
    std::vector<double> shares;
    for (std::int64_t begin = 0; begin + slice.value <= instance.end.value; begin += slice.value)
      shares.push_back(naive_share(instance, starts, u, begin, begin + slice.value));
    RC_ASSERT(found.shares[u].size() == shares.size());
    for (std::size_t i = 0; i < shares.size(); ++i) RC_ASSERT(std::abs(found.shares[u][i] - shares[i]) < 1e-12);
    deviation = std::max(deviation, naive_deviation(shares));
    late =
        std::max(late, naive_deviation({shares.end() - static_cast<std::ptrdiff_t>(shares.size() / 3), shares.end()}));
    without_start = std::max(without_start, naive_longest_without_start(instance, starts, u));
    double sum = 0;
    double jobs = 0;
    for (std::size_t j = 0; j < starts.size(); ++j) {
      if (instance.jobs[j].organization != u || instance.jobs[j].release >= instance.end) continue;
      sum += static_cast<double>(starts[j] - instance.jobs[j].release.value);
      jobs += 1;
    }
    RC_ASSERT(std::abs(found.mean_wait_s[u] - (jobs > 0 ? sum / jobs : 0)) < 1e-9);
  }
  std::int64_t longest = 0;
  for (std::size_t j = 0; j < starts.size(); ++j)
    longest = std::max(longest, starts[j] - instance.jobs[j].release.value);
  RC_ASSERT(std::abs(found.deviation - deviation) < 1e-9);
  RC_ASSERT(std::abs(found.deviation_late - late) < 1e-9);
  RC_ASSERT(found.longest_wait.value == std::max<std::int64_t>(longest, 0));
  RC_ASSERT(found.longest_without_start.value == without_start);
}

TEST(StabilityCases, SendWhatTheirNamesSay) {
  for (const StabilityCase& made : made_cases(5)) {
    ASSERT_TRUE(scheduling::validate(made.instance)) << made.name;
    std::vector<double> work(made.instance.organizations());
    for (const Job& job : made.instance.jobs) work[job.organization] += static_cast<double>(job.duration.value);
    const double own = 16 * static_cast<double>(made.instance.end.value);
    for (const double sent : work) {
      if (made.name == "load_1.05") {
        EXPECT_NEAR(sent / own, 1.05, 0.001);
      } else if (made.name == "bursty") {
        EXPECT_NEAR(sent / own, 0.95, 0.02);
      } else {
        EXPECT_GT(sent / own, 2) << made.name;
      }
    }
  }
  const auto cases = made_cases(5);
  const auto load = std::find_if(cases.begin(), cases.end(), [](const auto& made) { return made.name == "load_1.05"; });
  std::vector<double> hours;
  for (const Job& job : load->instance.jobs) hours.push_back(static_cast<double>(job.duration.value) / 3600);
  std::sort(hours.begin(), hours.end());
  const double sum = std::accumulate(hours.begin(), hours.end(), 0.0);
  const double squares = std::inner_product(hours.begin(), hours.end(), hours.begin(), 0.0);
  EXPECT_NEAR(hours[hours.size() / 2], 2, 0.1);
  EXPECT_EQ(hours.back(), 24);
  EXPECT_NEAR(squares / sum / 2, 5, 0.2);  // the mean residual run time
}

TEST(StabilityDebts, AreSettledWhenSharesStayNearTheHalf) {
  EXPECT_EQ(weeks_to_settle({0, 0, 1, 0.9, 0.54, 0.46, 0.5}, 2), 2);
  EXPECT_EQ(weeks_to_settle({0.5, 0.5, 0.56, 0.5}, 1.5), 1.5);
  EXPECT_EQ(weeks_to_settle({0, 0.5, 0.5}, 1), 0);
  EXPECT_EQ(weeks_to_settle({0.5, 0.5}, 1), 0);
  EXPECT_EQ(weeks_to_settle({0, 0.5, 0.44}, 1), std::nullopt);
}

// Two organizations of a processor; the second is away for two weeks, has both for four, none for two, then its own. In
// machine weeks its R is 1, -1 and 0 after them, its phi - psi 1, 2 (after two of the four), 1 and 0.
TEST(Debt, IsMeasuredByHand) {
  constexpr std::int64_t k_week = 7 * 86'400;
  const std::array<std::uint32_t, 20> owner_of_run{0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1};
  DebtWorld world{"", {{1, 1}, {}, {10 * k_week}}, {2 * k_week}};
  std::vector<scheduling::Start> schedule;
  for (std::uint32_t run = 0; run < owner_of_run.size(); ++run) {
    world.instance.jobs.push_back({{0}, {k_week}, owner_of_run[run]});
    schedule.push_back({run, {run / 2 * k_week}});
  }
  const DebtMeasures found = measure_debt(world, schedule);
  EXPECT_EQ(found.even, 6);
  // At the end of week 7 a quarter is left, which is more than a tenth of 2; at the end of week 8 nothing.
  EXPECT_EQ(found.settled, 5);
  EXPECT_DOUBLE_EQ(found.below, 0.5);
  EXPECT_NEAR(found.beyond, 0, 0.01);
  EXPECT_NEAR(found.deviation_weekly, std::sqrt(2.0) / 6, 1e-9);  // of 0, .5 and .5
  EXPECT_EQ(found.shares, (std::vector<double>{0, 0, 1, 1, 1, 1, 0, 0, 0.5, 0.5}));
}

// Two organizations of a processor, of which the first has both from the third week on. It gets one of them in two more
// weeks, then both.
TEST(Members, AreMeasuredByHand) {
  constexpr std::int64_t k_week = 7 * 86'400;
  const std::array<std::uint32_t, 12> owner_of_run{0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0, 0};
  MemberWorld world{"", {{{{0}, {1, 1}}, {{2 * k_week}, {2, 0}}}, {}, {}, {}}, {2 * k_week}, {6 * k_week}};
  scheduling::EasySchedule schedule;
  for (std::uint32_t run = 0; run < owner_of_run.size(); ++run) {
    world.instance.jobs.push_back({{0}, {k_week}, owner_of_run[run]});
    schedule.start.push_back(run / 2 * k_week);
  }
  const MemberMeasures found = measure_members(world, schedule);
  EXPECT_EQ(found.even, 2);
  EXPECT_DOUBLE_EQ(found.below, 0.5);
  EXPECT_EQ(found.shares, (std::vector<std::vector<double>>{{0.5, 0.5, 1, 1}, {0.5, 0.5, 0, 0}}));
}

TEST(Members, JoinLeaveAndExchangeNodesUnderARuleThatBrakes) {
  for (const MemberWorld& world : member_worlds(3)) {
    ASSERT_TRUE(scheduling::validate(world.instance)) << world.name;
    for (const scheduling::Job& job : world.instance.jobs) EXPECT_LT(job.release, world.end) << world.name;
    const auto policy = make_policy("direct_contr@braking/0.5", scheduling::first_instance(world.instance), {});
    const auto schedule = scheduling::simulate_easy(world.instance, policy->get());
    ASSERT_TRUE(schedule) << world.name;
    EXPECT_TRUE(measure_members(world, *schedule).even) << world.name;
  }
}

// What comes free at once after a maintenance, counted from the schedule by hand, and what the serving order promises.
TEST(Maintenance, EverythingComesFreeAtOnce) {
  const MaintainedMachine machine = maintained_machine(3);
  ASSERT_TRUE(scheduling::validate(machine.instance));
  ASSERT_EQ(machine.maintenances.size(), 40U);
  const auto under = [&](const char* rule) {
    const auto policy = make_policy(rule, scheduling::first_instance(machine.instance), {});
    const auto schedule = scheduling::simulate_easy(machine.instance, policy->get());
    MaintenanceResult result = measure_maintenance(machine, rule, *schedule);
    std::vector<Handful> at_once(machine.maintenances.size());
    for (std::size_t j = 0; j < machine.instance.jobs.size(); ++j) {
      const std::int64_t start = schedule->start[j];
      for (std::size_t i = 0; i < machine.maintenances.size(); ++i) {
        const auto& [from, to] = machine.maintenances[i];
        EXPECT_FALSE(from.value <= start && start < to.value) << rule << ": job " << j;
        if (to.value <= start && start < to.value + 60) ++at_once[i][machine.instance.jobs[j].organization];
      }
    }
    EXPECT_EQ(result.at_once, at_once) << rule;
    return result;
  };
  const MaintenanceResult once = under("direct_contr@30d/0.5/0.1/once");
  EXPECT_EQ(once.all_to_one, 40U);
  EXPECT_EQ(once.below_half, 40U);
  const MaintenanceResult decided_again = under("direct_contr@30d/0.5");
  EXPECT_EQ(decided_again.below_half, 0U);
  const MaintenanceResult by_default = under("direct_contr@30d/0.5/0.1");
  EXPECT_EQ(by_default.all_to_one, 0U);
  EXPECT_EQ(by_default.below_half, 0U);
  for (const Handful& got : by_default.at_once) EXPECT_GE(got[0] + got[1] + got[2], 64);
  EXPECT_LT(by_default.deviation_hourly, decided_again.deviation_hourly);
}

RuleMeasures of(const char* rule, std::int64_t longest_days, double deviation) {
  RuleMeasures measures{rule, 0, {}};
  measures.measures.longest_wait = {longest_days * 86'400};
  measures.measures.deviation_late = deviation;
  return measures;
}

TEST(StabilityVerdict, ComparesWithFairShareAndWithDirectContr) {
  const std::vector<CaseResult> cases{
      {"kept", "", {of("direct_contr@7d/0.5", 15, 0.13), of("fair_share", 10, 0.1)}},
      {"waits", "", {of("direct_contr@7d/0.5", 16, 0.13), of("fair_share", 10, 0.1)}},
      {"swings", "", {of("direct_contr@7d/0.5", 15, 0.131), of("fair_share", 10, 0.1)}}};
  WindowsResult fair{"T", {}, 9, {}};
  PolicySummary summary;
  summary.policy = "direct_contr";
  summary.unfairness.mean = 10;
  fair.summaries.push_back(summary);
  summary.policy = "direct_contr@7d/0.5";
  summary.unfairness.mean = 12.9;
  fair.summaries.push_back(summary);
  WindowsResult unfair = fair;
  unfair.summaries.back().unfairness.mean = 13.1;
  WindowsResult other_reference = unfair;
  other_reference.settings.reference = "ref@7d";
  const auto criteria = judge({"direct_contr@7d/0.5"}, cases, {fair, unfair, other_reference});
  std::vector<bool> verdict;
  for (const Criterion& criterion : criteria) verdict.push_back(criterion.holds());
  // Wait and deviation of each case; then the windows against ref.
  EXPECT_EQ(verdict, (std::vector<bool>{true, true, false, true, true, false, true, false}));
}

TEST(PolicyNames, CarryARule) {
  const game::ServingRule week_half{{604'800}, {500'000}};
  EXPECT_EQ(policy_text("ref", {}), "ref");
  EXPECT_EQ(policy_text("ref", {{604'800}, {}}), "ref@7d");
  EXPECT_EQ(policy_text("ref", week_half), "ref@7d/0.5");
  EXPECT_EQ(policy_text("ref", {{0}, {800'000}}), "ref@0/0.8");
  for (const std::string& rule : rules_of({"ref", "direct_contr"})) {
    const auto parsed = parse_policy(rule, {});
    ASSERT_TRUE(parsed) << rule;
    EXPECT_EQ(policy_text(parsed->name, parsed->rule, parsed->once), rule);
  }
  EXPECT_EQ(policy_text("ref", game::k_horizon_rule), "ref@30d/0.5/0.1");
  EXPECT_EQ(policy_text("ref", {{604'800}, {}, {250'000}}), "ref@7d/0/0.25");
  EXPECT_EQ(policy_text("rand", {}, true), "rand/once");
  EXPECT_EQ(policy_text("rand", week_half, true), "rand@7d/0.5/once");
  EXPECT_EQ(parse_policy("rand@7d/0.5/1", {})->rule, (game::ServingRule{{604'800}, {500'000}, {1'000'000}}));
  EXPECT_EQ(parse_policy("rand@7d/once", week_half)->rule, (game::ServingRule{{604'800}}));
  EXPECT_EQ(parse_policy("ref@braking", week_half)->rule, (game::ServingRule{.horizon = {}, .pace = {500'000}}));
  EXPECT_EQ(parse_policy("ref@braking/0.5/once", {})->rule,
            (game::ServingRule{.horizon = {}, .guarantee = {500'000}, .pace = {250'000}}));
  for (const char* text : {"ref@braking", "ref@braking/0.8", "ref@braking/0/0.25", "rand@braking/0.5/1/once"}) {
    const auto braking = parse_policy(text, {});
    EXPECT_EQ(policy_text(braking->name, braking->rule, braking->once), text);
  }
  EXPECT_FALSE(parse_policy("ref@braking/0.5/0", {}));
  EXPECT_TRUE(parse_policy("rand@7d/once", week_half)->once);
  EXPECT_FALSE(parse_policy("rand@7d/1", week_half)->once);
  EXPECT_EQ(parse_policy("rand/once", week_half)->rule, week_half);
  EXPECT_EQ(parse_policy("ref", week_half)->rule, week_half);
  EXPECT_EQ(parse_policy("ref@0", week_half)->rule, game::ServingRule{});
}

TEST(PolicyNames, AreRefusedWithTheRemedy) {
  const Instance instance{{1, 1}, {}, {10}};
  const auto refusal = [&](const char* name, const PolicyOptions& options = {}) {
    const auto policy = make_policy(name, instance, options);
    return policy ? std::string() : policy.error().what;
  };
  EXPECT_NE(refusal("fair_share@7d").find("leave \"@7d\" out"), std::string::npos) << refusal("fair_share@7d");
  EXPECT_NE(refusal("ref@7w").find("policy ref@7w: horizon: write 0"), std::string::npos) << refusal("ref@7w");
  EXPECT_NE(refusal("ref@7d/2").find("guarantee: a guarantee is at most 1"), std::string::npos) << refusal("ref@7d/2");
  EXPECT_NE(refusal("ref@7d/0/2").find("weight of what runs: "), std::string::npos) << refusal("ref@7d/0/2");
  EXPECT_NE(refusal("rand@7d/0.5/0.1/1").find("weight of what runs: "), std::string::npos);
  EXPECT_NE(refusal("rand@7d/").find("guarantee: "), std::string::npos) << refusal("rand@7d/");
  EXPECT_NE(refusal("ref@7d/once").find("leave \"/once\" out"), std::string::npos) << refusal("ref@7d/once");
  EXPECT_EQ(refusal("fair_share/once"), "");
  PolicyOptions once;
  once.once_a_pass = true;
  EXPECT_EQ(refusal("ref", once), "");
  PolicyOptions flow_time;
  flow_time.utility = "flow_time";
  EXPECT_EQ(refusal("ref", flow_time), "");
  EXPECT_NE(refusal("ref@7d", flow_time).find("defined for psi_sp"), std::string::npos) << refusal("ref@7d", flow_time);
}

}  // namespace
}  // namespace shapley::sim
