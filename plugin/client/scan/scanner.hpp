// Finds what changed between two scans (the scanning thread; single-threaded).
//
// A record's fingerprint is remembered only once the record was copied, so a change that could not be copied (no
// memory) is found again by the next scan. When a connection wants a snapshot the scanner starts a new epoch, in which
// every record counts as changed; ids are kept, so jobs that vanished meanwhile are still reported as gone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugin/client/delivery/connection.hpp"
#include "plugin/client/requests/requests.hpp"
#include "plugin/client/shapley_client.h"

namespace shapley::client {

// The records of the last scan: one fingerprint for each job id, in a flat open-addressing table, because the lookup
// runs for every job under slurmctld's read locks (32 bytes a job, one cache line for a hit).
//
// Single-threaded (the scanning thread). Only insertion of a new id may allocate.

class FingerprintTable {
 public:
  struct Entry {
    std::uint32_t job_id = 0;  // 0: free slot (Slurm's ids begin at 1)
    std::uint32_t seen = 0;    // number of the scan that saw it last
    std::uint64_t epoch = 0;   // the epoch in which its record was passed on; 0: never
    std::uint64_t fingerprint = 0;
    std::uint64_t quick_hash = 0;  // as of the last reading of the whole record; 0: none
  };

  // The job's entry, inserted when it is new. Valid until the next insertion. REQUIRES: job_id > 0.
  [[nodiscard]] Entry& at(std::uint32_t job_id);
  [[nodiscard]] std::size_t size() const { return size_; }

  // Ids whose entry this scan did not see, ascending.
  [[nodiscard]] std::vector<std::uint32_t> unseen(std::uint32_t scan) const;
  // Removes these entries. Strong guarantee: without memory for the smaller table nothing changes.
  void remove_unseen(std::uint32_t scan);

 private:
  void rebuild(std::size_t slots, std::uint32_t only_seen_by, bool filter);

  std::vector<Entry> slots_;  // a power of two, at most half full
  std::size_t size_ = 0;
};

// Open addressing by job id, for the two tables that are read under slurmctld's locks.

// The slot of the job, or the free slot in which to put it. REQUIRES: a power of two slots, one of them free; a free
// slot has job_id 0.
template <typename Slot>
[[nodiscard]] std::size_t slot_of(const std::vector<Slot>& slots, std::uint32_t job_id) {
  // Fibonacci hashing: ids come in runs, and the multiplication spreads a run over the whole table.
  const std::size_t mask = slots.size() - 1;
  std::size_t slot = static_cast<std::size_t>((job_id * 0x9E3779B97F4A7C15ULL) >> 32U) & mask;
  while (slots[slot].job_id != 0 && slots[slot].job_id != job_id) slot = (slot + 1) & mask;
  return slot;
}

class Scanner {
 public:
  // `requests` gets every record that is passed on, too, and what is gone.
  Scanner(Inbox& inbox, Requests& requests) : inbox_(inbox), requests_(requests) {}

  void begin(std::int64_t now);
  // Begins a scan of runs only: jobs that are not passed keep their state of the last whole scan, and none is reported
  // as gone. False while a connection waits for a snapshot: a whole scan is due.
  [[nodiscard]] bool begin_runs(std::int64_t now);
  // The number of the last scan that was begun, of either kind; and whether it is one of runs.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] bool is_of_runs() const { return chunk_.changes.runs_only; }
  // As the functions of shapley_client.h.
  [[nodiscard]] bool same_quick_hash(std::uint32_t job_id, std::uint64_t quick_hash);
  [[nodiscard]] bool job_changed(std::uint32_t job_id, std::uint64_t fingerprint, std::uint64_t quick_hash = 0);
  void add(const shapley_job_t& job);
  [[nodiscard]] bool node_changed(std::uint32_t index, std::uint64_t fingerprint);
  void add(std::uint32_t index, const shapley_node_t& node);
  void note_closed(std::string_view partition) { closed_.emplace_back(partition); }
  void note_privacy(const shapley_privacy_t& privacy);
  void end(bool complete);
  // After an exception: what was collected is lost, so everything must be read and sent again.
  void give_up() noexcept;

 private:
  struct Node {
    std::uint64_t fingerprint = 0;
    std::uint64_t epoch = 0;
    std::uint32_t seen = 0;
    std::string name;
  };

  void mark_seen(FingerprintTable::Entry& entry);
  void flush(bool last, bool complete);
  void flush_if_full();
  void pass_privacy();
  void collect_gone_jobs();
  void collect_gone_nodes();

  Inbox& inbox_;
  Requests& requests_;
  FingerprintTable jobs_;
  std::vector<Node> nodes_;                  // by index in slurmctld's table
  std::vector<std::string> closed_;          // partitions, of this scan
  std::vector<std::string> replaced_nodes_;  // names that a scan found replaced by another name

  std::optional<protocol::Privacy> privacy_;  // as it was noted last
  std::uint64_t number_ = 0;
  std::uint32_t scan_ = 0;  // whole ones only
  std::uint64_t epoch_ = 1;
  std::size_t seen_jobs_ = 0;
  std::uint64_t snapshot_for_ = 0;
  bool first_chunk_ = true;
  ScanChunk chunk_;
  std::uint32_t changed_job_ = 0;  // the job (node) that was last reported as changed, with its fingerprint
  std::uint64_t changed_job_fingerprint_ = 0;
  std::uint64_t changed_node_fingerprint_ = 0;
};

}  // namespace shapley::client
