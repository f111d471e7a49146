// Local list scheduling: every organization alone on its own cluster [MO11 Sec. 3].
//
// Greedy: at every instant the first job of the list that fits starts; when none does, time goes on to the next end.
// The orders: HF by processors non-increasing, LPT by length non-increasing, SPT by length non-decreasing, random by a
// seed; ties in input order. O(n log n).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "planning/model/schedule.hpp"

namespace shapley::planning {

enum class LocalOrder { hf, lpt, spt, random };

[[nodiscard]] std::string_view name_of(LocalOrder order);  // "hf", "lpt", "spt", "rnd"
[[nodiscard]] std::optional<LocalOrder> parse_local_order(std::string_view name);

// REQUIRES: validate(grid). `seed` matters to LocalOrder::random only.
[[nodiscard]] Schedule schedule_locally(const Grid& grid, LocalOrder order, std::uint64_t seed = 1);

// Proposition 1's instant t_HL of a cluster: up to it more than half of the processors are busy, from it on at most
// half, never rising. nullopt when the cluster's part of the schedule has no such instant.
[[nodiscard]] std::optional<Ticks> high_low_instant(const Grid& grid, const Schedule& schedule, std::uint32_t cluster);

}  // namespace shapley::planning
