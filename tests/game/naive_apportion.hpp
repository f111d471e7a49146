// An independent witness for the apportionment of an amount by weights.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.hpp"

namespace shapley::game::naive {

// Largest remainder by handing out one unit after the other to the one that is furthest below its due.
[[nodiscard]] std::vector<std::int64_t> apportion_by_remainders(std::int64_t total, const std::vector<Int128>& weights);

}  // namespace shapley::game::naive
