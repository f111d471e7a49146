// The planning algorithms by name, and the list scheduling that they are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "planning/grid.hpp"
#include "planning/schedule.hpp"

namespace shapley::planning {

// Local list scheduling: every organization alone on its own cluster [MO11 Sec. 3].
//
// Greedy: at every instant the first job of the list that fits starts; when none does, time goes on to the next end.
// The orders: HF by processors non-increasing, LPT by length non-increasing, SPT by length non-decreasing, random by a
// seed; ties in input order. O(n log n).
enum class LocalOrder { hf, lpt, spt, random };

[[nodiscard]] std::string_view name_of(LocalOrder order);  // "hf", "lpt", "spt", "rnd"
[[nodiscard]] std::optional<LocalOrder> parse_local_order(std::string_view name);

// REQUIRES: validate_at_home(grid). `seed` matters to LocalOrder::random only.
[[nodiscard]] Schedule schedule_locally(const Grid& grid, LocalOrder order, std::uint64_t seed = 1);

// Reversed list scheduling: jobs placed between those that stay, from a deadline backwards [MO11 Sec. 5.2 and 7.1].
//
// Time goes back from the deadline over the starts of all jobs, those that stay and those just placed. At every instant
// t the first job in HF order for which a cluster has q idle processors during [t - p, t) ends there, on the smallest
// such cluster; when none fits, time goes back to the next start. O(N n log n) when the holes between the staying jobs
// are few.
//
// Gives new placements to `moved` (in HF order) within `schedule`; all other placements stay. False when a job finds no
// place before the deadline: `schedule` is then unusable.
[[nodiscard]] bool place_backwards(const Grid& grid, const std::vector<std::uint32_t>& moved, Ticks deadline,
                                   Schedule& schedule);

// The planning algorithms by name, as `shapley-sim plan --algorithm` knows them.
//
// local_hf, local_lpt, local_spt, local_rnd: local list scheduling. mocca: the literal algorithm. mocca4_hf,
// mocca4_lpt, mocca4_spt, mocca4_rnd: MOCCA(4) over that local policy. mocca_experiment: the experiments' variant.
// mocca_ilba, mocca_experiment_ilba: ILBA after it. ilba: ILBA directly on HF local schedules.
[[nodiscard]] const std::vector<std::string_view>& algorithm_names();

// A checked schedule. Errc::not_found lists the names; Errc::invalid_argument and Errc::limit as validate(grid), of
// local scheduling and of ILBA directly on it as validate_at_home(grid); Errc::corrupt when the schedule does not pass
// check_schedule, which would be a defect.
[[nodiscard]] Expected<Schedule> plan(const Grid& grid, std::string_view algorithm, std::uint64_t seed = 1);

}  // namespace shapley::planning
