#include "scheduling/easy.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include "base/contract.hpp"

namespace shapley::scheduling {

namespace {

// The latest start of the head, and the processors that other jobs may use beyond that instant.
struct Reservation {
  std::int64_t shadow = 0;
  std::int64_t extra = 0;
};

class EasySimulation {
 public:
  EasySimulation(const EasyInstance& instance, Policy* policy)
      : instance_(instance),
        policy_(policy),
        run_times_(policy != nullptr && policy->asks_run_times()),
        which_ended_(policy != nullptr && policy->asks_which_ended()),
        capacity_(total_of(instance.endowments.front())),
        free_(capacity_),
        queues_(policy == nullptr ? 1 : instance.endowments.front().processors.size()),
        by_release_(instance.jobs.size()) {
    schedule_.start.assign(instance.jobs.size(), k_never_started);
    std::iota(by_release_.begin(), by_release_.end(), 0U);
    std::stable_sort(by_release_.begin(), by_release_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return instance.jobs[a].release < instance.jobs[b].release;
    });
  }

  Expected<EasySchedule> run() {
    for (std::int64_t t = next_event(); t < k_end_of_time.value; t = next_event()) {
      complete(t);
      SHAPLEY_TRY(change_processors(t));
      release(t);
      SHAPLEY_TRY(schedule(t));
    }
    return std::move(schedule_);
  }

 private:
  struct Running {
    std::uint32_t job = 0;
    std::int64_t requested_end = 0;
    std::size_t first_start = 0;       // how many processors were started on before it
    std::vector<std::int32_t> owners;  // as the policy answered, one for each processor
  };

  [[nodiscard]] const Job& job(std::uint32_t index) const { return instance_.jobs[index]; }

  [[nodiscard]] std::int64_t next_event() const {
    std::int64_t t = k_end_of_time.value;
    if (next_release_ < by_release_.size()) t = job(by_release_[next_release_]).release.value;
    if (!running_.empty()) t = std::min(t, running_.begin()->first);
    // Later changes matter only to waiting jobs.
    if (next_endowment_ < instance_.endowments.size() && (waiting_ > 0 || t < k_end_of_time.value))
      t = std::min(t, instance_.endowments[next_endowment_].at.value);
    return t;
  }

  void complete(std::int64_t t) {
    while (!running_.empty() && running_.begin()->first == t) {
      const Running ended = std::move(running_.begin()->second);
      running_.erase(running_.begin());
      const Job& of = job(ended.job);
      free_ += of.processors;
      const auto place = requested_ends_.find(ended.requested_end);
      if ((place->second -= of.processors) == 0) requested_ends_.erase(place);
      if (policy_ == nullptr) continue;
      for (std::size_t i = 0; i < ended.owners.size(); ++i) {
        if (run_times_) policy_->ran(t, of.duration);
        if (which_ended_) {
          policy_->ended(t, ended.first_start + i);
        } else {
          policy_->completed(t, of.organization, ended.owners[i]);
        }
      }
    }
  }

  Expected<void> change_processors(std::int64_t t) {
    while (next_endowment_ < instance_.endowments.size() && instance_.endowments[next_endowment_].at.value <= t) {
      const Endowment& endowment = instance_.endowments[next_endowment_++];
      const std::int64_t total = total_of(endowment);
      free_ += total - capacity_;
      capacity_ = total;
      if (policy_ != nullptr && !policy_->endowed(t, endowment.processors)) {
        return fail(Errc::invalid_argument,
                    "the policy knows one set of processors only, and they change hands; choose another policy, or "
                    "a time between two changes");
      }
    }
    return {};
  }

  void release(std::int64_t t) {
    while (next_release_ < by_release_.size() && job(by_release_[next_release_]).release.value == t) {
      const std::uint32_t index = by_release_[next_release_++];
      const Job& released = job(index);
      queues_[policy_ == nullptr ? 0 : released.organization].push_back(index);
      ++waiting_;
      if (policy_ == nullptr) continue;
      for (std::uint32_t i = 0; i < released.processors; ++i) policy_->released(t, released);
    }
  }

  // The queues in the order of service.
  [[nodiscard]] std::vector<std::size_t> order(std::int64_t t) {
    if (policy_ == nullptr) return {0};
    OrganizationSet waiting = 0;
    for (std::size_t u = 0; u < queues_.size(); ++u) {
      if (!queues_[u].empty()) waiting |= OrganizationSet{1} << u;
    }
    std::vector<std::size_t> order;
    while (waiting != 0) {
      const bool single = (waiting & (waiting - 1)) == 0;
      const auto first = static_cast<std::size_t>(std::countr_zero(waiting));
      order.push_back(single ? first : policy_->choose_among(t, waiting, true));
      waiting &= ~(OrganizationSet{1} << order.back());
    }
    return order;
  }

  // The queue's first job that the processors of the moment could hold; nullopt: there is no such job.
  struct Place {
    std::size_t queue = 0;
    std::size_t position = 0;
  };
  [[nodiscard]] std::optional<Place> first(const std::vector<std::size_t>& order) const {
    for (const std::size_t u : order) {
      for (std::size_t i = 0; i < queues_[u].size(); ++i) {
        if (job(queues_[u][i]).processors <= capacity_) return Place{u, i};
      }
    }
    return std::nullopt;
  }

  Expected<void> schedule(std::int64_t t) {
    while (waiting_ > 0 && free_ > 0) {
      const std::vector<std::size_t> queue = order(t);
      const auto head = first(queue);
      if (!head) return {};
      const std::uint32_t index = queues_[head->queue][head->position];
      if (job(index).processors > free_) return backfill(t, queue, index);
      SHAPLEY_TRY(start(t, index));
      queues_[head->queue].erase(queues_[head->queue].begin() + static_cast<std::ptrdiff_t>(head->position));
    }
    return {};
  }

  // REQUIRES: `head` fits the processors of the moment, though not the free ones.
  [[nodiscard]] Reservation reservation_of(std::uint32_t head) const {
    const std::int64_t needed = job(head).processors;
    std::int64_t free = free_;
    for (const auto& [end, processors] : requested_ends_) {
      free += processors;
      if (free >= needed) return {end, free - needed};
    }
    // If more runs than there are processors, it is not known when the head may start.
    return {k_end_of_time.value, 0};
  }

  Expected<void> backfill(std::int64_t t, const std::vector<std::size_t>& queue, std::uint32_t head) {
    Reservation reservation = reservation_of(head);
    for (const std::size_t u : queue) {
      std::vector<std::uint32_t> left;
      bool any = false;
      for (std::size_t i = 0; i < queues_[u].size(); ++i) {
        const std::uint32_t index = queues_[u][i];
        const std::int64_t processors = job(index).processors;
        const bool in_time = t + instance_.requested[index].value <= reservation.shadow;
        if (index == head || processors > free_ || (!in_time && processors > reservation.extra)) {
          if (any) left.push_back(index);
          continue;
        }
        if (!any) left.assign(queues_[u].begin(), queues_[u].begin() + static_cast<std::ptrdiff_t>(i));
        any = true;
        if (!in_time) reservation.extra -= processors;
        SHAPLEY_TRY(start(t, index));
        ++schedule_.backfilled;
      }
      if (any) queues_[u] = std::move(left);
      if (free_ == 0) return {};
    }
    return {};
  }

  Expected<void> start(std::int64_t t, std::uint32_t index) {
    const Job& started = job(index);
    const std::int64_t end = t + started.duration.value;
    if (end > instance_.latest.value) {
      return fail(Errc::limit,
                  "the simulated schedule is longer than " + std::to_string(instance_.latest.value) +
                      " s: the jobs are too many for these processors; take a shorter stretch of the trace");
    }
    schedule_.start[index] = t;
    free_ -= started.processors;
    --waiting_;
    Running running{index, t + instance_.requested[index].value, started_, {}};
    started_ += started.processors;
    requested_ends_[running.requested_end] += started.processors;
    if (policy_ != nullptr) {
      for (std::uint32_t i = 0; i < started.processors; ++i)
        running.owners.push_back(policy_->started(t, started.organization));
    }
    running_.emplace(end, std::move(running));
    return {};
  }

  const EasyInstance& instance_;
  Policy* policy_;
  bool run_times_;
  bool which_ended_;
  std::int64_t capacity_;
  std::int64_t free_;                               // negative if more runs than there are processors now
  std::vector<std::vector<std::uint32_t>> queues_;  // by organization, or one for all; jobs in order
  std::uint64_t waiting_ = 0;
  std::size_t started_ = 0;  // processors, of all starts
  std::vector<std::uint32_t> by_release_;
  std::size_t next_release_ = 0;
  std::size_t next_endowment_ = 1;
  std::multimap<std::int64_t, Running> running_;         // by end
  std::map<std::int64_t, std::int64_t> requested_ends_;  // processors by the end that was requested
  EasySchedule schedule_;
};

// psi of one job's processor at t, of which `ran` seconds have begun [SR13 Eq. 3].
std::int64_t psi_of_processor(std::int64_t start, std::int64_t duration, std::int64_t t) {
  const std::int64_t ran = std::clamp<std::int64_t>(t - start, 0, duration);
  return ran * (t - start) - ran * (ran - 1) / 2;
}

}  // namespace

std::int64_t total_of(const Endowment& endowment) {
  return std::accumulate(endowment.processors.begin(), endowment.processors.end(), std::int64_t{0});
}

Instance first_instance(const EasyInstance& instance) {
  return {.processors = instance.endowments.front().processors,
          .jobs = {},
          .end = instance.latest,
          .owners_change = instance.endowments.size() > 1};
}

Expected<void> validate(const EasyInstance& instance) {
  const auto bad = [](const std::string& what) { return fail(Errc::invalid_argument, "instance: " + what); };
  if (instance.endowments.empty()) return bad("no organization owns processors; give at least one endowment");
  for (std::size_t i = 0; i < instance.endowments.size(); ++i) {
    const Endowment& endowment = instance.endowments[i];
    if (endowment.processors.size() != instance.endowments.front().processors.size())
      return bad("endowment " + std::to_string(i) + " is of another number of organizations than the first");
    if (i > 0 && endowment.at <= instance.endowments[i - 1].at)
      return bad("endowment " + std::to_string(i) + " is not later than the one before");
    // Widths are not checked here: a job that is wider than all processors waits.
    SHAPLEY_TRY(validate(Instance{.processors = endowment.processors, .jobs = {}, .end = instance.latest}));
  }
  if (instance.requested.size() != instance.jobs.size()) return bad("give every job a requested time");
  for (std::size_t i = 0; i < instance.jobs.size(); ++i) {
    const Job& job = instance.jobs[i];
    const std::string name = "job " + std::to_string(i);
    if (job.release.value < 0 || job.duration.value < 1 || job.processors < 1)
      return bad(name + ": release, duration or processors out of range");
    if (job.organization >= instance.endowments.front().processors.size())
      return bad(name + ": organization " + std::to_string(job.organization) + " does not exist");
    if (instance.requested[i] < job.duration)
      return bad(name + ": runs for longer than it requested, which the scheduler does not allow");
  }
  return {};
}

Expected<EasySchedule> simulate_easy(const EasyInstance& instance, Policy* policy) {
  SHAPLEY_REQUIRE(validate(instance));
  SHAPLEY_REQUIRE(policy == nullptr || instance.endowments.front().processors.size() <= k_max_organizations);
  return EasySimulation(instance, policy).run();
}

std::vector<std::int64_t> psi_of(const EasyInstance& instance, const EasySchedule& schedule, Instant t) {
  std::vector<std::int64_t> psi(instance.endowments.front().processors.size());
  for (std::size_t i = 0; i < instance.jobs.size(); ++i) {
    const Job& job = instance.jobs[i];
    if (schedule.start[i] == k_never_started || schedule.start[i] >= t.value) continue;
    psi[job.organization] += job.processors * psi_of_processor(schedule.start[i], job.duration.value, t.value);
  }
  return psi;
}

}  // namespace shapley::scheduling
