// UTFAIRSHARE [FS13 Sec. 5]: serve the smallest psi[u](t) / m[u].
// Ratios and ties as in share_ratio.hpp.
#pragma once

#include <memory>

#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

[[nodiscard]] std::unique_ptr<Policy> make_ut_fair_share(const Instance& instance);

}  // namespace shapley::scheduling
