#include "daemon/requests/queue.hpp"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include "accounting/events/event.hpp"

namespace shapley::daemon {

void Queue::read(const protocol::Observations& frame, const protocol::Classifier& classifier) {
  for (const protocol::JobRecord& record : frame.jobs) {
    if (snapshot_) snapshot_->insert(record.job_id);
    if (record.state != protocol::JobState::pending) {
      pending_.erase(record.job_id);
      continue;
    }
    const protocol::Rule* rule = classifier.rule_of(protocol::traits_of(record));
    pending_.insert_or_assign(
        record.job_id, Pending{.organization = rule == nullptr ? std::string(accounting::k_guests) : rule->organization,
                               .processors = std::max<std::int64_t>(1, record.requested_cpus),
                               .tasks = std::max<std::uint32_t>(1, record.pending_tasks),
                               .time_limit_s = record.time_limit_s,
                               .submit = Instant{record.submit_time},
                               .wait = record.wait,
                               .could_start = could_start(record),
                               .rule = rule == nullptr ? std::nullopt : std::optional(*rule)});
  }
  for (const std::uint32_t job : frame.gone) pending_.erase(job);
}

void Queue::end_snapshot() {
  if (!snapshot_) return;
  std::erase_if(pending_, [&](const auto& entry) { return !snapshot_->contains(entry.first); });
  snapshot_.reset();
}

nlohmann::json Queue::report() const {
  std::vector<std::uint32_t> ids;
  for (const auto& [id, job] : pending_) {
    if (job.could_start) ids.push_back(id);
  }
  const std::size_t listed = std::min(ids.size(), k_max_listed);
  std::ranges::partial_sort(ids, ids.begin() + static_cast<std::ptrdiff_t>(listed));
  nlohmann::json jobs = nlohmann::json::array();
  for (std::size_t i = 0; i < listed; ++i) {
    const Pending& job = pending_.at(ids[i]);
    nlohmann::json limit = job.time_limit_s > 0 ? nlohmann::json(job.time_limit_s) : nlohmann::json(nullptr);
    jobs.push_back({{"job", ids[i]},
                    {"organization", job.organization},
                    {"processors", job.processors},
                    {"tasks", job.tasks},
                    {"submit", job.submit.value},
                    {"time_limit_s", std::move(limit)}});
  }
  return {{"jobs", std::move(jobs)}, {"truncated", listed < ids.size()}};
}

const Queue::Pending* Queue::find(std::uint32_t job) const {
  const auto found = pending_.find(job);
  return found == pending_.end() ? nullptr : &found->second;
}

}  // namespace shapley::daemon
