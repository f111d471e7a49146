#include "fairness/simulate.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <queue>

#include "fairness/accrual.hpp"

namespace shapley::fairness {

namespace {

struct Completion {
  std::int64_t end;
  std::uint32_t organization;
  std::int32_t owner;
  // Earliest end on top; at one instant the order does not matter to any policy.
  friend bool operator<(const Completion& a, const Completion& b) { return a.end > b.end; }
};

class Simulation {
 public:
  Simulation(const Instance& instance, Policy& policy)
      : instance_(instance),
        policy_(policy),
        own_(instance.organizations()),
        queue_(instance.organizations()),
        head_(instance.organizations(), 0),
        free_(instance.total_processors()) {
    order_.resize(instance.jobs.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return instance.jobs[a].release < instance.jobs[b].release;
    });
  }

  SimulationResult run() {
    const std::int64_t end = instance_.end.value;
    while (true) {
      const std::int64_t t = next_event();
      if (t >= end) break;
      complete(t);
      release(t);
      schedule(t);
    }
    return report(end);
  }

 private:
  [[nodiscard]] std::int64_t next_event() const {
    std::int64_t t = k_end_of_time.value;
    if (next_release_ < order_.size()) t = instance_.jobs[order_[next_release_]].release.value;
    if (!running_.empty()) t = std::min(t, running_.top().end);
    return t;
  }

  void complete(std::int64_t t) {
    while (!running_.empty() && running_.top().end == t) {
      const Completion done = running_.top();
      running_.pop();
      own_[done.organization].change(t, -1);
      policy_.completed(t, done.organization, done.owner);
      ++free_;
      ++result_.events;
    }
  }

  void release(std::int64_t t) {
    while (next_release_ < order_.size() && instance_.jobs[order_[next_release_]].release.value == t) {
      const std::uint32_t index = order_[next_release_++];
      const Job& job = instance_.jobs[index];
      queue_[job.organization].push_back(index);
      ++waiting_;
      policy_.released(t, job);
      ++result_.events;
    }
  }

  void start(std::int64_t t, std::size_t u) {
    const std::uint32_t index = queue_[u][head_[u]++];
    const std::int32_t owner = policy_.started(t, u);
    own_[u].change(t, 1);
    running_.push({t + instance_.jobs[index].duration.value, static_cast<std::uint32_t>(u), owner});
    result_.schedule.push_back({index, Instant{t}, owner});
    --free_;
    --waiting_;
    ++result_.events;
  }

  void schedule(std::int64_t t) {
    while (free_ > 0 && waiting_ > 0) {
      Coalition waiting = 0;
      for (std::size_t u = 0; u < queue_.size(); ++u) {
        if (head_[u] < queue_[u].size()) waiting |= Coalition{1} << u;
      }
      const bool single = (waiting & (waiting - 1)) == 0;
      const auto first = static_cast<std::size_t>(std::countr_zero(waiting));
      start(t, single ? first : policy_.choose(t, waiting, free_ < waiting_));
    }
  }

  SimulationResult report(std::int64_t end) {
    for (Accrual& own : own_) {
      own.advance(end);
      result_.psi.push_back(own.psi);
      result_.value += own.psi;
      result_.work += own.done;
    }
    std::sort(result_.schedule.begin(), result_.schedule.end(),
              [](const Start& a, const Start& b) { return a.job < b.job; });
    return std::move(result_);
  }

  const Instance& instance_;
  Policy& policy_;
  std::vector<Accrual> own_;
  std::vector<std::vector<std::uint32_t>> queue_;  // by organization: job indices in FIFO order
  std::vector<std::size_t> head_;
  std::uint64_t free_;
  std::uint64_t waiting_ = 0;
  std::vector<std::uint32_t> order_;
  std::size_t next_release_ = 0;
  std::priority_queue<Completion> running_;
  SimulationResult result_;
};

}  // namespace

SimulationResult simulate(const Instance& instance, Policy& policy) {
  return Simulation(instance, policy).run();
}

}  // namespace shapley::fairness
