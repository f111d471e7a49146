#include "base/utf8.hpp"

namespace shapley {

namespace {

// The form of a character that begins with `first`: its bytes and the range of the second one. bytes 0: none begins so.
struct Form {
  std::size_t bytes;
  unsigned char second_least;
  unsigned char second_most;
};

Form form_of(unsigned char first) {
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

Utf8Character first_character(std::string_view text) {
  using Kind = Utf8Character::Kind;
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const Form form = form_of(byte(0));
  if (form.bytes == 0) return {Kind::broken, 1, 0};
  if (form.bytes == 1) return {Kind::whole, 1, byte(0)};
  char32_t code_point = byte(0) & (0x7fU >> form.bytes);
  for (std::size_t i = 1; i < form.bytes; ++i) {
    if (i == text.size()) return {Kind::unended, i, 0};
    const unsigned char least = i == 1 ? form.second_least : 0x80;
    const unsigned char most = i == 1 ? form.second_most : 0xbf;
    if (byte(i) < least || byte(i) > most) return {Kind::broken, 1, 0};
    code_point = (code_point << 6U) | (byte(i) & 0x3fU);
  }
  return {Kind::whole, form.bytes, code_point};
}

}  // namespace shapley
