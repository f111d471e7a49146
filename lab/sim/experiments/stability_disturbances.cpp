#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <numeric>
#include <optional>
#include <ostream>
#include <sstream>
#include <utility>

#include "base/calendar.hpp"
#include "base/rng.hpp"
#include "scheduling/simulate.hpp"
#include "sim/experiments/stability.hpp"
#include "sim/registry.hpp"

namespace shapley::sim {

namespace {

constexpr std::array<std::int64_t, 5> k_days_alone{7, 15, 30, 60, 90};
constexpr Duration k_debt_slice{7 * k_day_s};
constexpr Duration k_debt_length{120 * k_debt_slice.value};

constexpr std::int64_t k_share_slice_s = 3600;
constexpr std::int64_t k_first_minute_s = 60;
constexpr std::int64_t k_maintained_weeks = 40;
constexpr std::int64_t k_drained_on_s = 5 * k_day_s;
constexpr std::int64_t k_closed_for_s = 30 * k_share_slice_s;
constexpr std::array<std::uint32_t, k_maintained_organizations> k_maintained_processors{32, 16, 16};
constexpr double k_maintained_load = 1.05;

std::vector<std::uint32_t> all_processors() {
  return {k_maintained_processors.begin(), k_maintained_processors.end()};
}

// The simple instance for measure_stability, with the jobs that start before the end.
scheduling::Instance plain(const MaintainedMachine& machine) {
  return {.processors = all_processors(), .jobs = machine.instance.jobs, .end = machine.end};
}
std::vector<scheduling::Start> starts_before(Instant end, const scheduling::EasySchedule& schedule) {
  std::vector<scheduling::Start> starts;
  for (std::uint32_t job = 0; job < schedule.start.size(); ++job) {
    if (schedule.start[job] != scheduling::k_never_started && schedule.start[job] < end.value)
      starts.push_back({job, Instant{schedule.start[job]}});
  }
  return starts;
}

// Counts of jobs that wait when the maintenance ends.
struct AfterMaintenance {
  Handful waiting{};
  Handful started{};  // in the first minute
};
AfterMaintenance after(const Maintenance& maintenance, const MaintainedMachine& machine,
                       const scheduling::EasySchedule& schedule) {
  AfterMaintenance counts;
  const std::int64_t to = maintenance.to.value;
  for (std::size_t i = 0; i < machine.instance.jobs.size(); ++i) {
    const scheduling::Job& job = machine.instance.jobs[i];
    const std::int64_t start = schedule.start[i];
    if (job.release.value <= to && start >= to) counts.waiting[job.organization] += job.processors;
    if (start >= to && start < to + k_first_minute_s) counts.started[job.organization] += job.processors;
  }
  return counts;
}

bool touches_maintenance(std::int64_t hour, const std::vector<Maintenance>& maintenances) {
  return std::any_of(maintenances.begin(), maintenances.end(), [hour](const Maintenance& maintenance) {
    return hour * k_share_slice_s < maintenance.to.value && (hour + 1) * k_share_slice_s > maintenance.from.value;
  });
}

std::string slashed(const Handful& processors) {
  std::string text;
  for (const std::int64_t one : processors) text += (text.empty() ? "" : "/") + std::to_string(one);
  return text;
}

std::string one_digit(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << value;
  return text.str();
}

}  // namespace

std::optional<double> weeks_to_settle(const std::vector<double>& weekly_shares, double begin) {
  constexpr double k_half = 0.5;
  constexpr double k_margin = 0.05;
  const auto unsettled = std::find_if(weekly_shares.rbegin(), weekly_shares.rend(),
                                      [](double share) { return std::abs(share - k_half) > k_margin; });
  if (unsettled == weekly_shares.rbegin() && !weekly_shares.empty()) return std::nullopt;
  const auto settled = static_cast<double>(weekly_shares.rend() - unsettled);
  return std::max(0.0, settled - begin);
}

Expected<Units<Settled>> run_debts(const std::vector<std::string>& rules, const ExperimentArguments& arguments) {
  std::vector<StabilityCase> cases;
  for (const std::int64_t days : k_days_alone)
    cases.push_back(head_start({days * k_day_s}, k_debt_length, arguments.seed));
  const auto settle = [&](std::size_t i) -> Expected<Settled> {
    const scheduling::Instance& instance = cases[i % cases.size()].instance;
    PolicyOptions options;
    options.seed = arguments.seed;
    SHAPLEY_TRY_ASSIGN(const auto policy, make_policy(rules[i / cases.size()], instance, options));
    const scheduling::SimulationResult result = scheduling::simulate(instance, *policy);
    const StabilityMeasures measures = measure_stability(instance, result.schedule, k_debt_slice);
    return Settled{weeks_to_settle(measures.shares[1], static_cast<double>(k_days_alone[i % cases.size()]) / 7)};
  };
  return run_units<Settled>("debts", rules.size() * cases.size(), arguments, settle);
}

Expected<std::vector<DebtResult>> debts_of(const std::vector<std::string>& rules, const Units<Settled>& settled) {
  std::vector<DebtResult> results;
  if (settled.empty()) return results;
  SHAPLEY_TRY(expect_units(settled.size(), rules.size() * k_days_alone.size()));
  auto unit = settled.begin();
  for (const std::string& rule : rules) {
    DebtResult result{rule, {k_days_alone.begin(), k_days_alone.end()}, {}};
    for (std::size_t days = 0; days < k_days_alone.size(); ++days, ++unit)
      if (*unit) result.weeks.push_back((*unit)->weeks);
    if (result.weeks.size() == k_days_alone.size()) results.push_back(std::move(result));
  }
  return results;
}

void print_debts(const std::vector<DebtResult>& results, std::ostream& out) {
  if (results.empty()) return;
  out << "## Weeks until both of two always busy organizations have their half, after the first was alone for\n\n"
      << std::left << std::setw(26) << "RULE" << std::right;
  for (const std::int64_t days : results.front().days_alone) out << std::setw(8) << std::to_string(days) + " d";
  out << '\n';
  for (const DebtResult& result : results) {
    out << std::left << std::setw(26) << result.rule << std::right;
    for (const auto& weeks : result.weeks)
      out << std::setw(8) << (weeks ? std::to_string(std::llround(*weeks)) : std::string("-"));
    out << '\n';
  }
  out << "\n- : not within 120 weeks.\n\n";
}

MaintainedMachine maintained_machine(std::uint64_t seed) {
  constexpr std::int64_t k_week_s = 7 * k_day_s;
  MaintainedMachine machine;
  machine.end = {k_maintained_weeks * k_week_s};
  machine.instance.endowments.push_back({Instant{0}, all_processors()});
  for (std::int64_t week = 0; week < k_maintained_weeks; ++week) {
    const Instant from{week * k_week_s + k_drained_on_s};
    const Maintenance maintenance{from, from + Duration{k_closed_for_s}};
    machine.maintenances.push_back(maintenance);
    machine.instance.endowments.push_back(
        {maintenance.from, std::vector<std::uint32_t>(k_maintained_processors.size(), 0)});
    machine.instance.endowments.push_back({maintenance.to, all_processors()});
  }
  Rng rng(seed);
  const auto open = static_cast<double>(machine.end.value - k_maintained_weeks * k_closed_for_s);
  scheduling::Instance jobs{.processors = all_processors(), .jobs = {}, .end = machine.end};
  for (std::uint32_t u = 0; u < k_maintained_processors.size(); ++u)
    add_made_jobs(jobs, u, Instant{0}, jobs.end, k_maintained_load * k_maintained_processors[u] * open, rng);
  machine.instance.jobs = std::move(jobs.jobs);
  for (const scheduling::Job& job : machine.instance.jobs) machine.instance.requested.push_back(job.duration);
  machine.instance.latest = {2 * machine.end.value};
  return machine;
}

MaintenanceResult measure_maintenance(const MaintainedMachine& machine, std::string rule,
                                      const scheduling::EasySchedule& schedule) {
  MaintenanceResult result;
  result.rule = std::move(rule);
  for (const Maintenance& maintenance : machine.maintenances) {
    const AfterMaintenance counts = after(maintenance, machine, schedule);
    result.at_once.push_back(counts.started);
    const std::int64_t all = std::accumulate(counts.started.begin(), counts.started.end(), std::int64_t{0});
    result.all_to_one += std::find(counts.started.begin(), counts.started.end(), all) != counts.started.end() ? 1U : 0U;
    bool below = false;
    for (std::size_t u = 0; u < k_maintained_processors.size(); ++u) {
      const std::int64_t half = k_maintained_processors[u] / 2;
      below = below || (counts.waiting[u] >= half && counts.started[u] < half);
    }
    result.below_half += below ? 1U : 0U;
  }
  const scheduling::Instance instance = plain(machine);
  const auto starts = starts_before(machine.end, schedule);
  const StabilityMeasures hourly = measure_stability(instance, starts, Duration{k_share_slice_s});
  result.longest_wait = hourly.longest_wait;
  for (const std::vector<double>& shares : hourly.shares) {
    std::vector<double> open;
    for (std::size_t hour = 0; hour < shares.size(); ++hour) {
      if (!touches_maintenance(static_cast<std::int64_t>(hour), machine.maintenances)) open.push_back(shares[hour]);
    }
    result.deviation_hourly = std::max(result.deviation_hourly, deviation_of(std::span(open).last(open.size() / 3)));
  }
  return result;
}

Expected<Units<MaintenanceResult>> run_maintenance(const ExperimentArguments& arguments) {
  const MaintainedMachine machine = maintained_machine(arguments.seed);
  SHAPLEY_TRY(scheduling::validate(machine.instance));
  const std::vector<std::string> rules = rules_after_maintenance({"direct_contr", "shapley_rate"});
  const auto maintain = [&](std::size_t i) -> Expected<MaintenanceResult> {
    PolicyOptions options;
    options.seed = arguments.seed;
    SHAPLEY_TRY_ASSIGN(const auto policy, make_policy(rules[i], scheduling::first_instance(machine.instance), options));
    SHAPLEY_TRY_ASSIGN(const auto schedule, scheduling::simulate_easy(machine.instance, policy.get()));
    return measure_maintenance(machine, rules[i], schedule);
  };
  return run_units<MaintenanceResult>("maintenance", rules.size(), arguments, maintain);
}

void print_maintenance(const std::vector<MaintenanceResult>& results, std::ostream& out) {
  if (results.empty()) return;
  constexpr std::size_t k_shown = 4;
  out << "## maintenance: three organizations of 32, 16 and 16 processors at load 1.05, drained once a week\n\n"
      << std::left << std::setw(32) << "RULE" << std::right << std::setw(12) << "ALL TO ONE" << std::setw(12)
      << "BELOW HALF" << std::setw(10) << "SD HOUR" << std::setw(10) << "LONGEST"
      << "  FIRST MINUTE AFTER THE LAST MAINTENANCES\n"
      << std::setw(44) << "of " + std::to_string(results.front().at_once.size()) << std::setw(12)
      << "of " + std::to_string(results.front().at_once.size()) << std::setw(10) << "points" << std::setw(10) << "days"
      << "  processors\n";
  for (const MaintenanceResult& result : results) {
    out << std::left << std::setw(32) << result.rule << std::right << std::setw(12) << result.all_to_one
        << std::setw(12) << result.below_half << std::setw(10) << one_digit(100 * result.deviation_hourly)
        << std::setw(10) << one_digit(static_cast<double>(result.longest_wait.value) / static_cast<double>(k_day_s))
        << ' ';
    const std::size_t first = result.at_once.size() - std::min(k_shown, result.at_once.size());
    for (std::size_t i = first; i < result.at_once.size(); ++i) out << ' ' << slashed(result.at_once[i]);
    out << '\n';
  }
  out << '\n';
}

}  // namespace shapley::sim
