// The examinations of an audit: the ledger itself, its archives, Slurm's records, signed heads.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "ctl/commands/audit.hpp"
#include "ledger/archive/links.hpp"
#include "ledger/replication/chain_copy.hpp"
#include "ledger/store/progress.hpp"

namespace shapley::ctl {

struct Examined {
  std::vector<Examination> examinations;
  ledger::Position head;                       // the last event before the audit began
  std::optional<ledger::ArchiveLink> missing;  // an archive that is not there
};

// Of `file`, with what the arguments name besides. Findings are no error.
[[nodiscard]] Expected<Examined> examine(const std::filesystem::path& file, const AuditArguments& arguments,
                                         const ledger::OnProgress& on_progress);

}  // namespace shapley::ctl
