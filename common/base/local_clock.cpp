#include "base/local_clock.hpp"

namespace shapley {

namespace {

bool same_fields(const std::tm& a, const std::tm& b) {
  return a.tm_year == b.tm_year && a.tm_mon == b.tm_mon && a.tm_mday == b.tm_mday && a.tm_hour == b.tm_hour &&
         a.tm_min == b.tm_min && a.tm_sec == b.tm_sec;
}

std::optional<Instant> instant_of(const std::tm& fields, int summer_time) {
  std::tm local = fields;
  local.tm_isdst = summer_time;
  const std::time_t seconds = std::mktime(&local);
  std::tm shown{};
  // mktime moves what no clock shows to what one does.
  if (seconds < 0 || ::localtime_r(&seconds, &shown) == nullptr || !same_fields(shown, fields)) return std::nullopt;
  return Instant{static_cast<std::int64_t>(seconds)};
}

}  // namespace

LocalInstants instants_of_local(const std::tm& fields) {
  return {.standard = instant_of(fields, 0), .summer = instant_of(fields, 1)};
}

}  // namespace shapley
