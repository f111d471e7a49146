#include "base/types.hpp"

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

std::string format_micro(Int128 micro) {
  const bool negative = micro < 0;
  const Int128 whole = micro / k_micro;
  std::string fraction = to_string(micro % k_micro);
  if (negative) fraction.erase(0, fraction.front() == '-' ? 1 : 0);
  std::string text = to_string(whole);
  // -0.5 has a whole part of 0, which has lost the sign.
  if (negative && whole == 0) text.insert(text.begin(), '-');
  if (fraction == "0") return text;
  fraction.insert(0, 6 - fraction.size(), '0');
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return text + '.' + fraction;
}

std::optional<Int128> parse_micro(std::string_view text) {
  constexpr std::size_t k_places = 6;
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string fraction(text.substr(std::min(point + 1, text.size())));
  if (fraction.size() > k_places) return std::nullopt;
  fraction.resize(k_places, '0');
  const auto micro = parse_int128(std::string(text.substr(0, point)) + fraction);
  return micro && format_micro(*micro) == text ? micro : std::nullopt;
}

}  // namespace shapley
