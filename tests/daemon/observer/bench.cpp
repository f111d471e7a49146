#include "bench.hpp"

#include <algorithm>

namespace shapley::daemon {

Observation Bench::taken(Observation observation) {
  for (const accounting::Event& event : observation.events) {
    const auto applied = state.apply(event);
    EXPECT_TRUE(applied.has_value()) << accounting::event_key(event) << ": " << (applied ? "" : applied.error().what);
    EXPECT_EQ(applied.value_or(accounting::Applied::duplicate), accounting::Applied::changed)
        << accounting::event_key(event);
    history.push_back(event);
  }
  return observation;
}

std::vector<const accounting::LiveSegment*> Bench::live(accounting::SegmentKind kind) const {
  std::vector<const accounting::LiveSegment*> found;
  const accounting::JobMemory* memory = state.find_job(JobId{7});
  if (memory == nullptr) return found;
  for (const accounting::SegmentKey& key : memory->segments) {
    const accounting::LiveSegment* segment = state.find_segment(key);
    if (key.kind == kind && segment != nullptr) found.push_back(segment);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto* a, const auto* b) { return a->opened.begin < b->opened.begin; });
  return found;
}

std::string Bench::segments(accounting::SegmentKind kind) const {
  std::string text;
  for (const accounting::LiveSegment* s : live(kind)) {
    if (!text.empty()) text += "; ";
    text += '[' + std::to_string(s->opened.begin.value) + ',' + (s->end ? std::to_string(s->end->value) : "...") + ')';
    if (kind == accounting::SegmentKind::wait) text += ' ' + std::to_string(s->opened.processors.value / k_micro);
    for (const accounting::NodeShare& share : s->opened.nodes) {
      text += ' ' + share.node + ':' + std::to_string(share.processors.value / k_micro);
    }
  }
  return text;
}

std::int64_t Bench::closed_run_seconds(std::optional<std::int64_t> start) const {
  std::int64_t sum = 0;
  for (const accounting::LiveSegment* s : live(accounting::SegmentKind::run)) {
    if (s->end && (!start || s->opened.key.anchor.value == *start)) sum += (*s->end - s->opened.begin).value;
  }
  return sum;
}

std::int64_t Bench::last_end(std::int64_t start) const {
  std::int64_t last = 0;
  for (const accounting::LiveSegment* s : live(accounting::SegmentKind::run)) {
    if (s->end && s->opened.key.anchor.value == start) last = std::max(last, s->end->value);
  }
  return last;
}

}  // namespace shapley::daemon
