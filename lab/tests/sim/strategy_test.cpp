// The cluster of `experiment strategy` second by second, its attacks, and what the remedies leave of them.
#include "sim/experiments/strategy.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace shapley::sim {
namespace {

constexpr std::uint32_t k_organizations = 3;

ClusterJob job_of(std::uint32_t organization, std::int64_t submit, std::int64_t duration, std::int64_t processors = 1) {
  ClusterJob job;
  job.organization = organization;
  job.submit = {submit};
  job.duration = {duration};
  job.processors = processors;
  job.useful = processors;
  return job;
}

// Two owners of a processor each and an organization without.
ClusterScenario two_nodes() {
  ClusterScenario scenario;
  scenario.organizations = {"a", "b", "c"};
  scenario.nodes = {{"n0", 0, 1}, {"n1", 1, 1}};
  scenario.length = {100};
  return scenario;
}

ClusterOutcome played(const ClusterScenario& scenario, const ClusterRules& rules = {}) {
  auto outcome = run_cluster(scenario, rules);
  EXPECT_TRUE(outcome.has_value()) << outcome.error().what;
  return std::move(outcome).value();
}

// ---- random clusters

ClusterJob any_job() {
  ClusterJob job = job_of(*rc::gen::inRange(0U, k_organizations), *rc::gen::inRange<std::int64_t>(0, 60),
                          *rc::gen::inRange<std::int64_t>(1, 90), *rc::gen::inRange<std::int64_t>(1, 5));
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      job.give_up_after = {*rc::gen::inRange<std::int64_t>(1, 20)};
      break;
    case 1:
      job.other_account = *rc::gen::inRange(0U, k_organizations);
      break;
    default:
      break;
  }
  return job;
}

ClusterScenario any_scenario() {
  ClusterScenario scenario;
  scenario.organizations = {"a", "b", "c"};
  const auto nodes = *rc::gen::inRange(1U, 4U);
  for (std::uint32_t n = 0; n < nodes; ++n)
    scenario.nodes.push_back(
        {"n" + std::to_string(n), *rc::gen::inRange(0U, k_organizations), *rc::gen::inRange<std::int64_t>(1, 4)});
  const int jobs = *rc::gen::inRange(0, 14);
  for (int j = 0; j < jobs; ++j) {
    ClusterJob job = any_job();
    for (std::uint32_t n = 0; n < nodes; ++n)
      if (*rc::gen::inRange(0, 4) == 0) job.nodes.push_back(n);
    job.goes_last = *rc::gen::inRange(0, 4) == 0;
    scenario.jobs.push_back(job);
  }
  scenario.length = {*rc::gen::inRange<std::int64_t>(1, 400)};
  return scenario;
}

ClusterRules any_rules() {
  ClusterRules rules;
  rules.contribution = *rc::gen::element<std::string>("direct_contr", "hindsight");
  rules.retraction = *rc::gen::arbitrary<bool>();
  rules.placements = *rc::gen::arbitrary<bool>();
  rules.nice = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) rules.serving = {};
  return rules;
}

bool may_use(const ClusterJob& job, std::uint32_t node) {
  return job.nodes.empty() || std::count(job.nodes.begin(), job.nodes.end(), node) > 0;
}

std::vector<std::int64_t> free_at(const ClusterScenario& scenario, const ClusterOutcome& outcome, Instant t) {
  std::vector<std::int64_t> free;
  for (std::uint32_t n = 0; n < scenario.nodes.size(); ++n) {
    free.push_back(scenario.nodes[n].processors);
    for (const ClusterRun& run : outcome.runs)
      if (run.begin <= t && t < run.end) free.back() -= run.processors[n];
  }
  return free;
}

// Every second of work on a processor, begun at s, is worth end - s.
std::int64_t worth(const ClusterRun& run, Duration end) {
  std::int64_t sum = 0;
  for (std::int64_t s = run.begin.value; s < run.end.value; ++s) sum += end.value - s;
  return sum;
}

RC_GTEST_PROP(StrategyWorld, TheBooksHoldWhatRan, ()) {
  const ClusterScenario scenario = any_scenario();
  const ClusterOutcome outcome = played(scenario, any_rules());
  std::vector<Int128> psi(k_organizations), direct(k_organizations);
  for (const ClusterRun& run : outcome.runs) {
    const std::int64_t seconds = worth(run, scenario.length);
    for (std::size_t n = 0; n < scenario.nodes.size(); ++n) {
      psi[run.account] += static_cast<Int128>(seconds) * run.processors[n] * k_micro;
      direct[scenario.nodes[n].owner] += static_cast<Int128>(seconds) * run.processors[n] * k_micro;
    }
  }
  const auto by_owner = accounting::parse_estimator("direct_contr").value();
  std::vector<Utility> given(accounting::estimator_ids().size());
  Utility got;
  for (std::uint32_t u = 0; u < k_organizations; ++u) {
    RC_ASSERT(outcome.standings[u].psi.value == psi[u]);
    RC_ASSERT(outcome.standings[u].phi(by_owner).value == direct[u]);
    got += outcome.standings[u].psi;
    for (const auto id : accounting::estimator_ids()) given[id.value] += outcome.standings[u].phi(id);
  }
  for (const Utility phi : given) RC_ASSERT(phi == got);
}

RC_GTEST_PROP(StrategyWorld, JobsRunWhereTheyMayAndNoWorkIsLostOrMade, ()) {
  const ClusterScenario scenario = any_scenario();
  const ClusterOutcome outcome = played(scenario, any_rules());
  std::set<std::size_t> started;
  for (const ClusterRun& run : outcome.runs) {
    const ClusterJob& job = scenario.jobs[run.job];
    std::int64_t processors = 0;
    for (std::uint32_t n = 0; n < scenario.nodes.size(); ++n) {
      processors += run.processors[n];
      RC_ASSERT(run.processors[n] == 0 || may_use(job, n));
    }
    RC_ASSERT(processors == job.processors);
    RC_ASSERT(job.submit <= run.begin && run.begin < Instant{0} + scenario.length);
    RC_ASSERT(run.account == job.organization || job.other_account == run.account);
    RC_ASSERT(run.end == std::min(run.begin + job.duration, Instant{0} + scenario.length));
    RC_ASSERT(started.insert(run.job).second);
  }
  for (std::int64_t t = 0; t < scenario.length.value; ++t) {
    const auto free = free_at(scenario, outcome, {t});
    RC_ASSERT(*std::min_element(free.begin(), free.end()) >= 0);
  }
}

// Greedy: what waits does not fit. Of jobs whose users leave them alone.
RC_GTEST_PROP(StrategyWorld, NothingThatFitsWaits, ()) {
  ClusterScenario scenario = any_scenario();
  for (ClusterJob& job : scenario.jobs) job.give_up_after = {};
  const ClusterOutcome outcome = played(scenario, any_rules());
  std::vector<Instant> starts(scenario.jobs.size(), k_end_of_time);
  for (const ClusterRun& run : outcome.runs) starts[run.job] = run.begin;
  for (std::int64_t t = 0; t < scenario.length.value; ++t) {
    const auto free = free_at(scenario, outcome, {t});
    for (std::size_t j = 0; j < starts.size(); ++j) {
      const ClusterJob& job = scenario.jobs[j];
      if (Instant{t} < job.submit || starts[j] <= Instant{t}) continue;
      std::int64_t usable = 0;
      for (std::uint32_t n = 0; n < free.size(); ++n) usable += may_use(job, n) ? free[n] : 0;
      RC_ASSERT(usable < job.processors);
    }
  }
}

RC_GTEST_PROP(StrategyMeasures, AreThoseOfASecondBySecondCount, ()) {
  const ClusterScenario scenario = any_scenario();
  const ClusterOutcome outcome = played(scenario);
  const auto organization = *rc::gen::inRange(0U, k_organizations);
  double work = 0;
  double delays = 0;
  double all = 0;
  for (std::size_t j = 0; j < scenario.jobs.size(); ++j) {
    const ClusterJob& job = scenario.jobs[j];
    if (job.organization != organization) continue;
    std::vector<std::int64_t> done;  // when each second of it was
    for (const ClusterRun& run : outcome.runs) {
      for (auto s = run.begin.value; run.job == j && s < run.end.value; ++s) done.push_back(s + 1);
    }
    work += static_cast<double>(job.useful) * static_cast<double>(done.size());
    done.resize(static_cast<std::size_t>(job.duration.value), scenario.length.value);
    for (const std::int64_t at : done)
      delays += static_cast<double>(job.useful) * static_cast<double>(at - job.submit.value);
    all += static_cast<double>(job.useful * job.duration.value);
  }
  const StrategyMeasures measures = measure_strategy(scenario, outcome, organization, "direct_contr");
  RC_ASSERT(measures.work == work);
  RC_ASSERT(std::abs(measures.delay_s - (all > 0 ? delays / all : 0)) < 1e-6);
}

// ---- ranks

TEST(StrategyWorld, WhoeverIsOwedGoesFirst) {
  ClusterScenario scenario = two_nodes();
  scenario.nodes = {{"n0", 1, 1}};
  scenario.jobs = {job_of(0, 0, 10), job_of(0, 1, 10), job_of(1, 2, 10)};
  const ClusterOutcome outcome = played(scenario);
  ASSERT_EQ(outcome.runs.size(), 3U);
  EXPECT_EQ(outcome.runs[1].job, 2U) << "b lent its processor, so it goes before a, which waits longer";
  EXPECT_EQ(outcome.runs[1].begin, Instant{10});
  EXPECT_EQ(outcome.runs[2].begin, Instant{20});
}

TEST(StrategyWorld, AMovedJobIsChargedToTheOtherAccount) {
  ClusterScenario scenario = two_nodes();
  scenario.nodes = {{"n0", 1, 1}};
  scenario.jobs = {job_of(0, 0, 70), job_of(0, 0, 10)};
  scenario.jobs[1].other_account = 1;
  const ClusterOutcome outcome = played(scenario);
  ASSERT_EQ(outcome.runs.size(), 2U);
  EXPECT_EQ(outcome.runs[0].account, 0U);
  EXPECT_EQ(outcome.runs[1].account, 1U);
  EXPECT_EQ(outcome.runs[1].begin, Instant{70});
}

// ---- attacks

std::map<std::uint32_t, std::int64_t> useful_work(const ClusterScenario& scenario) {
  std::map<std::uint32_t, std::int64_t> work;
  for (const ClusterJob& job : scenario.jobs) work[job.organization] += job.useful * job.duration.value;
  return work;
}

TEST(StrategyAttacks, KeepTheHonestWorkAndLeaveOthersAlone) {
  for (const StrategyCase& one : strategy_cases()) {
    const ClusterScenario honest = honest_scenario(one, 3);
    for (const Attack& attack : attacks()) {
      ClusterScenario attacked = honest;
      attack.apply(attacked, attack.attacker);
      EXPECT_EQ(useful_work(attacked), useful_work(honest)) << attack.name;
      const auto of_others = [&](const ClusterScenario& scenario) {
        std::vector<std::pair<Instant, Duration>> jobs;
        for (const ClusterJob& job : scenario.jobs)
          if (job.organization != attack.attacker) jobs.emplace_back(job.submit, job.duration);
        return jobs;
      };
      EXPECT_EQ(of_others(attacked), of_others(honest)) << attack.name;
    }
  }
}

// A job of the whole cluster fits into no coalition's nodes while others run there.
TEST(StrategyAttacks, ChangeSomethingExceptByJobsOfTheWholeCluster) {
  const ClusterScenario honest = honest_scenario(strategy_cases().front(), 3);
  const ClusterOutcome peace = played(honest, {.contribution = "hindsight"});
  for (const Attack& attack : attacks()) {
    ClusterScenario attacked = honest;
    attack.apply(attacked, attack.attacker);
    const ClusterRules rules = without(attack.remedy, {.contribution = "hindsight"});
    const ClusterOutcome war = played(attacked, rules);
    const std::set<std::string_view> of_all{"junk_waits", "always_waits", "nice"};
    EXPECT_EQ(measure_strategy(honest, peace, attack.attacker, "hindsight").phi ==
                  measure_strategy(attacked, war, attack.attacker, "hindsight").phi,
              of_all.contains(attack.name))
        << attack.name;
  }
}

void expect_same_books(const ClusterOutcome& one, const ClusterOutcome& other) {
  ASSERT_EQ(one.standings.size(), other.standings.size());
  for (std::size_t u = 0; u < one.standings.size(); ++u) {
    EXPECT_EQ(one.standings[u].psi, other.standings[u].psi) << u;
    for (const auto id : accounting::estimator_ids()) {
      EXPECT_EQ(one.standings[u].phi(id), other.standings[u].phi(id)) << u << " by " << accounting::name_of(id);
      EXPECT_EQ(one.standings[u].given(id), other.standings[u].given(id)) << u << " by " << accounting::name_of(id);
    }
  }
}

// a runs on both processors; b's junk, which makes it look as if it missed its own, is gone before anything is decided.
TEST(StrategyRemedies, JunkThatIsTakenBackLeavesNoTrace) {
  ClusterScenario honest = two_nodes();
  honest.jobs = {job_of(0, 0, 100), job_of(0, 0, 100)};
  ClusterScenario attacked = honest;
  attacked.jobs.push_back(job_of(1, 10, 1));
  attacked.jobs.back().give_up_after = {50};
  const ClusterOutcome peace = played(honest);
  expect_same_books(played(attacked), peace);
}

// c owns nothing, and its jobs wait behind all others by their own wish: they never get a processor that another job
// wants, and count for nothing, by every contribution, until they run.
TEST(StrategyRemedies, JunkThatGoesLastIsNoDemand) {
  ClusterScenario honest = two_nodes();
  honest.jobs = {job_of(0, 0, 100), job_of(0, 0, 100), job_of(0, 30, 100)};
  ClusterScenario attacked = honest;
  attacked.jobs.push_back(job_of(2, 10, 1));
  attacked.jobs.back().goes_last = true;
  const ClusterOutcome peace = played(honest);
  expect_same_books(played(attacked), peace);
  ClusterRules rules;
  rules.nice = false;
  const ClusterOutcome before = played(attacked, rules);
  const auto hindsight = accounting::parse_estimator("hindsight").value();
  EXPECT_EQ(peace.standings[2].phi(hindsight), Utility{});
  EXPECT_GT(before.standings[2].phi(hindsight), Utility{});
}

// c owns nothing and asks for a's busy processor; what b owns is not asked for.
TEST(StrategyRemedies, PinnedDemandIsNoneForOthersNodes) {
  ClusterScenario honest = two_nodes();
  honest.jobs = {job_of(0, 0, 100), job_of(0, 0, 100)};
  ClusterScenario attacked = honest;
  attacked.jobs.push_back(job_of(2, 10, 1));
  attacked.jobs.back().nodes = {0};
  const ClusterOutcome peace = played(honest);
  expect_same_books(played(attacked), peace);
  ClusterRules rules;
  rules.placements = false;
  const auto hindsight = accounting::parse_estimator("hindsight").value();
  EXPECT_GT(played(attacked, rules).standings[2].phi(hindsight), Utility{});
  EXPECT_EQ(peace.standings[2].phi(hindsight), Utility{});
}

// c's job runs on a's node, as it asked for; b's idle one could not have served it. v = 1 for ac and abc: c's Shapley
// value is 1/2, and 2/3 if any node would have done.
TEST(StrategyRemedies, PinnedRunsAreNoneForOthersNodes) {
  ClusterScenario scenario = two_nodes();
  scenario.jobs = {job_of(2, 10, 90)};
  scenario.jobs[0].nodes = {0};
  ClusterRules rules;
  const auto hindsight = accounting::parse_estimator("hindsight").value();
  const ClusterOutcome with = played(scenario, rules);
  EXPECT_EQ(with.standings[1].phi(hindsight), Utility{});
  EXPECT_EQ(with.standings[0].phi(hindsight), with.standings[2].phi(hindsight));
  rules.placements = false;
  const ClusterOutcome before = played(scenario, rules);
  EXPECT_GT(before.standings[1].phi(hindsight), Utility{});
  EXPECT_GT(before.standings[2].phi(hindsight), with.standings[2].phi(hindsight));
}

// ---- the table

TEST(StrategyReport, MeansAndErrorsOverSeeds) {
  const StrategyChange up{.work_percent = 3, .phi_percent = 2, .delay_s = -5};
  const StrategyChange none{.work_percent = 1, .phi_percent = 2, .delay_s = 5};
  const StrategyEffect effect = summarize_changes({up, none});
  EXPECT_DOUBLE_EQ(effect.work_percent.mean, 2);
  EXPECT_DOUBLE_EQ(effect.work_percent.standard_error.value(), 1);
  EXPECT_DOUBLE_EQ(effect.phi_percent.value().mean, 2);
  EXPECT_DOUBLE_EQ(effect.delay_s.mean, 0);
  const StrategyChange nothing_credited{.work_percent = 1, .phi_percent = std::nullopt, .delay_s = 5};
  EXPECT_FALSE(summarize_changes({up, nothing_credited}).phi_percent.has_value());
}

TEST(StrategyReport, ChangesAreRelativeToHonesty) {
  const StrategyChange change =
      change_of({.work = 200, .phi = 50, .delay_s = 10}, {.work = 210, .phi = 40, .delay_s = 7});
  EXPECT_DOUBLE_EQ(change.work_percent, 5);
  EXPECT_DOUBLE_EQ(change.phi_percent.value(), -20);
  EXPECT_DOUBLE_EQ(change.delay_s, -3);
  EXPECT_FALSE(change_of({.work = 1}, {.work = 1, .phi = 1}).phi_percent.has_value());
}

}  // namespace
}  // namespace shapley::sim
