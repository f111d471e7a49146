#include "daemon/books/hindsight_memory.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

#include "config/kept_estimators.hpp"

namespace shapley::daemon {

namespace {

namespace fs = std::filesystem;
using accounting::Coalitions;

// "max" is none; neither is what version 1 writes where there is none, close to 2^63.
std::optional<std::int64_t> limit_in(const fs::path& file) {
  std::ifstream in(file);
  std::string text;
  if (!(in >> text)) return std::nullopt;
  std::int64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  constexpr std::int64_t k_none = std::int64_t{1} << 60U;
  if (error != std::errc{} || end != text.data() + text.size() || bytes >= k_none) return std::nullopt;
  return bytes;
}

// Of the cgroup and of all above it, up to the mount.
std::optional<std::int64_t> least_limit(const fs::path& mount, const std::string& group, const char* file) {
  std::optional<std::int64_t> least;
  for (fs::path path = fs::path(group).relative_path();; path = path.parent_path()) {
    const auto limit = limit_in(mount / path / file);
    if (limit) least = std::min(least.value_or(*limit), *limit);
    if (path.empty()) return least;
  }
}

}  // namespace

std::optional<std::int64_t> cgroup_memory(const fs::path& self, const fs::path& root) {
  std::ifstream in(self);
  std::optional<std::int64_t> least;
  // "0::/system.slice/shapleyd.service", "9:memory:/..."
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    std::optional<std::int64_t> limit;
    if (controllers == ",,") limit = least_limit(root, group, "memory.max");
    if (controllers.find(",memory,") != std::string::npos)
      limit = least_limit(root / "memory", group, "memory.limit_in_bytes");
    if (limit) least = std::min(least.value_or(*limit), *limit);
  }
  return least;
}

std::int64_t hindsight_bound(const config::Configuration& configuration, const std::optional<std::int64_t>& cgroup) {
  constexpr std::int64_t k_otherwise = std::int64_t{1} << 30U;
  if (configuration.hindsight_memory > 0) return configuration.hindsight_memory;
  return cgroup ? *cgroup / 4 : k_otherwise;
}

std::optional<accounting::HindsightBounded> hindsight_step(const accounting::State& state, std::int64_t bound,
                                                           Instant now) {
  const auto needed = static_cast<std::int64_t>(state.bytes_of(config::hindsight_estimator()));
  if (needed <= bound) return std::nullopt;
  const accounting::HindsightBounded* last = state.hindsight_bounded();
  const Coalitions next = last == nullptr ? Coalitions::pairs : Coalitions::none;
  if (last != nullptr && last->coalitions == Coalitions::none) return std::nullopt;
  return accounting::HindsightBounded{.at = now, .coalitions = next, .needed = needed, .bound = bound};
}

}  // namespace shapley::daemon
