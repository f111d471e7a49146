// ROUNDROBIN [SR13 Sec. 7]: the organizations in turn. The pointer starts at organization 0 and moves past the one
// served.
#pragma once

#include <memory>

#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

[[nodiscard]] std::unique_ptr<Policy> make_round_robin(const Instance& instance);

}  // namespace shapley::scheduling
