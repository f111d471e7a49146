// How one organization's workflows are distinguished and ordered. docs/reference/configuration.md explains every
// setting.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shapley::workflow {

// How an activity's tasks are measured (workflow/reprioritize.hpp has the equations). These types are here, apart from
// the equations, because settings name them, and a reader of settings needs no fractions.
enum class Median { upper, middle };  // sorted[n/2], or the mean of the two in the middle

struct Measure {
  Median median = Median::upper;
  // Phases known: t~ sums the medians of the phases, t_u the greater of elapsed and median, phase by phase. Otherwise
  // the first entry of Phases holds the whole duration: t~ is its median, t_u = max(elapsed, t~).
  bool phases = true;
  // off: T^ is 1 always. On, a workflow of short tasks permanently falls below every threshold once two have ended
  // (lab/docs/workflow.md).
  bool relative_duration = true;
};

// The rules by which a job's workflow, or its activity within the workflow, gets its name.
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

// How a job's workflow and activity get their names: by the first rule of a list that applies.
//
//   wckey            the job's workload characterization key; not a default one, which Slurm marks with '*'
//   array            the array that the job is a task of
//   job_name_prefix  the job's name, if it has the delimiter between other characters: up to the first one for the
//                    workflow ("genome-align-17" -> "genome"), up to the last for the activity ("genome-align")
//   dependency       the jobs connected by dependencies (components.hpp), named by the smallest id among them
//
// When no rule applies, a job is a workflow by itself, and its whole name is its activity.
//
// The data of a job from which its key is made.
struct Naming {
  std::string_view wckey;
  std::string_view name;
  std::uint32_t array_job = 0;  // 0: no array
};

enum class Grouping : std::uint8_t { workflow, activity };

// The part of a key that follows from the job's own record. Dependencies change, so they are added last (resolve).
struct Key {
  std::string before;      // by a rule before `dependency`; then nothing else counts
  bool component = false;  // whether dependencies may name it
  std::string after;       // by a rule after `dependency`, or the fallback; empty: the job is a workflow by itself
};

[[nodiscard]] Key key_of(const Naming& job, const Settings& settings, Grouping grouping);

// `component`: the smallest id of the jobs connected to this one, its own if there is no other; `tied`: whether there
// is, or was, another one.
[[nodiscard]] std::string resolve(const Key& key, std::uint32_t component, bool tied);

}  // namespace shapley::workflow
