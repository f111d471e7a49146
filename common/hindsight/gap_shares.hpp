// How the gap between what really ran and what the virtual schedule of all players did is shared.
//
// phi is the Shapley value of the game of virtual schedules, that of all players among them, plus shares of the gap. A
// stretch is a time in which the same players were present; its gap is the work really done in it, valued at t, minus
// what the virtual schedule of all did in it, and is shared in equal parts by those who were present. So Sum(phi) =
// Sum(psi), a player that joins has no part in the gap from before, and one that has left none in the gap afterwards.
//
// Exact: parts are kept as multiples of 1 / k_gap_parts, which every number of players divides. Values;
// single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/types.hpp"
#include "hindsight/lattice_keys.hpp"

namespace shapley::hindsight {

// The least common multiple of 1 to 32.
inline constexpr std::int64_t k_gap_parts = 144'403'552'893'600;

// Work, and the sum of the instants at which its seconds began: at t it is worth work * t - moment [SR13 Eq. 3].
template <typename Integer>
struct Done {
  Integer work = 0;
  Integer moment = 0;

  [[nodiscard]] Integer utility_at(std::int64_t t) const { return work * Integer(t) - moment; }
  Done& operator+=(const Done& other) {
    work += other.work;
    moment += other.moment;
    return *this;
  }
  Done& operator-=(const Done& other) {
    work -= other.work;
    moment -= other.moment;
    return *this;
  }
  friend bool operator==(const Done&, const Done&) = default;
};

// `amount` during [begin, end).
[[nodiscard]] constexpr Done<Int128> done_during(std::int64_t begin, std::int64_t end, Int128 amount) {
  const Int128 work = amount * (end - begin);
  return {work, amount * ((Int128{begin} + end - 1) * (end - begin) / 2)};
}

// Each player's parts of all that was shared out, times k_gap_parts.
class GapShares {
 public:
  // Shares what was done in a stretch equally among the players that were present.
  void add(Coalition present, const Done<Int128>& done);
  GapShares& operator-=(const GapShares& other);
  // Adds to one player's part, times k_gap_parts.
  void add_part(std::size_t player, const Done<Int256>& part);

  // By bit of the coalitions that were present; players at or beyond size() have no part.
  [[nodiscard]] Done<Int256> of(std::size_t player) const {
    return player < parts_.size() ? parts_[player] : Done<Int256>{};
  }
  [[nodiscard]] std::size_t size() const { return parts_.size(); }
  [[nodiscard]] const Done<Int256>& sum() const { return sum_; }

 private:
  std::vector<Done<Int256>> parts_;
  Done<Int256> sum_;
};

}  // namespace shapley::hindsight
