#include "daemon/requests/queue.hpp"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include "accounting/events/event.hpp"

namespace shapley::daemon {

void Queue::read(const protocol::Observations& frame, const protocol::Classifier& classifier) {
  for (const protocol::JobRecord& record : frame.jobs) {
    if (snapshot_) snapshot_->insert(record.job_id);
    if (!could_start(record)) {
      waiting_.erase(record.job_id);
      continue;
    }
    const std::string_view name = classifier.organization_of(protocol::traits_of(record));
    waiting_.insert_or_assign(record.job_id,
                              Waiting{.organization = std::string(name.empty() ? accounting::k_guests : name),
                                      .processors = std::max<std::int64_t>(1, record.requested_cpus),
                                      .tasks = std::max<std::uint32_t>(1, record.pending_tasks),
                                      .time_limit_s = record.time_limit_s,
                                      .submit = Instant{record.submit_time}});
  }
  for (const std::uint32_t job : frame.gone) waiting_.erase(job);
}

void Queue::end_snapshot() {
  if (!snapshot_) return;
  std::erase_if(waiting_, [&](const auto& entry) { return !snapshot_->contains(entry.first); });
  snapshot_.reset();
}

nlohmann::json Queue::report() const {
  std::vector<std::uint32_t> ids;
  for (const auto& [id, job] : waiting_) ids.push_back(id);
  const std::size_t listed = std::min(ids.size(), k_max_listed);
  std::ranges::partial_sort(ids, ids.begin() + static_cast<std::ptrdiff_t>(listed));
  nlohmann::json jobs = nlohmann::json::array();
  for (std::size_t i = 0; i < listed; ++i) {
    const Waiting& job = waiting_.at(ids[i]);
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

}  // namespace shapley::daemon
