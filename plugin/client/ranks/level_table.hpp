// The levels of jobs, by id, as priority_p_set looks them up under slurmctld's locks: a flat open-addressing table, at
// most half full, so a lookup is one cache miss or two. Immutable; bounded by protocol::k_max_level_jobs (4 MiB).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "protocol/messages.hpp"

namespace shapley::client {

class LevelTable {
 public:
  // No job has a level above 0.
  LevelTable() = default;
  // Errc::protocol for what no shapleyd sends: too many jobs, ids that are 0 or do not ascend, levels out of range.
  [[nodiscard]] static Expected<LevelTable> of(const std::vector<protocol::JobLevel>& jobs);

  // 0 for a job that is not listed. Does not allocate.
  [[nodiscard]] std::uint32_t level_of(std::uint32_t job_id) const;
  [[nodiscard]] std::size_t size() const { return size_; }
  bool operator==(const LevelTable&) const = default;

 private:
  std::vector<protocol::JobLevel> slots_;  // a power of two or none; job_id 0: free
  std::size_t size_ = 0;
};

}  // namespace shapley::client
