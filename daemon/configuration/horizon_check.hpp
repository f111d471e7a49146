// Whether ranks look far enough ahead.
//
// Jobs that run are not stopped, so what ranks decide takes effect with a delay: the time for which a processor that is
// held now stays held. With a horizon below that delay organizations take turns with the whole cluster as under the
// published rule (docs/concepts.md). Pure.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/types.hpp"
#include "ledger/readers/runs.hpp"

namespace shapley::daemon {

// The mean residual run time, processors weighing: sum(q d^2) / (2 sum(q d)) over ended runs of q processors and d
// seconds, rounded down. nullopt: none lasted a second.
[[nodiscard]] std::optional<Duration> mean_residual_run_time(std::span<const ledger::Run> runs);

// What to tell an administrator whose horizon is shorter than that; nullopt: nothing.
[[nodiscard]] std::optional<std::string> horizon_warning(Duration horizon, std::span<const ledger::Run> runs);

}  // namespace shapley::daemon
