#include "base/rng.hpp"

namespace shapley {

std::uint64_t Rng::below(std::uint64_t bound) {
  // Values under 2^64 mod bound would make the first residues more likely; draw again.
  const std::uint64_t reject_under = (0 - bound) % bound;
  std::uint64_t value = next();
  while (value < reject_under) value = next();
  return value % bound;
}

}  // namespace shapley
