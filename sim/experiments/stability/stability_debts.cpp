#include "sim/experiments/stability/stability_debts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <ostream>

#include "base/calendar.hpp"
#include "scheduling/simulate.hpp"
#include "sim/experiments/stability/stability_cases.hpp"
#include "sim/experiments/stability/stability_measures.hpp"
#include "sim/output/progress.hpp"
#include "sim/registry.hpp"
#include "sim/system/parallel.hpp"

namespace shapley::sim {

namespace {

constexpr std::array<std::int64_t, 5> k_days_alone{7, 15, 30, 60, 90};
constexpr Duration k_debt_slice{7 * k_day_s};
constexpr Duration k_debt_length{120 * k_debt_slice.value};

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

Expected<std::vector<DebtResult>> run_debts(const std::vector<std::string>& rules, std::uint64_t seed,
                                            unsigned threads) {
  std::vector<StabilityCase> cases;
  for (const std::int64_t days : k_days_alone) cases.push_back(head_start({days * k_day_s}, k_debt_length, seed));
  std::vector<std::optional<std::optional<double>>> slots(rules.size() * cases.size());
  Progress progress("debts", slots.size());
  SHAPLEY_TRY(run_parallel(slots.size(), threads, [&](std::size_t i) -> Expected<void> {
    const scheduling::Instance& instance = cases[i % cases.size()].instance;
    PolicyOptions options;
    options.seed = seed;
    SHAPLEY_TRY_ASSIGN(const auto policy, make_policy(rules[i / cases.size()], instance, options));
    const scheduling::SimulationResult result = scheduling::simulate(instance, *policy);
    const StabilityMeasures measures = measure_stability(instance, result.schedule, k_debt_slice);
    slots[i] = weeks_to_settle(measures.shares[1], static_cast<double>(k_days_alone[i % cases.size()]) / 7);
    progress.one_more();
    return {};
  }));
  std::vector<DebtResult> results;
  for (std::size_t r = 0; r < rules.size(); ++r) {
    DebtResult result{rules[r], {k_days_alone.begin(), k_days_alone.end()}, {}};
    for (std::size_t c = 0; c < cases.size(); ++c)
      if (const auto& slot = slots[r * cases.size() + c]) result.weeks.push_back(*slot);
    if (result.weeks.size() == cases.size()) results.push_back(std::move(result));
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

Json to_json(const DebtResult& result) {
  Json weeks = Json::array();
  for (const auto& one : result.weeks) weeks.push_back(one ? Json(*one) : Json(nullptr));
  return {{"rule", result.rule}, {"days_alone", result.days_alone}, {"weeks", weeks}};
}

}  // namespace shapley::sim
