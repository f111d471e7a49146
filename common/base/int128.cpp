#include "base/int128.hpp"

#include <algorithm>

namespace shapley {

namespace {
__extension__ using UInt128 = unsigned __int128;
constexpr UInt128 k_max_magnitude = static_cast<UInt128>(1) << 127U;
}  // namespace

std::string to_string(Int128 value) {
  const bool negative = value < 0;
  // Negating in the unsigned type is defined for the smallest value too.
  UInt128 magnitude = negative ? UInt128{0} - static_cast<UInt128>(value) : static_cast<UInt128>(value);
  std::string digits;
  do {
    digits.push_back(static_cast<char>('0' + static_cast<int>(magnitude % 10)));
    magnitude /= 10;
  } while (magnitude != 0);
  if (negative) digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::optional<Int128> parse_int128(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  UInt128 magnitude = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<UInt128>(c - '0');
    if (magnitude > (k_max_magnitude - digit) / 10) return std::nullopt;
    magnitude = magnitude * 10 + digit;
  }
  if (!negative && magnitude == k_max_magnitude) return std::nullopt;
  return negative ? static_cast<Int128>(UInt128{0} - magnitude) : static_cast<Int128>(magnitude);
}

}  // namespace shapley
