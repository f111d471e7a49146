#include "history/row_times.hpp"

#include <array>
#include <vector>

namespace shapley::history {

namespace {

using Reading = std::array<std::optional<Instant>, 4>;  // submit, eligible, start, end

std::vector<std::optional<Instant>> instants_of(const SlurmTime& time) {
  if (time.twin) return {time.instant, time.twin};
  return {time.instant};
}

// The earlier ones first.
std::vector<Reading> readings_of(const RowTimes& times) {
  // What one text says twice is one instant.
  const bool at_once = times.submit.instant == times.eligible.instant;
  std::vector<Reading> readings;
  for (const auto& submit : instants_of(times.submit)) {
    for (const auto& eligible : instants_of(times.eligible)) {
      if (at_once && submit != eligible) continue;
      for (const auto& start : instants_of(times.start)) {
        for (const auto& end : instants_of(times.end)) readings.push_back({submit, eligible, start, end});
      }
    }
  }
  return readings;
}

bool runs_so(const Reading& reading, Duration suspended, std::optional<std::int64_t> elapsed) {
  const auto& [submit, eligible, start, end] = reading;
  if (!start || !end) return true;
  return elapsed ? (*end - *start - suspended).value == *elapsed : *end >= *start;
}

bool in_order(const Reading& reading) {
  std::optional<Instant> last;
  for (const std::optional<Instant>& at : reading) {
    if (!at) continue;
    if (last && *at < *last) return false;
    last = at;
  }
  return true;
}

}  // namespace

bool settle(RowTimes& times, Duration suspended, std::optional<std::int64_t> elapsed) {
  const std::vector<Reading> readings = readings_of(times);
  if (readings.size() == 1) return true;
  std::vector<Reading> fitting;
  for (const bool ordered : {true, false}) {
    for (const Reading& reading : readings) {
      if (runs_so(reading, suspended, elapsed) && (in_order(reading) || !ordered)) fitting.push_back(reading);
    }
    if (!fitting.empty()) break;
  }
  const Reading& chosen = fitting.empty() ? readings.front() : fitting.front();
  times = {{chosen[0], {}}, {chosen[1], {}}, {chosen[2], {}}, {chosen[3], {}}};
  return fitting.size() == 1;
}

}  // namespace shapley::history
