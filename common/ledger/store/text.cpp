#include "ledger/store/text.hpp"

#include <cstddef>

namespace shapley::ledger {

namespace {

constexpr std::string_view k_digits = "0123456789abcdef";

// The form of a sequence that begins with `first`: its length and the range of its second byte. length 0: none begins
// so.
struct SequenceForm {
  std::size_t length;
  unsigned char second_least;
  unsigned char second_most;
};

SequenceForm form_of(unsigned char first) {
  if (first < 0x80) return {1, 0, 0};
  if (first < 0xc2) return {0, 0, 0};
  if (first < 0xe0) return {2, 0x80, 0xbf};
  if (first == 0xe0) return {3, 0xa0, 0xbf};
  if (first == 0xed) return {3, 0x80, 0x9f};
  if (first < 0xf0) return {3, 0x80, 0xbf};
  if (first == 0xf0) return {4, 0x90, 0xbf};
  if (first < 0xf4) return {4, 0x80, 0xbf};
  if (first == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  std::size_t i = 0;
  while (i < bytes.size()) {
    const auto byte = [&](std::size_t offset) { return static_cast<unsigned char>(bytes[i + offset]); };
    const SequenceForm form = form_of(byte(0));
    if (form.length == 0 || i + form.length > bytes.size()) return false;
    if (form.length > 1 && (byte(1) < form.second_least || byte(1) > form.second_most)) return false;
    for (std::size_t k = 2; k < form.length; ++k) {
      if (byte(k) < 0x80 || byte(k) > 0xbf) return false;
    }
    i += form.length;
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
