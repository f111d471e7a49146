// The planning algorithms a second time, slow and literal, as witnesses: no profile, no tree, every question answered
// by looking at all placed jobs. And the exact optimum of tiny instances, by trying everything.
#pragma once

#include <optional>
#include <vector>

#include "planning/algorithms.hpp"
#include "planning/grid.hpp"
#include "planning/schedule.hpp"

namespace shapley::planning::naive {

[[nodiscard]] Schedule schedule_locally(const Grid& grid, LocalOrder order);
[[nodiscard]] std::optional<Schedule> mocca(const Grid& grid);
[[nodiscard]] Schedule mocca4(const Grid& grid, LocalOrder order);
[[nodiscard]] Schedule mocca_experiment(const Grid& grid, LocalOrder order, int alpha);
[[nodiscard]] Schedule balance(const Grid& grid, const Schedule& schedule);

// The least makespan of all schedules; with `limits`, of those in which organization k ends by limits[k].
// REQUIRES: at most 6 jobs or so.
[[nodiscard]] Ticks optimum(const Grid& grid, const std::vector<Ticks>* limits);

}  // namespace shapley::planning::naive
