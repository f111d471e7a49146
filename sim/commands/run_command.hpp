// `shapley-sim run`: policies over one instance, read from a file or cut from a workload.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/comparison/comparison.hpp"
#include "sim/input/workload_source.hpp"
#include "sim/registry.hpp"

namespace shapley::sim {

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

// Prints a table, or with `json` {"results": [...]}; docs/reference/shapley-sim.md describes both.
[[nodiscard]] Expected<void> run(const RunArguments& arguments, std::ostream& out);

}  // namespace shapley::sim
