// The terms of the key besides phi - psi (serving_order.hpp) in one schedule; the policy reports run times as its runs
// end.
//
// m, the mean residual run time, is measured by all runs that ended in the schedule that is made, REF's subcoalitions
// included, processors weighing: of runs of q processors and d seconds
//     m = sum(q d^2) / (2 sum(q d)),  rounded down, at least 1;  k_assumed_residual as long as none ended
// It is measured again at every instant at which runs end, before the choices of that instant. shapleyd measures the
// same after 20 runs first and then once a day at most, when m changes by more than a fifth: its books are years long,
// windows are hours. An instance may give m instead.
//
// 64 bits hold the sums: instance.hpp's validate() bounds processors * time^2.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "game/braking.hpp"
#include "game/serving_order.hpp"
#include "hindsight/lattice_keys.hpp"
#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

class ServingTerms {
 public:
  // residual: Instance::residual.
  ServingTerms(const game::ServingRule& rule, Duration residual)
      : rule_(rule),
        given_(residual.value > 0),
        terms_(key_terms(rule, residual.value > 0 ? residual : game::k_assumed_residual)) {}

  // Whether what runs counts; otherwise run times are not needed.
  [[nodiscard]] bool weigh_running() const { return does_weigh_running(rule_); }
  [[nodiscard]] static bool does_weigh_running(const game::ServingRule& rule) {
    return rule.pace != game::Pace{} || (rule.running != game::RunningWeight{} && rule.horizon.value > 0);
  }
  // A run of one processor ended.
  void ran(Duration duration) {
    work_ += duration.value;
    squares_ += duration.value * duration.value;
    stale_ = true;
  }
  // The terms by the runs that ended so far.
  [[nodiscard]] const game::KeyTerms& now() {
    if (stale_ && !given_) terms_ = key_terms(rule_, {std::max<std::int64_t>(squares_ / (2 * work_), 1)});
    stale_ = false;
    return terms_;
  }

 private:
  game::ServingRule rule_;
  bool given_;
  game::KeyTerms terms_;
  std::int64_t work_ = 0;
  std::int64_t squares_ = 0;
  bool stale_ = false;
};

// The organizations that may be served under a guarantee: the waiting ones that are below it, or all if none of them is
// (serving_order.hpp). Of these the policy serves the one with the greatest key.
//
// A guarantee of 0 costs nothing and changes nothing. Sets are bit masks: an OrganizationSet, or a Coalition.

class Guaranteed {
 public:
  // processors: owned, by organization.
  Guaranteed(std::span<const std::uint32_t> processors, game::Guarantee guarantee)
      : guarantee_(guarantee), owned_(processors.begin(), processors.end()) {}

  // used(u): the processors that u runs on.
  template <std::unsigned_integral Set, typename Used>
  [[nodiscard]] Set first_of(Set waiting, Used&& used) const {
    if (!any()) return waiting;
    Set below = 0;
    for (Set rest = waiting; rest != 0; rest &= rest - 1) {
      const auto u = static_cast<std::size_t>(std::countr_zero(rest));
      if (game::is_below(used(u), owned_[u], guarantee_)) below |= rest & (~rest + 1);
    }
    return below != 0 ? below : waiting;
  }

  // Whether there is a guarantee at all.
  [[nodiscard]] bool any() const { return guarantee_ != game::Guarantee{}; }

 private:
  game::Guarantee guarantee_;
  std::vector<std::int64_t> owned_;
};

// The key of a rule that brakes (game/braking.hpp), by organization. Policies that keep k! phi need 256 bits for it.
class Brakes {
 public:
  // processors: owned, by organization.
  Brakes(std::span<const std::uint32_t> processors, game::Pace pace) : pace_(pace) {
    for (const std::uint32_t owned : processors)
      doubled_turn_.push_back(any() ? game::twice_turn(owned * k_micro, pace) : 0);
  }

  // Whether the rule brakes.
  [[nodiscard]] bool any() const { return pace_ != game::Pace{}; }

  // S' and R' of u, in scale-ths of processors. REQUIRES: any().
  template <typename Integer>
  [[nodiscard]] Integer key(std::size_t u, const Integer& balance_ahead, const Integer& work_ahead,
                            const Integer& scale) const {
    return game::braked<Integer>(k_micro * balance_ahead, k_micro * work_ahead, scale * doubled_turn_[u]);
  }
  // From figures at present, likewise.
  template <typename Integer>
  [[nodiscard]] Integer key(std::size_t u, const KeyFigures& figures, const game::KeyTerms& terms,
                            const Integer& scale) const {
    return game::braking_key<Integer>(Integer(figures.balance) * k_micro, Integer(figures.given_less_got) * k_micro,
                                      Integer(figures.rate_less_used) * k_micro, terms, scale * doubled_turn_[u]);
  }

 private:
  game::Pace pace_;
  std::vector<std::int64_t> doubled_turn_;
};
using hindsight::Int256;

// The one of `candidates` (one at least) with the greatest key(u); of equals the lowest.
template <std::unsigned_integral Set, typename Key>
[[nodiscard]] std::size_t greatest(Set candidates, Key&& key) {
  auto best = static_cast<std::size_t>(std::countr_zero(candidates));
  Set rest = candidates & (candidates - 1);
  if (rest == 0) return best;
  for (auto best_key = key(best); rest != 0; rest &= rest - 1) {
    const auto u = static_cast<std::size_t>(std::countr_zero(rest));
    if (const auto own = key(u); own > best_key) {
      best = u;
      best_key = own;
    }
  }
  return best;
}

}  // namespace shapley::scheduling
