// An instance of the multi-organization scheduling problem [MO11 Sec. 2]: organization k owns cluster k of m_k
// identical processors; its rigid parallel jobs are all released at instant 0, their run times are known, and every job
// fits every cluster.
//
// Times of schedules are exact. The bounds 3 LB and 4 LB are fractions whose denominator divides the number of
// processors M = sum m_k, so every time is an integer number of *ticks*, 1/M of the instance's unit of time, in 128
// bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"

namespace shapley::planning {

using Ticks = Int128;

struct Job {
  std::uint32_t owner = 0;      // organization, and its cluster
  std::int64_t length = 1;      // p, >= 1, in units of time
  std::int64_t processors = 1;  // q, 1 .. min m_k
};

struct Grid {
  std::vector<std::int64_t> clusters;  // m_k, >= 1
  std::vector<Job> jobs;               // in input order, which breaks every tie

  [[nodiscard]] std::size_t organizations() const { return clusters.size(); }
  [[nodiscard]] std::int64_t ticks_per_unit() const;  // M
  [[nodiscard]] Ticks length_of(const Job& job) const { return Ticks{job.length} * ticks_per_unit(); }
  [[nodiscard]] Int128 work() const;  // W = sum p q; as ticks it is the mean load W / M
  // LB = max(W / M, p_max) [MO11 Sec. 2.2], in ticks; 0 without jobs.
  [[nodiscard]] Ticks lower_bound() const;
};

// Errc::invalid_argument names the cluster or job at fault: no cluster, a job without a cluster of its own, a length or
// width below 1, a job wider than the smallest cluster. Errc::limit: more than 2^31 - 1 jobs, a length above 2^53 or
// more than 2^31 processors, beyond which 128 bits might not hold the sums.
[[nodiscard]] Expected<void> validate(const Grid& grid);
// As validate(), but a job need not fit other clusters than its owner's. This suffices for local scheduling and ILBA,
// which put a job on no cluster that is too small; MOCCA's bounds require validate().
[[nodiscard]] Expected<void> validate_at_home(const Grid& grid);

// Indices of the jobs in HF order: processors non-increasing, ties in input order [MO11 Sec. 3.2].
[[nodiscard]] std::vector<std::uint32_t> highest_first(const Grid& grid, std::vector<std::uint32_t> jobs);

// Indices of the clusters, sizes non-increasing, ties in input order: the paper's numbering [MO11 Sec. 2.1].
[[nodiscard]] std::vector<std::uint32_t> largest_first(const Grid& grid);

// numerator / denominator in lowest terms: "7", "7/3". REQUIRES: denominator > 0.
[[nodiscard]] std::string fraction_text(Int128 numerator, Int128 denominator);

}  // namespace shapley::planning
