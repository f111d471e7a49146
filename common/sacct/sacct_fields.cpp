#include "sacct/sacct_fields.hpp"

#include <array>
#include <cmath>
#include <map>

namespace shapley::sacct {

bool may_go_on(std::string_view state) {
  constexpr std::array<std::string_view, 8> k_states{"RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING",
                                                     "STOPPED", "SIGNALING", "STAGE_OUT",  "PENDING"};
  return std::find(k_states.begin(), k_states.end(), state) != k_states.end();
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
  if (!text.empty()) held.billing = 0;
  // A type is listed beside the sum of all types; where it is listed alone, types are summed.
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
    } else if (name == "billing") {
      const auto billed = parse_number<std::uint64_t>(count);
      if (!billed) return std::nullopt;
      held.billing = *billed;
    } else if (name.starts_with("gres/")) {
      // A few are sizes, which sacct writes as it writes memory (gres/gpumem=80G).
      const auto value = parse_number<std::uint64_t>(count);
      const auto size = value ? value : parse_mib(count);
      if (!size) return std::nullopt;
      const std::size_t colon = name.find(':');
      if (colon == std::string_view::npos) {
        whole[std::string(name)] += *size;
      } else {
        by_type[std::string(name.substr(0, colon))] += *size;
      }
    }
  }
  for (const auto& [name, count] : by_type) whole.emplace(name, count);
  for (const auto& [name, count] : whole) {
    if (count > 0) held.gres.push_back({name, count});
  }
  return held;
}

namespace {

using Reading = std::array<std::optional<Instant>, 4>;  // submit, eligible, start, end

std::vector<std::optional<Instant>> instants_of(const SlurmTime& time) {
  if (time.twin) return {time.instant, time.twin};
  return {time.instant};
}

// The earlier ones first.
std::vector<Reading> readings_of(const RowTimes& times) {
  // Equal texts mean equal instants.
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

bool choose_readings(RowTimes& times, Duration suspended, std::optional<std::int64_t> elapsed) {
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

}  // namespace shapley::sacct
