// Audits of a ledger file: against itself, and against Slurm's own job records.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "ledger/file/files.hpp"
#include "ledger/recovery/fold.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

struct SignedHead;

// One inconsistency, in a sentence that names the row or job.
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
  std::int64_t most_remembered = 0;  // most runs in the audit's own books at once, or jobs in the rebuilt books
  std::vector<std::string> notes;    // conventions that were applied, records that were left out and why
  std::vector<std::string> missing;  // what could not be compared because it is missing
  // Figures that are not checked, because this version does not have the estimator that they are by
  // (accounting::former_estimators).
  std::vector<std::string> unchecked;
  std::vector<Finding> findings;  // empty: what was checked is correct to the last unit
  [[nodiscard]] bool clean() const { return findings.empty(); }
  // `figures`: what they are, with the estimator's name.
  void leave_unchecked(std::string figures) {
    unchecked.push_back(std::move(figures) + ": this version does not keep that estimator");
  }
};

// What an audit remembers, and what receives its progress.
struct AuditOptions {
  OnProgress on_progress = {};
  ReplayPace pace = {};
};

// Checks the hash chain; psi and phi by direct_contr, by a naive independent evaluation (sums over unit parts or
// segments, not the State's closed forms), against the books rebuilt from events; Sum(psi) = Sum(phi) by every
// estimator at several instants; projections against rebuilt ones. The ledger may be larger than memory: what is
// remembered grows with open segments, organizations, nodes, periods, days and retracted runs. SQLite sorts in
// temporary files.
[[nodiscard]] Expected<AuditReport> audit(const Ledger& ledger, const AuditOptions& options = {});

// The time for which records are compared: runs that held processors at some instant of it. Usually all of it.
struct ComparedInterval {
  std::optional<Instant> since = std::nullopt;
  std::optional<Instant> until = std::nullopt;  // exclusive; the records were made then or later
};

// Compares every run of the ledger that ended with Slurm's own records: `sacct -P` output (the header line determines
// the columns) or jobcomp/filetxt ("JobId=... UserId=... "). The format is recognized from the first line. Conventions
// for resized, requeued and suspended jobs: docs/reference/ledger.md. All records are in memory, with the runs of their
// jobs, and the runs that did not end before the first record. What lies outside the interval, the records' own horizon
// or the ledger's is a note, not a finding. `files`: a ledger and, newest first, the archives before it that are to be
// compared, too. REQUIRES: not empty.
[[nodiscard]] Expected<AuditReport> audit_against(std::span<const Ledger* const> files,
                                                  const std::filesystem::path& records,
                                                  const ComparedInterval& asked = {});
[[nodiscard]] inline Expected<AuditReport> audit_against(const Ledger& ledger, const std::filesystem::path& records,
                                                         const ComparedInterval& asked = {}) {
  return audit_against(std::array{&ledger}, records, asked);
}
// The begin of the first recorded run, which determines how far back archives are needed; nullopt: none began. Errors
// as of audit_against().
[[nodiscard]] Expected<std::optional<Instant>> first_recorded_start(const Ledger& ledger,
                                                                    const std::filesystem::path& records);

// Compares the ledger with heads of it: the chain, computed again from the rows' content, must reach each head's hash
// at its event. Findings ("head") state whether rows are missing or were rewritten, and between which heads. REQUIRES:
// signatures are verified. Errc::conflict when a head is of another ledger.
[[nodiscard]] Expected<AuditReport> audit_against_heads(const Ledger& ledger, std::span<const SignedHead> heads);

}  // namespace shapley::ledger
