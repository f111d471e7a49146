// Which estimators a file asks for, and whether they can be had for its organizations.
#pragma once

#include <cstddef>

#include "accounting/estimators/table.hpp"
#include "config/configuration.hpp"
#include "config/faults.hpp"

namespace shapley::config {

// The estimator that the key `hindsight` speaks of.
[[nodiscard]] accounting::EstimatorId hindsight_estimator();

// For how many organizations of a file it is kept: guests and commons are in the books without being named.
[[nodiscard]] std::size_t most_organizations(accounting::EstimatorId estimator);

// Reports the first organization that is too many for the estimator of `contribution`.
void check_contribution(const Configuration& configuration, FaultList& faults);

}  // namespace shapley::config
