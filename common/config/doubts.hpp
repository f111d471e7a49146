// What is no fault of a configuration file but hardly meant: shapleyd logs it when it loads the file, check-config
// prints it.
#pragma once

#include <vector>

#include "config/configuration.hpp"

namespace shapley::config {

// In line order, each with its remedy.
[[nodiscard]] std::vector<Fault> doubts(const Configuration& configuration);

}  // namespace shapley::config
