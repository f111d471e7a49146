#include "plugin/client/delivery/inbox.hpp"

#include <utility>

namespace shapley::client {

void Inbox::push(ScanChunk&& chunk) {
  std::deque<ScanChunk> discarded;  // destroyed after the mutex is free again
  {
    const std::lock_guard lock(mutex_);
    if (chunk.first && bytes_ > max_bytes_) {
      discarded.swap(content_.chunks);
      bytes_ = 0;
      content_.lost = true;
    }
    const std::size_t bytes = chunk.bytes;
    content_.chunks.push_back(std::move(chunk));
    bytes_ += bytes;
  }
  event_.signal();
}

void Inbox::note_scan(std::int64_t observed_at) {
  const std::lock_guard lock(mutex_);
  content_.scanned_at = observed_at;
}

void Inbox::mark_lost() {
  {
    const std::lock_guard lock(mutex_);
    content_.lost = true;
  }
  event_.signal();
}

std::uint64_t Inbox::snapshot_wanted_for() const {
  const std::lock_guard lock(mutex_);
  return snapshot_wanted_for_;
}

void Inbox::snapshot_taken_for(std::uint64_t connection) {
  const std::lock_guard lock(mutex_);
  if (snapshot_wanted_for_ == connection) snapshot_wanted_for_ = 0;
}

Inbox::Content Inbox::take() {
  Content taken;
  const std::lock_guard lock(mutex_);
  std::swap(taken, content_);
  content_.scanned_at = taken.scanned_at;
  taken.snapshot_wanted = snapshot_wanted_for_ != 0;
  bytes_ = 0;
  return taken;
}

void Inbox::want_snapshot_for(std::uint64_t connection) {
  const std::lock_guard lock(mutex_);
  snapshot_wanted_for_ = connection;
}

}  // namespace shapley::client
