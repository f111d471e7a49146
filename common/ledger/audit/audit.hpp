// Audits of a ledger file: against itself, and against Slurm's own job records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// One thing that does not hold, in a sentence that names the row or job.
struct Finding {
  std::string check;  // "chain", "conservation", "rebuild", "projection", "records", "head", "genesis", "archive"
  std::string what;
};

struct AuditReport {
  std::int64_t events = 0;
  std::int64_t segments = 0;
  std::int64_t records = 0;  // Slurm records compared (audit_against)
  std::int64_t runs_compared = 0;
  std::vector<std::string> notes;  // conventions applied, records left out and why
  std::vector<Finding> findings;   // empty: correct to the last unit
  [[nodiscard]] bool clean() const { return findings.empty(); }
};

// Hash chain; a naive independent evaluation of psi and phi by direct_contr (sums over unit parts or segments, not the
// State's closed forms) against the books rebuilt from events; Sum(psi) = Sum(phi) by every estimator at several
// instants; projections equal to those rebuilt.
[[nodiscard]] Expected<AuditReport> audit(const Ledger& ledger);

// Compares every run of the ledger that ended with Slurm's own records: `sacct -P` output (header line decides the
// columns) or jobcomp/filetxt ("JobId=... UserId=... "). The format is recognized from the first line. Conventions for
// resized, requeued and suspended jobs: docs/reference/ledger.md.
[[nodiscard]] Expected<AuditReport> audit_against(const Ledger& ledger, const std::filesystem::path& records);

}  // namespace shapley::ledger
