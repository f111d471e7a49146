// `shapley-sim experiment`: the papers' experiments as presets [SR13 Sec. 7; FS13 Sec. 5; MO11 Sec. 7; WF13 Sec. 3],
// and our own on stability and strategy; docs/experiments shows their results. Every preset can be shrunk, and runs on
// generated jobs where no trace is at hand.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/comparison/comparison.hpp"
#include "sim/input/workload_source.hpp"

namespace shapley::sim {

struct ExperimentArguments {
  std::string name;               // one of experiment_names()
  std::filesystem::path traces;   // folder of traces; empty: $SHAPLEY_TRACES
  std::vector<std::string> only;  // names of known traces; empty: all that are there
  std::string trace;              // or this one file
  std::optional<std::size_t> windows;
  std::optional<std::int64_t> length;
  std::vector<std::size_t> organizations;  // of figure10 and speed; of the others the first
  std::vector<std::string> policies;       // empty: the preset's
  std::vector<std::string> cases;          // stability, strategy: names of cases; strategy: of attacks; empty: all
  std::optional<std::size_t> instances;    // mosp, workflow: per setting; strategy: seeds
  std::uint64_t seed = 1;
  unsigned threads = 0;
  bool json = false;
  std::filesystem::path plot;  // folder for SVG files
};

[[nodiscard]] std::vector<std::string> experiment_names();

// Returns an exit code of exit_code.hpp.
[[nodiscard]] Expected<int> run_experiment(const ExperimentArguments& arguments, std::ostream& out);

}  // namespace shapley::sim
