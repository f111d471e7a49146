#include "base/time_text.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/calendar.hpp"
#include "base/slurm_text.hpp"
#include "base/text.hpp"

namespace shapley {

namespace {

using std::chrono::year_month_day;

constexpr std::int64_t k_most = 253'402'300'799;  // the last second of the year 9999

std::optional<Instant> bounded(std::int64_t seconds) {
  if (seconds < 0 || seconds > k_most) return std::nullopt;
  return Instant{seconds};
}

// Takes the text from its begin on; a take that fails may have taken a part, and the whole is refused then.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  bool take_blanks() {
    const std::size_t size = rest_.size();
    while (take(" ")) {
    }
    return rest_.size() < size;
  }

  // The number of so many digits, or of fewer where that is allowed.
  std::optional<std::int64_t> digits(std::size_t least, std::size_t most) {
    const std::size_t size = std::min(leading_digits(), most);
    if (size < least) return std::nullopt;
    const auto number = parse_number<std::int64_t>(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return number;
  }

  [[nodiscard]] std::size_t leading_digits() const {
    return std::min(rest_.find_first_not_of("0123456789"), rest_.size());
  }

 private:
  std::string_view rest_;
};

struct Named {
  std::string_view name;
  std::int64_t seconds;
};

constexpr std::array k_hours{Named{"midnight", 0}, Named{"noon", 12 * 3600}, Named{"elevenses", 11 * 3600},
                             Named{"fika", 15 * 3600}, Named{"teatime", 16 * 3600}};
constexpr std::array k_days{Named{"today", 0}, Named{"tomorrow", k_day_s}};
constexpr std::array k_units{Named{"second", 1}, Named{"minute", 60}, Named{"hour", 3600}, Named{"day", k_day_s},
                             Named{"week", 7 * k_day_s}};

template <std::size_t N>
std::optional<std::int64_t> named(Reader& reader, const std::array<Named, N>& names) {
  const auto found = std::ranges::find_if(names, [&](const Named& each) { return reader.take(each.name); });
  return found == names.end() ? std::nullopt : std::optional(found->seconds);
}

// "", "h", "hour" or "hours"
std::optional<std::int64_t> unit(std::string_view word) {
  if (word.empty()) return 1;
  const auto is_it = [&](const Named& each) {
    return word == each.name || word == each.name.substr(0, 1) ||
           (word.ends_with('s') && word.substr(0, word.size() - 1) == each.name);
  };
  const auto found = std::ranges::find_if(k_units, is_it);
  return found == k_units.end() ? std::nullopt : std::optional(found->seconds);
}

// What follows "now".
std::optional<Instant> beside(Reader reader, Instant now) {
  reader.take_blanks();
  if (reader.at_end()) return now;
  const bool later = reader.take("+");
  if (!later && !reader.take("-")) return std::nullopt;
  reader.take_blanks();
  const auto count = reader.digits(1, 9);
  reader.take_blanks();
  const auto seconds = unit(reader.rest());
  if (!count || !seconds) return std::nullopt;
  return bounded(now.value + (later ? 1 : -1) * *count * *seconds);
}

// "07:00", "7:00:05 pm"; seconds since midnight.
std::optional<std::int64_t> clock(Reader& reader) {
  const auto hours = reader.digits(1, 2);
  if (!hours || !reader.take(":")) return std::nullopt;
  const auto minutes = reader.digits(2, 2);
  const auto seconds = reader.take(":") ? reader.digits(2, 2) : std::optional<std::int64_t>(0);
  if (!minutes || !seconds || *hours > 23 || *minutes > 59 || *seconds > 59) return std::nullopt;
  const std::int64_t past_hour = *minutes * 60 + *seconds;
  reader.take_blanks();
  const bool pm = reader.take("pm");
  if (!pm && !reader.take("am")) return *hours * 3600 + past_hour;
  if (*hours > 12) return std::nullopt;
  return (*hours % 12 + (pm ? 12 : 0)) * 3600 + past_hour;
}

year_month_day date_at(Instant t) {
  return year_month_day{std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds{std::chrono::seconds{t.value}})};
}

std::optional<Instant> midnight_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  const year_month_day date{std::chrono::year{static_cast<int>(year)}, std::chrono::month{static_cast<unsigned>(month)},
                            std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  return Instant{std::chrono::sys_seconds{std::chrono::sys_days{date}}.time_since_epoch().count()};
}

// A date in figures: its first second. `now`: on clocks of the same zone.
std::optional<Instant> date(Reader& reader, Instant now) {
  if (const std::string_view rest = reader.rest(); rest.size() >= 10 && rest[4] == '-' && rest[7] == '-') {
    const auto year = reader.digits(4, 4);
    reader.take("-");
    const auto month = reader.digits(2, 2);
    const bool dash = reader.take("-");
    const auto day = reader.digits(2, 2);
    return year && month && dash && day ? midnight_of(*year, *month, *day) : std::nullopt;
  }
  const bool bare = reader.leading_digits() == 4 || reader.leading_digits() == 6;
  const std::size_t least = bare ? 2 : 1;
  const auto month = reader.digits(least, 2);
  const std::string_view mark = bare ? "" : reader.rest().starts_with('.') ? "." : "/";
  if (!month || !reader.take(mark)) return std::nullopt;
  const auto day = reader.digits(least, 2);
  if (!day) return std::nullopt;
  if (bare ? reader.leading_digits() == 2 : reader.take(mark)) {
    const auto year = reader.digits(2, 2);
    return year ? midnight_of(2000 + *year, *month, *day) : std::nullopt;
  }
  const year_month_day present = date_at(now);
  const bool is_later = *month > static_cast<unsigned>(present.month());
  return midnight_of(static_cast<int>(present.year()) - (is_later ? 1 : 0), *month, *day);
}

// A clock's time, and how far clocks of its zone are ahead of UTC.
struct Zoned {
  std::string_view text;
  std::int64_t ahead_s = 0;
};

// Cuts the offset off. A '+' or '-' is that of an offset where a clock's time (with a colon, or as a word) is before it
// and no other colon but that of the offset after it.
std::optional<Zoned> zoned(std::string_view text) {
  const bool is_utc = text.ends_with('z');
  if (is_utc) text.remove_suffix(1);
  const std::string_view before = trimmed(text);
  const auto has_clock = [](std::string_view part) {
    return part.find(':') != std::string_view::npos ||
           std::ranges::any_of(k_hours, [&](const Named& hour) { return part.ends_with(hour.name); });
  };
  if (is_utc) return has_clock(before) ? std::optional(Zoned{before}) : std::nullopt;
  const std::size_t sign = text.find_last_of("+-");
  if (sign == std::string_view::npos || !has_clock(trimmed(text.substr(0, sign)))) return Zoned{text};
  Reader reader(text.substr(sign + 1));
  const auto hours = reader.digits(2, 2);
  const bool colon = reader.take(":");
  const auto minutes = colon || !reader.at_end() ? reader.digits(2, 2) : std::optional<std::int64_t>(0);
  if (!hours || !minutes || !reader.at_end() || *hours > 14 || *minutes > 59) return std::nullopt;
  const std::int64_t ahead_s = *hours * 3600 + *minutes * 60;
  return Zoned{trimmed(text.substr(0, sign)), text[sign] == '-' ? -ahead_s : ahead_s};
}

// A day, a clock's time, or both, as clocks show them. `now`: what they show at present, both as if they were UTC.
std::optional<Instant> shown(std::string_view text, Instant now) {
  Reader reader(text);
  const Instant today = day_begin(now);
  const auto time_of_day = [&]() {
    const auto named_hour = named(reader, k_hours);
    return named_hour ? named_hour : clock(reader);
  };
  const bool begins_with_clock =
      reader.leading_digits() <= 2 && reader.rest().substr(reader.leading_digits()).starts_with(':');
  if (const auto hour = named(reader, k_hours); hour || begins_with_clock) {
    const auto seconds = hour ? hour : clock(reader);
    if (!seconds || !reader.at_end()) return std::nullopt;
    return today + Duration{*seconds};
  }
  const auto day = named(reader, k_days);
  const auto begin = day ? std::optional(today + Duration{*day}) : date(reader, now);
  if (!begin || reader.at_end()) return begin;
  if (!reader.take("t") && !reader.take("-") && !reader.take_blanks()) return std::nullopt;
  const auto seconds = time_of_day();
  if (!seconds || !reader.at_end()) return std::nullopt;
  return *begin + Duration{*seconds};
}

}  // namespace

std::optional<Instant> parse_time(std::string_view text, Instant now) {
  const std::string folded = lower(trimmed(text));
  Reader reader(folded);
  if (reader.take("now")) return beside(reader, now);
  const bool named_seconds = reader.take("uts");
  constexpr std::size_t k_least_digits = 9;  // fewer are a date
  if (named_seconds || reader.leading_digits() == reader.rest().size()) {
    if (named_seconds || reader.leading_digits() >= k_least_digits) {
      const auto seconds = reader.digits(1, 12);
      return seconds && reader.at_end() ? bounded(*seconds) : std::nullopt;
    }
  }
  const auto written = zoned(folded);
  if (!written) return std::nullopt;
  const auto instant = shown(written->text, Instant{now.value + written->ahead_s});
  return instant ? bounded(instant->value - written->ahead_s) : std::nullopt;
}

}  // namespace shapley
