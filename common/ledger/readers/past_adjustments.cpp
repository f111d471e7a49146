#include "ledger/readers/past_adjustments.hpp"

#include <algorithm>
#include <variant>

namespace shapley::ledger {

using accounting::AdjustmentMade;
using accounting::Event;
using accounting::OwnershipStated;
using accounting::SegmentClosed;
using accounting::SegmentKind;
using accounting::SegmentOpened;

bool PastAdjustment::concerns(Instant since, Instant until) const {
  if (made.at <= since) return false;
  return !made_after(until) || (from < until && to > since);
}

void AdjustmentReader::note(const Event& event) {
  if (const auto* made = std::get_if<AdjustmentMade>(&event)) {
    all_.push_back({.made = *made});
    facts_left_ = made->facts;
    reached_.reset();
    open_.clear();
    return;
  }
  if (facts_left_ == 0) return;
  note_fact(event);
  if (--facts_left_ == 0) end_facts();
}

void AdjustmentReader::note_fact(const Event& fact) {
  if (const auto* opened = std::get_if<SegmentOpened>(&fact)) {
    reach(opened->begin, opened->begin);
    open_[opened->key] = {.begin = opened->begin, .processors = opened->processors};
  } else if (const auto* closed = std::get_if<SegmentClosed>(&fact)) {
    reach(closed->end, closed->end);
    const auto found = open_.find(closed->key);
    if (found == open_.end()) return;
    const OpenRun run = found->second;
    open_.erase(found);
    if (closed->key.kind != SegmentKind::run) return;
    PastAdjustment& last = all_.back();
    const Instant end = std::min(closed->end, std::max(last.made.at, run.begin));
    last.work = last.work.value_or(CpuTime{}) + run.processors * (end - run.begin);
  } else if (const auto* owned = std::get_if<OwnershipStated>(&fact)) {
    reach(owned->effective, owned->effective);
  }
}

void AdjustmentReader::reach(Instant from, Instant to) {
  if (!reached_) reached_ = {from, to};
  reached_->first = std::min(reached_->first, from);
  reached_->second = std::max(reached_->second, to);
}

void AdjustmentReader::end_facts() {
  PastAdjustment& last = all_.back();
  for (const auto& [key, run] : open_) {
    if (key.kind != SegmentKind::run) continue;
    last.work = last.work.value_or(CpuTime{}) + run.processors * (std::max(last.made.at, run.begin) - run.begin);
  }
  if (!reached_) return;
  last.from = reached_->first;
  // One instant alone is where a statement of owners begins that holds from then on.
  if (open_.empty() && reached_->second > reached_->first) last.to = reached_->second;
}

}  // namespace shapley::ledger
