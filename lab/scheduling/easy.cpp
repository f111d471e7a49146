#include "scheduling/easy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include "base/contract.hpp"

namespace shapley::scheduling {

namespace {

// The latest start of a job that waits, and the processors that other jobs may use beyond that instant.
struct Reservation {
  std::int64_t shadow = 0;
  std::int64_t extra = 0;
};

// The processors of one kind.
struct Pool {
  std::int64_t capacity = 0;
  std::int64_t free = 0;                                     // negative if more runs than there are processors now
  std::map<std::int64_t, std::int64_t> requested_ends = {};  // processors by the end that was requested
};

std::vector<Pool> pools_of(const EasyInstance& instance) {
  std::vector<Pool> pools;
  for (const auto& kind : instance.kinds)
    pools.push_back({.capacity = std::accumulate(kind.begin(), kind.end(), std::int64_t{0})});
  if (pools.empty()) pools.push_back({.capacity = total_of(instance.endowments.front())});
  for (Pool& pool : pools) pool.free = pool.capacity;
  return pools;
}

class EasySimulation {
 public:
  EasySimulation(const EasyInstance& instance, Policy* policy, Policy* observer)
      : instance_(instance),
        policy_(policy),
        told_(policy == nullptr ? observer : policy),
        run_times_(told_ != nullptr && told_->asks_run_times()),
        which_ended_(told_ != nullptr && told_->asks_which_ended()),
        pools_(pools_of(instance)),
        queues_(policy == nullptr ? 1 : instance.endowments.front().processors.size()),
        by_release_(instance.jobs.size()) {
    schedule_.start.assign(instance.jobs.size(), k_never_started);
    std::iota(by_release_.begin(), by_release_.end(), 0U);
    std::stable_sort(by_release_.begin(), by_release_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return instance.jobs[a].release < instance.jobs[b].release;
    });
  }

  Expected<EasySchedule> run() {
    const std::int64_t until = instance_.until.value;
    for (std::int64_t t = next_event(); t < until; t = next_event()) {
      complete(t);
      SHAPLEY_TRY(change_processors(t));
      release(t);
      SHAPLEY_TRY(schedule(t));
    }
    complete(until);
    return std::move(schedule_);
  }

 private:
  struct Running {
    std::uint32_t job = 0;
    std::size_t kind = 0;
    std::int64_t requested_end = 0;
    std::size_t first_start = 0;       // how many processors were started on before it
    std::vector<std::int32_t> owners;  // as the policy answered, one for each processor
  };
  // By kind: kept for the first job that waits for it.
  using Reservations = std::array<std::optional<Reservation>, k_most_kinds>;

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
      Pool& pool = pools_[ended.kind];
      pool.free += of.processors;
      const auto place = pool.requested_ends.find(ended.requested_end);
      if ((place->second -= of.processors) == 0) pool.requested_ends.erase(place);
      if (told_ == nullptr) continue;
      told_->regards(ended.job, ended.kind);
      for (std::size_t i = 0; i < ended.owners.size(); ++i) {
        if (run_times_) told_->ran(t, of.duration);
        if (which_ended_) {
          told_->ended(t, ended.first_start + i);
        } else {
          told_->completed(t, of.organization, ended.owners[i]);
        }
      }
    }
  }

  Expected<void> change_processors(std::int64_t t) {
    while (next_endowment_ < instance_.endowments.size() && instance_.endowments[next_endowment_].at.value <= t) {
      const Endowment& endowment = instance_.endowments[next_endowment_++];
      const std::int64_t total = total_of(endowment);
      Pool& all = pools_.front();
      all.free += total - all.capacity;
      all.capacity = total;
      if (told_ != nullptr && !told_->endowed(t, endowment.processors)) {
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
      if (told_ == nullptr) continue;
      told_->regards(index, 0);
      for (std::uint32_t i = 0; i < released.processors; ++i) told_->released(t, released);
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

  // A waiting job, and the kind of processors on which it starts.
  struct Place {
    std::size_t queue = 0;
    std::size_t position = 0;
    std::size_t kind = 0;
  };
  // The queue's first job that starts in its turn. The jobs before it wait, and so do all jobs without one: what they
  // wait for is reserved.
  [[nodiscard]] std::optional<Place> first(const std::vector<std::size_t>& order, Reservations& reserved) const {
    for (const std::size_t u : order) {
      for (std::size_t i = 0; i < queues_[u].size(); ++i) {
        const std::uint32_t index = queues_[u][i];
        const auto starts_in = first_kind(
            index, [&](std::size_t kind) { return !reserved[kind] && job(index).processors <= pools_[kind].free; });
        if (starts_in) return Place{u, i, *starts_in};
        reserve(index, reserved);
        if (!any_kind([&](std::size_t kind) { return !reserved[kind] && pools_[kind].free > 0; })) return std::nullopt;
      }
    }
    return std::nullopt;
  }

  template <typename Condition>
  [[nodiscard]] std::optional<std::size_t> first_kind(std::uint32_t index, const Condition& condition) const {
    std::optional<std::size_t> found;
    job(index).kinds.for_each(pools_.size(), [&](std::size_t kind) {
      if (!found && condition(kind)) found = kind;
    });
    return found;
  }
  template <typename Condition>
  [[nodiscard]] bool any_kind(const Condition& condition) const {
    for (std::size_t kind = 0; kind < pools_.size(); ++kind)
      if (condition(kind)) return true;
    return false;
  }

  // For a job that starts in none of its kinds now: in the one in which it may start first, of those that no earlier
  // job waits for. A job that is wider than its kinds waits for none.
  void reserve(std::uint32_t index, Reservations& reserved) const {
    std::optional<std::size_t> best;
    Reservation of_best;
    job(index).kinds.for_each(pools_.size(), [&](std::size_t kind) {
      if (reserved[kind] || job(index).processors > pools_[kind].capacity) return;
      const Reservation in_kind = reservation_of(index, pools_[kind]);
      if (best && in_kind.shadow >= of_best.shadow) return;
      best = kind;
      of_best = in_kind;
    });
    if (best) reserved[*best] = of_best;
  }

  Expected<void> schedule(std::int64_t t) {
    while (waiting_ > 0 && any_kind([this](std::size_t kind) { return pools_[kind].free > 0; })) {
      const std::vector<std::size_t> queue = order(t);
      Reservations reserved;
      const auto next = first(queue, reserved);
      if (!next) return backfill(t, queue, reserved);
      SHAPLEY_TRY(start(t, queues_[next->queue][next->position], next->kind));
      queues_[next->queue].erase(queues_[next->queue].begin() + static_cast<std::ptrdiff_t>(next->position));
    }
    return {};
  }

  // REQUIRES: the job fits the kind's processors, though not the free ones.
  [[nodiscard]] Reservation reservation_of(std::uint32_t index, const Pool& pool) const {
    const std::int64_t needed = job(index).processors;
    std::int64_t free = pool.free;
    for (const auto& [end, processors] : pool.requested_ends) {
      free += processors;
      if (free >= needed) return {end, free - needed};
    }
    // If more runs than there are processors, it is not known when the job may start.
    return {k_end_of_time.value, 0};
  }

  Expected<void> backfill(std::int64_t t, const std::vector<std::size_t>& queue, Reservations& reserved) {
    for (const std::size_t u : queue) {
      std::vector<std::uint32_t> left;
      bool any = false;
      for (std::size_t i = 0; i < queues_[u].size(); ++i) {
        const std::uint32_t index = queues_[u][i];
        const std::int64_t processors = job(index).processors;
        const std::int64_t end = t + instance_.requested[index].value;
        const auto may_start = [&](std::size_t kind) {
          const auto& kept = reserved[kind];
          return processors <= pools_[kind].free && (!kept || end <= kept->shadow || processors <= kept->extra);
        };
        const auto kind = first_kind(index, may_start);
        if (!kind) {
          if (any) left.push_back(index);
          continue;
        }
        if (!any) left.assign(queues_[u].begin(), queues_[u].begin() + static_cast<std::ptrdiff_t>(i));
        any = true;
        if (reserved[*kind] && end > reserved[*kind]->shadow) reserved[*kind]->extra -= processors;
        SHAPLEY_TRY(start(t, index, *kind));
        ++schedule_.backfilled;
      }
      if (any) queues_[u] = std::move(left);
      if (!any_kind([this](std::size_t kind) { return pools_[kind].free > 0; })) return {};
    }
    return {};
  }

  Expected<void> start(std::int64_t t, std::uint32_t index, std::size_t kind) {
    const Job& started = job(index);
    const std::int64_t end = t + started.duration.value;
    if (end > instance_.latest.value) {
      return fail(Errc::limit,
                  "the simulated schedule is longer than " + std::to_string(instance_.latest.value) +
                      " s: the jobs are too many for these processors; take a shorter stretch of the trace");
    }
    schedule_.start[index] = t;
    pools_[kind].free -= started.processors;
    --waiting_;
    Running running{index, kind, t + instance_.requested[index].value, started_, {}};
    started_ += started.processors;
    pools_[kind].requested_ends[running.requested_end] += started.processors;
    if (told_ != nullptr) {
      told_->regards(index, kind);
      for (std::uint32_t i = 0; i < started.processors; ++i)
        running.owners.push_back(told_->started(t, started.organization));
    }
    running_.emplace(end, std::move(running));
    return {};
  }

  const EasyInstance& instance_;
  Policy* policy_;  // orders
  Policy* told_;    // learns what happens
  bool run_times_;
  bool which_ended_;
  std::vector<Pool> pools_;                         // by kind
  std::vector<std::vector<std::uint32_t>> queues_;  // by organization, or one for all; jobs in order
  std::uint64_t waiting_ = 0;
  std::size_t started_ = 0;  // processors, of all starts
  std::vector<std::uint32_t> by_release_;
  std::size_t next_release_ = 0;
  std::size_t next_endowment_ = 1;
  std::multimap<std::int64_t, Running> running_;  // by end
  EasySchedule schedule_;
};

// psi of one job's processor at t, of which `ran` seconds have begun [SR13 Eq. 3].
std::int64_t psi_of_processor(std::int64_t start, std::int64_t duration, std::int64_t t) {
  const std::int64_t ran = std::clamp<std::int64_t>(t - start, 0, duration);
  return ran * (t - start) - ran * (ran - 1) / 2;
}

Expected<void> check_kinds(const EasyInstance& instance) {
  const auto bad = [](const std::string& what) { return fail(Errc::invalid_argument, "instance: " + what); };
  if (instance.kinds.size() > k_most_kinds)
    return bad("processors are of more than " + std::to_string(k_most_kinds) + " kinds; put kinds together");
  const std::vector<std::uint32_t>& owned = instance.endowments.front().processors;
  if (!instance.kinds.empty()) {
    if (instance.endowments.size() > 1)
      return bad("processors of several kinds change owners, which is not simulated; take a time between two changes");
    std::vector<std::uint32_t> sums(owned.size());
    for (const auto& kind : instance.kinds) {
      if (kind.size() != owned.size()) return bad("a kind of processors is of another number of organizations");
      for (std::size_t u = 0; u < kind.size(); ++u) sums[u] += kind[u];
    }
    if (sums != owned) return bad("the processors of all kinds do not sum to what the organizations own");
  }
  const std::size_t kinds = std::max<std::size_t>(instance.kinds.size(), 1);
  for (std::size_t i = 0; i < instance.jobs.size(); ++i) {
    std::optional<std::size_t> unknown;
    instance.jobs[i].kinds.for_each(kinds, [&](std::size_t kind) {
      if (kind >= kinds) unknown = kind;
    });
    if (unknown)
      return bad("job " + std::to_string(i) + ": there is no kind " + std::to_string(*unknown) +
                 " of processors; kinds are 0 to " + std::to_string(kinds - 1));
  }
  return {};
}

}  // namespace

std::int64_t total_of(const Endowment& endowment) {
  return std::accumulate(endowment.processors.begin(), endowment.processors.end(), std::int64_t{0});
}

Expected<void> finish_kinds(EasyInstance& instance) {
  Endowment all{.at = {}, .processors = std::vector<std::uint32_t>(instance.kinds.front().size())};
  for (const auto& kind : instance.kinds)
    for (std::size_t u = 0; u < all.processors.size(); ++u) all.processors[u] += kind[u];
  instance.endowments = {std::move(all)};
  constexpr Duration k_most{std::int64_t{1} << 40U};
  Duration longest;
  for (const Job& job : instance.jobs) longest = std::max(longest, job.duration);
  if (longest > k_most || instance.until > Instant{} + k_most)
    return fail(Errc::limit, "instance: a duration or t_end is beyond 2^40 s; cut the trace into windows");
  instance.latest = instance.until + longest;
  return validate(instance);
}

Instance first_instance(const EasyInstance& instance) {
  return {.processors = instance.endowments.front().processors,
          .jobs = {},
          .end = instance.latest,
          .residual = instance.residual,
          .kinds = instance.kinds,
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
  return check_kinds(instance);
}

Expected<EasySchedule> simulate_easy(const EasyInstance& instance, Policy* policy, Policy* observer) {
  SHAPLEY_REQUIRE(validate(instance) && (policy == nullptr || observer == nullptr));
  SHAPLEY_REQUIRE((policy == nullptr && observer == nullptr) ||
                  instance.endowments.front().processors.size() <= k_max_organizations);
  return EasySimulation(instance, policy, observer).run();
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

std::int64_t work_of(const EasyInstance& instance, const EasySchedule& schedule) {
  std::int64_t work = 0;
  for (std::size_t i = 0; i < instance.jobs.size(); ++i) {
    const Job& job = instance.jobs[i];
    if (schedule.start[i] == k_never_started) continue;
    work += job.processors * std::min(job.duration.value, instance.until.value - schedule.start[i]);
  }
  return work;
}

}  // namespace shapley::scheduling
