#include "daemon/observer/wait_writer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "accounting/events/event_check.hpp"
#include "daemon/observer/run_writer.hpp"

namespace shapley::daemon {

using accounting::CloseReason;
using accounting::SegmentKey;
using accounting::SegmentKind;

WaitWriter::WaitWriter(const accounting::State& state, Job job, std::vector<accounting::Event>& events)
    : job_(std::move(job)), out_(events), horizon_(state.memory_horizon()) {
  remember(state);
  remember_runs();
  if (job_.is_array) remember_tasks(state);
}

void WaitWriter::remember(const accounting::State& state) {
  const accounting::JobMemory* memory = state.find_job(job_.id);
  if (memory == nullptr) return;
  known_job_ = true;
  wait_ended_ = memory->wait_ended;
  const auto note_edge = [this](Instant edge) { last_edge_ = std::max(last_edge_.value_or(edge), edge); };
  for (const accounting::LiveSegment* live : runs_of(state, job_.id)) {
    run_keys_.insert(live->opened.key);
    note_edge(live->end.value_or(live->opened.begin));
  }
  for (const accounting::LiveSegment* live : waits_of(state, job_.id)) {
    const accounting::SegmentOpened& opened = live->opened;
    used_.insert(opened.key);
    note_edge(live->end.value_or(opened.begin));
    waits_.push_back({opened.key, opened.organization, opened.begin, live->end, opened.processors, opened.placement});
  }
  for (const accounting::RetractedSegment& taken : memory->retracted) {
    if (taken.key.kind == SegmentKind::run) continue;
    used_.insert(taken.key);
    note_edge(taken.at);
  }
}

void WaitWriter::remember_runs() {
  for (const accounting::Event& event : out_) {
    if (const auto* opened = std::get_if<accounting::SegmentOpened>(&event)) run_keys_.insert(opened->key);
    if (const auto* taken = std::get_if<accounting::SegmentRetracted>(&event)) run_keys_.erase(taken->key);
  }
  for (const SegmentKey& key : run_keys_) {
    if (key.anchor > last_run_) previous_run_ = std::exchange(last_run_, key.anchor);
  }
}

void WaitWriter::remember_tasks(const accounting::State& state) {
  for (const JobId task : state.tasks_of(job_.id)) {
    const std::vector<const accounting::LiveSegment*> runs = runs_of(state, task);
    if (runs.empty()) continue;
    const accounting::SegmentOpened& first = runs.front()->opened;
    // A task that waited by itself, split off by an update, had left the array's record before it started.
    const bool waited = std::ranges::any_of(waits_of(state, task), [&](const accounting::LiveSegment* wait) {
      return wait->opened.key.anchor < first.key.anchor;
    });
    if (!waited) task_starts_[first.organization].push_back(first.key.anchor);
  }
  for (auto& [organization, starts] : task_starts_) std::sort(starts.begin(), starts.end());
}

WaitWriter::Wait* WaitWriter::open_wait() {
  const auto open = std::find_if(waits_.begin(), waits_.end(), [](const Wait& wait) { return !wait.end; });
  return open == waits_.end() ? nullptr : &*open;
}

WaitWriter::Wait& WaitWriter::wait_of(const SegmentKey& key) {
  return *std::find_if(waits_.begin(), waits_.end(), [&](const Wait& wait) { return wait.key == key; });
}

Instant WaitWriter::begin_of(const Pending& pending) const {
  std::optional<Instant> edge = last_edge_;
  for (const accounting::Event& event : out_) {
    if (const auto* closed = std::get_if<accounting::SegmentClosed>(&event)) {
      edge = std::max(edge.value_or(closed->end), closed->end);
    }
  }
  const Instant since = std::max(pending.eligible, pending.submit);
  // A job that, by the books, did not wait at the previous scan cannot have waited since before it. For times before
  // the horizon the books no longer know whether it waited.
  const bool believable = pending.eligible.value > 0 && since <= pending.observed_at && (!edge || since >= *edge) &&
                          (!known_job_ || since >= pending.previous_scan) && since >= horizon_ &&
                          (!pending.reliable_since || since > *pending.reliable_since);
  return believable ? since : pending.observed_at;
}

SegmentKey WaitWriter::next_key(Instant anchor) const {
  SegmentKey key{SegmentKind::wait, job_.id, anchor, 0};
  for (auto used = used_.lower_bound(key); used != used_.end() && used->anchor == anchor; ++used) {
    key.ordinal = used->ordinal + 1;
  }
  return key;
}

std::int64_t WaitWriter::tasks_started_after(const Wait& wait) const {
  const auto found = task_starts_.find(wait.organization);
  if (found == task_starts_.end()) return 0;
  const std::vector<Instant>& starts = found->second;
  return starts.end() - std::upper_bound(starts.begin(), starts.end(), wait.begin);
}

ProcessorMillionths WaitWriter::kept_of(const Wait& wait, std::int64_t own_starts,
                                        ProcessorMillionths outstanding) const {
  const bool moved = !job_.organization.empty() && wait.organization != job_.organization;
  const Int128 tasks = (moved ? 0 : own_starts) + tasks_started_after(wait);
  const Int128 kept = job_.task.value * tasks + (moved ? 0 : outstanding.value);
  const Int128 most = std::min<Int128>(kept, accounting::k_max_wanted.value);
  return std::min(wait.amount, ProcessorMillionths{static_cast<std::int64_t>(most)});
}

void WaitWriter::open(Wait wait) {
  accounting::SegmentOpened opened{wait.key, wait.organization, wait.begin, wait.amount, {}, wait.placement};
  opened.waited_as = job_.waits_as;
  const std::int64_t task = job_.task.value;
  if (job_.is_array && task > 0 && wait.amount.value % task == 0 && wait.amount.value > task)
    opened.tasks = static_cast<std::uint32_t>(wait.amount.value / task);
  own_.emplace_back(std::move(opened));
  if (wait.end) {
    own_.emplace_back(accounting::SegmentClosed{wait.key, *wait.end, CloseReason::changed, job_.slurm_state});
  }
  used_.insert(wait.key);
  waits_.push_back(std::move(wait));
}

void WaitWriter::close(Wait& wait, Instant end, CloseReason reason) {
  wait.end = end;
  own_.emplace_back(accounting::SegmentClosed{wait.key, end, reason, job_.slurm_state});
}

void WaitWriter::note_end(Instant end, const Started& started) {
  // What is older than the horizon is in the books or is not worth a replay.
  if (end < horizon_ || (wait_ended_ && *wait_ended_ >= end)) return;
  const SegmentKey key = next_key(end);
  const Asked& asked = started.asked;
  own_.emplace_back(accounting::SegmentOpened{key, asked.organization, end, asked.amount, {}, asked.placement});
  own_.emplace_back(accounting::SegmentClosed{key, end, CloseReason::ended, job_.slurm_state});
  own_.emplace_back(accounting::SegmentRetracted{key, std::max(end, started.observed_at)});
}

// What stays is opened before the wait ends or is retracted: what runs was seen to wait all the time, which the books
// may not be able to correct later (Estimator::is_too_old).
void WaitWriter::reduce(const SegmentKey& key, ProcessorMillionths amount, const Withdrawal& withdrawal) {
  const Wait before = wait_of(key);
  const bool is_open = !before.end;
  Wait rest = before;
  rest.key = next_key(before.key.anchor);
  rest.amount = amount;
  if (before.begin < horizon_) {
    // Retracting it would replay all events. An open one is cut at the horizon.
    if (!is_open) return;
    rest.begin = std::max(before.begin, std::min(horizon_, withdrawal.end));
    const Instant cut = rest.begin;
    if (amount.value > 0) open(std::move(rest));
    close(wait_of(key), cut, withdrawal.reason);
    return;
  }
  // If nothing stays, auditors still find when and how it ended.
  if (is_open && amount.value == 0) close(wait_of(key), std::max(before.begin, withdrawal.end), withdrawal.reason);
  if (amount.value > 0) open(std::move(rest));
  own_.emplace_back(accounting::SegmentRetracted{key, std::max(before.begin, withdrawal.at)});
  std::erase_if(waits_, [&](const Wait& w) { return w.key == key; });
}

void WaitWriter::take_back(Instant from, Instant to, std::int64_t own_starts, ProcessorMillionths outstanding,
                           const Withdrawal& withdrawal) {
  std::vector<SegmentKey> excessive;
  for (const Wait& wait : waits_) {
    if (wait.begin < from || wait.begin >= to || wait.end == wait.begin) continue;
    if (kept_of(wait, own_starts, outstanding) < wait.amount) excessive.push_back(wait.key);
  }
  for (const SegmentKey& key : excessive) {
    reduce(key, kept_of(wait_of(key), own_starts, outstanding), withdrawal);
  }
}

// Opens, closes or changes the wait so that it equals the record's present request. `stretch`: of a wait that was open.
void WaitWriter::follow(const Pending& pending, const std::optional<SegmentKey>& stretch) {
  if (Wait* open_now = open_wait()) {
    if (open_now->amount == pending.amount && open_now->organization == job_.organization &&
        open_now->placement == pending.placement) {
      return;
    }
    close(*open_now, pending.observed_at, CloseReason::changed);
  }
  if (pending.amount.value == 0) return;
  const Instant begin = stretch ? pending.observed_at : begin_of(pending);
  open({.key = next_key(stretch ? stretch->anchor : begin),
        .organization = job_.organization,
        .begin = begin,
        .end = std::nullopt,
        .amount = pending.amount,
        .placement = pending.placement});
}

void WaitWriter::hand_over() {
  out_.insert(out_.end(), std::make_move_iterator(own_.begin()), std::make_move_iterator(own_.end()));
}

bool WaitWriter::follow_pending(const Pending& pending) {
  if (last_edge_ && *last_edge_ > pending.observed_at) return true;
  std::optional<SegmentKey> stretch;
  ProcessorMillionths before;
  if (const Wait* open = open_wait()) {
    stretch = open->key;
    before = open->amount;
    // Another organization's stretch of waiting begins with the move.
    if (open->organization != job_.organization) stretch->anchor = pending.observed_at;
  }
  // Until it is observed once more, everything that the books have waiting may still start for an array's record.
  const ProcessorMillionths outstanding = job_.is_array ? std::max(pending.outstanding, before) : pending.outstanding;
  take_back(last_run_, k_end_of_time, 0, outstanding,
            {.end = pending.observed_at, .reason = CloseReason::changed, .at = pending.observed_at});
  follow(pending, stretch);
  const bool is_newer = own_.empty() || last_edge_ != pending.observed_at;
  if (is_newer) hand_over();
  return is_newer && !(job_.is_array && pending.outstanding < before);
}

bool WaitWriter::follow_started(const Started& started) {
  const Wait* open = open_wait();
  const bool starts_later = started.ran && started.start > started.observed_at;
  if (open != nullptr) {
    if (started.observed_at < open->begin) return true;
    // The record is of an earlier run, read in the second in which the job began to wait again.
    if (started.observed_at == open->begin && started.start < open->begin) return false;
  } else if (starts_later || (last_edge_ && *last_edge_ > started.observed_at)) {
    return true;
  }
  const CloseReason reason = started.ran ? CloseReason::started : CloseReason::ended;
  const Instant stop = std::min(started.ran ? started.start : started.end, started.observed_at);
  const Withdrawal withdrawal{.end = stop, .reason = reason, .at = started.observed_at};
  if (started.over && !started.ran && open == nullptr) note_end(stop, started);
  // The starts of an array's other tasks may arrive later than this record: it is judged when no wait is open any more.
  const bool judged = !job_.is_array || open == nullptr;
  if (judged && last_run_ == started.start && (open != nullptr || job_.is_array)) {
    take_back(previous_run_, last_run_, 1, {}, withdrawal);
  }
  if (judged && started.over && !starts_later) take_back(last_run_, k_end_of_time, 0, {}, withdrawal);
  if (Wait* open_now = open_wait()) close(*open_now, std::max(stop, open_now->begin), reason);
  hand_over();
  return judged;
}

void WaitWriter::follow_gone(Instant last_alive) {
  const Instant at = std::max(last_alive, last_edge_.value_or(last_alive));
  const Withdrawal withdrawal{.end = last_alive, .reason = CloseReason::vanished, .at = at};
  std::vector<SegmentKey> withdrawn;
  for (const Wait& wait : waits_) {
    // The request of one task is not known any more, so a wait after which tasks started stays whole.
    const bool never_started = wait.begin >= last_run_ && tasks_started_after(wait) == 0 && wait.end != wait.begin;
    if (never_started) withdrawn.push_back(wait.key);
  }
  for (const SegmentKey& key : withdrawn) reduce(key, {}, withdrawal);
  if (Wait* open_now = open_wait()) close(*open_now, std::max(last_alive, open_now->begin), CloseReason::vanished);
  hand_over();
}

}  // namespace shapley::daemon
