// shapleyctl tells that it made a backup of the ledger, or audited it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "daemon/requests/queries.hpp"

namespace shapley::daemon {

// {"done": "backup" or "audit", "sequence", "hash"[, "clean"]}: up to which event. Errc::conflict unless the daemon's
// ledger has that event with that hash.
[[nodiscard]] Answer note_upkeep(Service& service, const Question& question);

// {"at", "sequence"} of the last backup, {"at", "sequence", "clean"} of the last audit; null: none was told.
[[nodiscard]] nlohmann::json backup_object(const Upkeep& upkeep);
[[nodiscard]] nlohmann::json audit_object(const Upkeep& upkeep);

}  // namespace shapley::daemon
