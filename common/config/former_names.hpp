// Whether a configuration names an organization by a name that the books know as a former one. shapleyd asks before it
// takes a file over, `shapleyd --check-config` and `shapleyctl check-config` beforehand. Pure.
#pragma once

#include <vector>

#include "accounting/state/former_names.hpp"
#include "config/configuration.hpp"

namespace shapley::config {

// In line order, each with the name to write.
[[nodiscard]] std::vector<Fault> former_name_faults(const Configuration& configuration,
                                                    const accounting::FormerNames& former);

}  // namespace shapley::config
