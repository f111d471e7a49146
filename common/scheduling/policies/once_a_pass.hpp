// Another policy's order of the organizations, taken once an instant: what a resource manager does that sorts its queue
// once a scheduling pass and starts what it can in that order, by ranks that were written before.
//
// At the first choice of an instant all who wait are ordered, by the keys and guarantees of that moment; until time
// moves on, the first of that order with something to start is served, however much that has started meanwhile.
// No other organization begins to wait within an instant (policy.hpp), so that order is all that is needed.
#pragma once

#include <memory>

#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

// REQUIRES: `policy` chooses by the schedule that is made. REF does not: it knows the schedule that it would make.
[[nodiscard]] std::unique_ptr<Policy> make_once_a_pass(std::unique_ptr<Policy> policy);

}  // namespace shapley::scheduling
