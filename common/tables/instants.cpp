#include "tables/instants.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

#include "base/calendar.hpp"

namespace shapley::tables {

namespace {

constexpr std::array<std::string_view, 12> k_months{"January",   "February", "March",    "April",
                                                    "May",       "June",     "July",     "August",
                                                    "September", "October",  "November", "December"};
// "2026-11-30T14:05:00Z"
constexpr std::size_t k_instant = 20;
constexpr std::array<std::string_view, 3> k_kept{"style", "pre", "svg"};

struct Words {
  bool in_title = false;

  // The text between two tags.
  [[nodiscard]] std::string of(std::string_view text) const {
    std::string out;
    while (!text.empty()) {
      const std::size_t zulu = text.find('Z');
      const std::size_t end = zulu == std::string_view::npos ? text.size() : zulu + 1;
      const std::string_view last = end >= k_instant ? text.substr(end - k_instant, k_instant) : std::string_view();
      // parse_instant() takes a date alone and one without Z, too.
      const std::optional<Instant> t = last.ends_with('Z') ? parse_instant(last) : std::nullopt;
      out += text.substr(0, t ? end - k_instant : end);
      if (t && in_title) {
        out += instant_in_words(*t);
      } else if (t) {
        out.append("<time datetime=\"").append(last).append("\">").append(instant_in_words(*t)).append("</time>");
      }
      text.remove_prefix(end);
    }
    return out;
  }
};

}  // namespace

std::string date_in_words(Instant t) {
  using namespace std::chrono;
  const year_month_day date{floor<days>(sys_seconds{seconds{t.value}})};
  return std::to_string(static_cast<unsigned>(date.day())) + ' ' +
         std::string(k_months[static_cast<unsigned>(date.month()) - 1]) + ' ' +
         std::to_string(static_cast<int>(date.year()));
}

std::string instant_in_words(Instant t) {
  const bool is_whole_minute = t.value % 60 == 0;
  constexpr std::size_t k_time = 11;
  return date_in_words(t) + ", " + format_instant(t).substr(k_time, is_whole_minute ? 5 : 8) + " UTC";
}

std::string with_instants_in_words(std::string_view markup) {
  std::string out;
  Words words;
  while (!markup.empty()) {
    const std::size_t tag = std::min(markup.find('<'), markup.size());
    out += words.of(markup.substr(0, tag));
    markup.remove_prefix(tag);
    const std::size_t end = markup.find('>');
    if (end == std::string_view::npos) break;
    const std::string_view name = markup.substr(1, markup.find_first_of(" >", 1) - 1);
    words.in_title = name == "title";
    std::size_t taken = end + 1;
    if (std::ranges::find(k_kept, name) != k_kept.end())
      taken = std::min(markup.find("</" + std::string(name) + '>', end), markup.size());
    out += markup.substr(0, taken);
    markup.remove_prefix(taken);
  }
  return out += markup;
}

}  // namespace shapley::tables
