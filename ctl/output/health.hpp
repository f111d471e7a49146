// The health of daemon and plugin in a few lines, from the members `daemon` and `plugin` of the daemon's status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace shapley::ctl {

// For how long a connected plugin has said nothing, where that is longer than it may be: since its last message, of a
// plugin that gives signs of life, three of them missed. nullopt: it is heard, or not connected.
[[nodiscard]] std::optional<std::int64_t> plugin_silence(const nlohmann::json& plugin, std::int64_t now);

// "" for a report that no daemon made (offline).
[[nodiscard]] std::string health_lines(const nlohmann::json& report, bool colour);

// "2 runs (480 processor-seconds) counted until the last look, 1 run (16 processor-seconds) retracted, ...": of a
// member of `state_losses`.
[[nodiscard]] std::string lost_runs_in_words(const nlohmann::json& loss);

}  // namespace shapley::ctl
