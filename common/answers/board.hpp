// What was decided, and how long statements of other clusters did not count, from one cluster's ledger.
#pragma once

#include "answers/past.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "reports/board.hpp"

namespace shapley::answers {

// Of [since, until), as far as the ledger goes, its last second included. What a statement's refusal was, and which
// statements came and changed no rank, is not recorded; one that is refused for another reason than its ledger is
// missing, so that the last one becomes too old.
[[nodiscard]] Expected<ledger::ClusterBoard> board(const LedgerFile& file, Instant since, Instant until);

}  // namespace shapley::answers
