// An independent witness for the Shapley value and its apportionment: by their definitions, for few players.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/types.hpp"

namespace shapley::game::naive {

using Players = std::vector<std::pair<std::int64_t, std::int64_t>>;  // demand, owned

// The Shapley value times k! of min(owned, demand + what each placement's own processors can serve of its demand), as
// the mean over all k! orders. A placement has a pair for each player. REQUIRES: few players.
[[nodiscard]] std::vector<Int128> shapley_by_orders(const Players& players,
                                                    const std::vector<Players>& placements = {});

// Largest remainder by handing out one unit after the other to the one that is furthest below its due.
[[nodiscard]] std::vector<std::int64_t> apportion_by_remainders(std::int64_t total, const std::vector<Int128>& weights);

}  // namespace shapley::game::naive
