#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/calendar.hpp"
#include "base/rng.hpp"
#include "sim/experiments/experiments.hpp"
#include "sim/experiments/stability.hpp"
#include "sim/registry.hpp"
#include "workload/trace.hpp"

namespace shapley::sim {

namespace {

using scheduling::Instance;
using scheduling::Job;

constexpr std::int64_t k_length_s = 40 * 7 * k_day_s;
constexpr double k_load_of_two = 2.2;  // one organization alone keeps the processors of two busy
constexpr std::uint32_t k_own_processors = 16;
constexpr std::int64_t k_year_s = 365 * k_day_s;

// Lognormal, sigma = 1.2, in steps of 1 %. The normal number is a sum of twelve uniform ones, and powers are products:
// std::exp may differ in the last digit between C libraries.
std::int64_t draw_run_time(Rng& rng, const RunTimes& runs) {
  constexpr double k_sigma = 1.2;
  constexpr double k_step = 1.01;
  constexpr double k_steps_of_sigma = k_sigma / 0.00995033085316808;  // ln 1.01
  double normal = -6;
  for (int i = 0; i < 12; ++i) normal += rng.uniform();
  auto seconds = static_cast<double>(runs.median_s);
  const double steps = std::floor(std::abs(normal) * k_steps_of_sigma);
  for (double step = 0; step < steps; ++step) seconds = normal < 0 ? seconds / k_step : seconds * k_step;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(seconds), 1, runs.most_s);
}

// Adds jobs of one organization at random instants of [begin, end), until their sum is `work` processor seconds.
void add_jobs(scheduling::Instance& instance, std::uint32_t organization, std::int64_t begin, std::int64_t end,
              double work, Rng& rng, const RunTimes& runs = {}) {
  for (double sent = 0; sent < work;) {
    const std::int64_t duration = draw_run_time(rng, runs);
    const auto release = begin + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(end - begin)));
    instance.jobs.push_back({{release}, {duration}, organization});
    sent += static_cast<double>(duration);
  }
}

void add_steady(scheduling::Instance& instance, std::uint32_t organization, std::int64_t begin, double load, Rng& rng) {
  const auto seconds = static_cast<double>(instance.end.value - begin);
  add_jobs(instance, organization, begin, instance.end.value, load * k_own_processors * seconds, rng);
}

void order_jobs(scheduling::Instance& instance) {
  std::stable_sort(instance.jobs.begin(), instance.jobs.end(),
                   [](const auto& a, const auto& b) { return a.release < b.release; });
}

StabilityCase make_case(std::string name, std::string about, std::size_t organizations) {
  StabilityCase made{std::move(name), std::move(about), {}};
  made.instance.processors.assign(organizations, k_own_processors);
  made.instance.end = {k_length_s};
  return made;
}

StabilityCase steady(std::string name, std::string about, std::size_t organizations, double load, Rng& rng) {
  StabilityCase made = make_case(std::move(name), std::move(about), organizations);
  for (std::uint32_t u = 0; u < organizations; ++u) add_steady(made.instance, u, 0, load, rng);
  return made;
}

StabilityCase bursty(Rng& rng) {
  constexpr int k_bursts = 20;
  constexpr double k_load = 0.95;
  StabilityCase made = make_case("bursty", "four equal organizations at load .95, each in 20 bursts of an hour", 4);
  for (std::uint32_t u = 0; u < 4; ++u) {
    for (int burst = 0; burst < k_bursts; ++burst) {
      const auto begin = static_cast<std::int64_t>(rng.below(k_length_s - k_hour_s));
      const double work = k_load * k_own_processors * static_cast<double>(k_length_s) / k_bursts;
      add_jobs(made.instance, u, begin, begin + k_hour_s, work, rng);
    }
  }
  return made;
}

// Processor seconds of the jobs, as copies, that are submitted within `length` of the first one.
double work_of(const workload::Trace& trace, Duration length) {
  double work = 0;
  for (const workload::TraceJob& job : trace.jobs) {
    if (job.submit < trace.jobs.front().submit + length)
      work += static_cast<double>(job.run.value) * static_cast<double>(job.processors);
  }
  return work;
}

// The length from the first submission on: a year, or all if it is shorter.
Duration first_year(const workload::Trace& trace) {
  return {std::min(k_year_s, (trace.jobs.back().submit - trace.jobs.front().submit).value + 1)};
}

Expected<Instance> year_at_load(const workload::Trace& trace, Duration length, int load_percent, std::uint64_t seed) {
  constexpr std::size_t k_organizations = 5;
  const double busy = work_of(trace, length) / static_cast<double>(length.value);
  const auto processors =
      std::max<std::int64_t>(k_organizations, std::llround(busy * 100 / static_cast<double>(load_percent)));
  SHAPLEY_TRY_ASSIGN(auto own, workload::endow(workload::Endowment::uniform, k_organizations, processors));
  SHAPLEY_TRY_ASSIGN(auto window, workload::cut_window(trace, workload::deal_users(trace, k_organizations, seed),
                                                       std::move(own), trace.jobs.front().submit, length));
  return std::move(window.instance);
}

std::string hundredths(int load_percent) {
  return std::to_string(load_percent / 100) + "." + std::to_string(100 + load_percent % 100).substr(1);
}

Expected<StabilityCase> year_case(const ExperimentTrace& source, const workload::Trace& trace, int load_percent,
                                  std::uint64_t seed) {
  const Duration length = first_year(trace);
  SHAPLEY_TRY_ASSIGN(auto instance, year_at_load(trace, length, load_percent, seed));
  const std::string load = hundredths(load_percent);
  std::string about = std::to_string(length.value / k_day_s) + " days of " + source.name + " on " +
                      std::to_string(instance.total_processors()) + " processors, load " + load;
  return StabilityCase{source.name + "_" + load, std::move(about), std::move(instance)};
}

// Processor seconds by organization and whole slice.
std::vector<std::vector<std::int64_t>> work_by_slice(const Instance& instance,
                                                     std::span<const scheduling::Start> schedule, Duration slice) {
  const auto slices = static_cast<std::size_t>(instance.end.value / slice.value);
  std::vector work(instance.organizations(), std::vector<std::int64_t>(slices));
  for (const scheduling::Start& start : schedule) {
    const Job& job = instance.jobs[start.job];
    const std::int64_t end = (start.start + job.duration).value;
    for (std::int64_t at = start.start.value; at < end;) {
      const auto place = static_cast<std::size_t>(at / slice.value);
      if (place >= slices) break;
      const std::int64_t until = std::min(end, static_cast<std::int64_t>(place + 1) * slice.value);
      work[job.organization][place] += (until - at) * job.processors;
      at = until;
    }
  }
  return work;
}

void measure_waits(const Instance& instance, const std::vector<std::int64_t>& start_of, StabilityMeasures& measures) {
  std::vector<std::size_t> order(instance.jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return instance.jobs[a].release < instance.jobs[b].release; });
  std::vector<std::int64_t> last_start(instance.organizations(), 0);
  std::vector<std::int64_t> jobs(instance.organizations(), 0);
  measures.mean_wait_s.assign(instance.organizations(), 0);
  for (const std::size_t index : order) {
    const Job& job = instance.jobs[index];
    if (job.release >= instance.end) continue;
    const Duration wait{start_of[index] - job.release.value};
    const Duration at_the_head{start_of[index] - std::max(job.release.value, last_start[job.organization])};
    measures.longest_wait = std::max(measures.longest_wait, wait);
    measures.longest_without_start = std::max(measures.longest_without_start, at_the_head);
    measures.mean_wait_s[job.organization] += static_cast<double>(wait.value);
    last_start[job.organization] = start_of[index];
    ++jobs[job.organization];
  }
  for (std::size_t u = 0; u < jobs.size(); ++u)
    if (jobs[u] > 0) measures.mean_wait_s[u] /= static_cast<double>(jobs[u]);
}

game::ServingRule braking(game::Guarantee guarantee) {
  return {.horizon = {}, .guarantee = guarantee, .pace = game::pace_under(guarantee)};
}

bool names_rule(const std::string& policy) {
  return policy.find('@') != std::string::npos;
}

void add_further_rules(const std::string& policy, std::vector<std::string>& rules) {
  const game::ServingRule by_default = game::k_horizon_rule;
  game::ServingRule unweighed = by_default;
  unweighed.running = {};
  for (const std::int32_t weight : {50'000, 100'000, 250'000, 1'000'000})
    rules.push_back(policy_text(policy, {by_default.horizon, by_default.guarantee, {weight}}));
  rules.push_back(policy_text(policy, {by_default.horizon, {}, by_default.running}));
  for (const Duration horizon : {Duration{6 * 3600}, Duration{7 * k_day_s}})
    rules.push_back(policy_text(policy, {horizon, by_default.guarantee, by_default.running}));
  for (const game::Guarantee guarantee : stability_guarantees())
    rules.push_back(policy_text(policy, braking(guarantee)));
  if (policy == "ref") return;
  rules.push_back(policy_text(policy, unweighed, true));
  rules.push_back(policy_text(policy, by_default, true));
}

}  // namespace

std::vector<StabilityCase> made_cases(std::uint64_t seed) {
  Rng rng(seed);
  std::vector<StabilityCase> cases;
  cases.push_back(steady("saturated", "two equal organizations, always busy", 2, k_load_of_two, rng));
  cases.push_back(steady("load_1.05", "four equal organizations at load 1.05", 4, 1.05, rng));
  cases.push_back(bursty(rng));
  for (StabilityCase& made : cases) order_jobs(made.instance);
  cases.push_back(head_start({30 * k_day_s}, {2 * k_length_s}, seed));
  return cases;
}

void add_made_jobs(scheduling::Instance& instance, std::uint32_t organization, Instant begin, Instant end, double work,
                   Rng& rng, const RunTimes& runs) {
  add_jobs(instance, organization, begin.value, end.value, work, rng, runs);
  order_jobs(instance);
}

StabilityCase head_start(Duration alone, Duration length, std::uint64_t seed) {
  Rng rng(seed);
  StabilityCase made = make_case("head_start",
                                 "two equal organizations, saturated, after the first was alone for " +
                                     std::to_string(alone.value / k_day_s) + " days",
                                 2);
  made.instance.end.value = length.value;
  add_jobs(made.instance, 0, 0, alone.value, k_load_of_two * k_own_processors * static_cast<double>(alone.value), rng);
  for (std::uint32_t u = 0; u < 2; ++u) add_steady(made.instance, u, alone.value, k_load_of_two, rng);
  order_jobs(made.instance);
  return made;
}

Expected<std::vector<StabilityCase>> year_cases(const ExperimentArguments& arguments) {
  SHAPLEY_TRY_ASSIGN(const auto traces, find_traces(arguments));
  std::vector<StabilityCase> cases;
  for (const ExperimentTrace& source : traces) {
    if (source.file.empty()) continue;  // generated jobs are no real year
    SHAPLEY_TRY_ASSIGN(const workload::Trace trace, load_trace(source));
    for (const int load_percent : {80, 95, 105}) {
      SHAPLEY_TRY_ASSIGN(StabilityCase year, year_case(source, trace, load_percent, arguments.seed));
      cases.push_back(std::move(year));
    }
  }
  return cases;
}

double deviation_of(std::span<const double> values) {
  if (values.empty()) return 0;
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / n);
}

StabilityMeasures measure_stability(const Instance& instance, std::span<const scheduling::Start> schedule,
                                    Duration slice) {
  StabilityMeasures measures;
  const auto machine = static_cast<double>(instance.total_processors()) * static_cast<double>(slice.value);
  for (const auto& of_one : work_by_slice(instance, schedule, slice)) {
    std::vector<double> shares;
    for (const std::int64_t work : of_one) shares.push_back(static_cast<double>(work) / machine);
    const std::size_t late = shares.size() / 3;
    measures.deviation = std::max(measures.deviation, deviation_of(shares));
    measures.deviation_late = std::max(measures.deviation_late, deviation_of(std::span(shares).last(late)));
    measures.shares.push_back(std::move(shares));
  }
  std::vector<std::int64_t> start_of(instance.jobs.size(), instance.end.value);
  for (const scheduling::Start& start : schedule) start_of[start.job] = start.start.value;
  measure_waits(instance, start_of, measures);
  return measures;
}

std::vector<Duration> stability_horizons() {
  return {{0}, {3600}, {6 * 3600}, {k_day_s}, {7 * k_day_s}, {30 * k_day_s}};
}

std::vector<game::Guarantee> stability_guarantees() {
  return {{0}, {500'000}, {800'000}};
}

std::vector<std::string> rules_of(const std::vector<std::string>& policies) {
  std::vector<std::string> rules;
  for (const std::string& policy : policies) {
    if (names_rule(policy)) {
      rules.push_back(policy);
      continue;
    }
    for (const game::Guarantee guarantee : stability_guarantees())
      for (const Duration horizon : stability_horizons()) rules.push_back(policy_text(policy, {horizon, guarantee}));
    add_further_rules(policy, rules);
  }
  return rules;
}

std::vector<std::string> rules_after_maintenance(const std::vector<std::string>& policies) {
  std::vector<std::string> rules;
  for (const std::string& policy : policies) {
    for (const Duration horizon : {Duration{7 * k_day_s}, Duration{30 * k_day_s}}) {
      for (const game::Guarantee guarantee : {game::Guarantee{}, game::k_horizon_rule.guarantee}) {
        rules.push_back(policy_text(policy, {horizon, guarantee}, true));
        for (const std::int32_t weight : {0, 100'000, 250'000, 1'000'000})
          rules.push_back(policy_text(policy, {horizon, guarantee, {weight}}));
      }
    }
    rules.push_back(policy_text(policy, game::k_horizon_rule, true));
    rules.push_back(policy_text(policy, braking({})));
    for (const bool once : {false, true})
      rules.push_back(policy_text(policy, braking(game::k_horizon_rule.guarantee), once));
  }
  rules.insert(rules.end(), {k_fair_share, policy_text(k_fair_share, {}, true)});
  return rules;
}

}  // namespace shapley::sim
