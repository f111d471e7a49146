// FCFS: the earliest (release, position in the input), whoever's job it is.
#pragma once

#include <memory>

#include "scheduling/policies/policy.hpp"

namespace shapley::scheduling {

[[nodiscard]] std::unique_ptr<Policy> make_fcfs(const Instance& instance);

}  // namespace shapley::scheduling
