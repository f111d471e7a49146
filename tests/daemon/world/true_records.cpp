#include "true_records.hpp"

#include <fstream>

#include "ctl/import/import.hpp"
#include "tests/daemon/records.hpp"

namespace shapley::daemon {

std::string TrueRecords::import_into(const TempDirectory& directory, const std::filesystem::path& ledger,
                                     Instant now) const {
  if (runs_.empty()) return {};  // an import would refuse that
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
                                             .into = ledger,
                                             .nodes = {},
                                             .accounts = {},
                                             .oversubscribed = true,  // random jobs share CPUs
                                             .reason = "the clock was wrong",
                                             .now = now});
  if (!imported) return imported.error().what;
  return imported->differing.empty() ? "" : imported->differing.front().why;
}

std::string query_of_runs(std::int64_t since) {
  const std::string from = std::to_string(since);
  return "WITH run AS (SELECT job, anchor, organization, begin, end FROM segments "
         "WHERE kind = 'run' AND retracted IS NULL AND (end IS NULL OR end > begin)) "
         "SELECT job, organization, begin - " +
         from +
         ", (SELECT last.end FROM run AS last WHERE last.job = run.job AND last.anchor = run.anchor AND "
         "last.begin >= run.begin AND NOT EXISTS (SELECT 1 FROM run AS next WHERE next.job = last.job AND "
         "next.anchor = last.anchor AND next.begin = last.end) ORDER BY last.begin LIMIT 1) - " +
         from +
         " FROM run WHERE NOT EXISTS (SELECT 1 FROM run AS before WHERE before.job = run.job AND "
         "before.anchor = run.anchor AND before.end = run.begin) ORDER BY job, begin";
}

}  // namespace shapley::daemon
