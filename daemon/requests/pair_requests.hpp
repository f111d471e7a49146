// What is asked of one of two controllers: by the other one, which follows it, and by Slurm's programs, which promote
// and demote it (docs/internals/two-controllers.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "daemon/requests/queries.hpp"
#include "daemon/service.hpp"

namespace shapley::daemon {

// Events after a position of the chain, from the ledger's tables. Also of a controller that is the only one.
[[nodiscard]] Answer follow(const Service& service, const nlohmann::json& request);

// Errc::conflict for the only controller. Asked again it says how far the promotion has come.
[[nodiscard]] Answer promote(Service& service, const Question& question);

// Errc::conflict for the only controller, and while a plugin feeds this one, unless it is forced.
[[nodiscard]] Answer demote(Service& service, const Question& question);

// null: this is the only controller.
[[nodiscard]] nlohmann::json controller_object(const Service& service, Instant now);

}  // namespace shapley::daemon
