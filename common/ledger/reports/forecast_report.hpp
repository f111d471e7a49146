// The forecast of ranks (reports/forecast.hpp), for `status --forecast` and the live page. Pure.
#pragma once

#include "accounting/state/ranking.hpp"
#include "reports/forecast.hpp"

namespace shapley::ledger {

[[nodiscard]] OutlookLimit limit_of(const accounting::Outlook& outlook);

// Every pair whose order changes by outlook.until.
[[nodiscard]] ForecastReport forecast_report(const accounting::Outlook& outlook);

}  // namespace shapley::ledger
