// Strong types for the quantities of the model. Raw integers appear only at the edges (configuration, SQL, wire, CLI).
//
// Units: time in whole seconds since the Unix epoch (Slurm's own resolution); processors in millionths of a weighted
// processor, because ownership may be fractional and Shapley rates are apportioned; CpuTime in micro-processor seconds;
// Utility (psi, phi, v) in micro-processor seconds squared: one processor busy for one second, one second ago.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

#include "base/int128.hpp"

namespace shapley {

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

using Duration = Quantity<struct DurationTag, std::int64_t>;                // seconds
using MicroProcessors = Quantity<struct MicroProcessorsTag, std::int64_t>;  // 1e-6 weighted processors
using CpuTime = Quantity<struct CpuTimeTag, Int128>;                        // micro-processor seconds
using Utility = Quantity<struct UtilityTag, Int128>;                        // micro-processor seconds squared

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

constexpr CpuTime operator*(MicroProcessors q, Duration d) {
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
