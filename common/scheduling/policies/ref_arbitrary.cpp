#include "scheduling/policies/ref_arbitrary.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <limits>
#include <vector>

namespace shapley::scheduling {

namespace {

constexpr std::int64_t k_never = std::numeric_limits<std::int64_t>::max();

// One coalition's schedule so far.
struct CoalitionSchedule {
  struct Running {
    ScheduledJob job;
    std::size_t organization;
  };
  std::uint64_t free = 0;
  std::vector<std::size_t> head;      // by organization: jobs started
  std::vector<Running> counted;       // jobs whose utility may still change
  std::vector<std::int64_t> settled;  // by organization: utility of the others
  std::int64_t next_end = k_never;
};

class RefArbitrary final : public Policy {
 public:
  RefArbitrary(const Instance& instance, const UtilityFunction& utility)
      : utility_(utility),
        organizations_(instance.organizations()),
        queue_(organizations_),
        schedules_(std::size_t{1} << organizations_),
        by_size_(game::all_coalitions(organizations_)),
        values_(schedules_.size()),
        potentials_(schedules_.size()) {
    std::stable_sort(by_size_.begin(), by_size_.end(),
                     [](Coalition a, Coalition b) { return std::popcount(a) < std::popcount(b); });
    for (const Coalition c : by_size_) {
      schedules_[c].head.resize(organizations_);
      schedules_[c].settled.resize(organizations_);
      for (std::size_t u = 0; u < organizations_; ++u) {
        if ((c >> u & 1U) != 0) schedules_[c].free += instance.processors[u];
      }
    }
  }

  void released(std::int64_t t, const Job& job) override {
    run_before(t);
    queue_[job.organization].push_back(job);
    next_decision_ = t;
  }
  std::int32_t started(std::int64_t t, std::size_t) override {
    run_before(t + 1);
    grand_starts_.pop_front();
    return k_any_owner;
  }
  void completed(std::int64_t t, std::size_t, std::int32_t) override { run_before(t); }

  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition, bool) override {
    run_before(t + 1);
    return grand_starts_.front();
  }

  [[nodiscard]] std::optional<std::vector<Rational>> contributions(std::int64_t t) override {
    const auto grand = static_cast<Coalition>(schedules_.size() - 1);
    run_before(t);
    value_all(t);
    std::vector<Rational> phi;
    for (std::size_t u = 0; u < organizations_; ++u)
      phi.push_back({game::scaled_shapley(potentials_, grand, u), game::factorial(organizations_)});
    return phi;
  }
  [[nodiscard]] std::vector<std::pair<Coalition, std::int64_t>> coalition_values(std::int64_t t) override {
    run_before(t);
    value_all(t);
    std::vector<std::pair<Coalition, std::int64_t>> values;
    for (Coalition c = 1; c < schedules_.size(); ++c) values.emplace_back(c, values_[c]);
    return values;
  }

 private:
  void run_before(std::int64_t t) {
    while (next_decision_ < t) {
      const std::int64_t at = next_decision_;
      next_decision_ = k_never;
      for (const Coalition c : by_size_) complete(schedules_[c], at);
      for (const Coalition c : by_size_) {
        schedule(c, at);
        next_decision_ = std::min(next_decision_, schedules_[c].next_end);
      }
    }
  }

  void complete(CoalitionSchedule& schedule, std::int64_t t) const {
    if (schedule.next_end > t) return;
    schedule.next_end = k_never;
    std::erase_if(schedule.counted, [&](const CoalitionSchedule::Running& running) {
      const std::int64_t end = (running.job.start + running.job.duration).value;
      if (end == t) ++schedule.free;
      if (end > t) schedule.next_end = std::min(schedule.next_end, end);
      if (end > t || !utility_.settles) return false;
      schedule.settled[running.organization] += utility_.of_job(running.job, {t});
      return true;
    });
  }

  [[nodiscard]] Coalition waiting_in(Coalition c) const {
    Coalition waiting = 0;
    for (std::size_t u = 0; u < organizations_; ++u) {
      if ((c >> u & 1U) != 0 && schedules_[c].head[u] < queue_[u].size()) waiting |= Coalition{1} << u;
    }
    return waiting;
  }

  void schedule(Coalition c, std::int64_t t) {
    CoalitionSchedule& own = schedules_[c];
    std::optional<Standings> standings;
    while (own.free > 0) {
      const Coalition waiting = waiting_in(c);
      if (waiting == 0) break;
      auto best = static_cast<std::size_t>(std::countr_zero(waiting));
      if ((waiting & (waiting - 1)) != 0) {
        if (!standings) standings = standings_of(c, t);
        best = nearest(*standings, c, waiting, t);
      }
      start(c, best, t, standings);
    }
  }

  // |C|! (phi - psi) of the members of a coalition.
  struct Standings {
    std::vector<Int128> scaled;
    Int128 scale = 1;
  };

  [[nodiscard]] Standings standings_of(Coalition c, std::int64_t t) {
    // Coalitions of c's own size and above have not decided yet; c's own potential is the only one of them that is
    // used.
    for (Coalition sub = c; sub != 0; sub = (sub - 1) & c) values_[sub] = value(sub, t);
    game::scaled_potentials(values_, potentials_);
    Standings standings{std::vector<Int128>(organizations_),
                        game::factorial(static_cast<std::size_t>(std::popcount(c)))};
    for (std::size_t u = 0; u < organizations_; ++u) {
      if ((c >> u & 1U) == 0) continue;
      standings.scaled[u] = game::scaled_shapley(potentials_, c, u) - standings.scale * utility_in(c, u, t);
    }
    return standings;
  }

  [[nodiscard]] std::int64_t gain(std::size_t organization, const CoalitionSchedule& own, std::int64_t t) const {
    const Job& job = queue_[organization][own.head[organization]];
    return utility_.of_job({job.release, {t}, job.duration}, {t});
  }

  [[nodiscard]] std::size_t nearest(const Standings& standings, Coalition c, Coalition waiting, std::int64_t t) const {
    const Int128 size = std::popcount(c);
    std::optional<std::size_t> best;
    Int128 best_distance = 0;
    for (Coalition rest = waiting; rest != 0; rest &= rest - 1) {
      const auto u = static_cast<std::size_t>(std::countr_zero(rest));
      const Int128 gained = standings.scale * gain(u, schedules_[c], t);
      Int128 distance = 0;
      for (Coalition members = c; members != 0; members &= members - 1) {
        const auto w = static_cast<std::size_t>(std::countr_zero(members));
        const Int128 difference = standings.scaled[w] + gained / size - (w == u ? gained : 0);
        distance += difference < 0 ? -difference : difference;
      }
      const bool better = !best || distance < best_distance ||
                          (distance == best_distance && standings.scaled[u] > standings.scaled[*best]);
      if (!better) continue;
      best = u;
      best_distance = distance;
    }
    return *best;
  }

  void start(Coalition c, std::size_t u, std::int64_t t, std::optional<Standings>& standings) {
    CoalitionSchedule& own = schedules_[c];
    if (standings) {
      const Int128 gained = standings->scale * gain(u, own, t);
      for (Int128& scaled : standings->scaled) scaled += gained / std::popcount(c);
      standings->scaled[u] -= gained;
    }
    const Job& job = queue_[u][own.head[u]++];
    own.counted.push_back({{job.release, {t}, job.duration}, u});
    own.next_end = std::min(own.next_end, t + job.duration.value);
    --own.free;
    if (c + 1 == schedules_.size()) grand_starts_.push_back(u);
  }

  [[nodiscard]] std::int64_t utility_in(Coalition c, std::size_t u, std::int64_t t) const {
    std::int64_t sum = schedules_[c].settled[u];
    for (const auto& [job, organization] : schedules_[c].counted) {
      if (organization == u) sum += utility_.of_job(job, {t});
    }
    return sum;
  }
  [[nodiscard]] std::int64_t value(Coalition c, std::int64_t t) const {
    std::int64_t sum = 0;
    for (const std::int64_t settled : schedules_[c].settled) sum += settled;
    for (const auto& [job, organization] : schedules_[c].counted) sum += utility_.of_job(job, {t});
    return sum;
  }
  void value_all(std::int64_t t) {
    for (const Coalition c : by_size_) values_[c] = value(c, t);
    game::scaled_potentials(values_, potentials_);
  }

  const UtilityFunction& utility_;
  std::size_t organizations_;
  std::vector<std::vector<Job>> queue_;  // by organization
  std::vector<CoalitionSchedule> schedules_;
  std::vector<Coalition> by_size_;
  std::vector<std::int64_t> values_;
  std::vector<Int128> potentials_;
  std::deque<std::size_t> grand_starts_;  // decided for the grand coalition, not yet made by the driver
  std::int64_t next_decision_ = k_never;
};

}  // namespace

std::unique_ptr<Policy> make_ref_arbitrary(const Instance& instance, const UtilityFunction& utility) {
  return std::make_unique<RefArbitrary>(instance, utility);
}

}  // namespace shapley::scheduling
