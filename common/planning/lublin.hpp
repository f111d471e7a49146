// Rigid jobs after Lublin and Feitelson [LF03]: sizes from a two-stage uniform distribution of log2, with serial jobs
// and powers of two favoured; run times whose natural logarithm is hyper-gamma, the longer branch likelier for wide
// jobs. Parameters: the published ones for batch and interactive jobs together.
#pragma once

#include <cstdint>

#include "base/rng.hpp"

namespace shapley::planning {

struct LublinJob {
  std::int64_t length = 1;      // seconds, 1 .. e^12
  std::int64_t processors = 1;  // 1 .. most
};

// REQUIRES: most >= 1.
[[nodiscard]] LublinJob draw_lublin_job(std::int64_t most, Rng& rng);

}  // namespace shapley::planning
