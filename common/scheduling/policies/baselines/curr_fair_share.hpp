// CURRFAIRSHARE [SR13 Sec. 7]: serve the smallest (running jobs of u) / m[u], which changes within an instant.
// Ratios and ties as in share_ratio.hpp.
#pragma once

#include <memory>

#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

[[nodiscard]] std::unique_ptr<Policy> make_curr_fair_share(const Instance& instance);

}  // namespace shapley::scheduling
