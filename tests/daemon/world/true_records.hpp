// What Slurm's accounting has of the runs on a host once times of a wrong clock were put right there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/types.hpp"
#include "tests/support/temp_directory.hpp"

namespace shapley::daemon {

class TrueRecords {
 public:
  // Times are true seconds. Each run holds two CPUs.
  void start(std::uint32_t job, const std::string& account, const std::string& node, std::int64_t begin) {
    runs_[job] = {.account = account, .node = node, .begin = begin};
  }
  void end(std::uint32_t job, std::int64_t end) { runs_.at(job).end = end; }

  // `shapleyctl import --into` of all of them, into this ledger, which no daemon uses, by the site of the directory.
  // What went wrong; empty: nothing did.
  [[nodiscard]] std::string import_into(const TempDirectory& directory, const std::filesystem::path& ledger,
                                        Instant now) const;

 private:
  struct Run {
    std::string account, node;
    std::int64_t begin = 0;
    std::optional<std::int64_t> end = {};
  };
  std::map<std::uint32_t, Run> runs_;
};

// A query of a ledger's runs: job, organization, and begin and end less `since`. What an import adds to a run is a
// segment of its own; here a run is one row for each time that it went on without a break.
[[nodiscard]] std::string query_of_runs(std::int64_t since);

}  // namespace shapley::daemon
