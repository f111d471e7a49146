#include "hindsight/gap_shares.hpp"

#include <bit>

namespace shapley::hindsight {

void GapShares::add(Coalition present, const Done<Int128>& done) {
  if (present == 0 || done == Done<Int128>{}) return;
  const Int256 of_one = k_gap_parts / std::popcount(present);
  const Done<Int256> part{Int256(done.work) * of_one, Int256(done.moment) * of_one};
  for (Coalition rest = present; rest != 0; rest &= rest - 1) {
    add_part(static_cast<std::size_t>(std::countr_zero(rest)), part);
  }
}

GapShares& GapShares::operator-=(const GapShares& other) {
  for (std::size_t player = 0; player < other.size(); ++player) {
    const Done<Int256>& part = other.parts_[player];
    add_part(player, {-part.work, -part.moment});
  }
  return *this;
}

void GapShares::add_part(std::size_t player, const Done<Int256>& part) {
  if (parts_.size() <= player) parts_.resize(player + 1);
  parts_[player] += part;
  sum_ += part;
}

}  // namespace shapley::hindsight
