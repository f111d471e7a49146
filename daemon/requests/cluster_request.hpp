// The requests about whose cluster the books are.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "daemon/requests/queries.hpp"

namespace shapley::daemon {

// {"request": "rename_cluster", "cluster": NAME, "reason": TEXT}
[[nodiscard]] Answer rename_cluster(Service& service, const Question& question);

// The name, and the last feeder of another cluster that was refused; for status.
[[nodiscard]] nlohmann::json cluster_object(const Service& service);

}  // namespace shapley::daemon
