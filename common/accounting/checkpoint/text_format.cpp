#include "accounting/checkpoint/text_format.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace shapley::accounting {

namespace {

constexpr std::string_view k_digits = "0123456789abcdef";
constexpr std::string_view k_last_line = "end ";

bool is_plain(char c) {
  return c > ' ' && c < 0x7f && c != '%';
}

std::optional<unsigned char> hex_byte(std::string_view text) {
  unsigned char byte = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), byte, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return byte;
}

}  // namespace

TextWriter& TextWriter::line(std::string_view keyword) {
  if (!text_.empty()) text_ += '\n';
  text_ += keyword;
  return *this;
}

TextWriter& TextWriter::word(std::string_view text) {
  text_ += ' ';
  if (text.empty()) text_ += '%';
  for (const char c : text) {
    if (is_plain(c)) {
      text_ += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    text_ += {'%', k_digits[byte / 16], k_digits[byte % 16]};
  }
  return *this;
}

TextWriter& TextWriter::number(Int128 value) {
  text_ += ' ';
  text_ += to_string(value);
  return *this;
}

std::string TextWriter::finish() {
  text_ += '\n';
  const std::uint64_t sum = fnv1a(text_);
  text_ += k_last_line;
  text_ += to_string(Int128{sum});
  text_ += '\n';
  return std::move(text_);
}

TextReader::TextReader(std::string_view text) {
  const std::size_t last = text.size() < 2 ? std::string_view::npos : text.rfind('\n', text.size() - 2);
  std::string_view sum = last == std::string_view::npos ? std::string_view{} : text.substr(last + 1);
  if (!sum.starts_with(k_last_line) || !sum.ends_with('\n')) {
    fault("the text is truncated");
    return;
  }
  sum.remove_prefix(k_last_line.size());
  sum.remove_suffix(1);
  rest_ = text.substr(0, last + 1);
  if (parse_int128(sum) != Int128{fnv1a(rest_)}) fault("the checksum differs");
}

bool TextReader::next(std::string_view keyword) {
  if (!ok()) return false;
  if (!rest_.starts_with(keyword)) return false;
  const char after = rest_.size() > keyword.size() ? rest_[keyword.size()] : '\0';
  if (after != ' ' && after != '\n') return false;
  if (!line_.empty()) {
    fault("words left over");
    return false;
  }
  const std::size_t end = rest_.find('\n');
  line_ = rest_.substr(keyword.size(), end - keyword.size());
  rest_.remove_prefix(end + 1);
  ++line_number_;
  return true;
}

void TextReader::skip_to(std::string_view keyword) {
  if (ok() && !line_.empty()) fault("words left over");
  while (ok() && !rest_.empty() && !(rest_.starts_with(keyword) && rest_.substr(keyword.size()).starts_with(' '))) {
    rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size() - 1) + 1);
    ++line_number_;
  }
}

std::string_view TextReader::raw_word() {
  if (!ok()) return {};
  if (line_.size() < 2 || line_.front() != ' ') {
    fault("a word is missing");
    return {};
  }
  line_.remove_prefix(1);
  const std::string_view word = line_.substr(0, line_.find(' '));
  line_.remove_prefix(word.size());
  return word;
}

std::string TextReader::word() {
  const std::string_view raw = raw_word();
  if (raw == "%") return {};
  std::string text;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '%') {
      text += raw[i];
      continue;
    }
    const auto byte = i + 2 < raw.size() ? hex_byte(raw.substr(i + 1, 2)) : std::nullopt;
    if (!byte) {
      fault("a bad escape");
      return {};
    }
    text += static_cast<char>(*byte);
    i += 2;
  }
  return text;
}

Int128 TextReader::number(Int128 low, Int128 high) {
  const auto value = parse_int128(raw_word());
  if (ok() && value && *value >= low && *value <= high) return *value;
  fault("a number is missing or out of range");
  return low;
}

void TextReader::fault(std::string_view what) {
  if (ok()) fault_ = fmt::format("line {}: {}", line_number_, what);
}

bool TextReader::finished() {
  if (ok() && !line_.empty()) fault("words left over");
  if (ok() && !rest_.empty()) fault("a line that does not belong here follows");
  return ok();
}

namespace {

// Beyond these a coefficient cannot come from real segments (utility.hpp), and evaluating it might overflow.
const Int128 k_max_work = Int128{1} << 80;
const Int128 k_max_constant = Int128{1} << 120;

}  // namespace

void write_sum(TextWriter& out, const game::UtilitySum& sum) {
  const game::UtilitySum::Coefficients c = sum.coefficients();
  out.number(c.running.value).number(c.slope).number(c.constant).number(c.work_constant);
}

game::UtilitySum read_sum(TextReader& in, ProcessorMillionths most_running) {
  game::UtilitySum::Coefficients c;
  c.running = {in.small(0, most_running.value)};
  c.slope = in.number(-k_max_work, k_max_work);
  c.constant = in.number(-k_max_constant, k_max_constant);
  c.work_slope = c.running.value;
  c.work_constant = in.number(-k_max_work, k_max_work);
  return game::UtilitySum::from(c);
}

}  // namespace shapley::accounting
