// Which places of the line are put in order after a scan, and which keep the labels of an earlier one.
#include <algorithm>
#include <utility>

#include "plugin/client/places/places.hpp"

namespace shapley::client {

namespace {

// If nothing started or ended for this time, or for so many times the usual time between two ends, the whole line is
// corrected; and again whenever it has been quiet twice as long as at the last time, or for the longest time since.
// Meanwhile the first places are right after every scan: so many runs may end before the next one.
constexpr std::int64_t k_least_quiet_ms = 2'000;
constexpr std::int64_t k_longest_quiet_ms = 30'000;
constexpr std::int64_t k_quiet_intervals = 8;
constexpr std::size_t k_quiet_depth = 8;
// What waits for its nodes to come back starts by no place until then, and each start and end would move it. So after
// starts and ends its places are put in order with the others only when so many of these are.
constexpr std::size_t k_depth_of_absent = 64;

}  // namespace

void Places::count_events() {
  std::int64_t ended = 0;
  for (std::size_t i = 0, j = 0; i < runs_.size() || j < runs_before_.size();) {
    const bool has_ended = i == runs_.size() || (j < runs_before_.size() && runs_before_[j].job_id < runs_[i].job_id);
    const bool has_started = j == runs_before_.size() || (i < runs_.size() && runs_[i].job_id < runs_before_[j].job_id);
    if (has_ended) {
      freed_ += runs_before_[j++].blocked;
      ++ended;
    } else if (has_started) {
      freed_ -= runs_[i++].blocked;
    } else {
      ++i, ++j;
    }
    if (has_ended || has_started) ++decisions_.events;
  }
  freed_ = std::max<std::int64_t>(freed_, 0);
  // A start follows the end that makes it possible at once, and says nothing of the time to the next one.
  if (ended > 0) {
    const std::int64_t interval = (now_ms_ - last_end_ms_) / ended;
    interval_ms_ = last_end_ms_ == 0 ? 0 : (15 * interval_ms_ + std::min(interval, k_longest_quiet_ms)) / 16;
    last_end_ms_ = now_ms_;
  }
  if (decisions_.events > 0) {
    last_event_ms_ = now_ms_;
    events_ += decisions_.events;
  }
  runs_before_ = runs_;
}

bool Places::waits_for_nodes(const Entry& entry) const {
  return in_line_[entry.job].waiting->hindrance == SHAPLEY_HINDRANCE_NODES;
}

bool Places::counts_in_depth(const Entry& entry) const {
  return decisions_.events == 0 || !waits_for_nodes(entry);
}

// One pass serves as many places as there is room for, however many runs ended before it.
std::size_t Places::depth(std::span<const Entry> in_line) {
  const bool is_whole = is_due(now_ms_) || whole_is_due_;
  whole_is_due_ = false;
  const std::uint64_t looked_at = std::exchange(events_looked_at_, events_);
  if (is_whole) {
    freed_ = 0;
    whole_ms_ = now_ms_;
    return k_whole_line;
  }
  std::size_t served = 0;
  std::int64_t left = freed_;
  for (std::size_t i = 0; left > 0 && i < in_line.size(); ++i) {
    if (counts_in_depth(in_line[i])) ++served;
    if (!waits_for_nodes(in_line[i])) left -= in_line_[in_line[i].job].blocked;
  }
  // Leads may have changed without a start or an end.
  return std::max({depth_after(looked_at, events_), served, is_quiet(now_ms_) ? k_quiet_depth : 1});
}

std::vector<std::uint32_t> Places::put_in_order(std::span<const Entry> in_line, LabelRange range) {
  std::vector<std::uint32_t> labels;
  labels.reserve(in_line.size());
  for (const Entry& entry : in_line) {
    labels.push_back(entry.is_split ? k_no_label : in_line_[entry.job].waiting->label);
  }
  const std::size_t counted_depth = depth(in_line);
  const bool leaves_absent = decisions_.events > 0 && counted_depth < k_depth_of_absent;
  std::vector<std::size_t> looked_at;  // of in_line
  std::vector<std::uint32_t> old_labels;
  std::size_t counted = 0;
  std::size_t line_depth = 0;
  for (std::size_t i = 0; i < in_line.size(); ++i) {
    const bool has_label = labels[i] >= range.first && labels[i] < range.end;
    if (leaves_absent && has_label && waits_for_nodes(in_line[i])) continue;
    looked_at.push_back(i);
    old_labels.push_back(labels[i]);
    if (counted < counted_depth) line_depth = looked_at.size();
    counted += counts_in_depth(in_line[i]) ? 1 : 0;
  }
  decisions_.looked_at = line_depth;
  unfinished_ = line_depth < in_line.size();
  const std::vector<std::uint32_t> wanted = relabel(old_labels, range, line_depth);
  for (std::size_t i = 0; i < wanted.size(); ++i) labels[looked_at[i]] = wanted[i];
  return labels;
}

bool Places::is_quiet(std::int64_t now_ms) const {
  return now_ms - last_event_ms_ >= std::clamp(k_quiet_intervals * interval_ms_, k_least_quiet_ms, k_longest_quiet_ms);
}

bool Places::is_due(std::int64_t now_ms) const {
  const std::int64_t again = std::min(whole_ms_ - last_event_ms_, k_longest_quiet_ms);
  return unfinished_ && is_quiet(now_ms) && now_ms - whole_ms_ >= again;
}

// Behind the part of the line that is corrected an older job may have the label of an earlier line, and a new one its
// true place: within an organization a job's label is at most those of the jobs before it.
void Places::keep_own_order(std::span<const Entry> entries, const NodeSetTable& sets,
                            std::vector<std::uint32_t>& labels) const {
  struct Least {
    NodeSetId nodes = 0;
    enum shapley_hindrance hindrance = SHAPLEY_HINDRANCE_NONE;
    std::uint32_t label = k_no_label;
  };
  std::vector<std::vector<Least>> least(ranking_.contenders.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const InLine& job = in_line_[entries[i].job];
    const enum shapley_hindrance hindrance = job.waiting->hindrance;
    std::vector<Least>& own = least[job.waiting->organization];
    Least* same = nullptr;
    for (Least& other : own) {
      const bool counts = other.hindrance <= hindrance && sets.overlap(other.nodes, job.nodes);
      if (counts) labels[i] = std::min(labels[i], other.label);
      if (other.nodes == job.nodes && other.hindrance == hindrance) same = &other;
    }
    if (same == nullptr) same = &own.emplace_back(Least{job.nodes, hindrance, labels[i]});
    same->label = std::min(same->label, labels[i]);
  }
}

}  // namespace shapley::client
