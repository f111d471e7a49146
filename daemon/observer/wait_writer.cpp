#include "daemon/observer/wait_writer.hpp"

#include <algorithm>
#include <utility>

namespace shapley::daemon {

using accounting::CloseReason;
using accounting::SegmentKey;
using accounting::SegmentKind;

WaitWriter::WaitWriter(const accounting::State& state, JobId job, std::string job_state,
                       std::vector<accounting::Event>& events)
    : job_(job), job_state_(std::move(job_state)), events_(events) {
  const accounting::JobMemory* memory = state.find_job(job);
  if (memory == nullptr) return;
  known_job_ = true;
  for (const SegmentKey& key : memory->segments) {
    if (key.kind == SegmentKind::wait) keys_.push_back(key);
    const accounting::LiveSegment* live = state.find_segment(key);
    if (live == nullptr) continue;
    const Instant edge = live->end.value_or(live->opened.begin);
    last_edge_ = std::max(last_edge_.value_or(edge), edge);
    if (key.kind == SegmentKind::wait && !live->end) open_ = live;
  }
}

Instant WaitWriter::begin_of(const Pending& pending) const {
  std::optional<Instant> edge = last_edge_;
  for (const accounting::Event& event : events_) {
    if (const auto* closed = std::get_if<accounting::SegmentClosed>(&event)) {
      edge = std::max(edge.value_or(closed->end), closed->end);
    }
  }
  const Instant since = std::max(pending.eligible, pending.submit);
  // A job that the books knew not to be waiting at the previous scan cannot have waited since before it.
  const bool believable = pending.eligible.value > 0 && since <= pending.observed_at && (!edge || since >= *edge) &&
                          (!known_job_ || since >= pending.previous_scan);
  return believable ? since : pending.observed_at;
}

void WaitWriter::open(SegmentKey key, Instant begin, const Pending& pending) {
  events_.emplace_back(accounting::SegmentOpened{key, pending.organization, begin, pending.amount, {}});
}

void WaitWriter::close(Instant end, CloseReason reason) {
  events_.emplace_back(accounting::SegmentClosed{open_->opened.key, end, reason, job_state_});
}

bool WaitWriter::settle_pending(const Pending& pending) {
  if (open_ != nullptr) {
    const accounting::SegmentOpened& now = open_->opened;
    const bool same = now.processors == pending.amount && now.organization == pending.organization;
    if (same || pending.observed_at < now.begin) return true;
    if (pending.observed_at == now.begin) return false;
    close(pending.observed_at, CloseReason::changed);
    if (pending.amount.value == 0) return true;
    SegmentKey next = now.key;
    next.ordinal += 1;
    open(next, pending.observed_at, pending);
    return true;
  }
  if (pending.amount.value == 0) return true;
  if (last_edge_ && *last_edge_ > pending.observed_at) return true;
  if (last_edge_ && *last_edge_ == pending.observed_at) return false;
  SegmentKey key{SegmentKind::wait, job_, begin_of(pending), 0};
  for (const SegmentKey& old : keys_) {
    if (old.anchor == key.anchor) key.ordinal = std::max(key.ordinal, old.ordinal + 1);
  }
  open(key, key.anchor, pending);
  return true;
}

bool WaitWriter::settle_started(const Started& started) {
  if (open_ == nullptr) return true;
  const Instant begin = open_->opened.begin;
  if (started.observed_at < begin) return true;
  // A record of an earlier run, read in the very second in which the job began to wait again.
  if (started.observed_at == begin && started.start < begin) return false;
  const Instant stop = started.ran ? started.start : started.end;
  close(std::clamp(stop, begin, started.observed_at), started.ran ? CloseReason::started : CloseReason::ended);
  return true;
}

}  // namespace shapley::daemon
