#include "daemon/observer/run_facts.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace shapley::daemon {

using protocol::JobRecord;
using protocol::JobState;

std::string name_of(const JobRecord& record) {
  if (record.array_job_id == 0) return fmt::format("job {}", record.job_id);
  if (record.array_task_id < 0) return fmt::format("job {} (array {})", record.job_id, record.array_job_id);
  return fmt::format("job {} (array {}_{})", record.job_id, record.array_job_id, record.array_task_id);
}

namespace {

// The exclusive end of an ended run, never before its start or after the observation.
Instant end_of(const JobRecord& record, Instant start, Instant observed_at, std::vector<std::string>& warnings) {
  const Instant end{record.end_time};
  const Instant clamped = std::clamp(end, start, std::max(start, observed_at));
  if (clamped != end) {
    warnings.push_back(
        fmt::format("observer: {}: end_time {} lies outside [start_time {}, observation {}]; taken as {}",
                    name_of(record), end.value, start.value, observed_at.value, clamped.value));
  }
  return clamped;
}

Duration run_seconds_before_pivot(const JobRecord& record, const RunFacts& facts, std::vector<std::string>& warnings) {
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

std::optional<RunFacts> facts_of(const JobRecord& record, Instant observed_at, std::vector<std::string>& warnings) {
  if (record.start_time <= 0) return std::nullopt;
  RunFacts facts;
  facts.start = Instant{record.start_time};
  // A clock that was set back: the record makes sense again when time has caught up.
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

}  // namespace shapley::daemon
