// Who may be served now under a guarantee: the waiting organizations that are below it, or all if nobody is
// (serving_order.hpp). Of them the policy serves the one with the greatest key.
//
// A guarantee of 0 costs nothing and changes nothing.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "game/potential.hpp"
#include "game/serving_order.hpp"

namespace shapley::scheduling {

using game::Coalition;

class Guaranteed {
 public:
  // processors: owned, by organization.
  Guaranteed(std::span<const std::uint32_t> processors, game::Guarantee guarantee)
      : guarantee_(guarantee), owned_(processors.begin(), processors.end()), used_(owned_.size()) {}

  // `organization` runs on so many more (or fewer) processors.
  void change(std::size_t organization, std::int64_t by) { used_[organization] += by; }

  [[nodiscard]] Coalition first_of(Coalition waiting) const {
    return first_of(waiting, [this](std::size_t u) { return used_[u]; });
  }
  // The same where the caller knows how many processors used(u) each of them runs on.
  template <typename Used>
  [[nodiscard]] Coalition first_of(Coalition waiting, Used&& used) const {
    if (!any()) return waiting;
    Coalition below = 0;
    for (Coalition rest = waiting; rest != 0; rest &= rest - 1) {
      const auto u = static_cast<std::size_t>(std::countr_zero(rest));
      if (game::is_below(used(u), owned_[u], guarantee_)) below |= rest & (~rest + 1);
    }
    return below != 0 ? below : waiting;
  }

  // Whether anything is guaranteed at all.
  [[nodiscard]] bool any() const { return guarantee_ != game::Guarantee{}; }

 private:
  game::Guarantee guarantee_;
  std::vector<std::int64_t> owned_;
  std::vector<std::int64_t> used_;
};

// The one of `candidates` (one at least) with the greatest key(u); of equals the lowest.
template <typename Key>
[[nodiscard]] std::size_t greatest(Coalition candidates, Key&& key) {
  auto best = static_cast<std::size_t>(std::countr_zero(candidates));
  Coalition rest = candidates & (candidates - 1);
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
