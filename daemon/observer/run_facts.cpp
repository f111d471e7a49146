#include "daemon/observer/run_facts.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace shapley::daemon {

using accounting::CloseReason;
using protocol::JobState;
using protocol::JobUpdate;

std::string name_of(const JobUpdate& record) {
  if (record.array_job_id == 0) return fmt::format("job {}", record.job_id);
  if (record.array_task_id < 0) return fmt::format("job {} (array {})", record.job_id, record.array_job_id);
  return fmt::format("job {} (array {}_{})", record.job_id, record.array_job_id, record.array_task_id);
}

namespace {

// The exclusive end of an ended run, never before its start or after the observation.
Instant end_of(const JobUpdate& record, Instant start, Instant observed_at, std::vector<std::string>& warnings) {
  const Instant end{record.end_time};
  const Instant clamped = std::clamp(end, start, std::max(start, observed_at));
  if (clamped != end) {
    warnings.push_back(
        fmt::format("observer: {}: end_time {} lies outside [start_time {}, observation {}]; taken as {}",
                    name_of(record), end.value, start.value, observed_at.value, clamped.value));
  }
  return clamped;
}

Duration run_seconds_before_pivot(const JobUpdate& record, const RunFacts& facts, std::vector<std::string>& warnings) {
  if (facts.pivot == facts.start) return {};
  const Duration most = facts.pivot - facts.start;
  const Duration said{record.pre_suspend_run_s};
  const Duration clamped = std::clamp(said, Duration{0}, most);
  if (clamped != said) {
    warnings.push_back(
        fmt::format("observer: {}: {} run seconds before the suspension at {} do not fit after its start "
                    "at {}; taken as {}",
                    name_of(record), said.value, facts.pivot.value, facts.start.value, clamped.value));
  }
  return clamped;
}

}  // namespace

std::optional<RunFacts> facts_of(const JobUpdate& record, Instant observed_at, std::vector<std::string>& warnings) {
  if (record.start_time <= 0) return std::nullopt;
  RunFacts facts;
  facts.start = Instant{record.start_time};
  // A clock was set back, by a little: the record is valid when time has caught up.
  if (facts.start > observed_at) return std::nullopt;

  // Without the time of the suspension nothing can be said about its run seconds.
  if (record.state == JobState::suspended && record.suspend_time <= 0) {
    warnings.push_back(fmt::format("observer: {}: suspended without suspend_time; ignored", name_of(record)));
    return std::nullopt;
  }
  // An ended record may come with Slurm's state "pending" while a requeue is under way.
  const bool ended = record.state == JobState::ended || record.state == JobState::pending;
  facts.now = ended                                 ? RunFacts::Now::ended
              : record.state == JobState::suspended ? RunFacts::Now::suspended
                                                    : RunFacts::Now::running;
  const Instant last_flip{record.suspend_time};
  facts.pivot = last_flip > facts.start && last_flip <= observed_at ? last_flip : facts.start;
  if (ended) {
    facts.end = end_of(record, facts.start, observed_at, warnings);
    facts.pivot = std::min(facts.pivot, facts.end);
  }
  facts.before = run_seconds_before_pivot(record, facts, warnings);
  if (ended && facts.pivot > facts.start) {
    // Slurm counts (end - start) - tot_sus_time; less than that since the pivot means that it was suspended again or
    // still.
    const Duration counted = (facts.end - facts.start) - Duration{record.total_suspended_s};
    const Duration since_pivot{std::max<std::int64_t>((counted - facts.before).value, 0)};
    facts.end = std::min(facts.end, facts.pivot + since_pivot);
  }
  return facts;
}

Freshness freshness_of(const RunFacts& facts, const RunWriter& run, Instant observed_at) {
  const std::optional<Instant> edge = run.last_edge();
  if (!edge || facts.now == RunFacts::Now::ended) return Freshness::newer;
  if (*edge > observed_at) return Freshness::stale;
  const bool same_second = *edge == observed_at;
  if (facts.now == RunFacts::Now::running && !run.is_open() && same_second) return Freshness::same_second;
  if (facts.now == RunFacts::Now::suspended && same_second && (run.is_open() || *edge > facts.pivot)) {
    return Freshness::same_second;
  }
  return Freshness::newer;
}

namespace {

// Makes the books' run seconds in [start, pivot) equal to the record's. They have more only if slurmctld was killed and
// lost some of what was seen.
void book_before_pivot(const RunFacts& facts, RunWriter& run, Instant observed_at, CloseReason at_end) {
  const Duration excess = run.seconds_within(facts.start, facts.pivot) - facts.before;
  const bool runs_on = facts.now == RunFacts::Now::running || facts.end > facts.pivot;
  if (run.is_open() && run.open_begin() <= facts.pivot && (!runs_on || excess.value > 0)) {
    // Suspensions that were not observed lie somewhere before the pivot; they are assumed to be the last seconds before
    // it. A run that was resumed in the same second in which it ended has such a suspension before its end, too.
    const bool stops_at_end = facts.now == RunFacts::Now::ended && !runs_on && excess.value <= 0;
    const Instant stop = facts.pivot - Duration{std::max<std::int64_t>(excess.value, 0)};
    run.close(stop, stops_at_end ? at_end : CloseReason::suspended);
  }
  const Duration missing = facts.before - run.seconds_within(facts.start, facts.pivot);
  if (missing.value > 0) run.fill(facts.start, facts.pivot, missing, CloseReason::suspended);
  run.retract_seconds(facts.start, facts.pivot, Duration{} - missing, observed_at, CloseReason::suspended);
}

void book_since_pivot(const RunFacts& facts, RunWriter& run, Instant observed_at, CloseReason at_end) {
  switch (facts.now) {
    case RunFacts::Now::suspended:
      // It was resumed, and slurmctld lost that.
      run.retract_after(facts.pivot, observed_at, CloseReason::suspended);
      return;
    case RunFacts::Now::running:
      if (!run.is_open()) run.open(std::max(facts.pivot, run.latest_end().value_or(facts.pivot)));
      run.apply_resize(observed_at);
      return;
    case RunFacts::Now::ended:
      // A resume that a killed slurmctld lost: Slurm's record ends with the suspension before it.
      run.retract_after(facts.end, observed_at, at_end);
      if (run.is_open()) run.close(facts.end, at_end);
      const Duration missing = (facts.end - facts.pivot) - run.seconds_within(facts.pivot, facts.end);
      if (missing.value > 0) run.fill(facts.pivot, facts.end, missing, at_end);
      run.mark_end(facts.end, at_end);  // resumed in the same second in which it ended
      return;
  }
}

}  // namespace

void book_run(const RunFacts& facts, RunWriter& run, Instant observed_at, CloseReason at_end) {
  if (run.is_elsewhere(facts.now != RunFacts::Now::ended)) run.retract(observed_at);
  book_before_pivot(facts, run, observed_at, at_end);
  book_since_pivot(facts, run, observed_at, at_end);
}

bool RequeueRules::was_resubmitted_since(Instant begin) const {
  const Instant submit{record_.submit_time};
  return was_requeued() && (submit > begin || (submit == begin && record_.eligible_time > record_.submit_time));
}

bool RequeueRules::is_renumbered(Instant start) const {
  return scan_.last_look && !was_requeued() && Instant{record_.submit_time} > start && start <= *scan_.last_look;
}

void RequeueRules::end_superseded(RunWriter& run, Instant start, Instant next_start) {
  if (!run.is_open()) return;
  if (was_resubmitted_since(run.open_begin())) {
    run.close(std::min(Instant{record_.submit_time}, next_start), CloseReason::requeued);
  } else if (is_renumbered(start)) {
    lose(run, start);
  } else {
    // The job was never requeued: slurmctld lost the first start, or nodes had to boot first.
    run.retract(scan_.at);
  }
}

// Backfill wipes the start_time of every pending job, also while one completes; its end_time is then the run's and its
// submit_time still the one before the run. Afterwards end_time may be unknown, and submit_time is the requeue's.
std::optional<Instant> RequeueRules::end_before_requeue(const RunWriter& run) const {
  if (!was_requeued()) return std::nullopt;
  std::optional<Instant> end;
  const auto consider = [&](Instant candidate) {
    if (candidate >= run.open_begin() && candidate <= scan_.at) end = std::min(end.value_or(candidate), candidate);
  };
  consider(Instant{record_.end_time});
  if (!record_.completing && was_resubmitted_since(run.open_begin())) consider(Instant{record_.submit_time});
  return end;
}

void RequeueRules::end_without_run(RunWriter& run, Instant start) {
  if (!run.is_open() || scan_.at < run.open_begin()) return;
  if (const std::optional<Instant> end = end_before_requeue(run)) {
    run.close(*end, CloseReason::requeued);
  } else if (scan_.at == run.open_begin()) {
    out_.unsettled = true;
  } else if (!record_.completing && scan_.last_look && start <= *scan_.last_look) {
    lose(run, start);
  } else if (!record_.completing) {
    out_.warnings.push_back(
        fmt::format("observer: {}: pending again without a requeue; slurmctld forgot its start at {}, "
                    "which is retracted",
                    name_of(record_), start.value));
    run.retract(scan_.at);
  }
}

bool RequeueRules::retract_forgotten(RunWriter& run, Instant start) {
  if (!run.is_open() || run.open_begin() > scan_.at) return false;
  if (run.open_begin() == scan_.at) {
    out_.unsettled = true;
    return false;
  }
  out_.warnings.push_back(fmt::format(
      "observer: {}: slurmctld went back to its run since {} and forgot the one since {}, which is retracted",
      name_of(record_), record_.start_time, start.value));
  run.retract(scan_.at);
  return true;
}

void RequeueRules::lose(RunWriter& run, Instant start) {
  const LostRuns lost = lose_run(run, start, *scan_.last_look, scan_.at);
  out_.warnings.push_back(fmt::format("observer: {}: slurmctld came back without its run since {}, which {}",
                                      name_of(record_), start.value, what_becomes_of(lost, *scan_.last_look)));
  out_.lost += lost;
}

}  // namespace shapley::daemon
