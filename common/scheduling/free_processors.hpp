// How many processors every coalition has free, and which have one at all.
//
// Most jobs start in all coalitions of their owner at once and end in all of them at once. Both are done in blocks of
// four counters, with the coalitions that differ put right afterwards.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "game/coalition_set.hpp"

namespace shapley::scheduling {

using game::Coalition;
using game::CoalitionSet;

class FreeProcessors {
 public:
  // pool: by coalition, 2^k entries; all are free.
  FreeProcessors(std::span<const std::uint32_t> pool, std::size_t organizations)
      : some_(organizations), count_(std::max(pool.size(), k_lanes)), holds_(organizations) {
    for (Coalition c = 0; c < pool.size(); ++c) {
      count_[c] = pool[c];
      if (pool[c] > 0) some_.insert(c);
    }
    // Coalitions that do not exist, in the only block of k < 2, change with the others and are never looked at.
    for (std::size_t u = 0; u < organizations; ++u)
      for (std::size_t i = 0; i < CoalitionSet::k_word_bits; ++i)
        holds_[u][i] = u >= k_in_word ? 1 : static_cast<std::uint32_t>(i >> u & 1U);
  }

  [[nodiscard]] std::uint32_t operator[](Coalition c) const { return count_[c]; }
  // The coalitions with a free processor.
  [[nodiscard]] const CoalitionSet& some() const { return some_; }

  void take(Coalition c) {
    if (--count_[c] == 0) some_.erase(c);
  }
  void give(Coalition c) {
    if (count_[c]++ == 0) some_.insert(c);
  }

  // One processor in each of `from`, coalitions of u with a free one: most of `holders`, all coalitions of u.
  void take_from_most(std::size_t u, const CoalitionSet& holders, const CoalitionSet& from) {
    for (std::size_t w = 0; w < holders.words(); ++w) {
      if (holders.word(w) == 0) continue;
      std::uint32_t* word = &count_[w * CoalitionSet::k_word_bits];
      Lanes some_zero{};
      for (std::size_t i = 0; i < word_size(); i += k_lanes) {
        const Lanes taken = load(&holds_[u][i]);
        const Lanes left = load(word + i) - taken;
        store(word + i, left);
        some_zero |= zero_lanes(left) & taken;
      }
      if ((some_zero[0] | some_zero[1] | some_zero[2] | some_zero[3]) != 0)
        some_.set_word(w, some_.word(w) & ~(zeros(word) & from.word(w)));
      CoalitionSet::visit_word(w, holders.word(w) & ~from.word(w), [&](Coalition c) { ++count_[c]; });
    }
  }
  // The reverse.
  void give_to_most(std::size_t u, const CoalitionSet& holders, const CoalitionSet& to) {
    for (std::size_t w = 0; w < holders.words(); ++w) {
      if (holders.word(w) == 0) continue;
      std::uint32_t* word = &count_[w * CoalitionSet::k_word_bits];
      for (std::size_t i = 0; i < word_size(); i += k_lanes) store(word + i, load(word + i) + load(&holds_[u][i]));
      some_.set_word(w, some_.word(w) | to.word(w));
      CoalitionSet::visit_word(w, holders.word(w) & ~to.word(w), [&](Coalition c) { --count_[c]; });
    }
  }

 private:
  static constexpr std::size_t k_lanes = 4;
  static constexpr std::size_t k_in_word = 6;  // organizations that tell the coalitions of one word apart
  // Of GCC and Clang, on every architecture: compilers do not find these loops by themselves.
  using Lanes = std::uint32_t __attribute__((vector_size(k_lanes * sizeof(std::uint32_t))));

  static Lanes load(const std::uint32_t* from) {
    Lanes lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
  }
  static void store(std::uint32_t* to, Lanes lanes) { std::memcpy(to, &lanes, sizeof lanes); }
  // All ones where a lane is 0.
  static Lanes zero_lanes(Lanes lanes) { return reinterpret_cast<Lanes>(lanes == Lanes{}); }

  // Counters that a word of bits stands for.
  [[nodiscard]] std::size_t word_size() const { return std::min(count_.size(), CoalitionSet::k_word_bits); }

  [[nodiscard]] std::uint64_t zeros(const std::uint32_t* word) const {
    constexpr Lanes k_bits{1, 2, 4, 8};
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < word_size(); i += k_lanes) {
      const Lanes zero = zero_lanes(load(word + i)) & k_bits;
      bits |= static_cast<std::uint64_t>(zero[0] | zero[1] | zero[2] | zero[3]) << i;
    }
    return bits;
  }

  CoalitionSet some_;
  std::vector<std::uint32_t> count_;  // by coalition
  // By organization: 1 where the coalitions of a word hold it.
  std::vector<std::array<std::uint32_t, CoalitionSet::k_word_bits>> holds_;
};

}  // namespace shapley::scheduling
