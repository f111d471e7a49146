// What a migration cannot do in SQL: events of schemas 1 to 4, rows with JSON, become rows of the present schema.
#pragma once

#include "base/error.hpp"
#include "ledger/store/database.hpp"
#include "ledger/store/progress.hpp"

namespace shapley::ledger {

// REQUIRES: a transaction is open, in which the migrations up to the present schema ran. Takes over the events of the
// table that sql/005_compact.sql put aside, if it is there, makes the projections from them, reads everything back
// along the hash chain, and drops the table. Errc::corrupt names the first event that is not as a release wrote it.
[[nodiscard]] Expected<void> take_over_events(const Database& database, const OnProgress& on_progress);

}  // namespace shapley::ledger
