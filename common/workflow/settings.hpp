// How one organization's workflows are distinguished and ordered. docs/reference/configuration.md explains every
// setting.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workflow/measure.hpp"

namespace shapley::workflow {

// What may name a job's workflow, or its activity within the workflow (workflow/keys.hpp).
enum class KeyRule : std::uint8_t { wckey, array, job_name_prefix, dependency };

inline constexpr std::array<std::pair<std::string_view, KeyRule>, 4> k_key_rules{{
    {"wckey", KeyRule::wckey},
    {"array", KeyRule::array},
    {"job_name_prefix", KeyRule::job_name_prefix},
    {"dependency", KeyRule::dependency},
}};

// What is counted and which median is taken, by the names of the golden cases. Slurm reports one phase, the run.
enum class Mode : std::uint8_t { elapsed_only_upper_median, phases_upper_median, phases_mid_median };

inline constexpr std::array<std::pair<std::string_view, Mode>, 3> k_modes{{
    {"elapsed_only_upper_median", Mode::elapsed_only_upper_median},
    {"phases_upper_median", Mode::phases_upper_median},
    {"phases_mid_median", Mode::phases_mid_median},
}};

struct Settings {
  bool fairness = false;  // within_organization: workflow_fairness; else fifo, and what follows is ignored
  std::vector<KeyRule> workflow_key{KeyRule::wckey, KeyRule::array, KeyRule::job_name_prefix, KeyRule::dependency};
  std::vector<KeyRule> activity_key{KeyRule::array, KeyRule::job_name_prefix};
  std::string name_delimiter = "-";
  Mode mode = Mode::elapsed_only_upper_median;
  bool relative_duration = false;
  std::int64_t threshold_ppm = 200'000;  // tau, in millionths
  friend bool operator==(const Settings&, const Settings&) = default;
};

[[nodiscard]] inline Measure measure_of(const Settings& settings) {
  return {.median = settings.mode == Mode::phases_mid_median ? Median::middle : Median::upper,
          .phases = settings.mode != Mode::elapsed_only_upper_median,
          .relative_duration = settings.relative_duration};
}

}  // namespace shapley::workflow
