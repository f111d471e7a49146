#include "base/slurm_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <utility>

#include "base/local_clock.hpp"

namespace shapley {

namespace {

bool is_unknown(std::string_view time) {
  return time.empty() || time == "Unknown" || time == "unknown" || time == "None" || time == "N/A";
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

std::optional<SlurmTime> parse_slurm_time(std::string_view text) {
  if (is_unknown(text)) return SlurmTime{};
  constexpr std::int64_t k_latest = std::int64_t{1} << 40U;
  if (const auto seconds = parse_number<std::int64_t>(text)) {
    if (*seconds > k_latest) return std::nullopt;
    return SlurmTime{*seconds == 0 ? std::nullopt : std::optional(Instant{*seconds}), {}};
  }
  const auto fields = calendar_fields(text);
  if (!fields) return std::nullopt;
  const auto [standard, summer] = instants_of_local(*fields);
  if (!standard && !summer) return std::nullopt;
  if (!standard || !summer || *standard == *summer) return SlurmTime{standard ? standard : summer, {}};
  return SlurmTime{std::min(*standard, *summer), std::max(*standard, *summer)};
}

std::optional<Duration> parse_slurm_duration(std::string_view text) {
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

}  // namespace shapley
