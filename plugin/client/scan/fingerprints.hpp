// What the last scan saw: one fingerprint for each job id, in a flat open-addressing table, because the lookup runs for
// every job under slurmctld's read locks (32 bytes a job, one cache line for a hit).
//
// Single-threaded (the scanning thread). Only insertion of a new id may allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shapley::client {

class FingerprintTable {
 public:
  struct Entry {
    std::uint32_t job_id = 0;  // 0: free slot (Slurm's ids begin at 1)
    std::uint32_t seen = 0;    // number of the scan that saw it last
    std::uint64_t epoch = 0;   // the epoch in which its record was handed over; 0: never
    std::uint64_t fingerprint = 0;
    std::uint64_t quick_hash = 0;  // when the whole record was last read; 0: none
  };

  // The job's entry, inserted when it is new. Valid until the next insertion. REQUIRES: job_id > 0.
  [[nodiscard]] Entry& at(std::uint32_t job_id);
  [[nodiscard]] std::size_t size() const { return size_; }

  // Ids whose entry was not seen by this scan, ascending.
  [[nodiscard]] std::vector<std::uint32_t> unseen(std::uint32_t scan) const;
  // Removes them. Strong guarantee: without memory for the smaller table nothing changes.
  void remove_unseen(std::uint32_t scan);

 private:
  void rebuild(std::size_t slots, std::uint32_t only_seen_by, bool filter);

  std::vector<Entry> slots_;  // a power of two, at most half full
  std::size_t size_ = 0;
};

}  // namespace shapley::client
