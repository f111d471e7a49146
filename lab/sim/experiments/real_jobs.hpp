// `experiment real_jobs`: its cases, and the measures of a window.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/description.hpp"
#include "base/error.hpp"
#include "sim/comparison.hpp"
#include "sim/experiments/experiments.hpp"
#include "sim/input/kinds.hpp"
#include "workload/trace.hpp"

namespace shapley::sim {

// Windows of a trace, or of made jobs.
struct RealCase {
  std::string name;
  std::string about;
  workload::Trace trace;
  ComparisonSettings settings;
  Kinds kinds;  // none: all processors are alike
};

// traces: those that are found, windows of 4e5 s. Made jobs of forty users in sessions, at load .9, with limits of 1 to
// 8 times the run time:
//
// wide      widths as on SDSC-SP2: 128 processors, most jobs a power of two wide, up to all processors
// gpu_one   four organizations own 24 processors each; the last one owns 32 processors with GPUs, too, for which ten of
//           the users submit jobs of 1 to 8; windows of 2e5 s
// gpu_two   the same, 16 with GPUs of each of the last two
[[nodiscard]] Expected<std::vector<RealCase>> real_cases(const ExperimentArguments& arguments);

// Of one window, in seconds a unit of work of the real schedule (first come, first served).
struct RealWindow {
  std::int64_t begin = 0;
  std::vector<double> error;     // by estimator: sum |phi - exact phi|
  std::vector<double> alone;     // exact, hindsight, hindsight_whole: v of organizations alone, in sum
  std::vector<double> due;       // by ranking: sum |psi - exact phi|, the difference of the totals shared equally
  std::vector<double> excess;    // by ranking: due, less that of a cluster that ranks by the exact value
  std::vector<double> to_exact;  // by ranking: sum |psi - psi of that cluster|
  std::vector<double> to_alike;  // by ranking: sum |psi - psi of one that ranks by the exact value and the same rule|
};
constexpr auto description_of(std::type_identity<RealWindow>) {
  using W = RealWindow;
  return describe(member("begin", &W::begin), member("error", &W::error), member("alone", &W::alone),
                  member("due", &W::due), member("excess", &W::excess), member("to_exact", &W::to_exact),
                  member("to_alike", &W::to_alike));
}

}  // namespace shapley::sim
