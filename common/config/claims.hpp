// What the claims of all organizations say together: who may claim what, and who owns a node when.
#pragma once

#include <vector>

#include "config/configuration.hpp"
#include "config/faults.hpp"

namespace shapley::config {

// Reports organizations of one name, rules claimed twice, and nodes owned beyond 100 % at some date.
void check_claims(const std::vector<OrganizationConfig>& organizations, FaultList& faults);

}  // namespace shapley::config
