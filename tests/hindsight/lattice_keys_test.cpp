// Keys and contributions against the recursion of the potential, in integers without limit.
#include "hindsight/lattice_keys.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "base/rng.hpp"
#include "tests/hindsight/naive_schedules.hpp"

namespace shapley::hindsight {
namespace {

using Unlimited = boost::multiprecision::cpp_int;

template <typename Value>
struct Game {
  std::vector<Value> values;  // by coalition
  std::vector<Value> psi;     // by organization; v(N) is their sum

  // Values and psi of `bits` bits.
  Game(std::size_t k, std::size_t bits, std::uint64_t seed) : values(std::size_t{1} << k), psi(k) {
    Rng rng(seed);
    const auto draw = [&] {
      Value value = 0;
      for (std::size_t bit = 0; bit < bits; ++bit) value = 2 * value + (bit == 0 || rng.below(4) != 0 ? 1 : 0);
      return value;
    };
    for (Coalition c = 1; c + 1 < values.size(); ++c) values[c] = draw();
    for (Value& own : psi) own = draw() / static_cast<Value>(static_cast<std::int64_t>(k));
    values.back() = std::accumulate(psi.begin(), psi.end(), Value{0});
  }
};

template <typename Sum, typename Value>
void compare(std::size_t k, const Game<Value>& game) {
  const LatticeKeys lattice(k);
  std::vector<Sum> keys(k);
  lattice.keys<Sum, Value>(game.values, game.psi, keys);
  std::vector<Sum> phi(k);
  lattice.scaled_contributions<Sum, Value>(keys, game.psi, phi);
  const auto value = [&](Coalition c) { return Unlimited(game.values[c]); };
  const Coalition grand = game::grand_coalition(k);
  const Unlimited of_grand = naive::scaled_potential<Unlimited>(grand, value);
  for (std::size_t u = 0; u < k; ++u) {
    const Unlimited without = naive::scaled_potential<Unlimited>(grand & ~(Coalition{1} << u), value);
    EXPECT_EQ(Unlimited(keys[u]), without + Unlimited(game.psi[u]) * game::factorial(k - 1)) << "organization " << u;
    EXPECT_EQ(Unlimited(phi[u]), of_grand - without * k) << "organization " << u;
  }
}

TEST(LatticeKeys, AreThoseOfThePotential) {
  for (std::size_t k = 1; k <= 6; ++k) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(std::to_string(k) + " organizations, seed " + std::to_string(seed));
      const Game<std::int64_t> narrow(k, 30, seed);
      ASSERT_EQ(width_for(Int128{1} << 30U, k), Width::bits_64);
      compare<std::int64_t, std::int64_t>(k, narrow);
      compare<Int128, std::int64_t>(k, narrow);
      compare<Int128, Int128>(k, Game<Int128>(k, 90, seed));
    }
  }
}

TEST(LatticeKeys, TakeTheWidthThatTheValuesNeed) {
  EXPECT_EQ(width_for((Int128{1} << 62U) / 3 + 1, 1), Width::bits_128);
  EXPECT_EQ(width_for((Int128{1} << 62U) / 720, 5), Width::bits_64);
  EXPECT_EQ(width_for((Int128{1} << 63U) / 720 + 1, 5), Width::bits_128);
  EXPECT_EQ(width_for((Int128{1} << 126U) / 720, 5), Width::bits_128);
  EXPECT_EQ(width_for(Int128{1} << 124U, 5), Width::bits_256);
  // 124 bits times 4! do not fit into 128.
  for (std::uint64_t seed = 0; seed < 20; ++seed) compare<Int256, Int128>(5, Game<Int128>(5, 124, seed));
}

}  // namespace
}  // namespace shapley::hindsight
