// Instances as JSON files, of each kind: to schedule, to plan, states of workflows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "planning/grid.hpp"
#include "scheduling/easy.hpp"
#include "scheduling/instance.hpp"
#include "sim/input/workload_source.hpp"
#include "workflow/reprioritize.hpp"
#include "workload/trace.hpp"

namespace shapley::sim {

// Instances as JSON files: {"machines": [m0, ...], "jobs": [[release, duration, organization], ...], "t_end": T}.
// A fourth member of a job is its number of processors: either so many copies, as if the file listed the job so often,
// or a rigid job.
// Errors name the file and the wrong member. The instance is validated.
[[nodiscard]] Expected<scheduling::Instance> read_instance(
    const std::filesystem::path& file, workload::ParallelJobs parallel = workload::ParallelJobs::copies);
[[nodiscard]] Expected<scheduling::Instance> parse_instance_json(
    std::string_view text, workload::ParallelJobs parallel = workload::ParallelJobs::copies);

// Instances of whole jobs on processors of several kinds: the same, where an entry of `machines` is a number or an
// array, the organization's processors of each kind, and a job may go on with its kinds in order of preference (a
// number, or an array; an empty one: any kind) and its requested time: [release, duration, organization, processors,
// kinds, requested].
[[nodiscard]] Expected<scheduling::EasyInstance> read_easy_instance(const std::filesystem::path& file);
[[nodiscard]] Expected<scheduling::EasyInstance> parse_easy_instance_json(std::string_view text);

// Planning instances as JSON files: {"m": [m0, ...], "jobs": [{"id": 7, "owner": 0, "p": 3, "q": 2}, ...]}, alone or as
// the member "input" of a file that also has the expected results.
struct NamedGrid {
  planning::Grid grid;
  std::vector<std::int64_t> ids;   // of the jobs, as the file or trace names them
  std::vector<std::string> names;  // of the organizations; empty: they have numbers only
};

// Errors name the file and the wrong member. The grid is validated.
[[nodiscard]] Expected<NamedGrid> read_grid(const std::filesystem::path& file);
[[nodiscard]] Expected<NamedGrid> parse_grid_json(std::string_view text);

// A planning instance from a stretch of a trace: its submissions, as one queue that waits at its end.
struct PendingQueue {
  WorkloadSource source;  // an empty trace: none was requested
  std::size_t organizations = 5;
  std::int64_t processors = 0;        // of all organizations, in equal parts; 0: as in the trace
  std::optional<std::int64_t> begin;  // seconds of the trace; none: its first submission
  Duration length{3600};
  std::uint64_t seed = 1;  // assigns users to organizations
};

struct PendingGrid {
  NamedGrid named;
  std::size_t too_wide = 0;  // jobs left out: wider than the smallest cluster
};

// Run times are those of the trace, known in advance. Errc::not_found when no job that fits was submitted in the
// stretch.
[[nodiscard]] Expected<PendingGrid> read_pending(const PendingQueue& queue);

// States of workflows as JSON files: {"tau": "1/5", "workflows": [{"activities": [{"waiting": [{"id", "priority"}],
// "running": [{"setup", "input", "exec", "output"}], "completed": [...]}]}]}, alone or as the member "input".
struct WaitingTask {
  std::int64_t id = 0;
  std::int64_t priority = 1;
};

struct WorkflowState {
  workflow::Fraction threshold;  // tau
  std::vector<workflow::Workflow> workflows;
  std::vector<std::vector<std::vector<WaitingTask>>> waiting;  // by workflow and activity, the oldest first
};

// Errors name the file and the wrong member.
[[nodiscard]] Expected<WorkflowState> read_workflow_state(const std::filesystem::path& file);

}  // namespace shapley::sim
