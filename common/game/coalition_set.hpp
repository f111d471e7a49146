// A set of coalitions, one bit each, 64 to a word: what happens to many coalitions at once is done word by word.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "game/potential.hpp"

namespace shapley::game {

class CoalitionSet {
 public:
  static constexpr std::size_t k_word_bits = 64;

  // The empty set. REQUIRES: organizations <= k_max_lattice_organizations.
  explicit CoalitionSet(std::size_t organizations)
      : words_(((std::size_t{1} << organizations) + k_word_bits - 1) / k_word_bits) {}

  [[nodiscard]] static CoalitionSet holders_of(std::size_t organization, std::size_t organizations) {
    CoalitionSet set(organizations);
    for (Coalition c = 0; c < Coalition{1} << organizations; ++c)
      if ((c >> organization & 1U) != 0) set.insert(c);
    return set;
  }

  [[nodiscard]] bool contains(Coalition c) const { return (words_[c / k_word_bits] >> (c % k_word_bits) & 1U) != 0; }
  void insert(Coalition c) { words_[c / k_word_bits] |= std::uint64_t{1} << (c % k_word_bits); }
  void erase(Coalition c) { words_[c / k_word_bits] &= ~(std::uint64_t{1} << (c % k_word_bits)); }

  // Bit i of word w is coalition 64 w + i.
  [[nodiscard]] std::size_t words() const { return words_.size(); }
  [[nodiscard]] std::uint64_t word(std::size_t w) const { return words_[w]; }
  void set_word(std::size_t w, std::uint64_t bits) { words_[w] = bits; }

  // Calls visit(c) for every coalition whose bit is set in `bits`, the word w of some set, in the order of the masks.
  template <typename Visit>
  static void visit_word(std::size_t w, std::uint64_t bits, Visit&& visit) {
    for (; bits != 0; bits &= bits - 1)
      visit(static_cast<Coalition>(w * k_word_bits + static_cast<std::size_t>(std::countr_zero(bits))));
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace shapley::game
