#include "daemon/requests/pending_jobs.hpp"

#include <algorithm>
#include <vector>

#include "accounting/events/event.hpp"
#include "ledger/reports/jobs_report.hpp"

namespace shapley::daemon {

void PendingJobs::read(const protocol::Observations& frame, const protocol::Classifier& classifier) {
  for (const protocol::JobUpdate& record : frame.jobs) {
    if (snapshot_) snapshot_->insert(record.job_id);
    if (record.state != protocol::JobState::pending) {
      pending_.erase(record.job_id);
      continue;
    }
    const protocol::Rule* rule = classifier.rule_of(protocol::traits_of(record));
    pending_.insert_or_assign(
        record.job_id, Job{.organization = rule == nullptr ? std::string(accounting::k_guests) : rule->organization,
                           .processors = std::max<std::int64_t>(1, record.requested_cpus),
                           .tasks = std::max<std::uint32_t>(1, record.pending_tasks),
                           .time_limit_s = record.time_limit_s,
                           .submit = Instant{record.submit_time},
                           .wait = record.wait,
                           .could_start = could_start(record),
                           .rule = rule == nullptr ? std::nullopt : std::optional(*rule),
                           .array_job = record.array_job_id,
                           .array_task = record.array_job_id == 0 || record.array_task_id < 0
                                             ? std::nullopt
                                             : std::optional(static_cast<std::uint32_t>(record.array_task_id))});
  }
  for (const std::uint32_t job : frame.gone) pending_.erase(job);
}

void PendingJobs::end_snapshot() {
  if (!snapshot_) return;
  std::erase_if(pending_, [&](const auto& entry) { return !snapshot_->contains(entry.first); });
  snapshot_.reset();
}

ledger::QueueReport PendingJobs::report() const {
  std::vector<std::uint32_t> ids;
  for (const auto& [id, job] : pending_) {
    if (job.could_start) ids.push_back(id);
  }
  const std::size_t listed = std::min(ids.size(), k_max_listed);
  std::ranges::partial_sort(ids, ids.begin() + static_cast<std::ptrdiff_t>(listed));
  ledger::QueueReport report;
  report.truncated = listed < ids.size();
  for (std::size_t i = 0; i < listed; ++i) {
    const Job& job = pending_.at(ids[i]);
    report.jobs.push_back(
        {.job = ids[i],
         .organization = job.organization,
         .processors = job.processors,
         .tasks = job.tasks,
         .submit = job.submit,
         .time_limit_s = job.time_limit_s > 0 ? std::optional<std::int64_t>(job.time_limit_s) : std::nullopt,
         .array_job = job.array_task ? std::optional(job.array_job) : std::nullopt,
         .array_task = job.array_task});
  }
  return report;
}

const PendingJobs::Job* PendingJobs::find(std::uint32_t job) const {
  const auto found = pending_.find(job);
  return found == pending_.end() ? nullptr : &found->second;
}

std::uint32_t PendingJobs::number_of(const JobName& name) const {
  if (!name.task) return name.job;
  const auto own = std::ranges::find_if(pending_, [&](const auto& entry) {
    return entry.second.array_job == name.job && entry.second.array_task == name.task;
  });
  return own == pending_.end() ? name.job : own->first;
}

std::map<std::uint32_t, std::int64_t> PendingJobs::startable_tasks() const {
  std::map<std::uint32_t, std::int64_t> tasks;
  for (const auto& [id, job] : pending_) {
    if (job.could_start && job.tasks > 1) tasks.emplace(id, job.tasks);
  }
  return tasks;
}

}  // namespace shapley::daemon
