// The health of daemon and plugin in a few lines, from the members `daemon` and `plugin` of the daemon's status.
#pragma once

#include <string>

#include "ledger/reports/report.hpp"

namespace shapley::ctl {

// "" for a report without a daemon (offline).
[[nodiscard]] std::string health_lines(const ledger::StatusReport& report, bool colour);

}  // namespace shapley::ctl
