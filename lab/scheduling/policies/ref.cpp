#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <vector>

#include "base/contract.hpp"
#include "base/rng.hpp"
#include "scheduling/fair_schedules.hpp"
#include "scheduling/policies/coalition_policy.hpp"
#include "scheduling/policies/policies.hpp"
#include "scheduling/serving_terms.hpp"

namespace shapley::scheduling {

namespace {

// Every coalition has its own schedule here, the grand one included. The driver's schedule repeats the grand
// coalition's, so its starts and ends add only which organizations are below the guarantee within an instant. If what
// runs counts, all coalitions decide an instant first, the grand one last, and the driver repeats what that one did:
// the order of an instant's starts makes no difference to any schedule.
class Ref final : public Policy {
 public:
  Ref(const Instance& instance, const game::ServingRule& rule)
      : schedules_(instance.processors, rule),
        guarantee_(rule.guarantee),
        terms_(rule, instance.residual),
        guaranteed_(instance.processors, rule.guarantee),
        used_(instance.organizations()),
        started_(instance.organizations()) {}

  void released(std::int64_t, const Job& job) override {
    if (terms_.weigh_running()) take_measure();
    schedules_.release(job);
  }
  std::int32_t started(std::int64_t, std::size_t organization) override {
    ++used_[organization];
    ++started_[organization];
    return k_any_owner;
  }
  void completed(std::int64_t, std::size_t organization, std::int32_t) override { --used_[organization]; }

  [[nodiscard]] bool asks_run_times() const override { return terms_.weigh_running(); }
  // Before t the coalitions decided by what had ended before t.
  void ran(std::int64_t t, Duration duration) override {
    if (t != last_end_) {
      take_measure();
      schedules_.run_before(t);
      last_end_ = t;
    }
    terms_.ran(duration);
  }

  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) override {
    if (scarce && terms_.weigh_running()) return served_by_grand(t, waiting);
    const Coalition first =
        scarce ? guaranteed_.first_of(waiting, [this](std::size_t u) { return used_[u]; }) : waiting;
    if (!scarce || std::has_single_bit(first)) return static_cast<std::size_t>(std::countr_zero(first));
    schedules_.run_before(t);
    return schedules_.choose(game::grand_coalition(schedules_.organizations()), first, t);
  }

  // What runs goes on in every coalition.
  [[nodiscard]] bool endowed(std::int64_t t, const std::vector<std::uint32_t>& processors) override {
    if (terms_.weigh_running()) take_measure();
    schedules_.endow(t, processors);
    guaranteed_ = Guaranteed(processors, guarantee_);
    return true;
  }

  [[nodiscard]] std::optional<std::vector<Rational>> contributions(std::int64_t t) override {
    if (terms_.weigh_running()) take_measure();
    schedules_.run_before(t);
    std::vector<std::int64_t> values{0};
    for (const auto& [coalition, value] : coalition_values(t)) values.push_back(value);
    std::vector<Int128> scaled(schedules_.organizations());
    game::scaled_shapley_values_of_grand(values, scaled);
    std::vector<Rational> phi;
    for (const Int128 value : scaled) phi.push_back({value, game::factorial(schedules_.organizations())});
    return phi;
  }

  [[nodiscard]] std::vector<std::pair<Coalition, std::int64_t>> coalition_values(std::int64_t t) override {
    if (terms_.weigh_running()) take_measure();
    schedules_.run_before(t);
    std::vector<std::pair<Coalition, std::int64_t>> values;
    for (const Coalition c : game::all_coalitions(schedules_.organizations()))
      values.emplace_back(c, schedules_.value_at(c, t));
    return values;
  }

 private:
  void take_measure() { schedules_.set_terms(terms_.now()); }

  // A waiting organization of which the grand coalition starts more jobs by the end of the instant.
  [[nodiscard]] std::size_t served_by_grand(std::int64_t t, Coalition waiting) {
    take_measure();
    schedules_.run_before(t + 1);
    const Coalition grand = game::grand_coalition(schedules_.organizations());
    Coalition rest = waiting;
    while (!std::has_single_bit(rest) && schedules_.started(grand, static_cast<std::size_t>(std::countr_zero(rest))) <=
                                             started_[static_cast<std::size_t>(std::countr_zero(rest))])
      rest &= rest - 1;
    return static_cast<std::size_t>(std::countr_zero(rest));
  }

  FairSchedules schedules_;
  game::Guarantee guarantee_;
  ServingTerms terms_;
  Guaranteed guaranteed_;
  std::vector<std::int64_t> used_;    // by organization
  std::vector<std::size_t> started_;  // jobs, by organization
  std::int64_t last_end_ = -1;        // of a run
};

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

std::uint64_t ref_memory_bound(const Instance& instance) {
  return FairSchedules::memory_bound(instance);
}

std::unique_ptr<Policy> make_ref(const Instance& instance, const game::ServingRule& rule) {
  SHAPLEY_REQUIRE(1 <= instance.organizations() && instance.organizations() <= game::k_max_lattice_organizations);
  return std::make_unique<Ref>(instance, rule);
}

std::unique_ptr<Policy> make_ref_arbitrary(const Instance& instance, const UtilityFunction& utility) {
  SHAPLEY_REQUIRE(1 <= instance.organizations() && instance.organizations() <= k_ref_arbitrary_organizations);
  return std::make_unique<RefArbitrary>(instance, utility);
}

std::vector<Permutation> draw_permutations(std::size_t organizations, std::size_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<Permutation> permutations(count, Permutation(organizations));
  for (Permutation& permutation : permutations) {
    std::iota(permutation.begin(), permutation.end(), 0U);
    rng.shuffle(std::span(permutation));
  }
  return permutations;
}

std::size_t permutations_for(std::size_t organizations, const RandAccuracy& accuracy) {
  const auto k = static_cast<double>(organizations);
  return static_cast<std::size_t>(
      std::ceil(k * k / (accuracy.epsilon * accuracy.epsilon) * std::log(k / (1.0 - accuracy.lambda))));
}

std::unique_ptr<Policy> make_rand(const Instance& instance, const std::vector<Permutation>& permutations,
                                  const game::ServingRule& rule) {
  SHAPLEY_REQUIRE(instance.organizations() <= k_coalition_organizations);
  CoalitionWeights weights(instance.organizations());
  for (const Permutation& permutation : permutations) {
    Coalition before = 0;
    for (const std::uint32_t u : permutation) {
      const Coalition with = before | Coalition{1} << u;
      weights.add(u, with, 1);
      weights.add(u, before, -1);
      before = with;
    }
  }
  weights.scale = static_cast<Int128>(permutations.size());
  return make_weighted_coalitions(instance, weights, rule);
}

}  // namespace shapley::scheduling
