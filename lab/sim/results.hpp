// Results for people, programs and other tools: of a comparison, finished or interrupted, and of a run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "scheduling/policies/policy.hpp"
#include "scheduling/simulate.hpp"
#include "sim/comparison.hpp"
#include "sim/json.hpp"

namespace shapley::sim {

struct PolicySummary {
  std::string policy;
  Summary unfairness;                 // delta-psi / p_tot, seconds
  double ratio = 0;                   // of the means; 0 when the baseline's is 0
  std::optional<double> ratio_error;  // its standard error, to first order; none where the baseline's mean is 0
  Summary difference;                 // unfairness of the policy minus that of the baseline, window by window
};
constexpr auto description_of(std::type_identity<PolicySummary>) {
  using S = PolicySummary;
  return describe(member("policy", &S::policy), flattened(&S::unfairness), member("ratio", &S::ratio),
                  member("ratio_standard_error", &S::ratio_error), member("difference", &S::difference));
}

// Standard errors treat windows that begin in the same stretch of `settings.length` seconds as one cluster. REQUIRES:
// there is a result; `baseline` is one of the policies.
[[nodiscard]] std::vector<PolicySummary> summarize_policies(const ComparisonSettings& settings,
                                                            const std::vector<WindowResult>& results,
                                                            const std::string& baseline);

void print_table(const ComparisonSettings& settings, const std::vector<WindowResult>& results,
                 const std::vector<PolicySummary>& summaries, const std::string& baseline, std::ostream& out);

// A comparison for programs: lab/docs/shapley-sim.md.
struct ComparisonReport {
  ComparisonSettings settings;
  std::string baseline;
  std::size_t windows_done = 0;
  std::vector<PolicySummary> summary;
  std::vector<Json> windows;  // to_json of each
};
constexpr auto description_of(std::type_identity<ComparisonReport>) {
  using R = ComparisonReport;
  return describe(member("settings", &R::settings), member("baseline", &R::baseline),
                  member("windows_done", &R::windows_done), member("summary", &R::summary),
                  member("windows", &R::windows));
}
[[nodiscard]] ComparisonReport report_of(const ComparisonSettings& settings, const std::vector<WindowResult>& results,
                                         const std::vector<PolicySummary>& summaries, const std::string& baseline);

// "13.8", "0.021", "1.2e+06": four significant digits.
[[nodiscard]] std::string short_number(double value);
// With so many digits behind the point, and no minus before a zero.
[[nodiscard]] std::string fixed(double value, int digits);

// Results of a run as files for other tools: one row per organization, and Batsim's jobs.csv.
struct PolicyResult {
  std::string policy;
  scheduling::SimulationResult simulation;
  std::optional<std::vector<scheduling::Rational>> phi;
  std::vector<std::pair<game::Coalition, std::int64_t>> coalition_values;
  std::vector<std::int64_t> utilities;  // by organization; empty for psi_sp, which is psi
};

// Processor numbers, ascending, for every start of `schedule`, in its order: the lowest free ones. Processors are alike
// in the model, so this is one of many valid assignments. REQUIRES: the schedule fits the instance.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> place_jobs(const scheduling::Instance& instance,
                                                                 const std::vector<scheduling::Start>& schedule);

// policy,organization,processors,jobs,started,completed,work,psi,phi - phi as a fraction, empty if it is unknown.
[[nodiscard]] Expected<void> write_organizations(const std::filesystem::path& file,
                                                 const scheduling::Instance& instance,
                                                 const std::vector<PolicyResult>& results);

// The columns of Batsim's _jobs.csv, for the jobs that ended before the instance's end. The profile is the
// organization.
[[nodiscard]] Expected<void> write_batsim_jobs(const std::filesystem::path& file, const scheduling::Instance& instance,
                                               const PolicyResult& result);

}  // namespace shapley::sim
