#include "sim/experiments/stability/stability_cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/calendar.hpp"
#include "base/rng.hpp"
#include "sim/experiments/experiment_traces.hpp"
#include "workload/assignment.hpp"
#include "workload/endowment.hpp"
#include "workload/window.hpp"

namespace shapley::sim {

namespace {

constexpr std::int64_t k_hour_s = 3600;
constexpr std::int64_t k_length_s = 40 * 7 * k_day_s;
constexpr double k_load_of_two = 2.2;  // one organization alone keeps the processors of two busy
constexpr std::uint32_t k_own_processors = 16;
constexpr std::int64_t k_year_s = 365 * k_day_s;

// Lognormal, sigma = 1.2, in steps of 1 %. The normal number is a sum of twelve uniform ones, and powers are products:
// std::exp may differ in the last digit between C libraries.
std::int64_t draw_run_time(Rng& rng) {
  constexpr double k_sigma = 1.2;
  constexpr double k_step = 1.01;
  constexpr double k_steps_of_sigma = k_sigma / 0.00995033085316808;  // ln 1.01
  double normal = -6;
  for (int i = 0; i < 12; ++i) normal += rng.uniform();
  double seconds = 2 * k_hour_s;
  const double steps = std::floor(std::abs(normal) * k_steps_of_sigma);
  for (double step = 0; step < steps; ++step) seconds = normal < 0 ? seconds / k_step : seconds * k_step;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(seconds), 1, 24 * k_hour_s);
}

// Jobs of one organization at any instant of [begin, end), until there is `work` processor seconds of them.
void add_jobs(scheduling::Instance& instance, std::uint32_t organization, std::int64_t begin, std::int64_t end,
              double work, Rng& rng) {
  for (double sent = 0; sent < work;) {
    const std::int64_t duration = draw_run_time(rng);
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

// Of jobs submitted within `length` of the first, as copies: processor seconds.
double work_of(const workload::Trace& trace, Duration length) {
  double work = 0;
  for (const workload::TraceJob& job : trace.jobs) {
    if (job.submit < trace.jobs.front().submit + length)
      work += static_cast<double>(job.run.value) * static_cast<double>(job.processors);
  }
  return work;
}

std::string hundredths(int load_percent) {
  return std::to_string(load_percent / 100) + "." + std::to_string(100 + load_percent % 100).substr(1);
}

Expected<StabilityCase> year_case(const ExperimentTrace& source, const workload::Trace& trace, int load_percent,
                                  std::uint64_t seed) {
  constexpr std::size_t k_organizations = 5;
  const Instant first = trace.jobs.front().submit;
  const Duration length{std::min(k_year_s, (trace.jobs.back().submit - first).value + 1)};
  const double busy = work_of(trace, length) / static_cast<double>(length.value);
  const auto processors =
      std::max<std::int64_t>(k_organizations, std::llround(busy * 100 / static_cast<double>(load_percent)));
  SHAPLEY_TRY_ASSIGN(auto own, workload::endow(workload::Endowment::uniform, k_organizations, processors));
  SHAPLEY_TRY_ASSIGN(auto window, workload::cut_window(trace, workload::deal_users(trace, k_organizations, seed),
                                                       std::move(own), first, length));
  const std::string load = hundredths(load_percent);
  return StabilityCase{source.name + "_" + load,
                       std::to_string(length.value / k_day_s) + " days of " + source.name + " on " +
                           std::to_string(processors) + " processors, load " + load,
                       std::move(window.instance)};
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

void add_made_jobs(scheduling::Instance& instance, std::uint32_t organization, double work, Rng& rng) {
  add_jobs(instance, organization, 0, instance.end.value, work, rng);
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
    if (source.file.empty()) continue;  // generated jobs are no year of anybody's
    SHAPLEY_TRY_ASSIGN(const workload::Trace trace, load_trace(source));
    for (const int load_percent : {80, 95, 105}) {
      SHAPLEY_TRY_ASSIGN(StabilityCase year, year_case(source, trace, load_percent, arguments.seed));
      cases.push_back(std::move(year));
    }
  }
  return cases;
}

}  // namespace shapley::sim
