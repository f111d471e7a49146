#include "config/rows.hpp"

#include <cstddef>

#include <fmt/format.h>

#include "base/calendar.hpp"

namespace shapley::config {

std::string quoted(std::span<const std::string_view> words) {
  std::vector<std::string> in_quotes;
  for (const std::string_view word : words) in_quotes.push_back('`' + std::string(word) + '`');
  return join(std::vector<std::string_view>(in_quotes.begin(), in_quotes.end()), " or ");
}

OrFault<std::filesystem::path> parse_path(const std::string& text, std::size_t max_length) {
  if (!text.starts_with('/') || text.find('\0') != std::string::npos) {
    return tl::unexpected(Fault{0, shown(text) + " is no absolute path", "write a path that begins with '/'"});
  }
  if (text.size() > max_length) {
    return tl::unexpected(Fault{0, fmt::format("a path of {} characters", text.size()),
                                "use one of at most " + std::to_string(max_length)});
  }
  return text;
}

Format<std::filesystem::path> path(std::string type, std::size_t max_length, const std::string& nothing) {
  return scalar<std::filesystem::path>(
      std::move(type), "write an absolute path" + (nothing.empty() ? "" : ", or " + nothing),
      [max_length](const std::string& text) { return parse_path(text, max_length); },
      [](const std::filesystem::path& path) { return path.string(); }, nothing);
}

Format<bool> on_or_off() {
  return choice<bool>({{"on", true}, {"off", false}});
}

Format<std::int64_t> part() {
  return scalar<std::int64_t>("Fraction, percentage or decimal from 0 to 1", "write a part such as 0.5",
                              or_fault(parse_part, " is no such part"), part_text);
}

Format<std::int64_t> weight() {
  return scalar<std::int64_t>("Decimal from 0.001 to 1000", "write a decimal such as 1.5",
                              or_fault(parse_weight, " is no such weight"), format_micro);
}

Format<Duration> duration(Duration least, Duration most, const std::string& nothing) {
  std::vector<std::string_view> letters;
  for (const DurationUnit& unit : k_duration_units) {
    if (unit.seconds <= most.value) letters.insert(letters.begin(), std::string_view(&unit.letter, 1));
  }
  const auto parse = [least, most](std::string_view text) { return parse_duration(text, least, most); };
  auto format =
      scalar<Duration>(fmt::format("Seconds, or a number with {}, from {} to {}", quoted(letters), seconds_text(least),
                                   seconds_text(most)),
                       "write a duration such as 5m", or_fault(parse, " is no such duration"), seconds_text, nothing);
  format.written = [](const Duration& duration) {
    const DurationUnit& unit = largest_unit(duration);
    return std::to_string(duration.value / unit.seconds) + unit.letter;
  };
  if (!nothing.empty()) format.written = {};
  return format;
}

}  // namespace shapley::config
