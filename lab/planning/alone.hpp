// An organization alone on its own cluster, with its jobs' real arrival times: what it would have had without the
// others. List scheduling in the order of submission; a later job may start while an earlier one does not fit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace shapley::planning {

struct SubmittedJob {
  std::int64_t submit = 0;      // seconds
  std::int64_t length = 1;      // seconds, >= 1
  std::int64_t processors = 1;  // >= 1
};

// From `from` on the cluster has `processors` processors.
struct ClusterSize {
  std::int64_t from = 0;        // seconds
  std::int64_t processors = 0;  // >= 0
};

// The start of each job; nullopt: there are never enough processors for it. When the cluster becomes smaller, running
// jobs run to their ends, and nothing starts until enough is free again. `sizes` ascending by `from`; before the first
// one there are no processors. O((n + k) log n) for n jobs and k sizes.
[[nodiscard]] std::vector<std::optional<std::int64_t>> run_alone(const std::vector<SubmittedJob>& jobs,
                                                                 const std::vector<ClusterSize>& sizes);

// The same on a cluster of one size. REQUIRES: every job fits it.
[[nodiscard]] std::vector<std::int64_t> run_alone(const std::vector<SubmittedJob>& jobs, std::int64_t processors);

}  // namespace shapley::planning
