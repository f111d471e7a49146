// Policies side by side on many windows of one workload, against the fair schedule of a reference policy.
//
// For each window the measure is delta-psi = sum over u of |psi[u] - psi*[u]|, where psi* is the reference's, and
// delta-psi / p_tot, p_tot being the work done in the reference's schedule: the mean unjustified delay (or haste) of a
// unit of work, in seconds [SR13 Sec. 7.2; FS13 Sec. 5.1]. A window is drawn from (seed, number of the window) alone,
// so any subset of windows, on any number of threads or machines, gives the same numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/description.hpp"
#include "base/error.hpp"
#include "charts/plot.hpp"
#include "game/serving_order.hpp"
#include "scheduling/policies/policy.hpp"
#include "sim/json.hpp"
#include "sim/system.hpp"
#include "workload/trace.hpp"

namespace shapley::sim {

enum class EndowmentChoice { zipf, uniform, alternate };  // alternate: zipf in even windows, uniform in odd ones
[[nodiscard]] std::string_view name_of(EndowmentChoice choice);

struct ComparisonSettings {
  std::size_t organizations = 5;
  std::int64_t processors = 0;
  EndowmentChoice endowment = EndowmentChoice::alternate;
  // How users are assigned to organizations: `random` assigns them again for every window; `group`, and the name of a
  // file of lines "USER ORGANIZATION", assign them once for all windows.
  std::string assignment = "random";
  Duration length{50'000};
  std::size_t windows = 100;
  std::uint64_t seed = 1;
  std::size_t samples = 15;  // of rand
  std::string reference = "ref";
  std::vector<std::string> policies;
  workload::ParallelJobs parallel = workload::ParallelJobs::copies;
  game::ServingRule rule{};  // of policies and reference whose names have no rule
  bool once_a_pass = false;  // likewise, except for ref
  bool due = false;          // measures the distance to the reference's phi instead of its psi
};
constexpr auto description_of(std::type_identity<ComparisonSettings>) {
  using S = ComparisonSettings;
  return describe(member("organizations", &S::organizations), member("processors", &S::processors),
                  member("endowment", &S::endowment), member("assign", &S::assignment), member("length", &S::length),
                  member("windows", &S::windows), member("seed", &S::seed), member("samples", &S::samples),
                  member("reference", &S::reference), member("policies", &S::policies),
                  supplement("parallel", &S::parallel), flattened(&S::rule), supplement("once_a_pass", &S::once_a_pass),
                  supplement("due", &S::due));
}

// One window as drawn, ready to run.
struct DrawnWindow {
  workload::Window window;
  Instant begin;
  workload::Endowment endowment = workload::Endowment::zipf;
  std::uint64_t policy_seed = 1;
};

// Draws a window. One without any job is useless, and is drawn again. Errc::not_found when 1,000 draws found no job.
[[nodiscard]] Expected<DrawnWindow> draw_window(const workload::Trace& trace, const ComparisonSettings& settings,
                                                std::size_t number);
// A given stretch of time instead of a drawn one: window `number`, but beginning at `begin`.
[[nodiscard]] Expected<DrawnWindow> window_at(const workload::Trace& trace, const ComparisonSettings& settings,
                                              std::size_t number, Instant begin);

struct WindowResult {
  std::size_t number = 0;
  Instant begin;
  std::string endowment;
  std::size_t jobs = 0;
  std::int64_t work = 0;                  // p_tot of the reference
  std::vector<std::int64_t> delta_psi;    // by policy; or the distance to what is due
  std::vector<std::int64_t> policy_work;  // by policy: the work done in its own schedule
};
constexpr auto description_of(std::type_identity<WindowResult>) {
  using W = WindowResult;
  return describe(member("window", &W::number), member("begin", &W::begin), member("endowment", &W::endowment),
                  member("jobs", &W::jobs), member("p_tot", &W::work), member("delta_psi", &W::delta_psi),
                  member("work", &W::policy_work));
}

// Sum |psi - phi| / work, after the difference of their totals was shared equally, so that a schedule that did more
// work than the reference's is not blamed for it.
[[nodiscard]] double distance_to_due(const std::vector<std::int64_t>& psi, const std::vector<scheduling::Rational>& phi,
                                     double work);

// Errc::invalid_argument where what is due is asked for, and the reference has no phi.
[[nodiscard]] Expected<WindowResult> run_window(const workload::Trace& trace, const ComparisonSettings& settings,
                                                std::size_t number);

// Windows `first` .. `last` - 1, in that order; after Ctrl-C those that were finished. `threads` 0: one per core.
[[nodiscard]] Expected<std::vector<WindowResult>> run_windows(const workload::Trace& trace,
                                                              const ComparisonSettings& settings, std::size_t first,
                                                              std::size_t last, unsigned threads, Progress& progress);

[[nodiscard]] Json to_json(const ComparisonSettings& settings, const WindowResult& result);
// An error when `json` is no window of these settings.
[[nodiscard]] Expected<WindowResult> window_from_json(const ComparisonSettings& settings, const nlohmann::json& json);

// Summaries of many windows. Their distributions are heavy-tailed, so medians are given besides means; windows overlap,
// so standard errors do not assume independence.
struct Summary {
  double mean = 0;
  double median = 0;
  std::optional<double> standard_error;  // of the mean; none with fewer than two clusters
  double deviation = 0;                  // of one window, with n - 1; 0 for a single window
};
constexpr auto description_of(std::type_identity<Summary>) {
  return describe(member("mean", &Summary::mean), member("median", &Summary::median),
                  member("standard_error", &Summary::standard_error),
                  member("standard_deviation", &Summary::deviation));
}

// Cluster-robust: with clusters g of observations that share a cluster number, G of them, n observations,
//     SE^2 = G / (G - 1) * sum over g of ( sum over i in g of (x_i - mean) )^2 / n^2.
// REQUIRES: values and clusters have one positive size.
[[nodiscard]] Summary summarize(const std::vector<double>& values, const std::vector<std::int64_t>& clusters);

// The row of a plot of unfairness.
[[nodiscard]] charts::PlotPoint plot_point(std::string label, const Summary& summary);

}  // namespace shapley::sim
