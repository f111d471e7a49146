// The key that brakes: a case by hand, the division against 512 bits, and what it promises of a body that brakes.
#include "game/braking.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace shapley::game {
namespace {

using Wide = boost::multiprecision::int512_t;

constexpr ServingRule k_half{.horizon = {}, .guarantee = {500'000}, .pace = pace_under({500'000})};

Int128 key_of(Int128 balance, Int128 work, Int128 rate, Duration residual, std::int64_t doubled_turn) {
  return braking_key<Int128>(balance, work, rate, key_terms(k_half, residual), doubled_turn);
}

TEST(Braking, ByHand) {
  EXPECT_EQ(k_half.pace.millionths, 250'000);
  // It owns 16 processors, so U = 4. S = 100, R = -24, and it runs on one processor more than it gives, for 2 seconds
  // more: R' = -26, S' = 100 - 48 - 2 = 50, and 26^2 / 8 = 84.5.
  const std::int64_t doubled_turn = twice_turn(16 * k_micro, k_half.pace);
  EXPECT_EQ(doubled_turn, 8 * k_micro);
  EXPECT_EQ(key_of(100 * k_micro, -24 * k_micro, -k_micro, {2}, doubled_turn), 50 * k_micro - 84'500'000);
  // The other organizations of the machine see it from the other side.
  EXPECT_EQ(key_of(-100 * k_micro, 24 * k_micro, k_micro, {2}, doubled_turn), 84'500'000 - 50 * k_micro);
  // Three processors more started: R' = -32, S' = 100 - 48 - 8 = 44, 32^2 / 8 = 128.
  EXPECT_EQ(key_of(100 * k_micro, -24 * k_micro, -4 * k_micro, {2}, doubled_turn), (44 - 128) * k_micro);
}

// The example of docs/concepts.md in hours, with three processors less.
TEST(Braking, ByHandWithThreeProcessorsLess) {
  EXPECT_EQ(key_of(100 * k_micro, -24 * k_micro, 2 * k_micro, {2}, 8 * k_micro), 6 * k_micro);
}

TEST(Braking, TurnsByHalfAProcessorAtLeast) {
  EXPECT_EQ(twice_turn(0, {250'000}), k_micro);
  EXPECT_EQ(twice_turn(2 * k_micro, {250'000}), k_micro);
  EXPECT_EQ(twice_turn(4 * k_micro, {250'000}), 2 * k_micro);
  EXPECT_EQ(twice_turn(5 * k_micro, {250'000}), 2'500'000);
  EXPECT_EQ(pace_under({}).millionths, 500'000);
  EXPECT_EQ(pace_under({k_whole_guarantee}).millionths, 1);
}

// From rest, at full speed until K = 0, then at U: S and R become 0 together.
TEST(Braking, StopsAtZero) {
  constexpr std::int64_t k_turn = 4;
  std::int64_t balance = 1'000'000;
  std::int64_t work = 0;
  while (braked<Int128>(Int128{k_micro} * balance, Int128{k_micro} * work, 2 * k_turn * k_micro) > 0) {
    balance += work;
    work -= 10;
  }
  while (work < 0) {
    balance += work;
    work += k_turn;
  }
  // Within what one second changes: |R| is below 2,400, and K falls by 1 + 10 / 4 times that in a second.
  EXPECT_LT(balance < 0 ? -balance : balance, 10'000);
}

// The greatest books that the header names.
RC_GTEST_PROP(Braking, IsTheQuotientOf512Bits, ()) {
  const auto any = [](unsigned bits) {
    const Int128 high = *rc::gen::arbitrary<std::int64_t>();
    const Int128 low = *rc::gen::arbitrary<std::uint64_t>();
    return ((high << 64U) + low) >> (127U - bits);
  };
  const Int128 balance = any(*rc::gen::inRange(1U, 125U));
  const Int128 work = any(*rc::gen::inRange(1U, 73U));
  const Int128 turn = *rc::gen::inRange<std::int64_t>(k_micro, std::int64_t{1} << 53U);
  const Wide distance = Wide(work) * Wide(work) / Wide(turn);
  RC_ASSERT(Wide(braked<Int128>(balance, work, turn)) == Wide(balance) + (work < 0 ? Wide(-distance) : distance));
  RC_ASSERT(braked<Int128>(-balance, -work, turn) == -braked<Int128>(balance, work, turn));
}

RC_GTEST_PROP(Braking, FallsInWhatIsStarted, ()) {
  const Int128 balance = *rc::gen::arbitrary<std::int64_t>();
  const Int128 work = *rc::gen::arbitrary<std::int64_t>();
  const Int128 rate = *rc::gen::arbitrary<std::int32_t>();
  const Duration residual{*rc::gen::inRange(2, 1'000'000)};
  const std::int64_t owned = *rc::gen::inRange<std::int64_t>(0, 1'000'000 * k_micro);
  const std::int64_t turn = twice_turn(owned, {*rc::gen::inRange(1, k_whole_pace + 1)});
  const std::int64_t started = *rc::gen::inRange<std::int64_t>(1, 1'000'000 * k_micro);
  RC_ASSERT(key_of(balance, work, rate - started, residual, turn) < key_of(balance, work, rate, residual, turn));
}

// What starts lowers the key as it lowers A, and the inverse is its own definition.
RC_GTEST_PROP(Braking, FallsByWhatStartsAndSaysHowMuchMay, ()) {
  const Int128 balance = *rc::gen::arbitrary<std::int64_t>();
  const Int128 work = *rc::gen::arbitrary<std::int64_t>();
  const Int128 rate = *rc::gen::arbitrary<std::int32_t>();
  const Duration residual{*rc::gen::inRange(2, 1'000'000)};
  const KeyTerms terms = key_terms(k_half, residual);
  const FallingKey key{.balance = looked_ahead(balance, work, rate, terms),
                       .work = frozen_ahead(work, rate, terms.horizon),
                       .doubled_turn = *rc::gen::inRange<std::int64_t>(k_micro, 1'000'000 * k_micro),
                       .residual = residual.value,
                       .factor = start_factor(terms)};
  const std::int64_t started = *rc::gen::inRange<std::int64_t>(-1'000'000, 1'000'000) * k_micro;
  const Int128 after = key_after(key, started);
  RC_ASSERT(after == key_of(balance, work, rate - started, residual, key.doubled_turn));
  const Int128 level = after + *rc::gen::inRange(-1'000'000, 1'000'000);
  const std::int64_t most = startable_until(key, level);
  RC_ASSERT(key_after(key, most) >= level);
  RC_ASSERT(key_after(key, most + 1) < level);
}

// Figures of another program or of another cluster's books may be any. Whatever they are, the key falls in what starts,
// within bounds of which the difference of two has 128 bits, too.
TEST(Braking, AnyFiguresMakeAKeyOf128Bits) {
  constexpr Int128 k_most = (Int128{1} << 126U) - 1 + (Int128{1} << 126U);
  constexpr auto k_long = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t k_all = k_most_started * k_micro;
  for (const Int128 balance : {k_most, Int128{0}, -k_most}) {
    for (const Int128 work : {k_most, Int128{0}, -k_most}) {
      for (const std::int64_t turn : {-k_long, std::int64_t{0}, k_long}) {
        for (const Duration residual : {Duration{-k_long}, Duration{0}, Duration{k_long}}) {
          const FallingKey key = braking_key_of(balance, work, turn, residual);
          EXPECT_GT(key_after(key, -k_all), key_after(key, 0));
          EXPECT_GT(key_after(key, 0), key_after(key, k_all));
          EXPECT_LT(key_after(key, -k_all), Int128{1} << 125U);
          EXPECT_GT(key_after(key, k_all), -(Int128{1} << 125U));
          EXPECT_LE(startable_until(key, 0), k_all);
          EXPECT_LT(settling_seconds(key), 1e18) << "a number of seconds";
        }
      }
    }
  }
  // What books can have is as it was.
  const FallingKey usual = braking_key_of(Int128{1} << 100U, -(Int128{1} << 69U), 8 * k_micro, {7201});
  EXPECT_EQ(usual, (FallingKey{Int128{1} << 100U, -(Int128{1} << 69U), 8 * k_micro, 7201, 7201 * 7201 / 2}));
}

TEST(Braking, WithoutBrakingAKeyFallsByItsFactor) {
  EXPECT_EQ(key_after({}, 7), -7);
  EXPECT_EQ(key_after({.balance = 100, .factor = 3}, -4), 112);
  EXPECT_EQ(startable_until({.balance = 100, .factor = 3}, 10), 30);
  EXPECT_EQ(startable_until({.balance = 100, .factor = 3}, 101), -1);
  EXPECT_EQ(startable_until({.balance = Int128{1} << 100}, 0), k_most_started * k_micro);
}

// U = 4, from rest: half of the way at full speed, for 50 s, and half of it braking. Then from the way that it brakes
// on, and from where it would have to turn first.
TEST(Braking, SaysWhenAStandingIsEven) {
  FallingKey key{.balance = 10'000 * k_micro, .doubled_turn = 8 * k_micro, .residual = 1};
  EXPECT_DOUBLE_EQ(settling_seconds(key), 100);
  key.balance = -key.balance;
  EXPECT_DOUBLE_EQ(settling_seconds(key), 100);
  key = {.balance = 5'000 * k_micro, .work = -200 * k_micro, .doubled_turn = 8 * k_micro, .residual = 1};
  EXPECT_DOUBLE_EQ(settling_seconds(key), 50);
  key.balance = 0;
  key.work = 200 * k_micro;
  EXPECT_DOUBLE_EQ(settling_seconds(key), 50 + 2 * std::sqrt(1'250));
  EXPECT_EQ(settling_seconds({.doubled_turn = k_micro, .residual = 1}), 0);
}

}  // namespace
}  // namespace shapley::game
