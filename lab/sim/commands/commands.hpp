// The commands of shapley-sim except `replay` and `experiment`: their arguments and functions.
// lab/docs/shapley-sim.md describes what they print.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "sim/comparison.hpp"
#include "sim/input/instance_files.hpp"
#include "sim/input/kinds.hpp"
#include "sim/input/workload_source.hpp"
#include "sim/registry.hpp"
#include "workload/trace.hpp"

namespace shapley::sim {

// `shapley-sim run`: policies over one instance, read from a file or cut from a workload.
struct RunArguments {
  std::filesystem::path instance;  // empty: a window of `source`
  WorkloadSource source;
  ComparisonSettings window;          // organizations, processors, endowment, length, seed of that window
  std::size_t number = 0;             // which of the windows that `compare` draws from this seed
  std::optional<std::int64_t> begin;  // or the window that begins here
  std::vector<std::string> policies;
  bool json = false;
  bool schedule = false;
  std::filesystem::path organizations_csv, batsim_jobs, plot_time, plot_gantt;
  PolicyOptions options;
};

// Prints a table, or with `json` {"results": [...]}.
[[nodiscard]] Expected<void> run(const RunArguments& arguments, std::ostream& out);

// `shapley-sim value`: what coalitions of whole jobs are worth, and what each estimator says of one real schedule.
struct ValueArguments {
  std::filesystem::path instance;  // empty: a window of `source`
  WorkloadSource source;
  ComparisonSettings window;
  std::size_t number = 0;             // as in RunArguments
  std::optional<std::int64_t> begin;  // likewise
  KindOptions kinds;
  bool json = false;
};

// Prints tables, or with `json` {"psi", "p_tot", "estimates": [{"estimator", "phi", "v_coalitions"}]}, the exact value
// first, phi as fractions.
[[nodiscard]] Expected<void> value_command(const ValueArguments& arguments, std::ostream& out);

// `shapley-sim compare`: policies side by side on many windows.
struct CompareArguments {
  WorkloadSource source;
  ComparisonSettings settings;
  std::string baseline;  // empty: direct_contr if it is compared, else the first policy
  bool json = false;
  unsigned threads = 0;  // 0: one per core
  std::filesystem::path plot;
  std::filesystem::path submit;  // run as a Slurm job array that leaves its results in this folder
  std::size_t block = 10;        // windows per task of the array
  std::vector<std::string> sbatch_options;
  std::size_t first_window = 0;  // only windows first .. last - 1 of the comparison
  std::size_t last_window = 0;   // 0: settings.windows
};

// Completes missing arguments: processors from the trace's header, the baseline. Errc::invalid_argument otherwise.
[[nodiscard]] Expected<void> complete(CompareArguments& arguments, const workload::Trace& trace);

// Prints a table or JSON, and a plot on demand. Returns an exit code of system.hpp.
[[nodiscard]] Expected<int> compare(CompareArguments arguments, std::ostream& out);

// `shapley-sim plan`: a planning algorithm over one instance.
struct PlanArguments {
  std::filesystem::path instance;  // empty: `queue`
  PendingQueue queue;
  std::string algorithm;
  std::uint64_t seed = 1;  // of local_rnd and mocca4_rnd
  bool json = false;
  std::filesystem::path plot;  // folder for a Gantt chart per cluster (SVG); empty: none
};

// Prints a table, or with `json` {"cmax", "score", "LB", "org_makespans", "schedule"}, fractions as "a/b".
[[nodiscard]] Expected<void> plan_command(const PlanArguments& arguments, std::ostream& out);

// `shapley-sim workflow`: one step of the workflow fairness loop over a state in a file.
struct WorkflowArguments {
  std::filesystem::path instance;
  std::string mode = "phases_upper_median";  // or phases_mid_median, elapsed_only_upper_median
  bool relative_duration = true;
  bool json = false;
};

// Prints a table, or with `json` what the golden files contain under the mode's name.
[[nodiscard]] Expected<void> workflow_command(const WorkflowArguments& arguments, std::ostream& out);

// `shapley-sim trace`: describes a trace, to be read before conclusions are drawn from it.
struct TraceArguments {
  WorkloadSource source;
  std::int64_t processors = 0;                                       // 0: as the trace says
  Duration length{50'000};                                           // of the windows that are counted
  workload::ParallelJobs parallel = workload::ParallelJobs::copies;  // when contention is counted
  bool json = false;
};

[[nodiscard]] Expected<void> describe_trace(const TraceArguments& arguments, std::ostream& out);

// `shapley-sim window`: a window of a workload with its time divided by a factor, to be submitted to a real slurmctld.
struct WindowArguments {
  WorkloadSource source;
  std::vector<std::uint32_t> owned;  // processors, by organization
  std::int64_t begin = 0;            // second of the trace
  Duration length;                   // in seconds of the trace
  std::int64_t factor = 20;
  std::uint64_t seed = 1;  // assigns users to organizations
};

// Prints "residual SECONDS", the mean residual run time of all jobs of the trace, which is at least ten minutes of the
// trace's time as shapleyd has it; then a line "SUBMIT ORGANIZATION DURATION PROCESSORS USER" a job, in order of
// submission. Everything is divided by the factor, and at least a second except for submit times.
[[nodiscard]] Expected<void> print_window(const WindowArguments& arguments, std::ostream& out);

// `shapley-sim judge`: verdicts over windows that ran on a real slurmctld (emulation/judge.hpp).
struct JudgeArguments {
  std::vector<std::filesystem::path> recordings;
  bool json = false;
  std::filesystem::path plot;  // an SVG file; empty: none
};

// Prints a table with a row for each recording, or with `json` {"verdicts": [...]}. The plot has a row for each policy:
// the unfairness of what ran, over all windows.
[[nodiscard]] Expected<void> judge_recordings(const JudgeArguments& arguments, std::ostream& out);

// `shapley-sim axioms`: which utilities satisfy the axioms of Theorem 4.1 of [SR13], with counterexamples.
struct AxiomsArguments {
  std::vector<std::string> utilities;  // empty: all
};

// Prints one line per utility and axiom, and for a violated one the schedules that violate it, drawn second by second.
[[nodiscard]] Expected<void> check_axioms(const AxiomsArguments& arguments, std::ostream& out);

}  // namespace shapley::sim
