// FAIRSHARE [SR13 Sec. 7, FS13 Sec. 5]: serve the smallest (processor time used up to t) / m[u].
// Ratios and ties as in share_ratio.hpp.
#pragma once

#include <memory>

#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

[[nodiscard]] std::unique_ptr<Policy> make_fair_share(const Instance& instance);

}  // namespace shapley::scheduling
