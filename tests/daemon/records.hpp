// A small site and records of its jobs, for tests of service and server: physics owns n1, chemistry n2, 8 cpus each.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/configuration/site.hpp"
#include "protocol/messages.hpp"
#include "tests/support/temp_directory.hpp"

namespace shapley::daemon {

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
[[nodiscard]] protocol::JobRecord running(const Job& job);
[[nodiscard]] protocol::JobRecord ended(const Job& job, std::int64_t end);
[[nodiscard]] protocol::JobRecord waiting(const Job& job);  // since `start`

}  // namespace shapley::daemon
