// An independent witness for the Shapley value and its apportionment: by their definitions, for few players.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/int128.hpp"

namespace shapley::game::naive {

// The Shapley value of min(demand, owned) times k!, as the mean over all k! orders. REQUIRES: few players.
[[nodiscard]] std::vector<Int128> shapley_by_orders(const std::vector<std::pair<std::int64_t, std::int64_t>>& players);

// Largest remainder by handing out one unit after the other to whoever is furthest below its due.
[[nodiscard]] std::vector<std::int64_t> apportion_by_remainders(std::int64_t total, const std::vector<Int128>& weights);

}  // namespace shapley::game::naive
