// A random generator that is a value: seeded explicitly, identical on every machine and compiler.
//
// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): 64 bits of state, one stream per seed, fast enough to reseed for every
// instant, which is what makes a re-evaluation of history draw the same permutations again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace shapley {

class Rng {
 public:
  explicit constexpr Rng(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] std::uint64_t next();
  // Uniform on 0 .. bound-1, unbiased. REQUIRES: bound > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);

  // Uniform permutation in place (Fisher-Yates from the back).
  template <typename T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[static_cast<std::size_t>(below(i))]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace shapley
