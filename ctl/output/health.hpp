// The health of daemon and plugin in a few lines, from the members `daemon` and `plugin` of the daemon's status.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace shapley::ctl {

// "" for a report that no daemon made (offline).
[[nodiscard]] std::string health_lines(const nlohmann::json& report, bool colour);

// "2 runs (480 processor-seconds) counted until the last look, 1 run (16 processor-seconds) retracted, ...": of a
// member of `state_losses`.
[[nodiscard]] std::string lost_runs_in_words(const nlohmann::json& loss);

}  // namespace shapley::ctl
