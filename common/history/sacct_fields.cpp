#include "history/sacct_fields.hpp"

#include <array>
#include <cmath>
#include <ctime>
#include <map>
#include <utility>

#include "base/local_clock.hpp"

namespace shapley::history {

namespace {

bool is_unknown(std::string_view time) {
  return time.empty() || time == "Unknown" || time == "None" || time == "N/A";
}

std::optional<std::tm> calendar_fields(std::string_view text) {
  constexpr std::array<std::pair<std::size_t, std::size_t>, 6> k_places{
      {{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}}};
  if (text.size() != 19 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  std::array<int, 6> values{};
  for (std::size_t i = 0; i < k_places.size(); ++i) {
    const auto value = parse_number<int>(text.substr(k_places[i].first, k_places[i].second));
    if (!value) return std::nullopt;
    values[i] = *value;
  }
  std::tm fields{};
  fields.tm_year = values[0] - 1900;
  fields.tm_mon = values[1] - 1;
  fields.tm_mday = values[2];
  fields.tm_hour = values[3];
  fields.tm_min = values[4];
  fields.tm_sec = values[5];
  return fields;
}

}  // namespace

JobName parse_job_name(std::string_view text) {
  JobName name;
  name.number = parse_number<std::uint32_t>(text);
  if (name.number) return name;
  if (const std::size_t plus = text.find('+'); plus != std::string_view::npos) {
    const auto first = parse_number<std::uint32_t>(text.substr(0, plus));
    const auto part = parse_number<std::uint32_t>(text.substr(plus + 1));
    if (first && part) {
      name.het_job = *first;
      name.number = *first + *part;  // Slurm numbers the parts in a row
    }
  } else if (const std::size_t mark = text.find('_'); mark != std::string_view::npos) {
    name.array_job = parse_number<std::uint32_t>(text.substr(0, mark)).value_or(0);
    name.array_task = parse_number<std::uint32_t>(text.substr(mark + 1));
  }
  return name;
}

std::optional<LocalTime> parse_time(std::string_view text) {
  if (is_unknown(text)) return LocalTime{};
  constexpr std::int64_t k_latest = std::int64_t{1} << 40U;
  if (const auto seconds = parse_number<std::int64_t>(text)) {
    if (*seconds > k_latest) return std::nullopt;
    return LocalTime{*seconds == 0 ? std::nullopt : std::optional(Instant{*seconds}), {}};
  }
  const auto fields = calendar_fields(text);
  if (!fields) return std::nullopt;
  const auto [standard, summer] = instants_of_local(*fields);
  if (!standard && !summer) return std::nullopt;
  if (!standard || !summer || *standard == *summer) return LocalTime{standard ? standard : summer, {}};
  return LocalTime{std::min(*standard, *summer), std::max(*standard, *summer)};
}

void settle_twins(LocalTime& start, LocalTime& end, Duration suspended, std::optional<std::int64_t> elapsed) {
  if (!start.instant || !end.instant || (!start.twin && !end.twin)) return;
  for (const auto& from : {start.instant, start.twin}) {
    for (const auto& to : {end.instant, end.twin}) {
      if (!from || !to) continue;
      const bool fits = elapsed ? (*to - *from - suspended).value == *elapsed : *to >= *from;
      if (!fits) continue;
      start.instant = from;
      end.instant = to;
      return;
    }
  }
}

std::optional<Duration> parse_duration(std::string_view text) {
  constexpr std::int64_t k_most = 1'000'000;
  std::int64_t days = 0;
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto value = parse_number<std::int64_t>(text.substr(0, dash));
    if (!value || *value > k_most) return std::nullopt;
    days = *value;
    text.remove_prefix(dash + 1);
  }
  std::int64_t seconds = 0;
  int parts = 0;
  while (true) {
    const std::size_t colon = text.find(':');
    const auto value = parse_number<std::int64_t>(text.substr(0, colon));
    if (!value || *value > k_most || ++parts > 3) return std::nullopt;
    seconds = seconds * 60 + *value;
    if (colon == std::string_view::npos) break;
    text.remove_prefix(colon + 1);
  }
  if (parts < 2 || (dash != std::string_view::npos && parts != 3)) return std::nullopt;
  return Duration{days * 86400 + seconds};
}

bool is_no_limit(std::string_view text) {
  return text == "UNLIMITED" || text == "Partition_Limit" || text == "INVALID";
}

std::optional<std::uint64_t> parse_mib(std::string_view text) {
  double unit = 1;
  if (!text.empty()) {
    switch (text.back()) {
      case 'K':
        unit = 1.0 / 1024;
        break;
      case 'M':
        break;
      case 'G':
        unit = 1024;
        break;
      case 'T':
        unit = 1024.0 * 1024;
        break;
      case 'P':
        unit = 1024.0 * 1024 * 1024;
        break;
      default:
        unit = 0;
    }
    if (unit != 0) text.remove_suffix(1);
  }
  if (unit == 0) unit = 1;
  double value = 0;  // Slurm may write "1.50G"
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  constexpr double k_most = 1e15;
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0) || value * unit > k_most)
    return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(value * unit));
}

std::optional<HeldResources> parse_tres(std::string_view text) {
  HeldResources held;
  // A type is told beside the sum of all types; where it is told alone, types are summed.
  std::map<std::string, std::uint64_t, std::less<>> whole, by_type;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string_view name = item.substr(0, equals);
    const std::string_view count = item.substr(equals + 1);
    if (name == "mem") {
      const auto mib = parse_mib(count);
      if (!mib) return std::nullopt;
      held.memory = *mib;
    } else if (name.starts_with("gres/")) {
      const auto value = parse_number<std::uint64_t>(count);
      if (!value) return std::nullopt;
      const std::size_t colon = name.find(':');
      if (colon == std::string_view::npos) {
        whole[std::string(name)] += *value;
      } else {
        by_type[std::string(name.substr(0, colon))] += *value;
      }
    }
  }
  for (const auto& [name, count] : by_type) whole.emplace(name, count);
  for (const auto& [name, count] : whole) {
    if (count > 0) held.gres.push_back({name, count});
  }
  return held;
}

}  // namespace shapley::history
