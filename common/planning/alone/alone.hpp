// An organization alone on its own cluster, its jobs arriving when they really did: what it would have had without the
// others. List scheduling in the order of submission; a later job may start while an earlier one does not fit.
#pragma once

#include <cstdint>
#include <vector>

namespace shapley::planning {

struct SubmittedJob {
  std::int64_t submit = 0;      // seconds
  std::int64_t length = 1;      // seconds, >= 1
  std::int64_t processors = 1;  // 1 .. the cluster's
};

// The start of each job. O(n log n). REQUIRES: every job fits the cluster.
[[nodiscard]] std::vector<std::int64_t> run_alone(const std::vector<SubmittedJob>& jobs, std::int64_t processors);

}  // namespace shapley::planning
