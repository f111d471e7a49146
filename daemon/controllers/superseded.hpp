// A ledger that was superseded by the other controller's.
#pragma once

#include <filesystem>

#include "base/error.hpp"
#include "base/types.hpp"
#include "daemon/controllers/controllers.hpp"

namespace shapley::daemon {

// From now on it has another name (ledger/replication/parted.hpp), which the controller's record keeps: the next start
// begins with an empty ledger. REQUIRES: nobody has it open.
[[nodiscard]] Expected<void> set_ledger_aside(const std::filesystem::path& ledger, const Controllers::Parting& parting,
                                              Instant now);

}  // namespace shapley::daemon
