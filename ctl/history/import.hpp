// A ledger of what ran before shapleyd watched, from an export of sacct.
//
// All or nothing: the export is read to its end before anything is written; a new ledger gets its name when it is
// whole, an old one gets the events of its gaps in one transaction. The last event says whose word they rest on
// (accounting::HistoryImported).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ctl/history/past_runs.hpp"
#include "history/sacct_rows.hpp"

namespace shapley::ctl {

struct ImportQuestion {
  std::filesystem::path sacct;
  std::filesystem::path config;
  std::filesystem::path ledger;  // to be made; must not exist
  std::filesystem::path into;    // or: an old one, of which no daemon has the lock
  std::filesystem::path nodes;  // history::read_nodes; empty: as the old ledger knows them, or as far as they were used
  std::filesystem::path accounts;  // history::read_account_parents; empty: no account has one above it
  bool oversubscribed = false;     // runs may hold more of a node at once than it has
  history::Malformed malformed = history::Malformed::refuse;  // what to do with bad rows
  std::string reason;
  Instant now;
};

struct ImportResult {
  PastRuns runs;
  std::int64_t ends = 0;  // of runs that the ledger has, whose end was not seen, and which end now as recorded
  std::int64_t rows = 0;
  std::int64_t events = 0;
  std::vector<std::string> notes;          // what was assumed, in sentences
  std::vector<history::BadRow> bad;        // rows that were left out (Malformed::skip), by line
  std::vector<history::BadRow> differing;  // what the ledger has otherwise, and keeps so, by line
};

// Errors name file, line, fault and remedy: Errc::conflict when the new ledger exists, or a daemon writes the old one;
// Errc::denied when a run lies in what was archived; Errc::not_found when the export has no run.
[[nodiscard]] Expected<ImportResult> import_history(const ImportQuestion& question);

}  // namespace shapley::ctl
