// One nonblocking connection to shapleyd's Unix socket (the feeder thread's). No call waits.
//
// The listener must run as root or as our own user: any other user who could bind the path would learn of every job and
// could order the jobs. Errors: Errc::io and Errc::unavailable mean that the daemon is away or went away, every other
// code that something else answers there.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/mutex.hpp"
#include "base/process.hpp"
#include "plugin/client/shapley_client.h"
#include "protocol/codec.hpp"
#include "protocol/messages.hpp"

namespace shapley::client {

class Connection {
 public:
  [[nodiscard]] static Expected<Connection> open(const std::string& path);

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  // REQUIRES: !is_writing(). The write buffer holds one frame only, so a daemon that does not read costs no memory.
  void start_writing(std::string frame);
  [[nodiscard]] bool is_writing() const { return written_ < frame_.size(); }
  // Continues writing the frame as far as the socket accepts it.
  [[nodiscard]] Expected<void> write_some();
  // Reads once and appends the messages that are complete. Errc::unavailable when the daemon closed.
  [[nodiscard]] Expected<void> read_some(std::vector<protocol::Message>& messages);

 private:
  explicit Connection(Descriptor socket) : socket_(std::move(socket)) {}

  Descriptor socket_;
  // Ranks and rules of some ten thousand organizations fit; nothing larger has a meaning here.
  protocol::FrameReader reader_{8U << 20U};
  std::string frame_;
  std::size_t written_ = 0;
};

// The scanning thread's wake-up signal: it sleeps until there is something to do, and remembers what happened while it
// was awake. Any thread; stop stays set.

// A hint is noticed after this time at most.
inline constexpr std::chrono::milliseconds k_hint_delay{50};

class WakeUpSignal {
 public:
  // Called by slurmctld's threads, under its locks: a store, no system call. So it wakes no thread; the sleeping thread
  // polls for hints.
  void hint() { hinted_ = true; }
  void ranks_changed() { raise(&WakeUpSignal::ranks_); }
  void stop() { raise(&WakeUpSignal::stopped_); }

  // Takes and returns the most urgent reason (stop stays set): stop, then ranks, then hint, else the tick.
  [[nodiscard]] enum shapley_wake wait(std::chrono::milliseconds timeout);

 private:
  void raise(bool WakeUpSignal::*flag);

  Mutex mutex_;
  std::condition_variable_any changed_;
  std::atomic<bool> hinted_ = false;
  bool ranks_ SHAPLEY_GUARDED_BY(mutex_) = false;
  bool stopped_ SHAPLEY_GUARDED_BY(mutex_) = false;
};

// An eventfd that wakes the thread which sleeps in poll(2) on it. signal() neither blocks nor allocates, from any
// thread; it stays set until clear().
class EventDescriptor {
 public:
  EventDescriptor() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  [[nodiscard]] bool is_open() const { return event_.is_open(); }
  [[nodiscard]] int descriptor() const { return event_.get(); }
  void signal() {
    const std::uint64_t one = 1;
    // EAGAIN means the counter is at its maximum: it is set already.
    [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
  }
  void clear() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(event_.get(), &count, sizeof count);
  }

 private:
  Descriptor event_;
};

// What the scanning thread passes to the feeder thread, and the request for a snapshot in the other direction.
//
// The mutex is held for a move or a flag only, never during I/O, so the scanning thread, which may hold slurmctld's
// locks, waits for microseconds at most. The queue is bounded: when the feeder is blocked (a hanging disk) and more
// than `max_bytes` wait, they are discarded before the next scan's first piece, and the feeder is notified. So the
// memory is at most max_bytes plus one scan.

// Whether there is anything to send.
[[nodiscard]] inline bool tells_anything(const protocol::Observations& changes) {
  return !(changes.jobs.empty() && changes.nodes.empty() && changes.gone.empty() && changes.gone_nodes.empty() &&
           changes.privacy.empty());
}

// A piece of one scan's changes, small enough for one message.
struct ScanChunk {
  std::uint64_t snapshot_for = 0;  // number of the connection this full scan was made for; 0: changes only
  std::uint64_t scan = 0;          // number of its scan
  bool first = false;              // the first one of its scan
  bool last = false;
  bool complete = true;            // in the last chunk: the scan read all records
  protocol::Observations changes;  // without sequence
  std::size_t bytes = 0;           // approximate memory
};

class Inbox {
 public:
  Inbox(std::size_t max_bytes, EventDescriptor& event) : max_bytes_(max_bytes), event_(event) {}

  // Scanning thread.
  void push(ScanChunk&& chunk);
  // Notes a scan that read all records and pushed its chunks; `observed_at`: wall clock of its begin.
  void note_scan(std::int64_t observed_at);
  // Notes that changes were lost because memory was exhausted; only a fresh snapshot can replace them.
  void mark_lost();
  [[nodiscard]] std::uint64_t snapshot_wanted_for() const;
  void snapshot_taken_for(std::uint64_t connection);

  // Feeder thread.
  struct Content {
    std::deque<ScanChunk> chunks;
    bool lost = false;
    std::int64_t scanned_at = 0;  // the last noted scan; all of its chunks were taken. 0: none was noted
    bool snapshot_wanted = false;
  };
  [[nodiscard]] Content take();
  // Asks the next scan for all records. 0: withdraws the request.
  void want_snapshot_for(std::uint64_t connection);

 private:
  const std::size_t max_bytes_;
  EventDescriptor& event_;
  mutable Mutex mutex_;
  Content content_ SHAPLEY_GUARDED_BY(mutex_);
  std::size_t bytes_ SHAPLEY_GUARDED_BY(mutex_) = 0;
  std::uint64_t snapshot_wanted_for_ SHAPLEY_GUARDED_BY(mutex_) = 0;
};

}  // namespace shapley::client
