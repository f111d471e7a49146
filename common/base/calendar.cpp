#include "base/calendar.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/text.hpp"

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

bool same_fields(const std::tm& a, const std::tm& b) {
  return a.tm_year == b.tm_year && a.tm_mon == b.tm_mon && a.tm_mday == b.tm_mday && a.tm_hour == b.tm_hour &&
         a.tm_min == b.tm_min && a.tm_sec == b.tm_sec;
}

std::optional<Instant> instant_of(const std::tm& fields, int summer_time) {
  std::tm local = fields;
  local.tm_isdst = summer_time;
  const std::time_t seconds = std::mktime(&local);
  std::tm shown{};
  // mktime replaces a time that no clock shows by another one, so the result is converted back and compared.
  if (seconds < 0 || ::localtime_r(&seconds, &shown) == nullptr || !same_fields(shown, fields)) return std::nullopt;
  return Instant{static_cast<std::int64_t>(seconds)};
}

LocalInstants both_of(const std::tm& fields) {
  return {.standard = instant_of(fields, 0), .summer = instant_of(fields, 1)};
}

// The instant; nullopt if the fields have none, or two.
std::optional<Instant> only_one(const LocalInstants& instants) {
  if (instants.standard && instants.summer && *instants.standard != *instants.summer) return std::nullopt;
  return instants.standard ? instants.standard : instants.summer;
}

// An hour that clocks show exactly once, without a change within it.
struct EvenHour {
  std::tm fields{};
  std::string zone;
  LocalInstants begin;  // none: the place is empty
};

bool is_of(const std::tm& fields, const EvenHour& hour) {
  return (hour.begin.standard || hour.begin.summer) && fields.tm_hour == hour.fields.tm_hour &&
         fields.tm_mday == hour.fields.tm_mday && fields.tm_mon == hour.fields.tm_mon &&
         fields.tm_year == hour.fields.tm_year;
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

std::string short_duration(std::int64_t seconds) {
  const std::int64_t s = std::max<std::int64_t>(seconds, 0);
  const std::int64_t minutes = s / 60;
  const std::int64_t hours = minutes / 60;
  const std::int64_t days = hours / 24;
  if (minutes == 0) return std::to_string(s) + " s";
  if (hours == 0) return std::to_string(minutes) + " min";
  if (days == 0)
    return std::to_string(hours) + " h" + (minutes % 60 == 0 ? "" : " " + std::to_string(minutes % 60) + " min");
  return counted(days, "day") + (hours % 24 == 0 ? "" : " " + std::to_string(hours % 24) + " h");
}

LocalInstants instants_of_local(const std::tm& fields) {
  if (fields.tm_min < 0 || fields.tm_min > 59 || fields.tm_sec < 0 || fields.tm_sec > 59) return both_of(fields);
  // Asked for a summer time that does not exist, mktime searches years for it; so hours are cached.
  constexpr unsigned k_kept = 256;
  static thread_local std::array<EvenHour, k_kept> kept;
  EvenHour& hour = kept[static_cast<unsigned>(24 * fields.tm_mday + fields.tm_hour) % k_kept];
  const char* zone = std::getenv("TZ");
  if (zone == nullptr) zone = "";
  if (!is_of(fields, hour) || hour.zone != zone) {
    std::tm end = fields;
    end.tm_min = end.tm_sec = 59;
    EvenHour found{.fields = fields, .zone = zone, .begin = {}};
    found.fields.tm_min = found.fields.tm_sec = 0;
    const LocalInstants begin = both_of(found.fields);
    const std::optional<Instant> first = only_one(begin);
    const std::optional<Instant> last = only_one(both_of(end));
    if (!first || !last || *last - *first != Duration{3599}) return both_of(fields);
    found.begin = begin;
    hour = std::move(found);
  }
  const Duration since{fields.tm_min * 60 + fields.tm_sec};
  LocalInstants instants = hour.begin;
  if (instants.standard) instants.standard = *instants.standard + since;
  if (instants.summer) instants.summer = *instants.summer + since;
  return instants;
}

}  // namespace shapley
