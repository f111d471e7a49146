// What is asked of one of two controllers: by the other one, which follows it, and by an administrator
// (docs/internals/two-controllers.md).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "daemon/requests/queries.hpp"
#include "daemon/service.hpp"

namespace shapley::daemon {

// Events after a position of the chain. Errc::conflict for the only controller.
[[nodiscard]] Answer follow(Service& service, const nlohmann::json& request);

// That it may write without what the other one has, which does not answer. Errc::conflict where that is not needed.
[[nodiscard]] Answer begin(Service& service, const Question& question);

// Whether an administrator's order can be written here: Errc::conflict if the other one of two controllers writes.
[[nodiscard]] Expected<void> takes_orders(const Service& service);

// null: this is the only controller.
[[nodiscard]] nlohmann::json controller_object(const Service& service);

}  // namespace shapley::daemon
