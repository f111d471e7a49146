#include "game/serving_order.hpp"

#include <charconv>
#include <optional>

#include "base/calendar.hpp"

namespace shapley::game {

namespace {

constexpr std::int32_t k_million = 1'000'000;
static_assert(k_million == k_whole_guarantee && k_million == k_whole_running_weight && k_million == k_whole_pace);

std::optional<std::int64_t> whole_number(std::string_view digits) {
  std::int64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc{} || stop != end || digits.front() == '-') return std::nullopt;
  return number;
}

// A decimal from 0 to 1 in millionths; `too_large`: the error's text for a larger one.
Expected<std::int32_t> parse_millionths(std::string_view text, const char* too_large) {
  constexpr std::size_t k_digits = 6;
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  std::string parts(text.substr(std::min(point + 1, text.size())));
  const bool digits_missing = whole.empty() && parts.empty();
  const bool ends_in_point = point + 1 == text.size();
  if (digits_missing || ends_in_point || parts.size() > k_digits)
    return fail(Errc::invalid_argument, "write a decimal from 0 to 1 with at most six digits after the point (0.5)");
  parts.append(k_digits - parts.size(), '0');
  const auto units = whole.empty() ? 0 : whole_number(whole);
  const auto millionths = whole_number(parts);
  if (!units || !millionths)
    return fail(Errc::invalid_argument, "write a decimal from 0 to 1 with at most six digits after the point (0.5)");
  if (*units > 1 || (*units == 1 && *millionths > 0)) return fail(Errc::invalid_argument, too_large);
  return static_cast<std::int32_t>(*units * k_million + *millionths);
}

std::string format_millionths(std::int32_t millionths) {
  std::string text = std::to_string(millionths / k_million);
  std::string rest = std::to_string(k_million + millionths % k_million).substr(1);
  rest.erase(rest.find_last_not_of('0') + 1);
  return rest.empty() ? text : text + '.' + rest;
}

}  // namespace

Expected<Duration> parse_horizon(std::string_view text) {
  const auto [digits, unit_s] = split_duration(text);
  const auto number = whole_number(digits);
  if (!number) return fail(Errc::invalid_argument, "write 0, seconds (3600), or a number with s, m, h or d (7d)");
  if (*number > k_longest_horizon.value / unit_s) return fail(Errc::invalid_argument, "a horizon is at most 365 days");
  return Duration{*number * unit_s};
}

std::string format_horizon(Duration horizon) {
  if (horizon.value == 0) return "0";
  const DurationUnit& unit = largest_unit(horizon);
  return std::to_string(horizon.value / unit.seconds) + unit.letter;
}

Expected<Guarantee> parse_guarantee(std::string_view text) {
  SHAPLEY_TRY_ASSIGN(const std::int32_t millionths,
                     parse_millionths(text, "a guarantee is at most 1, all that an organization owns"));
  return Guarantee{millionths};
}

std::string format_guarantee(Guarantee guarantee) {
  return format_millionths(guarantee.millionths);
}

Expected<RunningWeight> parse_running_weight(std::string_view text) {
  SHAPLEY_TRY_ASSIGN(const std::int32_t millionths,
                     parse_millionths(text, "the weight of what runs is at most 1, which counts it in full"));
  return RunningWeight{millionths};
}

std::string format_running_weight(RunningWeight weight) {
  return format_millionths(weight.millionths);
}

Expected<Pace> parse_pace(std::string_view text) {
  SHAPLEY_TRY_ASSIGN(const std::int32_t millionths,
                     parse_millionths(text, "a pace is at most 1, all that an organization owns"));
  if (millionths == 0)
    return fail(Errc::invalid_argument, "a pace is more than 0: without one no debt is ever settled");
  return Pace{millionths};
}

std::string format_pace(Pace pace) {
  return format_millionths(pace.millionths);
}

}  // namespace shapley::game
