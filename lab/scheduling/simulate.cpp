#include "scheduling/simulate.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>

#include "base/contract.hpp"
#include "game/utility.hpp"
#include "scheduling/completion_calendar.hpp"

namespace shapley::scheduling {

namespace {

constexpr std::int64_t k_not_started = -1;
constexpr std::uint32_t k_organizations = k_max_organizations;

class Simulation {
 public:
  Simulation(const Instance& instance, Policy& policy)
      : instance_(instance),
        policy_(policy),
        own_(instance.organizations()),
        queue_(instance.organizations()),
        head_(instance.organizations(), 0),
        free_(instance.total_processors()),
        starts_(instance.jobs.size(), Start{0, Instant{k_not_started}, k_any_owner}),
        order_(instance.jobs.size()),
        rigid_(instance.has_rigid_jobs()),
        which_ended_(policy.asks_which_ended()),
        run_times_(policy.asks_run_times()),
        numbered_(which_ended_ || run_times_) {
    std::iota(order_.begin(), order_.end(), 0U);
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
      return instance.jobs[a].release < instance.jobs[b].release;
    };
    // Traces come in this order already.
    if (!std::is_sorted(order_.begin(), order_.end(), earlier)) std::stable_sort(order_.begin(), order_.end(), earlier);
  }

  SimulationResult run() {
    const std::int64_t end = instance_.end.value;
    for (std::int64_t t = next_event(); t < end; t = next_event()) happen(t);
    return report(end);
  }

  [[nodiscard]] std::int64_t next_event() const {
    std::int64_t t = k_end_of_time.value;
    if (next_release_ < order_.size()) t = instance_.jobs[order_[next_release_]].release.value;
    return std::min(t, running_.next());
  }
  // Processes everything of the instant t, which is the next event's.
  void happen(std::int64_t t) {
    complete(t);
    release(t);
    schedule(t);
  }
  SimulationResult report(std::int64_t end) {
    // A job that ends at `end` counts as ended, which changes no psi, but is known.
    if (which_ended_ && running_.next() == end)
      running_.take(end, [&](std::uint32_t start) { policy_.ended(end, start); });
    for (game::Accrual& own : own_) {
      own.advance(end);
      result_.psi.push_back(own.psi);
      result_.value += own.psi;
      result_.work += own.done;
    }
    result_.schedule.reserve(started_);
    std::copy_if(starts_.begin(), starts_.end(), std::back_inserter(result_.schedule),
                 [](const Start& start) { return start.start.value != k_not_started; });
    return std::move(result_);
  }

 private:
  struct Begun {
    std::int64_t at;
    std::uint32_t organization;
    std::int32_t owner;
  };

  void complete(std::int64_t t) {
    if (running_.next() != t) return;
    // At one instant the order of completions does not matter to any policy.
    running_.take(t, [&](std::uint32_t running) {
      if (numbered_) {
        complete_numbered(t, running);
      } else {
        const std::uint32_t organization = running % k_organizations;
        own_[organization].change(t, -1);
        policy_.completed(t, organization, static_cast<std::int32_t>(running / k_organizations) + k_any_owner);
      }
      ++free_;
      ++result_.events;
    });
  }

  void complete_numbered(std::int64_t t, std::uint32_t number) {
    const Begun& begun = begun_[number];
    own_[begun.organization].change(t, -1);
    if (run_times_) policy_.ran(t, {t - begun.at});
    if (which_ended_) {
      policy_.ended(t, number);
    } else {
      policy_.completed(t, begun.organization, begun.owner);
    }
  }

  void release(std::int64_t t) {
    while (next_release_ < order_.size() && instance_.jobs[order_[next_release_]].release.value == t) {
      const std::uint32_t index = order_[next_release_++];
      const Job& job = instance_.jobs[index];
      queue_[job.organization].push_back(index);
      waiting_members_ |= OrganizationSet{1} << job.organization;
      waiting_ += job.processors;
      for (std::uint32_t i = 0; i < job.processors; ++i) policy_.released(t, job);
      result_.events += job.processors;
    }
  }

  void start(std::int64_t t, std::size_t u) {
    const std::uint32_t index = queue_[u][head_[u]++];
    if (head_[u] == queue_[u].size()) waiting_members_ &= ~(OrganizationSet{1} << u);
    const Job& job = instance_.jobs[index];
    std::int32_t owner = k_any_owner;
    for (std::uint32_t i = 0; i < job.processors; ++i) {
      owner = policy_.started(t, u);
      running_.add(t + job.duration.value, entry_of(t, owner, u));
    }
    own_[u].change(t, job.processors);
    starts_[index] = {index, Instant{t}, job.processors == 1 ? owner : k_any_owner};
    ++started_;
    free_ -= job.processors;
    waiting_ -= job.processors;
  }

  // The entry in running_ for a start.
  std::uint32_t entry_of(std::int64_t t, std::int32_t owner, std::size_t u) {
    const auto organization = static_cast<std::uint32_t>(u);
    if (!numbered_) return static_cast<std::uint32_t>(owner - k_any_owner) * k_organizations + organization;
    begun_.push_back({t, organization, owner});
    return static_cast<std::uint32_t>(begun_.size() - 1);
  }

  void schedule(std::int64_t t) {
    while (free_ > 0 && waiting_ > 0) {
      const OrganizationSet fitting = rigid_ ? fitting_members() : waiting_members_;
      if (fitting == 0) return;
      const bool single = (fitting & (fitting - 1)) == 0;
      const auto first = static_cast<std::size_t>(std::countr_zero(fitting));
      start(t, single ? first : policy_.choose_among(t, fitting, free_ < waiting_));
    }
  }

  // The waiting organizations whose first job fits.
  [[nodiscard]] OrganizationSet fitting_members() const {
    OrganizationSet fitting = 0;
    for (OrganizationSet rest = waiting_members_; rest != 0; rest &= rest - 1) {
      const auto u = static_cast<std::size_t>(std::countr_zero(rest));
      if (instance_.jobs[queue_[u][head_[u]]].processors <= free_) fitting |= rest & (~rest + 1);
    }
    return fitting;
  }

  const Instance& instance_;
  Policy& policy_;
  std::vector<game::Accrual> own_;
  std::vector<std::vector<std::uint32_t>> queue_;  // by organization: job indices in FIFO order
  std::vector<std::size_t> head_;
  std::uint64_t free_;
  std::uint64_t waiting_ = 0;
  OrganizationSet waiting_members_ = 0;
  std::vector<Start> starts_;  // by job
  std::size_t started_ = 0;
  std::vector<std::uint32_t> order_;
  bool rigid_;
  bool which_ended_;
  bool run_times_;
  bool numbered_;  // the policy has to know which start it was that ended
  std::size_t next_release_ = 0;
  std::vector<Begun> begun_;    // by number of the start, where numbered_
  CompletionCalendar running_;  // that number, or (owner - k_any_owner) * k_organizations + organization
  SimulationResult result_;
};

}  // namespace

SimulationResult simulate(const Instance& instance, Policy& policy) {
  SHAPLEY_REQUIRE(validate(instance) && instance.organizations() <= k_max_organizations);
  return Simulation(instance, policy).run();
}

std::vector<SimulationResult> simulate_together(std::span<const Machine> machines,
                                                const std::function<void(std::int64_t t)>& before) {
  std::vector<Simulation> simulations;
  simulations.reserve(machines.size());
  for (const Machine& machine : machines) {
    SHAPLEY_REQUIRE(validate(*machine.instance) && machine.instance->organizations() <= k_max_organizations &&
                    machine.instance->end == machines.front().instance->end);
    simulations.emplace_back(*machine.instance, *machine.policy);
  }
  const std::int64_t end = machines.empty() ? 0 : machines.front().instance->end.value;
  const auto next = [&] {
    std::int64_t t = end;
    for (const Simulation& simulation : simulations) t = std::min(t, simulation.next_event());
    return t;
  };
  for (std::int64_t t = next(); t < end; t = next()) {
    before(t);
    for (Simulation& simulation : simulations)
      if (simulation.next_event() == t) simulation.happen(t);
  }
  std::vector<SimulationResult> results;
  for (Simulation& simulation : simulations) results.push_back(simulation.report(end));
  before(end + 1);
  return results;
}

}  // namespace shapley::scheduling
