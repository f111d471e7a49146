// base/printable.hpp a second time, naively: characters found by trying every length and encoding the value again, and
// a list of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace shapley::test {

inline std::string utf8_of(std::uint32_t value) {
  const auto byte = [](std::uint32_t bits) { return static_cast<char>(static_cast<unsigned char>(bits)); };
  if (value < 0x80) return {byte(value)};
  if (value < 0x800) return {byte(0xc0 + value / 64), byte(0x80 + value % 64)};
  if (value < 0x10000) return {byte(0xe0 + value / 4096), byte(0x80 + value / 64 % 64), byte(0x80 + value % 64)};
  return {byte(0xf0 + value / 262144), byte(0x80 + value / 4096 % 64), byte(0x80 + value / 64 % 64),
          byte(0x80 + value % 64)};
}

// The value of `bytes` if they are the encoding of one character and nothing else.
inline std::optional<std::uint32_t> character_of(std::string_view bytes) {
  constexpr std::array<std::uint32_t, 5> k_marks{0, 0x00, 0xc0, 0xe0, 0xf0};  // by length, of the first byte
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::uint32_t mark = i == 0 ? k_marks.at(bytes.size()) : 0x80;
    const std::uint32_t byte = static_cast<unsigned char>(bytes[i]);
    if (byte < mark) return std::nullopt;
    value = value * 64 + (byte - mark);
  }
  if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000) || utf8_of(value) != bytes) return std::nullopt;
  return value;
}

inline bool is_refused(std::uint32_t value) {
  const auto within = [value](std::uint32_t first, std::uint32_t last) { return value >= first && value <= last; };
  const bool controls = within(0, 0x1f) || value == 0x7f || within(0x80, 0x9f);
  const bool directions =
      value == 0x61c || value == 0x200e || value == 0x200f || within(0x202a, 0x202e) || within(0x2066, 0x2069);
  const bool separators = value == 0x2028 || value == 0x2029;
  const bool invisible = within(0x200b, 0x200d) || within(0x2060, 0x206f) || value == 0xfeff ||
                         within(0xfff9, 0xfffb) || within(0xe0000, 0xe007f);
  const bool noncharacters = within(0xfdd0, 0xfdef) || value % 0x10000 == 0xfffe || value % 0x10000 == 0xffff;
  return controls || directions || separators || invisible || noncharacters;
}

inline std::string escape_of(const char* format, std::uint32_t first, std::uint32_t second = 0) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), format, first, second);
  return text.data();
}

inline std::string naive_printable(std::string_view text, bool keep_newlines) {
  std::string out;
  while (!text.empty()) {
    std::size_t bytes = 1;
    std::optional<std::uint32_t> value;
    for (std::size_t length = 1; length <= 4 && length <= text.size() && !value; ++length) {
      value = character_of(text.substr(0, length));
      if (value) bytes = length;
    }
    if (!value || (*value < 0x20 && !(keep_newlines && *value == '\n'))) {
      out += escape_of("\\x%02x", static_cast<unsigned char>(text[0]));
    } else if (*value == '\n' || !is_refused(*value)) {
      out += text.substr(0, bytes);
    } else if (*value < 0x10000) {
      out += escape_of("\\u%04x", *value);
    } else {
      out += escape_of("\\u%04x\\u%04x", 0xd800 + (*value - 0x10000) / 1024, 0xdc00 + (*value - 0x10000) % 1024);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

// Whether a terminal may get this, an output of several lines.
inline bool is_printable(std::string_view output) {
  return naive_printable(output, true) == output;
}

}  // namespace shapley::test
