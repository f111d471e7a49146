#include "ledger/store/text.hpp"

#include <cstddef>

#include "base/utf8.hpp"

namespace shapley::ledger {

namespace {

constexpr std::string_view k_digits = "0123456789abcdef";

}  // namespace

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Utf8Character character = first_character(bytes);
    if (character.kind != Utf8Character::Kind::whole) return false;
    bytes.remove_prefix(character.bytes);
  }
  return true;
}

std::string to_hex(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(k_digits[byte >> 4U]);
    text.push_back(k_digits[byte & 15U]);
  }
  return text;
}

std::optional<std::string> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const std::size_t high = k_digits.find(digits[i]);
    const std::size_t low = k_digits.find(digits[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

}  // namespace shapley::ledger
