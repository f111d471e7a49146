// Exact 128-bit integers and their decimal text.
//
// psi and phi are sums of products processors * seconds * seconds in millionths of a processor; they outgrow 64 bits
// after hours on a large cluster. Bound: 1e6 (micro) * 1e6 processors * (1e9 s)^2 = 1e30, and its double, stay far
// below 1.7e38. SQLite has no 128-bit integer, so such values travel as decimal text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shapley {

__extension__ using Int128 = __int128;

// The greatest whole number that is not above dividend / divisor. REQUIRES: divisor != 0.
[[nodiscard]] constexpr Int128 floor_of_quotient(Int128 dividend, Int128 divisor) {
  const Int128 quotient = dividend / divisor;
  return dividend % divisor != 0 && (dividend < 0) != (divisor < 0) ? quotient - 1 : quotient;
}

// Decimal text with a leading '-' when negative; no other decoration. Inverse of parse_int128.
[[nodiscard]] std::string to_string(Int128 value);

// Accepts exactly what to_string writes: an optional '-', then digits without spaces. nullopt on anything else,
// overflow included.
[[nodiscard]] std::optional<Int128> parse_int128(std::string_view text);

}  // namespace shapley
