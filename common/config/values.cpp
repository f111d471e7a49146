#include "config/values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "accounting/events/consortium_events.hpp"
#include "base/calendar.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"

namespace shapley::config {

namespace {

constexpr std::int64_t k_million = 1'000'000;

// At most nine digits, so that products with a million stay far from the limits of 64 bits.
std::optional<std::int64_t> small_number(std::string_view text) {
  if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// numerator / denominator.
struct Ratio {
  std::int64_t numerator;
  std::int64_t denominator;
};

std::optional<Ratio> parse_fraction(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto numerator = small_number(text.substr(0, slash));
  const auto denominator = small_number(text.substr(slash + 1));
  if (!numerator || !denominator || *denominator == 0) return std::nullopt;
  return Ratio{*numerator, *denominator};
}

// "0.25", "1", ".5" is refused: it is easily overlooked.
std::optional<Ratio> parse_decimal(std::string_view text) {
  const std::size_t point = text.find('.');
  const auto whole = small_number(text.substr(0, point));
  if (!whole) return std::nullopt;
  Ratio ratio{*whole, 1};
  if (point == std::string_view::npos) return ratio;
  const std::string_view digits = text.substr(point + 1);
  const auto part = small_number(digits);
  if (!part || *whole > 1000) return std::nullopt;
  for (std::size_t i = 0; i < digits.size(); ++i) ratio.denominator *= 10;
  ratio.numerator = *whole * ratio.denominator + *part;
  return ratio;
}

std::optional<Ratio> parse_ratio(std::string_view text) {
  if (text.find('/') != std::string_view::npos) return parse_fraction(text);
  if (!text.ends_with('%')) return parse_decimal(text);
  text.remove_suffix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  auto ratio = parse_decimal(text);
  if (ratio) ratio->denominator *= 100;
  return ratio;
}

constexpr std::string_view k_memory_units = "KMGT";

}  // namespace

std::int64_t Share::parts_per_million() const {
  return static_cast<std::int64_t>(static_cast<Int128>(numerator) * k_million / denominator);
}

Expected<Share> parse_share(std::string_view text) {
  const auto ratio = parse_ratio(text);
  if (!ratio) return fail(Errc::invalid_argument, "write a fraction (1/3), a percentage (33.3%) or a decimal (0.333)");
  if (ratio->numerator > ratio->denominator) return fail(Errc::invalid_argument, "a share is at most 1, or 100%");
  const std::int64_t divisor = std::gcd(ratio->numerator, ratio->denominator);
  const Share share{ratio->numerator / divisor, ratio->denominator / divisor};
  if (share.parts_per_million() == 0) return fail(Errc::invalid_argument, "a share is at least one millionth");
  return share;
}

Expected<std::int64_t> parse_part(std::string_view text) {
  if (const auto ratio = parse_ratio(text); ratio && ratio->numerator == 0) return 0;
  SHAPLEY_TRY_ASSIGN(const Share share, parse_share(text));
  return share.parts_per_million();
}

Expected<std::int64_t> parse_weight(std::string_view text) {
  if (const auto ratio = parse_decimal(text)) {
    const Int128 weight = static_cast<Int128>(ratio->numerator) * k_million / ratio->denominator;
    if (weight >= accounting::k_least_weight && weight <= accounting::k_greatest_weight) {
      return static_cast<std::int64_t>(weight);
    }
  }
  return fail(Errc::invalid_argument, "write a decimal from 0.001 to 1000, such as 1.5");
}

Expected<Duration> parse_duration(std::string_view text, Duration least, Duration most) {
  const auto [digits, unit_s] = split_duration(text);
  const auto number = small_number(digits);
  if (!number) return fail(Errc::invalid_argument, "write seconds (300) or a number with s, m, h or d (5m)");
  const std::int64_t seconds = *number * unit_s;
  if (seconds < least.value || seconds > most.value) {
    return fail(Errc::invalid_argument, fmt::format("allowed are {} to {}", seconds_text(least), seconds_text(most)));
  }
  return Duration{seconds};
}

Expected<std::int64_t> parse_memory(std::string_view text) {
  const std::size_t unit = text.empty() ? std::string_view::npos : k_memory_units.find(text.back());
  const bool has_unit = unit != std::string_view::npos;
  const std::size_t shift = has_unit ? 10 * (unit + 1) : 0;
  const auto number = parse_integer(has_unit ? text.substr(0, text.size() - 1) : text,
                                    {k_least_memory >> std::min<std::size_t>(shift, 24), k_most_memory >> shift});
  if (!number || (*number << shift) < k_least_memory) {
    return fail(Errc::invalid_argument, "write bytes, or a number with K, M, G or T, from 16M to 1T, or auto");
  }
  return *number << shift;
}

std::string memory_text(std::int64_t bytes) {
  std::string unit;
  for (const char next : k_memory_units) {
    if (bytes == 0 || bytes % 1024 != 0) break;
    bytes /= 1024;
    unit = next;
  }
  return std::to_string(bytes) + unit;
}

Expected<std::int64_t> parse_integer(std::string_view text, IntegerRange range) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < range.least || value > range.most) {
    return fail(Errc::invalid_argument, fmt::format("write a whole number from {} to {}", range.least, range.most));
  }
  return value;
}

std::string format_share(std::int64_t parts_per_million) {
  std::string text = std::to_string(parts_per_million / 10'000);
  std::string rest = std::to_string(10'000 + parts_per_million % 10'000).substr(1);
  rest.erase(rest.find_last_not_of('0') + 1);
  if (!rest.empty()) text += '.' + rest;
  return text + " %";
}

std::optional<std::string> no_command(std::span<const std::string> words, const std::vector<std::string>& commands) {
  const auto word = std::ranges::find_if(words, [](const std::string& each) { return !each.starts_with('-'); });
  if (word == words.end()) return std::nullopt;
  const std::string_view near = nearest(*word, std::vector<std::string_view>(commands.begin(), commands.end()));
  return fmt::format("'{}' is no command{}", *word, near.empty() ? "" : fmt::format("; did you mean {}?", near));
}

std::optional<std::string> no_option(std::span<const std::string> words, const std::vector<std::string>& options) {
  const auto word = std::ranges::find_if(words, [](const std::string& each) { return each.starts_with("--"); });
  if (word == words.end()) return std::nullopt;
  const std::string name = word->substr(0, word->find('='));
  const std::string_view near = nearest(name, std::vector<std::string_view>(options.begin(), options.end()));
  return fmt::format("'{}' is no option of this command{}", name,
                     near.empty() ? "; --help lists them" : fmt::format("; did you mean {}?", near));
}

std::string shown(std::string_view text) {
  constexpr std::size_t k_most = 60;
  if (text.size() <= k_most) return "'" + printable(text) + "'";
  std::size_t size = k_most;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) --size;  // not inside a UTF-8 character
  return "'" + printable(text.substr(0, size)) + "...'";
}

std::string join(std::span<const std::string_view> words, std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? last : ", ";
    text += words[i];
  }
  return text;
}

std::string part_text(std::int64_t parts_per_million) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", static_cast<double>(parts_per_million) / 1e6);
  return text.data();
}

std::string seconds_text(Duration duration) {
  const DurationUnit& unit = duration.value == 0 ? k_duration_units.back() : largest_unit(duration);
  return counted(duration.value / unit.seconds, unit.word);
}

Expected<Endpoint> parse_endpoint(std::string_view text) {
  const auto wrong = [] {
    return fail(Errc::invalid_argument, "write HOST:PORT, such as 10.0.0.2:7020 or [fd00::2]:7020");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return wrong();
  }
  if (host.empty() || host.find_first_of(" \t\r\n/[]") != std::string_view::npos) return wrong();
  Endpoint endpoint{.host = std::string(host), .port = 0};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (error != std::errc() || end != port.data() + port.size() || endpoint.port == 0) return wrong();
  return endpoint;
}

}  // namespace shapley::config
