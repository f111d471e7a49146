// Policies side by side on many windows of one workload, against the fair schedule of a reference policy.
//
// For each window the measure is delta-psi = sum over u of |psi[u] - psi*[u]|, where psi* is the reference's, and
// delta-psi / p_tot, p_tot being the work done in the reference's schedule: the mean unjustified delay (or haste) of a
// unit of work, in seconds [SR13 Sec. 7.2; FS13 Sec. 5.1]. A window is drawn from (seed, number of the window) alone,
// so any subset of windows, on any number of threads or machines, gives the same numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "game/serving_order.hpp"
#include "sim/json.hpp"
#include "sim/output/progress.hpp"
#include "workload/endowment.hpp"
#include "workload/window.hpp"

namespace shapley::sim {

enum class EndowmentChoice { zipf, uniform, alternate };  // alternate: zipf in even windows, uniform in odd ones
[[nodiscard]] std::optional<EndowmentChoice> parse_endowment(std::string_view name);
[[nodiscard]] std::string_view name_of(EndowmentChoice choice);

// How users get organizations: `random` assigns them anew for every window; `group` and a file assign them once for
// all.
struct OrganizationSource {
  std::string by = "random";  // random, group, or the name of a file of lines "USER ORGANIZATION"
};

struct ComparisonSettings {
  std::size_t organizations = 5;
  std::int64_t processors = 0;
  EndowmentChoice endowment = EndowmentChoice::alternate;
  OrganizationSource assignment;
  workload::ParallelJobs parallel = workload::ParallelJobs::copies;
  Duration length{50'000};
  std::size_t windows = 100;
  std::uint64_t seed = 1;
  std::size_t samples = 15;  // of rand
  game::ServingRule rule{};  // of policies and reference whose names say no other
  bool once_a_pass = false;  // likewise, but of ref
  std::string reference = "ref";
  std::vector<std::string> policies;
};

// One window as drawn, ready to run.
struct DrawnWindow {
  workload::Window window;
  Instant begin;
  workload::Endowment endowment = workload::Endowment::zipf;
  std::uint64_t policy_seed = 1;
};

// A window without any job says nothing of fairness: its place in time is drawn again.
// Errc::not_found when 1,000 draws found no job.
[[nodiscard]] Expected<DrawnWindow> draw_window(const workload::Trace& trace, const ComparisonSettings& settings,
                                                std::size_t number);
// The same stretch of time for everybody: window `number` but beginning at `begin`.
[[nodiscard]] Expected<DrawnWindow> window_at(const workload::Trace& trace, const ComparisonSettings& settings,
                                              std::size_t number, Instant begin);

struct WindowResult {
  std::size_t number = 0;
  Instant begin;
  std::string endowment;
  std::size_t jobs = 0;
  std::int64_t work = 0;                  // p_tot of the reference
  std::vector<std::int64_t> delta_psi;    // by policy
  std::vector<std::int64_t> policy_work;  // by policy: the work done in its own schedule
};

// Windows `first` .. `last` - 1, in that order; after Ctrl-C those that were finished. `threads` 0: one per core.
[[nodiscard]] Expected<std::vector<WindowResult>> run_windows(const workload::Trace& trace,
                                                              const ComparisonSettings& settings, std::size_t first,
                                                              std::size_t last, unsigned threads, Progress& progress);

[[nodiscard]] Json to_json(const ComparisonSettings& settings);
[[nodiscard]] Json to_json(const ComparisonSettings& settings, const WindowResult& result);
// Errc::corrupt when `json` is no window of these settings.
[[nodiscard]] Expected<WindowResult> window_from_json(const ComparisonSettings& settings, const Json& json);

}  // namespace shapley::sim
