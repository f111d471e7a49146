#include "base/calendar.hpp"

#include <array>
#include <chrono>
#include <cstdio>

namespace shapley {

namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year_month_day;

Instant midnight(std::chrono::year_month_day date) {
  return {std::chrono::duration_cast<std::chrono::seconds>(sys_days{date}.time_since_epoch()).count()};
}

year_month_day date_of(Instant t) {
  return year_month_day{std::chrono::floor<days>(std::chrono::sys_seconds{std::chrono::seconds{t.value}})};
}

unsigned months_in(Period period) {
  switch (period) {
    case Period::monthly:
      return 1;
    case Period::quarterly:
      return 3;
    case Period::yearly:
      return 12;
    case Period::none:
      break;
  }
  return 0;
}

// Exactly `text.size()` digits.
std::optional<int> digits(std::string_view text) {
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::optional<int> time_of_day(std::string_view text) {  // "07:00:00"
  if (text.size() != 8 || text[2] != ':' || text[5] != ':') return std::nullopt;
  const auto hour = digits(text.substr(0, 2));
  const auto minute = digits(text.substr(3, 2));
  const auto second = digits(text.substr(6, 2));
  if (!hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  return *hour * 3600 + *minute * 60 + *second;
}

}  // namespace

Instant day_begin(Instant t) {
  return Instant{t.value - ((t.value % k_day_s) + k_day_s) % k_day_s};
}

Instant period_begin(Period period, Instant t) {
  const unsigned months = months_in(period);
  if (months == 0) return k_beginning_of_time;
  const auto date = date_of(t);
  const unsigned month = (static_cast<unsigned>(date.month()) - 1) / months * months + 1;
  return midnight(date.year() / std::chrono::month{month} / 1);
}

Instant period_end(Period period, Instant t) {
  const unsigned months = months_in(period);
  if (months == 0) return k_end_of_time;
  const auto begin = date_of(period_begin(period, t));
  return midnight(begin + std::chrono::months{static_cast<int>(months)});
}

std::optional<Instant> parse_instant(std::string_view text) {
  if (text.size() < 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = digits(text.substr(0, 4));
  const auto month = digits(text.substr(5, 2));
  const auto day = digits(text.substr(8, 2));
  if (!year || !month || !day || *year < 1970) return std::nullopt;
  const year_month_day date{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                            std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  text.remove_prefix(10);
  if (text.empty()) return midnight(date);
  if (text.front() != 'T') return std::nullopt;
  text.remove_prefix(1);
  if (!text.empty() && text.back() == 'Z') text.remove_suffix(1);
  const auto seconds = time_of_day(text);
  if (!seconds) return std::nullopt;
  return midnight(date) + Duration{*seconds};
}

std::string format_instant(Instant t) {
  const auto date = date_of(t);
  const auto in_day = t.value - midnight(date).value;
  std::array<char, 48> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                    static_cast<int>(in_day / 3600), static_cast<int>(in_day / 60 % 60), static_cast<int>(in_day % 60));
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string_view name_of(Period period) {
  switch (period) {
    case Period::none:
      return "none";
    case Period::monthly:
      return "monthly";
    case Period::quarterly:
      return "quarterly";
    case Period::yearly:
      return "yearly";
  }
  return "none";
}

std::optional<Period> parse_period(std::string_view name) {
  for (const Period period : {Period::none, Period::monthly, Period::quarterly, Period::yearly}) {
    if (name == name_of(period)) return period;
  }
  return std::nullopt;
}

}  // namespace shapley
