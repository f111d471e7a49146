// A finished (or interrupted) comparison for people and programs.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/comparison/comparison.hpp"
#include "sim/comparison/statistics.hpp"
#include "sim/json.hpp"

namespace shapley::sim {

struct PolicySummary {
  std::string policy;
  Summary unfairness;                 // delta-psi / p_tot, seconds
  Summary difference;                 // that of the policy minus that of the baseline, window by window
  double ratio = 0;                   // of the means; 0 when the baseline's is 0
  std::optional<double> ratio_error;  // its standard error, to first order; none where the baseline's mean is 0
};

// Standard errors take windows that begin in the same stretch of `settings.length` seconds for one cluster.
// REQUIRES: a result; `baseline` is one of the policies.
[[nodiscard]] std::vector<PolicySummary> summarize_policies(const ComparisonSettings& settings,
                                                            const std::vector<WindowResult>& results,
                                                            const std::string& baseline);

void print_table(const ComparisonSettings& settings, const std::vector<WindowResult>& results,
                 const std::vector<PolicySummary>& summaries, const std::string& baseline, std::ostream& out);

// {"settings", "baseline", "summary": [...], "windows": [...]}: docs/reference/shapley-sim.md.
[[nodiscard]] Json report_json(const ComparisonSettings& settings, const std::vector<WindowResult>& results,
                               const std::vector<PolicySummary>& summaries, const std::string& baseline);

// "13.8", "0.021", "1.2e+06": four significant digits.
[[nodiscard]] std::string short_number(double value);

}  // namespace shapley::sim
