#include "base/rng.hpp"

namespace shapley {

std::uint64_t Rng::next() {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

std::uint64_t Rng::below(std::uint64_t bound) {
  // Values under 2^64 mod bound would make the first residues more likely; draw again.
  const std::uint64_t reject_under = (0 - bound) % bound;
  std::uint64_t value = next();
  while (value < reject_under) value = next();
  return value % bound;
}

}  // namespace shapley
