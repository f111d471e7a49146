// The health of daemon and plugin in a few lines, from the members `daemon` and `plugin` of the daemon's status.
#pragma once

#include <optional>
#include <string>

#include "base/types.hpp"
#include "ledger/reports/report.hpp"
#include "protocol/self_report.hpp"

namespace shapley::ctl {

// The time for which a connected plugin has been silent for too long: the time since its last message, if it sends
// signs of life and three of them are missing. nullopt: it sends messages, or is not connected.
[[nodiscard]] std::optional<Duration> plugin_silence(const protocol::PluginReport& plugin, Instant now);

// "" for a report without a daemon (offline).
[[nodiscard]] std::string health_lines(const ledger::StatusReport& report, bool colour);

// "2 runs (480 processor-seconds) counted until the last look, 1 run (16 processor-seconds) retracted, ...".
[[nodiscard]] std::string lost_runs_in_words(const protocol::LostRunsReport& runs);

}  // namespace shapley::ctl
