// A random generator that is a value: seeded explicitly, identical on every machine and compiler.
//
// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): 64 bits of state, one stream per seed, fast enough to reseed for every
// instant, which is what makes a re-evaluation of history draw the same permutations again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/contract.hpp"

namespace shapley {

class Rng {
 public:
  explicit constexpr Rng(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  // Uniform on 0 .. bound-1, unbiased. REQUIRES: bound > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) {
    // Values under 2^64 mod bound would make the first residues more likely; draw again.
    SHAPLEY_REQUIRE(bound > 0);
    const std::uint64_t reject_under = (0 - bound) % bound;
    std::uint64_t value = next();
    while (value < reject_under) value = next();
    return value % bound;
  }

  // As below(), for small bounds: without a division, except for one draw in 2^32 / bound (Lemire, ACM TOMACS 29,
  // 2019). The values drawn are not those of below().
  [[nodiscard]] std::uint32_t below_32(std::uint32_t bound) {
    std::uint64_t product = (next() >> 32U) * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t reject_under = (0U - bound) % bound;
      while (static_cast<std::uint32_t>(product) < reject_under) product = (next() >> 32U) * bound;
    }
    return static_cast<std::uint32_t>(product >> 32U);
  }

  // Uniform on (0, 1), both ends left out, so that its logarithm is finite.
  [[nodiscard]] double uniform() { return (static_cast<double>(next() >> 11U) + 0.5) * 0x1p-53; }

  // Uniform permutation in place (Fisher-Yates from the back).
  template <typename T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[static_cast<std::size_t>(below(i))]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace shapley
