// Audits of a ledger file: against itself, and against Slurm's own job records.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ledger/file/files.hpp"
#include "ledger/recovery/replay.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

struct SignedHead;

// One thing that does not hold, in a sentence that names the row or job.
struct Finding {
  // "chain", "conservation", "rebuild", "projection", "records", "head", "genesis", "archive", "statement",
  // "signature", "ranks"
  std::string check;
  std::string what;
};

struct AuditReport {
  std::int64_t events = 0;
  std::int64_t segments = 0;
  std::int64_t records = 0;  // Slurm records compared (audit_against)
  std::int64_t runs_compared = 0;
  std::int64_t statements = 0;       // of other clusters, compared (audit_consortium)
  std::int64_t rank_checks = 0;      // instants at which ranks were compared with the sum over clusters
  std::int64_t most_remembered = 0;  // runs that the audit's own books held at once, or jobs that those rebuilt did
  std::vector<std::string> notes;    // conventions applied, records left out and why
  std::vector<std::string> missing;  // what could not be compared, since it is not there
  std::vector<Finding> findings;     // empty: correct to the last unit
  [[nodiscard]] bool clean() const { return findings.empty(); }
};

// What an audit remembers, and what receives its progress.
struct AuditOptions {
  OnProgress on_progress = {};
  ReplayPace pace = {};
};

// Hash chain; a naive independent evaluation of psi and phi by direct_contr (sums over unit parts or segments, not the
// State's closed forms) against the books rebuilt from events; Sum(psi) = Sum(phi) by every estimator at several
// instants; projections equal to those rebuilt. The ledger may be longer than the memory: what is remembered follows
// open segments, organizations, nodes, periods, days and retracted runs. SQLite sorts in temporary files.
[[nodiscard]] Expected<AuditReport> audit(const Ledger& ledger, const AuditOptions& options = {});

// The time that records are compared for: runs that held processors at some instant of it. All of it as a rule.
struct ComparedInterval {
  std::optional<Instant> since = std::nullopt;
  std::optional<Instant> until = std::nullopt;  // exclusive; the records were made then or later
};

// Compares every run of the ledger that ended with Slurm's own records: `sacct -P` output (header line decides the
// columns) or jobcomp/filetxt ("JobId=... UserId=... "). The format is recognized from the first line. Conventions for
// resized, requeued and suspended jobs: docs/reference/ledger.md. The records are in memory as a whole, and with them
// the runs of their jobs, and what did not end before the first of them. What lies beyond the interval, the records'
// own horizon or the ledger's is a note, no finding. `files`: a ledger and, the newest first, the archives before it
// that are to be compared, too. REQUIRES: not empty.
[[nodiscard]] Expected<AuditReport> audit_against(std::span<const Ledger* const> files,
                                                  const std::filesystem::path& records,
                                                  const ComparedInterval& asked = {});
[[nodiscard]] inline Expected<AuditReport> audit_against(const Ledger& ledger, const std::filesystem::path& records,
                                                         const ComparedInterval& asked = {}) {
  return audit_against(std::array{&ledger}, records, asked);
}
// When the first of the recorded runs began, which says how far back archives are needed; nullopt: none began. Errors
// as of audit_against().
[[nodiscard]] Expected<std::optional<Instant>> first_recorded_start(const Ledger& ledger,
                                                                    const std::filesystem::path& records);

// Compares the ledger with heads of it: the chain, computed again from the rows' content, must reach each head's hash
// at its event. Findings ("head") say whether rows are missing or were rewritten, and between which heads. REQUIRES:
// signatures verified. Errc::conflict when a head is of another ledger.
[[nodiscard]] Expected<AuditReport> audit_against_heads(const Ledger& ledger, std::span<const SignedHead> heads);

}  // namespace shapley::ledger
