#include "daemon/observer/run_writer.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/contract.hpp"

namespace shapley::daemon {

using accounting::CloseReason;
using accounting::NodeShare;

namespace {

ProcessorMillionths total(const std::vector<NodeShare>& shares) {
  ProcessorMillionths sum;
  for (const NodeShare& s : shares) sum += s.processors;
  return sum;
}

bool same_nodes(const std::vector<NodeShare>& a, const std::vector<NodeShare>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const NodeShare& x, const NodeShare& y) { return x.node == y.node; });
}

std::vector<const accounting::LiveSegment*> segments_of(const accounting::State& books, JobId job,
                                                        accounting::SegmentKind kind) {
  std::vector<const accounting::LiveSegment*> found;
  const accounting::JobMemory* memory = books.find_job(job);
  if (memory == nullptr) return found;
  for (const accounting::SegmentKey& key : memory->segments) {
    if (key.kind == kind) found.push_back(books.find_segment(key));
  }
  return found;
}

}  // namespace

std::vector<const accounting::LiveSegment*> runs_of(const accounting::State& books, JobId job) {
  return segments_of(books, job, accounting::SegmentKind::run);
}

std::vector<const accounting::LiveSegment*> waits_of(const accounting::State& books, JobId job) {
  return segments_of(books, job, accounting::SegmentKind::wait);
}

RunWriter::RunWriter(const accounting::State& state, const std::vector<PastSegment>& past, Observed run,
                     std::vector<accounting::Event>& out)
    : run_(std::move(run)), out_(out) {
  remember(state);
  remember(past);
  std::stable_sort(segments_.begin(), segments_.end(),
                   [](const Segment& a, const Segment& b) { return a.begin < b.begin; });
  keep_charge();
}

void RunWriter::keep_charge() {
  if (segments_.empty()) return;
  const Segment& last = segments_.back();
  const bool holds_the_same =
      std::equal(last.shares.begin(), last.shares.end(), run_.shares.begin(), run_.shares.end(),
                 [](const NodeShare& a, const NodeShare& b) { return a.node == b.node && a.cpus == b.cpus; });
  if (holds_the_same && (!run_.resized || *run_.resized <= last.begin)) run_.shares = last.shares;
}

void RunWriter::remember(const accounting::State& state) {
  const accounting::JobMemory* memory = state.find_job(run_.job);
  if (memory == nullptr) return;
  for (const accounting::LiveSegment* live : runs_of(state, run_.job)) {
    const accounting::SegmentKey& key = live->opened.key;
    if (key.anchor != run_.start) continue;
    next_ordinal_ = std::max(next_ordinal_, key.ordinal + 1);
    segments_.push_back({key, live->opened.begin, live->end, live->opened.nodes});
    // A run keeps the organization and the placement with which it started, whatever its account is now.
    run_.organization = live->opened.organization;
    run_.placement = live->opened.placement;
    if (!live->opened.released) continue;
    run_.released = live->opened.released;
    run_.waited_as = live->opened.waited_as;
  }
  for (const accounting::RetractedSegment& taken : memory->retracted) {
    if (taken.key.kind != accounting::SegmentKind::run || taken.key.anchor != run_.start) continue;
    next_ordinal_ = std::max(next_ordinal_, taken.key.ordinal + 1);
    retracted_at_ = std::max(retracted_at_.value_or(taken.at), taken.at);
  }
}

void RunWriter::remember(const std::vector<PastSegment>& past) {
  for (const PastSegment& p : past) {
    next_ordinal_ = std::max(next_ordinal_, p.ordinal + 1);
    const accounting::SegmentKey key{accounting::SegmentKind::run, run_.job, run_.start, p.ordinal};
    const bool known = std::any_of(segments_.begin(), segments_.end(), [&](const Segment& s) { return s.key == key; });
    if (p.retracted || known) continue;
    segments_.push_back({key, p.begin, p.end, {}});
    run_.organization = p.organization;
  }
}

const RunWriter::Segment* RunWriter::open_segment() const {
  const auto found = std::find_if(segments_.begin(), segments_.end(), is_open_segment);
  return found == segments_.end() ? nullptr : &*found;
}

bool RunWriter::is_open() const {
  return open_segment() != nullptr;
}

Instant RunWriter::open_begin() const {
  SHAPLEY_REQUIRE(is_open());
  return open_segment()->begin;
}

std::optional<Instant> RunWriter::last_edge() const {
  std::optional<Instant> edge = latest_end();
  if (retracted_at_) edge = std::max(edge.value_or(*retracted_at_), *retracted_at_);
  for (const Segment& s : segments_) edge = std::max(edge.value_or(s.begin), s.begin);
  return edge;
}

std::optional<Instant> RunWriter::latest_end() const {
  std::optional<Instant> latest;
  for (const Segment& s : segments_) {
    if (s.end) latest = std::max(latest.value_or(*s.end), *s.end);
  }
  return latest;
}

Duration RunWriter::seconds_within(Instant from, Instant to) const {
  Duration sum;
  for (const Segment& s : segments_) {
    const Instant begin = std::max(from, s.begin);
    const Instant end = std::min(to, s.end.value_or(to));
    if (begin < end) sum += end - begin;
  }
  return sum;
}

Int128 RunWriter::work_until(Instant to) const {
  Int128 work = 0;
  for (const Segment& s : segments_) {
    const Instant end = std::min(to, s.end.value_or(to));
    if (s.begin < end) work += Int128{total(s.shares).value} * (end - s.begin).value;
  }
  return work;
}

const std::vector<NodeShare>& RunWriter::shares_before_resize() const {
  const std::vector<NodeShare>* before = &run_.shares;
  for (const Segment& s : segments_) {
    if (run_.resized && s.begin < *run_.resized && !s.shares.empty()) before = &s.shares;
  }
  return *before;
}

// Whether, as far as it is known, the run's first segment begins at `begin`.
bool RunWriter::is_first(Instant begin) const {
  return std::none_of(segments_.begin(), segments_.end(), [&](const Segment& s) { return s.begin <= begin; });
}

bool RunWriter::resized_within(Instant from, Instant to) const {
  return run_.resized && from < *run_.resized && *run_.resized < to && !run_.shares.empty() &&
         shares_before_resize() != run_.shares;
}

void RunWriter::add(Instant begin, std::optional<Instant> end, CloseReason reason,
                    const std::vector<NodeShare>& shares) {
  if (!shares.empty() && (!end || *end > begin)) emit(begin, end, reason, shares);
}

void RunWriter::emit(Instant begin, std::optional<Instant> end, CloseReason reason,
                     const std::vector<NodeShare>& shares) {
  const accounting::SegmentKey key{accounting::SegmentKind::run, run_.job, run_.start, next_ordinal_++};
  accounting::SegmentOpened opened{key, run_.organization, begin, total(shares), shares, run_.placement};
  if (run_.released && is_first(begin)) {
    opened.released = std::min(*run_.released, begin);
    opened.waited_as = run_.waited_as;
  }
  out_.emplace_back(std::move(opened));
  if (end) out_.emplace_back(accounting::SegmentClosed{key, *end, reason, run_.job_state});
  const auto later = std::upper_bound(segments_.begin(), segments_.end(), begin,
                                      [](Instant b, const Segment& s) { return b < s.begin; });
  segments_.insert(later, Segment{key, begin, end, shares});
}

void RunWriter::add_closed(Instant begin, Instant end, CloseReason reason) {
  const std::vector<NodeShare> before = shares_before_resize();
  if (resized_within(begin, end)) {
    add(begin, *run_.resized, CloseReason::resized, before);
    add(*run_.resized, end, reason, run_.shares);
    return;
  }
  const bool still_before = run_.resized && end <= *run_.resized;
  add(begin, end, reason, still_before ? before : run_.shares);
}

void RunWriter::close(Instant end, CloseReason reason) {
  SHAPLEY_REQUIRE(is_open());
  const auto open = std::find_if(segments_.begin(), segments_.end(), is_open_segment);
  end = std::max(end, open->begin);
  const bool cut = resized_within(open->begin, end) && open->shares != run_.shares;
  const Instant stop = cut ? *run_.resized : end;
  open->end = stop;
  out_.emplace_back(accounting::SegmentClosed{open->key, stop, cut ? CloseReason::resized : reason, run_.job_state});
  if (cut) add(stop, end, reason, run_.shares);
}

void RunWriter::open(Instant begin) {
  SHAPLEY_REQUIRE(!is_open());
  if (resized_within(begin, k_end_of_time)) {
    const std::vector<NodeShare> before = shares_before_resize();
    add(begin, *run_.resized, CloseReason::resized, before);
    begin = *run_.resized;
  }
  add(begin, std::nullopt, CloseReason::ended, run_.shares);
}

void RunWriter::apply_resize(Instant observed_at) {
  const Segment* segment = open_segment();
  if (segment == nullptr || !run_.resized || run_.shares.empty() || segment->shares == run_.shares) return;
  if (*run_.resized > observed_at || *run_.resized < segment->begin) return;
  // Resized in the second in which the segment began: shares of another weighting must not rewrite it.
  if (*run_.resized == segment->begin && same_nodes(segment->shares, run_.shares)) return;
  close(*run_.resized, CloseReason::resized);
  open(*run_.resized);
}

Duration RunWriter::fill(Instant from, Instant to, Duration seconds, CloseReason reason) {
  std::vector<std::pair<Instant, Instant>> gaps;  // latest first
  Instant free_to = to;
  for (auto s = segments_.rbegin(); s != segments_.rend(); ++s) {
    if (s->begin >= to) continue;
    const Instant free_from = std::max(from, s->end.value_or(to));
    if (free_from < free_to) gaps.emplace_back(free_from, free_to);
    free_to = std::min(free_to, s->begin);
  }
  if (from < free_to) gaps.emplace_back(from, free_to);
  for (const auto& [begin, end] : gaps) {
    const Duration taken = std::min(seconds, end - begin);
    if (taken.value <= 0) continue;
    add_closed(begin, begin + taken, reason);
    seconds -= taken;
  }
  return seconds;
}

void RunWriter::retract(const Segment& segment, Instant at) {
  out_.emplace_back(accounting::SegmentRetracted{segment.key, at});
  std::erase_if(segments_, [&](const Segment& s) { return s.key == segment.key; });
}

void RunWriter::retract_seconds(Instant from, Instant to, Duration seconds, Instant at, CloseReason reason) {
  const std::vector<Segment> before = segments_;
  for (auto s = before.rbegin(); s != before.rend() && seconds.value > 0; ++s) {
    if (!s->end || s->shares.empty()) continue;
    const Instant stop = std::min(*s->end, to);
    const Duration taken = std::min(seconds, stop - std::max(s->begin, from));
    if (taken.value <= 0) continue;
    retract(*s, at);
    add(s->begin, stop - taken, reason, s->shares);
    add(stop, *s->end, reason, s->shares);
    seconds -= taken;
  }
}

void RunWriter::retract_after(Instant last, Instant at, CloseReason reason) {
  const std::vector<Segment> before = segments_;
  for (const Segment& s : before) {
    if (!s.end && s.begin > last) retract(s, at);
    if (!s.end || *s.end <= last || s.shares.empty()) continue;
    retract(s, at);
    add(s.begin, last, reason, s.shares);
  }
}

void RunWriter::mark_end(Instant end, CloseReason reason) {
  if (run_.shares.empty()) return;
  if (segments_.empty() && run_.start < end) emit(run_.start, run_.start, CloseReason::suspended, run_.shares);
  const std::optional<Instant> known = latest_end();
  if (known && *known < end) emit(end, end, reason, run_.shares);
}

bool RunWriter::is_elsewhere(bool is_live) const {
  if (run_.resized || segments_.empty()) return false;
  const std::vector<NodeShare>& known = segments_.front().shares;
  if (known.empty()) return false;
  const bool tells_amounts = is_live || run_.shares.size() < known.size();
  return std::any_of(run_.shares.begin(), run_.shares.end(), [&](const NodeShare& share) {
    return std::none_of(known.begin(), known.end(), [&](const NodeShare& k) {
      return k.node == share.node && (!tells_amounts || k.cpus == 0 || share.cpus <= k.cpus);
    });
  });
}

void RunWriter::retract(Instant at) {
  for (const Segment& s : segments_) out_.emplace_back(accounting::SegmentRetracted{s.key, at});
  segments_.clear();
}

LostRuns& LostRuns::operator+=(const LostRuns& other) {
  closed += other.closed;
  retracted += other.retracted;
  closed_work += other.closed_work;
  retracted_work += other.retracted_work;
  return *this;
}

LostRuns lose_run(RunWriter& run, Instant start, Instant last_look, Instant at) {
  SHAPLEY_REQUIRE(run.is_open());
  // Books that have its start saw it then, whatever a file beside a ledger that was exchanged says.
  last_look = std::max(last_look, start);
  at = std::max(at, start);
  if (start >= last_look - k_few_saves) {
    const Int128 work = run.work_until(last_look);
    run.retract(at);
    return {.retracted = 1, .retracted_work = work};
  }
  run.close(last_look, accounting::CloseReason::vanished);
  return {.closed = 1, .closed_work = run.work_until(last_look)};
}

accounting::StateLost loss_of(const LostRuns& lost, Instant at, Instant seen) {
  const auto seconds = [](Int128 work) { return static_cast<std::int64_t>(work / k_micro); };
  return {.at = at,
          .seen = seen,
          .closed = lost.closed,
          .closed_seconds = seconds(lost.closed_work),
          .retracted = lost.retracted,
          .retracted_seconds = seconds(lost.retracted_work)};
}

std::string what_becomes_of(const LostRuns& lost, Instant last_look) {
  return lost.closed > 0 ? fmt::format("is counted until {}, when it was seen last", last_look.value) : "is retracted";
}

}  // namespace shapley::daemon
