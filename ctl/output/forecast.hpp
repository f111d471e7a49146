// The forecast of ranks (ledger/reports/forecast_report.hpp), as text.
#pragma once

#include <string>

#include "base/error.hpp"
#include "ledger/reports/report.hpp"

namespace shapley::ctl {

// Errc::protocol: the report of a daemon that was asked for the forecast has none.
[[nodiscard]] Expected<void> check_forecast(const ledger::StatusReport& report);

// The order of ranks, a table of its changes, and what the forecast assumes. REQUIRES: report.forecast.
[[nodiscard]] std::string render_forecast(const ledger::StatusReport& report);

}  // namespace shapley::ctl
