// What became of a job that started, as JSON: when it ran, since when it had waited, and what started meanwhile.
// docs/reference/shapleyctl.md lists every member.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/error.hpp"
#include "ledger/reports/moment.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// So many of the runs that began while it waited are listed, the last ones; all are counted.
inline constexpr std::size_t k_listed_earlier_starts = 10;

// Of the submission of `job` (as job_at() has it); null: it has no run. What started meanwhile is read from the events
// between the one that tells of the job and its start; null where that is beyond the budget. Errors: Errc::corrupt,
// Errc::io.
[[nodiscard]] Expected<nlohmann::json> job_history(const Moment& moment, const Ledger& ledger,
                                                   const nlohmann::json& job, QueryBudget budget = {});

}  // namespace shapley::ledger
