// A ledger of past runs, from an export of sacct.
//
// The import is atomic: the export is read to its end before the first write; a new ledger gets its name when it is
// complete, and an old one gets the missing events in one transaction. The last event names the source
// (accounting::HistoryImported).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ctl/import/past_runs.hpp"
#include "sacct/sacct_rows.hpp"

namespace shapley::ctl {

struct ImportQuestion {
  std::filesystem::path sacct;
  std::filesystem::path config;
  std::filesystem::path ledger;    // to be created; must not exist
  std::filesystem::path into;      // or: an old one, which no daemon has locked
  std::filesystem::path nodes;     // sacct::read_nodes; empty: from the old ledger, or as many CPUs as were used
  std::filesystem::path accounts;  // site_rules::read_account_parents; empty: no account has a parent
  bool oversubscribed = false;     // runs may hold more CPUs of a node at once than it has
  sacct::Malformed malformed = sacct::Malformed::refuse;  // what to do with bad rows
  std::string reason;
  Instant now;
};

struct ImportResult {
  PastRuns runs;
  std::int64_t ends = 0;  // runs of the ledger whose end was not observed and which get their recorded end
  std::int64_t rows = 0;
  std::int64_t events = 0;
  std::vector<std::string> notes;        // the assumptions, in sentences
  std::vector<sacct::BadRow> bad;        // rows that were left out (Malformed::skip), by line
  std::vector<sacct::BadRow> differing;  // rows that differ from the ledger, which stays as it is, by line
};

// Errors name file, line, fault and remedy. Errc::conflict: the new ledger exists, or a daemon writes the old one;
// Errc::denied: a run is in an archived period; Errc::not_found: the export has no run.
[[nodiscard]] Expected<ImportResult> import_history(const ImportQuestion& question);

}  // namespace shapley::ctl
