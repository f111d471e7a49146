#include "base/text.hpp"

#include <algorithm>

namespace shapley {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view k_blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(k_blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(k_blanks) - begin + 1);
}

std::string lower(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) c = lower(c);
  return folded;
}

namespace {

// The form of a character that begins with `first`: its bytes and the range of the second one. bytes 0: no character
// begins so.
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

// Whether all of the text is a number: "-3", "+0.25", "-1.5e-07".
bool is_number(std::string_view text) {
  const auto skip_digits = [&] {
    const std::size_t before = text.size();
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') text.remove_prefix(1);
    return text.size() < before;
  };
  const auto skip = [&](std::string_view any_of) {
    const bool found = !text.empty() && any_of.find(text.front()) != std::string_view::npos;
    if (found) text.remove_prefix(1);
    return found;
  };
  skip("+-");
  if (!skip_digits()) return false;
  if (skip(".") && !skip_digits()) return false;
  if (!skip("eE")) return text.empty();
  skip("+-");
  return skip_digits() && text.empty();
}

bool needs_apostrophe(std::string_view text) {
  constexpr std::string_view k_beginnings("=+-@\t\r'");
  return !text.empty() && k_beginnings.find(text.front()) != std::string_view::npos && !is_number(text);
}

}  // namespace

Utf8Character first_character(std::string_view text) {
  SHAPLEY_REQUIRE(!text.empty());
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

std::string counted_as(std::int64_t count, std::string_view text) {
  std::string words = std::to_string(count).append(" ");
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('['), text.size());
    const std::size_t bar = std::min(text.find('|', open), text.size());
    const std::size_t close = std::min(text.find(']', bar), text.size());
    words += text.substr(0, open);
    if (close == text.size()) break;
    words += count == 1 ? text.substr(open + 1, bar - open - 1) : text.substr(bar + 1, close - bar - 1);
    text.remove_prefix(close + 1);
  }
  return words;
}

std::string grouped(Int128 count) {
  std::string text = to_string(count);
  const std::size_t first_digit = count < 0 ? 1 : 0;
  for (std::size_t point = text.size(); point > first_digit + 3; point -= 3) text.insert(point - 3, ",");
  return text;
}

std::string grouped(std::int64_t count, std::string_view noun) {
  return grouped(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

std::string csv_cell(std::string_view text) {
  std::string cell = needs_apostrophe(text) ? "'" : "";
  cell += text;
  // Spreadsheets of some languages separate cells by semicolons.
  if (cell.find_first_of(",;\"\r\n\t") == std::string::npos) return cell;
  for (std::size_t at = cell.find('"'); at != std::string::npos; at = cell.find('"', at + 2)) cell.insert(at, 1, '"');
  return '"' + cell + '"';
}

namespace {

constexpr std::string_view k_hex_digits = "0123456789abcdef";

}  // namespace

std::string to_hex(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text.push_back(k_hex_digits[byte >> 4U]);
    text.push_back(k_hex_digits[byte & 15U]);
  }
  return text;
}

std::optional<std::string> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const std::size_t high = k_hex_digits.find(digits[i]);
    const std::size_t low = k_hex_digits.find(digits[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of(k_hex_digits) == std::string_view::npos;
}

}  // namespace shapley
