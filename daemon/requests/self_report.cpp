#include "daemon/requests/self_report.hpp"

#include <cstddef>
#include <cstdint>
#include <system_error>

#include <nlohmann/json.hpp>

namespace shapley::daemon {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json file_bytes(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(file, error);
  // SQLite takes its log away when nobody needs it.
  if (error == std::errc::no_such_file_or_directory) return 0;
  return error ? json(nullptr) : json(bytes);
}

}  // namespace

json commits_object(const CommitTimes& times) {
  json buckets = json::array();
  for (std::size_t i = 0; i < CommitTimes::k_bounds.size(); ++i) {
    buckets.push_back({CommitTimes::k_bounds[i], times.counts()[i]});
  }
  return {{"count", times.count()},
          {"seconds", times.seconds()},
          {"last_s", times.last_seconds()},
          {"buckets", std::move(buckets)}};
}

json storage_object(const fs::path& ledger) {
  std::error_code error;
  const fs::space_info space = fs::space(ledger, error);
  return {{"ledger_bytes", file_bytes(ledger)},
          {"wal_bytes", file_bytes(fs::path(ledger.string() + "-wal"))},
          {"free_bytes", error ? json(nullptr) : json(space.available)}};
}

json failures_object(const Service& service) {
  json failures = json::object();
  for (const auto& [operation, cause] : service.failures()) failures[operation] = cause;
  return failures;
}

}  // namespace shapley::daemon
