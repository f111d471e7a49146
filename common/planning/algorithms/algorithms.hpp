// The planning algorithms by name, as `shapley-sim plan --algorithm` and `shapleyctl advise` know them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "planning/model/schedule.hpp"

namespace shapley::planning {

// local_hf, local_lpt, local_spt, local_rnd: local list scheduling. mocca: the literal algorithm. mocca4_hf,
// mocca4_lpt, mocca4_spt, mocca4_rnd: MOCCA(4) over that local policy. mocca_experiment: the experiments' variant.
// mocca_ilba, mocca_experiment_ilba: ILBA after it. ilba: ILBA directly on HF local schedules.
[[nodiscard]] const std::vector<std::string_view>& algorithm_names();

// A checked schedule. Errc::not_found lists the names; Errc::invalid_argument and Errc::limit as validate(grid), of
// local scheduling and of ILBA directly on it as validate_at_home(grid); Errc::corrupt when the schedule does not pass
// check_schedule, which would be a defect.
[[nodiscard]] Expected<Schedule> plan(const Grid& grid, std::string_view algorithm, std::uint64_t seed = 1);

}  // namespace shapley::planning
