// Strong types for the quantities of the model. Raw integers appear only at the edges (configuration, SQL, wire, CLI).
//
// Units: time in whole seconds since the Unix epoch (Slurm's own resolution); processors in millionths of a weighted
// processor, because nodes may be owned in parts and phi is apportioned; CpuTime in micro-processor seconds;
// Utility (psi, phi, v) in micro-processor seconds squared: one processor busy for one second, one second ago.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/contract.hpp"

namespace shapley {

// Exact 128-bit integers and their decimal text.
//
// psi and phi are sums of products processors * seconds * seconds in millionths of a processor; they outgrow 64 bits
// after hours on a large cluster. Bound: 1e6 (micro) * 1e6 processors * (1e9 s)^2 = 1e30, and its double, stay far
// below 1.7e38. SQLite has no 128-bit integer, so such values travel as decimal text.

__extension__ using Int128 = __int128;

// The greatest whole number that is not above dividend / divisor. REQUIRES: divisor != 0.
[[nodiscard]] constexpr Int128 floor_of_quotient(Int128 dividend, Int128 divisor) {
  SHAPLEY_REQUIRE(divisor != 0);
  const Int128 quotient = dividend / divisor;
  return dividend % divisor != 0 && (dividend < 0) != (divisor < 0) ? quotient - 1 : quotient;
}

// Decimal text with a leading '-' when negative; no other decoration. Inverse of parse_int128.
[[nodiscard]] std::string to_string(Int128 value);

// Accepts exactly what to_string writes: an optional '-', then digits without spaces. nullopt on anything else,
// overflow included.
[[nodiscard]] std::optional<Int128> parse_int128(std::string_view text);

// A whole number of millionths as exact decimal text: "-3", "0.000001", "2.5"; and back, exactly what it writes.
[[nodiscard]] std::string format_micro(Int128 micro);
[[nodiscard]] std::optional<Int128> parse_micro(std::string_view text);

// An integer with a meaning. Same-tag values add, subtract and compare; nothing converts implicitly.
template <typename Tag, typename Rep>
struct Quantity {
  Rep value{};

  friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {static_cast<Rep>(a.value + b.value)}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {static_cast<Rep>(a.value - b.value)}; }
  constexpr Quantity operator-() const { return {static_cast<Rep>(-value)}; }
  constexpr Quantity& operator+=(Quantity other) {
    value = static_cast<Rep>(value + other.value);
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value = static_cast<Rep>(value - other.value);
    return *this;
  }
};

using Duration = Quantity<struct DurationTag, std::int64_t>;                        // seconds
using ProcessorMillionths = Quantity<struct ProcessorMillionthsTag, std::int64_t>;  // 1e-6 weighted processors
using CpuTime = Quantity<struct CpuTimeTag, Int128>;                                // micro-processor seconds
using Utility = Quantity<struct UtilityTag, Int128>;                                // micro-processor seconds squared

constexpr std::int64_t k_micro = 1'000'000;  // micro-processors per processor

// A point in time, whole seconds since the Unix epoch. Instants subtract to Durations but do not add.
struct Instant {
  std::int64_t value{};

  friend constexpr auto operator<=>(const Instant&, const Instant&) = default;
  friend constexpr Duration operator-(Instant a, Instant b) { return {a.value - b.value}; }
  friend constexpr Instant operator+(Instant a, Duration d) { return {a.value + d.value}; }
  friend constexpr Instant operator-(Instant a, Duration d) { return {a.value - d.value}; }
};

// Before and after every real instant; the two ends of an unbounded ownership.
constexpr Instant k_beginning_of_time{std::numeric_limits<std::int64_t>::min() / 4};
constexpr Instant k_end_of_time{std::numeric_limits<std::int64_t>::max() / 4};

constexpr CpuTime operator*(ProcessorMillionths q, Duration d) {
  return {static_cast<Int128>(q.value) * d.value};
}

// An identifier: compares, nothing else.
template <typename Tag, typename Rep>
struct Id {
  Rep value{};
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using OrgId = Id<struct OrgTag, std::uint32_t>;  // index of an organization in the books, dense from 0
using JobId = Id<struct JobTag, std::uint32_t>;  // Slurm's job id (an array task that started has its own)

}  // namespace shapley

template <typename Tag, typename Rep>
struct std::hash<shapley::Id<Tag, Rep>> {
  std::size_t operator()(const shapley::Id<Tag, Rep>& id) const noexcept { return std::hash<Rep>{}(id.value); }
};
