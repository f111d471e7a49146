#include "scheduling/policies/hindsight.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "game/accrual.hpp"
#include "game/coalition_weights.hpp"
#include "hindsight/lattice_keys.hpp"
#include "hindsight/virtual_schedules.hpp"
#include "scheduling/guaranteed.hpp"
#include "scheduling/serving_terms.hpp"

namespace shapley::scheduling {

namespace {

class OverSchedules : public HindsightPolicy {
 public:
  OverSchedules(const Instance& instance, std::vector<Coalition> coalitions, const game::ServingRule& rule)
      : coalitions_(std::move(coalitions)),
        schedules_(instance.organizations(), coalitions_),
        terms_(rule),
        guaranteed_(instance.processors, rule.guarantee),
        processors_(instance.total_processors()),
        own_(instance.organizations()),
        waiting_(instance.organizations()),
        head_(instance.organizations()),
        psi_(instance.organizations()),
        keys_(instance.organizations()) {
    for (std::size_t u = 0; u < instance.organizations(); ++u) schedules_.change_capacity(u, 0, instance.processors[u]);
  }

  // The job's duration is not looked at.
  void released(std::int64_t t, const Job& job) final {
    waiting_[job.organization].push_back(schedules_.add(job.organization, t, 1));
  }
  std::int32_t started(std::int64_t t, std::size_t organization) final {
    const hindsight::Request request = waiting_[organization][head_[organization]++];
    schedules_.started(request, t);
    runs_.push_back({request, static_cast<std::uint32_t>(organization), t});
    own_[organization].change(t, 1);
    if (terms_.weigh_running()) evaluated_at_ = -1;  // a start changes psi as it is looked at
    return k_any_owner;
  }
  [[nodiscard]] bool asks_which_ended() const final { return true; }
  void completed(std::int64_t, std::size_t, std::int32_t) final {}
  void ended(std::int64_t t, std::size_t start) final {
    const Run& run = runs_[start];
    schedules_.ended(run.request, t - run.began);
    own_[run.organization].change(t, -1);
    if (terms_.weigh_running()) terms_.ran({t - run.began});
  }

  [[nodiscard]] std::size_t choose(std::int64_t t, Coalition waiting, bool scarce) final {
    if (!scarce) return static_cast<std::size_t>(std::countr_zero(waiting));
    const std::vector<Int128>& keys_now = keys(t);
    return greatest(guaranteed_.first_of(waiting, [this](std::size_t u) { return own_[u].running; }),
                    [&](std::size_t u) { return -keys_now[u]; });
  }
  [[nodiscard]] const std::vector<Int128>& keys(std::int64_t t) final {
    if (evaluated_at_ != t) {
      see(t, terms_.now());
      make_keys(keys_);
      evaluated_at_ = t;
    }
    return keys_;
  }
  [[nodiscard]] std::optional<std::vector<Rational>> contributions(std::int64_t t) final {
    evaluated_at_ = -1;
    see(t, {});
    return shares();
  }

 protected:
  virtual void make_keys(std::vector<Int128>& keys) = 0;
  [[nodiscard]] virtual std::vector<Rational> shares() = 0;
  [[nodiscard]] std::span<const std::int64_t> psi() const { return psi_; }
  // v of a slot, at the instant and the horizon that are looked at.
  [[nodiscard]] std::int64_t value(std::size_t slot) const {
    return game::looked_ahead(schedules_.utility(slot, seen_at_), schedules_.work(slot, seen_at_),
                              schedules_.running(slot), seen_ahead_);
  }
  // No value or psi that is looked at is greater.
  [[nodiscard]] Int128 greatest_value() const {
    const Int128 ahead = seen_at_ + seen_ahead_.horizon.value + 1;
    return static_cast<Int128>(processors_) * ahead * ahead;
  }

 private:
  struct Run {
    hindsight::Request request;
    std::uint32_t organization;
    std::int64_t began;
  };

  void see(std::int64_t t, const game::KeyTerms& terms) {
    // What happens at t changes no v at t, but what runs: that of the second which begins at t counts.
    schedules_.advance(std::max(terms.running_factor > 0 ? t + 1 : t, schedules_.time()));
    schedules_.settle(t);
    seen_at_ = t;
    seen_ahead_ = terms;
    for (std::size_t u = 0; u < own_.size(); ++u)
      psi_[u] = game::looked_ahead(own_[u].psi_at(t), own_[u].done_at(t), own_[u].running, terms);
  }

  std::vector<Coalition> coalitions_;
  hindsight::VirtualSchedules<std::int64_t> schedules_;
  ServingTerms terms_;
  Guaranteed guaranteed_;
  std::uint64_t processors_;
  std::vector<game::Accrual> own_;
  std::vector<std::vector<hindsight::Request>> waiting_;  // by organization, those that have started included
  std::vector<std::size_t> head_;                         // by organization: the first that has not
  std::vector<Run> runs_;                                 // in the order of their starts
  std::vector<std::int64_t> psi_;
  std::vector<Int128> keys_;
  std::int64_t seen_at_ = 0;
  game::KeyTerms seen_ahead_;
  std::int64_t evaluated_at_ = -1;
};

std::vector<Coalition> proper_coalitions(std::size_t k) {
  std::vector<Coalition> coalitions = game::all_coalitions(k);
  coalitions.pop_back();
  return coalitions;
}

class OverLattice final : public OverSchedules {
 public:
  OverLattice(const Instance& instance, const game::ServingRule& rule)
      : OverSchedules(instance, proper_coalitions(instance.organizations()), rule),
        lattice_(instance.organizations()),
        scale_(game::factorial(instance.organizations())),
        values_(std::size_t{1} << instance.organizations()),
        narrow_(instance.organizations()) {}

 private:
  void make_keys(std::vector<Int128>& keys) override {
    for (std::size_t coalition = 1; coalition + 1 < values_.size(); ++coalition)
      values_[coalition] = value(coalition - 1);
    if (hindsight::width_for(greatest_value(), narrow_.size()) == hindsight::Width::bits_64) {
      lattice_.keys<std::int64_t, std::int64_t>(values_, psi(), narrow_);
      std::copy(narrow_.begin(), narrow_.end(), keys.begin());
    } else {
      lattice_.keys<Int128, std::int64_t>(values_, psi(), keys);
    }
  }
  [[nodiscard]] std::vector<Rational> shares() override {
    std::vector<Int128> keys(narrow_.size());
    std::vector<Int128> scaled(narrow_.size());
    make_keys(keys);
    lattice_.scaled_contributions<Int128, std::int64_t>(keys, psi(), scaled);
    std::vector<Rational> phi;
    for (const Int128 value : scaled) phi.push_back({value, scale_});
    return phi;
  }

  hindsight::LatticeKeys lattice_;
  std::int64_t scale_;
  std::vector<std::int64_t> values_;  // by coalition
  std::vector<std::int64_t> narrow_;  // keys
};

// The coalitions that any organization's phi is made of; the grand one is none of the virtual ones.
std::vector<Coalition> virtual_coalitions(const game::CoalitionWeights& weights) {
  std::set<Coalition> coalitions;
  for (const auto& of_one : weights.of) {
    for (const auto& [coalition, weight] : of_one) coalitions.insert(coalition);
  }
  coalitions.erase(game::grand_coalition(weights.of.size()));
  return {coalitions.begin(), coalitions.end()};
}

class OverPairs final : public OverSchedules {
 public:
  OverPairs(const Instance& instance, const game::CoalitionWeights& weights, const game::ServingRule& rule)
      : OverSchedules(instance, virtual_coalitions(weights), rule),
        scale_(weights.scale),
        terms_(instance.organizations()),
        of_grand_(instance.organizations()) {
    const std::vector<Coalition> coalitions = virtual_coalitions(weights);
    for (std::size_t u = 0; u < terms_.size(); ++u) {
      for (const auto& [coalition, weight] : weights.of[u]) {
        const auto slot = std::lower_bound(coalitions.begin(), coalitions.end(), coalition) - coalitions.begin();
        if (coalition == game::grand_coalition(terms_.size())) {
          of_grand_[u] = weight;
        } else {
          terms_[u].push_back({static_cast<std::size_t>(slot), weight});
        }
      }
    }
  }

 private:
  struct Term {
    std::size_t slot;
    std::int64_t weight;
  };

  [[nodiscard]] Int128 scaled_phi(std::size_t u) const {
    Int128 sum = 0;
    for (const std::int64_t psi_of_one : psi()) sum += psi_of_one;
    sum *= of_grand_[u];
    for (const auto& [slot, weight] : terms_[u]) sum += static_cast<Int128>(weight) * value(slot);
    return sum;
  }
  void make_keys(std::vector<Int128>& keys) override {
    for (std::size_t u = 0; u < keys.size(); ++u) keys[u] = scale_ * psi()[u] - scaled_phi(u);
  }
  [[nodiscard]] std::vector<Rational> shares() override {
    std::vector<Rational> phi;
    for (std::size_t u = 0; u < terms_.size(); ++u) phi.push_back({scaled_phi(u), scale_});
    return phi;
  }

  Int128 scale_;
  std::vector<std::vector<Term>> terms_;  // by organization
  std::vector<std::int64_t> of_grand_;    // by organization: its weight of v(N)
};

}  // namespace

std::unique_ptr<HindsightPolicy> make_hindsight_pair(const Instance& instance, const game::ServingRule& rule) {
  return std::make_unique<OverPairs>(instance, game::pair_weights(instance.organizations()), rule);
}

std::unique_ptr<HindsightPolicy> make_hindsight(const Instance& instance, const game::ServingRule& rule) {
  return std::make_unique<OverLattice>(instance, rule);
}

}  // namespace shapley::scheduling
