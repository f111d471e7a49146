// Processors for organizations, as in the papers' experiments [SR13 Sec. 7.2].
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.hpp"

namespace shapley::workload {

// zipf: organization u holds a part proportional to 1/(u+1). uniform: equal parts.
enum class Endowment { zipf, uniform };

// Whole processors by largest remainder, ties to the lowest organization; they sum to `total`.
// Errc::invalid_argument when there is no organization or no processor.
[[nodiscard]] Expected<std::vector<std::uint32_t>> endow(Endowment endowment, std::size_t organizations,
                                                         std::int64_t total);

}  // namespace shapley::workload
