// What names a job's workflow and activity: the first rule of a list that applies.
//
//   wckey            the job's workload characterization key; not a default one, which Slurm marks with '*'
//   array            the array that the job is a task of
//   job_name_prefix  the job's name, if it has the delimiter between other characters: up to the first one for the
//                    workflow ("genome-align-17" -> "genome"), up to the last for the activity ("genome-align")
//   dependency       the jobs connected by dependencies (components.hpp), named by the smallest id among them
//
// When no rule applies, a job is a workflow by itself, and its whole name is its activity.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "workflow/settings.hpp"

namespace shapley::workflow {

// What a key may be made of.
struct Naming {
  std::string_view wckey;
  std::string_view name;
  std::uint32_t array_job = 0;  // 0: no array
};

enum class Level : std::uint8_t { workflow, activity };

// What a job's own record says of its key. Dependencies change, so they are added last (resolve).
struct Key {
  std::string before;      // by a rule before `dependency`; then nothing else counts
  bool component = false;  // whether dependencies may name it
  std::string after;       // by a rule after `dependency`, or the fallback; empty: the job is a workflow by itself
};

[[nodiscard]] Key key_of(const Naming& job, const Settings& settings, Level level);

// `component`: the smallest id of the jobs connected to this one, its own when there is none; `tied`: there is, or was,
// one.
[[nodiscard]] std::string resolve(const Key& key, std::uint32_t component, bool tied);

}  // namespace shapley::workflow
