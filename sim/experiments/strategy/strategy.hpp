// `shapley-sim experiment strategy`: what a member of a consortium gains by playing games with its jobs
// (docs/strategy.md), with the remedies and without them, measured by the engine that shapleyd runs.
//
// Every attack runs on every case of strategy_cases under every estimator (by the default rule, or by the one that a
// name of --policies carries: registry.hpp), over several seeds, beside the same jobs played honestly.
#pragma once

#include <iosfwd>

#include "base/error.hpp"
#include "sim/commands/experiment_command.hpp"

namespace shapley::sim {

// Prints tables, or with `json` {"experiment", "tables": [...]}. Returns an exit code of exit_code.hpp.
[[nodiscard]] Expected<int> experiment_strategy(const ExperimentArguments& arguments, std::ostream& out);

}  // namespace shapley::sim
