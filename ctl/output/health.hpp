// The health of daemon and plugin in a few lines, from the members `daemon` and `plugin` of the daemon's status.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace shapley::ctl {

// "" for a report that no daemon made (offline).
[[nodiscard]] std::string health_lines(const nlohmann::json& report, bool colour);

}  // namespace shapley::ctl
