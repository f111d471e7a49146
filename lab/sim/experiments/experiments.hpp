// `shapley-sim experiment`: the papers' experiments as presets [SR13 Sec. 7; FS13 Sec. 5; MO11 Sec. 7; WF13 Sec. 3],
// and our own on stability and strategy; lab/docs shows their results. Every preset can be shrunk, and runs on
// generated jobs if there is no trace.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "sim/comparison.hpp"
#include "sim/experiments/parts.hpp"
#include "sim/input/workload_source.hpp"
#include "sim/results.hpp"
#include "workload/trace.hpp"

namespace shapley::sim {

[[nodiscard]] std::vector<std::string> experiment_names();

// Each returns an exit code of system.hpp.
[[nodiscard]] Expected<int> run_experiment(const ExperimentArguments& arguments, std::ostream& out);
[[nodiscard]] Expected<int> merge_experiment(const MergeArguments& arguments, std::ostream& out);

// `shapley-sim experiment mosp`: the experiments of MO11 Section 7 beside the paper's figures. 50 instances per cell of
// (model, N, n, m), as in the paper, unless the arguments say otherwise.
[[nodiscard]] Experiment mosp_experiment();

// `shapley-sim experiment workflow`: Experiments 1 to 3 of WF13, simulated, beside the paper's figures. 10 repetitions
// of every setting, unless the arguments say otherwise.
[[nodiscard]] Experiment workflow_experiment();

// `shapley-sim experiment stability`: what a horizon and a guarantee (game/serving_order.hpp) do to shares over time,
// to waiting and to unfairness, and whether the default rule keeps what a consortium may expect:
//
//   in every case         the longest wait is at most 1.5 times fair_share's, and
//                         the deviation of weekly shares at most 1.2 times fair_share's and a point (last third)
//   on windows of traces  delta-psi / p_tot against ref under the published rule is at most 1.3 times that of
//                         direct_contr under the published rule
//
// and what happens when everything becomes free at once (stability_disturbances.cpp).
//
// Prints tables, or with `json` {"cases": [...], "debts": [...], "maintenance": [...], "windows": [...],
// "criteria": [...]}.
[[nodiscard]] Experiment stability_experiment();

// `shapley-sim experiment strategy`: what a member of a consortium gains by strategic behaviour with its jobs
// (docs/strategy.md), with the remedies and without them, measured by the engine that shapleyd runs.
//
// Every attack runs on every case of strategy_cases under every estimator (by the default rule, or by the one that a
// name of --policies carries: registry.hpp), over several seeds, beside the same jobs played honestly.
//
// Prints tables, or with `json` {"experiment", "tables": [...]}.
[[nodiscard]] Experiment strategy_experiment();

// `shapley-sim experiment consortium`: two clusters of one consortium. Does what a member lends on one cluster come
// back to it on the other one, if each ranks by its own books, or by the sum of both, and how often do they have to
// exchange standings?
//
// Prints tables, or with `json` {"experiment", "tables": [...]}.
[[nodiscard]] Experiment consortium_experiment();

// `shapley-sim experiment real_jobs`: whole jobs on nodes of several kinds. How far is each estimator's phi of one real
// schedule from the exact one, and how far does a cluster that ranks by it stay from what is due?
//
// Prints tables, or with `json` {"experiment", "cases": [...]}.
[[nodiscard]] Experiment real_jobs_experiment();

// The traces of the papers' experiments, as far as they are available, and the papers' figures for them.
//
// The figures of the papers' tables, to be shown beside our measurements [SR13 Tables 1 and 2; FS13 Tables 1 and 2].
struct PaperNumber {
  double mean = 0;
  double deviation = 0;
};

// The average and standard deviation of `policy` on the trace; `table` is 1 (5e4 s) or 2 (5e5 s).
[[nodiscard]] std::optional<PaperNumber> paper_number(int table, std::string_view trace, std::string_view policy);

// The traces of the experiments, found by the beginning of their file names.
struct KnownTrace {
  std::string_view name;
  std::int64_t processors;  // as the papers simulate it; for other traces, from the trace
};
inline constexpr std::array k_known_traces{KnownTrace{"LPC-EGEE", 70},         KnownTrace{"PIK-IPLEX", 2560},
                                           KnownTrace{"SHARCNET-Whale", 3072}, KnownTrace{"RICC", 8192},
                                           KnownTrace{"HPC2N", 240},           KnownTrace{"KTH-SP2", 100}};

// The workloads of an experiment: the available traces, or generated jobs, labelled as such.
struct ExperimentTrace {
  std::string name;  // of k_known_traces, or the file's, or "generated"
  std::string file;  // empty: generated
  std::int64_t processors = 0;
};

// In the papers' order. Errc::not_found when the folder has none of the requested traces.
[[nodiscard]] Expected<std::vector<ExperimentTrace>> find_traces(const ExperimentArguments& arguments);

// Errors: those of load_workload().
[[nodiscard]] Expected<workload::Trace> load_trace(const ExperimentTrace& trace);

// Policies on the windows of one trace.
struct ComparedWindows {
  std::string trace;
  std::string jobs;  // their digest
  bool is_generated = false;
  std::size_t organizations = 0;
  std::int64_t processors = 0;
  Duration length;
  std::string reference;
  std::vector<std::string> policies;
  Units<WindowResult> windows;
};
constexpr auto description_of(std::type_identity<ComparedWindows>) {
  using C = ComparedWindows;
  return describe(member("trace", &C::trace), member("jobs", &C::jobs), member("is_generated", &C::is_generated),
                  member("organizations", &C::organizations), member("processors", &C::processors),
                  member("length", &C::length), member("reference", &C::reference), member("policies", &C::policies),
                  member("windows", &C::windows));
}

// `settings` has organizations, length, reference, policies and, unless the arguments have it, the number of windows.
[[nodiscard]] Expected<ComparedWindows> compare_windows(const ExperimentTrace& source, const workload::Trace& trace,
                                                        ComparisonSettings settings,
                                                        const ExperimentArguments& arguments);

// The outcome of a comparison, for a report.
struct ComparedOutcome {
  ComparisonSettings settings;
  std::vector<WindowResult> results;
  std::vector<PolicySummary> summaries;  // none without a result
  bool is_whole = true;
};
// REQUIRES: `baseline` is one of the policies. Errc::corrupt: a window has other policies.
[[nodiscard]] Expected<ComparedOutcome> outcome_of(const ComparedWindows& compared, const std::string& baseline,
                                                   const ExperimentArguments& arguments);

}  // namespace shapley::sim
