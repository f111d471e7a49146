// Braking in time: a key by phi - psi that needs no horizon.
//
// Of an organization let S = phi - psi, R = work given - work got, A = rate - used (serving_order.hpp). R changes by A
// a second and S by R, so an organization that is served by the greatest S alone has, when S is 0 at last, an R as
// large as the debt made it, and S goes on to the other side. A vehicle that is to stop at a point brakes before the
// point. If R can be turned by U processors, stopping takes |R| / U seconds, and S moves by R |R| / (2 U) meanwhile.
// Hence
//
//     R' = R + m A                 R when what runs now has ended; m: mean residual run time
//     S' = S + m R + m^2 A / 2     S at that time
//     K  = S' + R' |R'| / (2 U),   U = pace * owned, at least half a processor
//
// and the greatest K is served first. K = 0 is the line on which an organization that brakes at U comes to S = R = 0;
// above it the organization is owed, and is paid at full speed. A start of q processors lowers A by q, so K falls in
// what is started: the places of an organization's jobs have its K with the processors before them as started, and the
// order of service is the merge of these falling sequences.
//
// Exact integers: m^2 / 2 and R' |R'| / (2 U) are rounded towards 0, each once, so K stays falling and is odd in (S, R,
// A). Pure functions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/contract.hpp"
#include "base/types.hpp"
#include "game/serving_order.hpp"

namespace shapley::game {

// The pace of a rule that names none: half of what the guarantee leaves, at least a millionth. An organization that is
// owed brakes by running on less than it owns, and the guarantee keeps it from running on less than g times that: with
// U > (1 - g) owned it brakes too late. Half of that leaves room for several organizations that brake at once
// (lab/docs/stability.md).
[[nodiscard]] constexpr Pace pace_under(Guarantee guarantee) {
  return {std::max((k_whole_pace - guarantee.millionths) / 2, 1)};
}

// 2 U in millionths of a processor, rounded down, at least one processor. owned: millionths of processors, >= 0.
// (At least two would be more than four processors with a guarantee of .75 can turn: they brake by one.)
[[nodiscard]] constexpr std::int64_t twice_turn(std::int64_t owned, Pace pace) {
  SHAPLEY_REQUIRE(owned >= 0 && pace.millionths > 0);
  return std::max<std::int64_t>(static_cast<std::int64_t>(Int128{2} * pace.millionths * owned / k_whole_pace), k_micro);
}

// S' + R' |R'| / (2 U). S' and R' in the units of the books (micro-processor seconds squared, micro-processor seconds),
// 2 U as twice_turn returns it; or all three times one scale.
//
// 128 bits hold it for the keys of braking_key_of: |R'| < 2^71 and 10^6 <= 2 U <= 2^53 keep every product below 2^124,
// and |S'| is at most 2^124. REQUIRES: doubled_turn > 0.
template <typename Integer>
[[nodiscard]] constexpr Integer braked(const Integer& balance_ahead, const Integer& work_ahead,
                                       const Integer& doubled_turn) {
  SHAPLEY_REQUIRE(doubled_turn > 0);
  const Integer size = work_ahead < 0 ? Integer(-work_ahead) : work_ahead;
  // The quotient of size * size, which itself may be too wide.
  const Integer distance = size / doubled_turn * size + size % doubled_turn * size / doubled_turn;
  return work_ahead < 0 ? Integer(balance_ahead - distance) : Integer(balance_ahead + distance);
}

// K from the present figures; terms: key_terms of a rule that brakes, which look m ahead. Scales as above.
template <typename Integer>
[[nodiscard]] constexpr Integer braking_key(const Integer& balance, const Integer& given_less_got,
                                            const Integer& rate_less_used, const KeyTerms& terms,
                                            const Integer& doubled_turn) {
  return braked<Integer>(looked_ahead<Integer>(balance, given_less_got, rate_less_used, terms),
                         frozen_ahead<Integer>(given_less_got, rate_less_used, terms.horizon), doubled_turn);
}

// The key of one organization by what it starts now: K(q) when q millionths of a processor more run, m seconds ahead by
// S' - c q and R' - m q. By a rule that does not brake S' is the key itself, R' = 0 and m = 0. Unless another is given:
// the number of processors that it starts, below zero.
struct FallingKey {
  Int128 balance = 0;             // S', micro-processor seconds squared
  Int128 work = 0;                // R', micro-processor seconds
  std::int64_t doubled_turn = 1;  // 2 U, > 0
  std::int64_t residual = 0;      // m, seconds
  std::int64_t factor = 1;        // c, > 0
  friend constexpr bool operator==(const FallingKey&, const FallingKey&) = default;
};

// The key of a rule that brakes, from S', R', 2 U and m. Each is bounded, so that no figure of another program or of
// another cluster's books overflows: |R'| by 37 years of a million processors, which books do not exceed
// (base/types.hpp), 2 U as twice_turn's least and the processors of a thousand such clusters, m by 1 second and the
// longest horizon.
[[nodiscard]] constexpr FallingKey braking_key_of(Int128 balance_ahead, Int128 work_ahead, std::int64_t doubled_turn,
                                                  Duration residual) {
  constexpr Int128 k_most_balance = Int128{1} << 124U;
  constexpr Int128 k_most_work = Int128{1} << 70U;
  constexpr std::int64_t k_most_turn = std::int64_t{1} << 53U;
  const Duration m = std::clamp(residual, Duration{1}, k_longest_horizon);
  return {.balance = std::clamp(balance_ahead, -k_most_balance, k_most_balance),
          .work = std::clamp(work_ahead, -k_most_work, k_most_work),
          .doubled_turn = std::clamp(doubled_turn, k_micro, k_most_turn),
          .residual = m.value,
          .factor = start_factor(key_terms({.horizon = {}, .pace = {1}}, m))};
}

// More processors than any cluster has, and the bound of `started`, in millionths, under a rule that brakes.
inline constexpr std::int64_t k_most_started = std::int64_t{1} << 24U;

[[nodiscard]] constexpr Int128 key_after(const FallingKey& key, std::int64_t started) {
  if (key.residual == 0) return key.balance - Int128{key.factor} * started;
  constexpr std::int64_t k_most = k_most_started * k_micro;
  const Int128 part = std::clamp(started, -k_most, k_most);
  return braked<Int128>(key.balance - key.factor * part, key.work - key.residual * part, key.doubled_turn);
}

// How much it may start, at most, so that its key is still `level` or greater, in millionths of a processor; below
// zero: its key is less, and that much must end. Within -k_most_started .. k_most_started processors, which stand for
// all beyond.
[[nodiscard]] constexpr std::int64_t startable_until(const FallingKey& key, Int128 level) {
  std::int64_t least = -k_most_started * k_micro;
  std::int64_t beyond = k_most_started * k_micro + 1;
  while (beyond - least > 1) {
    const std::int64_t middle = least + (beyond - least) / 2;
    (key_after(key, middle) >= level ? least : beyond) = middle;
  }
  return least;
}

// About how long it takes to bring S' and R' to zero together, in seconds, if work waits on all sides: at U to the line
// K = 0 and along it; from rest 2 sqrt(|S'| / U). With s the sign of K, of s S' and s R',
//
//     R' / U + 2 sqrt(R'^2 / (2 U^2) + S' / U)
[[nodiscard]] double settling_seconds(const FallingKey& key);

}  // namespace shapley::game
