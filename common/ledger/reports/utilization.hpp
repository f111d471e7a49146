// What nodes were used for, and waits (reports/utilization.hpp), of one stretch of time.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/types.hpp"
#include "ledger/reports/stretches.hpp"
#include "reports/utilization.hpp"

namespace shapley::ledger {

// Adds rows of these organizations. `matrix`: of what was held in the stretch. REQUIRES: the stretch has its use.
void add_utilization(UtilizationReport& report, const Stretch& stretch, const OwnerMatrix& matrix,
                     const std::vector<std::pair<OrgId, std::string>>& organizations);

}  // namespace shapley::ledger
