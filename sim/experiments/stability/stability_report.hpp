// The results of `experiment stability` for people and programs.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "sim/comparison/comparison.hpp"
#include "sim/experiments/stability/stability_measures.hpp"
#include "sim/json.hpp"
#include "sim/output/comparison_report.hpp"

namespace shapley::sim {

struct RuleMeasures {
  std::string rule;             // as the registry reads it
  StabilityMeasures measures;   // of weeks
  double deviation_hourly = 0;  // as deviation_late, of hours
};
struct CaseResult {
  std::string name;
  std::string about;
  std::vector<RuleMeasures> rules;  // fair_share is one of them
};

// Windows of one length of one trace, against one reference.
struct WindowsResult {
  std::string trace;
  ComparisonSettings settings;
  std::size_t windows = 0;
  std::vector<PolicySummary> summaries;
};

inline constexpr const char* k_wait = "longest wait (days)";
inline constexpr const char* k_deviation = "deviation of shares (points)";
inline constexpr const char* k_unfairness = "unfairness (s)";

// One line of the verdict.
struct Criterion {
  std::string what;  // k_wait, k_deviation or k_unfairness
  std::string where;
  std::string rule;
  double found = 0;
  double allowed = 0;
  [[nodiscard]] bool holds() const { return found <= allowed; }
};
// Whether the `rules` keep the criteria of stability.hpp, rule by rule. Windows against another reference than ref are
// left out.
[[nodiscard]] std::vector<Criterion> judge(const std::vector<std::string>& rules, const std::vector<CaseResult>& cases,
                                           const std::vector<WindowsResult>& windows);

void print_case(const CaseResult& result, std::ostream& out);
void print_windows(const WindowsResult& result, std::ostream& out);
// The criteria of the rules that are the default of some policy, one by one; of every rule, how many are broken.
void print_criteria(const std::vector<Criterion>& criteria, std::ostream& out);

[[nodiscard]] Json to_json(const CaseResult& result);
[[nodiscard]] Json to_json(const WindowsResult& result);
[[nodiscard]] Json to_json(const Criterion& criterion);

// Weekly shares of the organization whose share varies most under the first of `rules`, a line for each of them.
[[nodiscard]] Expected<void> plot_case(const std::filesystem::path& file, const CaseResult& result,
                                       const std::vector<std::string>& rules);

}  // namespace shapley::sim
