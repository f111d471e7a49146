// What the scanning thread hands to the feeder thread, and the request for a snapshot in the other direction.
//
// The mutex is held for a move or a flag only, never while either side does I/O, so the scanning thread, which may
// stand under slurmctld's locks, waits for microseconds at most. The queue is bounded: when the feeder is stuck (a
// hanging disk) and more than `max_bytes` wait, they are discarded before the next scan's first piece, and the feeder
// learns of it. So the memory is at most max_bytes plus one scan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "plugin/client/event_descriptor.hpp"
#include "protocol/messages.hpp"

namespace shapley::client {

// Else it need not be sent.
[[nodiscard]] inline bool tells_anything(const protocol::Observations& changes) {
  return !(changes.jobs.empty() && changes.nodes.empty() && changes.gone.empty() && changes.gone_nodes.empty() &&
           changes.privacy.empty());
}

// A piece of one scan's changes, small enough for one message.
struct ScanChunk {
  std::uint64_t snapshot_for = 0;  // number of the connection this full scan was made for; 0: changes only
  std::uint64_t scan = 0;          // number of its scan
  bool first = false;              // of its scan
  bool last = false;
  bool complete = true;            // of the last chunk: the scan went through all records
  protocol::Observations changes;  // without sequence
  std::size_t bytes = 0;           // approximate memory
};

class Inbox {
 public:
  Inbox(std::size_t max_bytes, EventDescriptor& event) : max_bytes_(max_bytes), event_(event) {}

  // Scanning thread.
  void push(ScanChunk&& chunk);
  // A scan went through all records, and its chunks were pushed; wall clock of its begin.
  void note_scan(std::int64_t observed_at);
  // Changes were lost for want of memory; only a fresh snapshot can make up for them.
  void mark_lost();
  [[nodiscard]] std::uint64_t snapshot_wanted_for() const;
  void snapshot_taken_for(std::uint64_t connection);

  // Feeder thread.
  struct Content {
    std::deque<ScanChunk> chunks;
    bool lost = false;
    std::int64_t scanned_at = 0;  // the last scan that was noted; all of its chunks were taken. 0: none was
    bool snapshot_wanted = false;
  };
  [[nodiscard]] Content take();
  // Asks the next scan for all records. 0: withdraws the request.
  void want_snapshot_for(std::uint64_t connection);

 private:
  const std::size_t max_bytes_;
  EventDescriptor& event_;
  mutable std::mutex mutex_;
  Content content_;
  std::size_t bytes_ = 0;
  std::uint64_t snapshot_wanted_for_ = 0;
};

}  // namespace shapley::client
