// A small site and records of its jobs, for tests of service and server: physics owns n1, chemistry n2, 8 cpus each.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "daemon/configuration/site.hpp"
#include "ledger/store/ledger.hpp"
#include "protocol/messages.hpp"
#include "tests/support/temp_directory.hpp"
#include "tests/support/text_rows.hpp"

namespace shapley::daemon {

// When the books of such a site begin, seconds since 1970.
inline constexpr std::int64_t k_begin = 1'700'000'000;

[[nodiscard]] config::OrganizationConfig organization(const std::string& name, const std::string& account,
                                                      const std::string& node);
[[nodiscard]] Site site_in(const TempDirectory& directory);

// The same site as a file.
[[nodiscard]] std::string yaml_in(const TempDirectory& directory);

[[nodiscard]] protocol::Hello feeder_hello(std::uint64_t instance = 1);
[[nodiscard]] protocol::NodeRecord node_record(const std::string& name);

// Job `id` of `account`, on `cpus` processors of `node` since `start`.
struct Job {
  std::uint32_t id = 1;
  std::string account = "phys";
  std::string node = "n1";
  std::uint32_t cpus = 4;
  std::int64_t start = 0;
};
[[nodiscard]] protocol::JobUpdate running(const Job& job);
[[nodiscard]] protocol::JobUpdate ended(const Job& job, std::int64_t end);
[[nodiscard]] protocol::JobUpdate waiting(const Job& job);  // since `start`

// The rows of a query, columns joined by '|'.
[[nodiscard]] inline std::vector<std::string> rows_of(const ledger::Ledger& ledger, const std::string& sql) {
  const auto result = ledger::query(ledger, sql);
  if (!result) throw std::runtime_error(result.error().what);
  std::vector<std::string> lines;
  for (const auto& row : *result) {
    std::string line;
    for (const std::string& column : row) line += (line.empty() ? "" : "|") + column;
    lines.push_back(line);
  }
  return lines;
}

}  // namespace shapley::daemon
