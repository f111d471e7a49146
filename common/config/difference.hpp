// What changes from one configuration to another, in sentences for people. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/types.hpp"
#include "config/configuration.hpp"

namespace shapley::config {

// One line for each change, in this order: keys of the file; organizations that come, go or change; rules that come, go
// or change hands; nodes that change owner at `now` or later. Empty: nothing that matters differs.
[[nodiscard]] std::vector<std::string> differences(const Configuration& before, const Configuration& after,
                                                   Instant now);

}  // namespace shapley::config
