// Finds what changed between two scans (the scanning thread; single-threaded).
//
// A record's fingerprint is remembered only once the record was copied, so a change that could not be copied (no
// memory) is found again by the next scan. When a connection wants a snapshot the scanner starts a new epoch, in which
// every record counts as changed; ids are kept, so jobs that vanished meanwhile are still reported as gone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugin/client/delivery/inbox.hpp"
#include "plugin/client/scan/fingerprints.hpp"
#include "plugin/client/shapley_client.h"

namespace shapley::client {

class Scanner {
 public:
  explicit Scanner(Inbox& inbox) : inbox_(inbox) {}

  void begin(std::int64_t now);
  // A scan of runs only: jobs that are not passed stay as the last whole scan saw them, and nothing is taken for gone.
  // False while a connection waits for a snapshot: a whole scan is due.
  [[nodiscard]] bool begin_runs(std::int64_t now);
  // Number of the scan that was begun last, of either kind; and whether it is one of runs.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] bool is_of_runs() const { return chunk_.changes.runs_only; }
  // As the functions of shapley_client.h.
  [[nodiscard]] bool same_quick_hash(std::uint32_t job_id, std::uint64_t quick_hash);
  [[nodiscard]] bool job_changed(std::uint32_t job_id, std::uint64_t fingerprint, std::uint64_t quick_hash = 0);
  void add(const shapley_job_t& job);
  [[nodiscard]] bool node_changed(std::uint32_t index, std::uint64_t fingerprint);
  void add(std::uint32_t index, const shapley_node_t& node);
  void note_privacy(const shapley_privacy_t& privacy);
  void end(bool complete);
  // After an exception: what was collected is lost, so everything must be read and sent anew.
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
  FingerprintTable jobs_;
  std::vector<Node> nodes_;                  // by index in slurmctld's table
  std::vector<std::string> replaced_nodes_;  // names that a scan found another name in place of

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
