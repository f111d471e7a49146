#include "true_records.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "ctl/import/import.hpp"
#include "tests/daemon/records.hpp"

namespace shapley::daemon {

void TrueRecords::import_into(const TempDirectory& directory, Instant now) const {
  std::string rows = "JobIDRaw|UID|Account|State|Submit|Eligible|Start|End|AllocCPUS|NodeList\n";
  for (const auto& [job, run] : runs_) {
    const std::string begin = std::to_string(run.begin);
    rows += std::to_string(job) + "|1000|" + run.account + (run.end ? "|COMPLETED|" : "|RUNNING|") + begin + '|' +
            begin + '|' + begin + '|' + (run.end ? std::to_string(*run.end) : "Unknown") + "|2|" + run.node + '\n';
  }
  std::ofstream(directory / "records") << rows;
  std::ofstream(directory / "site.yaml") << yaml_in(directory);
  const auto imported = ctl::import_history({.sacct = directory / "records",
                                             .config = directory / "site.yaml",
                                             .ledger = {},
                                             .into = directory / "ledger.db",
                                             .nodes = {},
                                             .accounts = {},
                                             .reason = "the clock was wrong",
                                             .now = now});
  ASSERT_TRUE(imported.has_value()) << imported.error().what;
  EXPECT_TRUE(imported->differing.empty()) << imported->differing.front().why;
}

}  // namespace shapley::daemon
