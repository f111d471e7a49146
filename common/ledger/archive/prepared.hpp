// What will stay of a ledger, written while a daemon wrote on (LEDGER.archived), and how it catches up.
#pragma once

#include <filesystem>

#include "base/error.hpp"
#include "ledger/store/database.hpp"
#include "ledger/store/progress.hpp"

namespace shapley::ledger {

[[nodiscard]] std::filesystem::path prepared_file(const std::filesystem::path& ledger);
void remove_prepared(const std::filesystem::path& ledger);

// Adds to the prepared file what was recorded since: it ends with the ledger's last event, is closed and synced.
// Everything in it was verified when it was written. False: it is of no use, because it is not of this ledger as it is
// now, an archive that it goes on from is gone or damaged, or since then something was recorded that changes archived
// books. REQUIRES: `database` is the ledger, which nobody else writes.
[[nodiscard]] Expected<bool> catch_up(const Database& database, const std::filesystem::path& ledger,
                                      const OnProgress& on_progress);

}  // namespace shapley::ledger
