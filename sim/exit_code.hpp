// How shapley-sim ends (docs/reference/shapley-sim.md).
#pragma once

namespace shapley::sim {

inline constexpr int k_exit_done = 0;
inline constexpr int k_exit_input = 1;        // the input cannot be used
inline constexpr int k_exit_usage = 2;        // the command line is wrong
inline constexpr int k_exit_interrupted = 3;  // Ctrl-C: what was finished is printed
inline constexpr int k_exit_internal = 70;    // a defect of shapley-sim itself

}  // namespace shapley::sim
