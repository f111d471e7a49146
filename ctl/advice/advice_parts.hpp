// What both kinds of advice share: an organization's makespan and mean flow as JSON, and the table of them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "planning/model/grid.hpp"
#include "planning/model/schedule.hpp"

namespace shapley::ctl {

// {"makespan", "mean_flow"} in seconds; `flow` is the sum over the jobs. Without jobs the mean is 0.
[[nodiscard]] nlohmann::json outcome(double makespan, double flow, std::size_t jobs);

// That of an organization's jobs, so many, in a schedule of the grid.
[[nodiscard]] nlohmann::json planned_outcome(const planning::Grid& grid, const planning::Schedule& schedule,
                                             std::size_t organization, std::size_t jobs);

// What the jobs come to on their owners' clusters alone (local HF), and on all of them together: by MOCCA, then ILBA;
// by ILBA alone where a job does not fit every cluster, which MOCCA's bounds do not allow.
struct PlannedTwice {
  planning::Schedule alone;
  planning::Schedule together;
  bool is_by_mocca = true;
};

// Empty schedules without jobs. REQUIRES: every job fits its owner's cluster.
[[nodiscard]] Expected<PlannedTwice> planned_twice(const planning::Grid& grid);

// What the reader has to know of `together`.
[[nodiscard]] std::string limits_of_together(bool is_by_mocca);

// A line of the table: the member of an organization's row that holds the outcome, and what it is called.
struct Way {
  std::string_view member;
  std::string_view title;
};

// Each organization's outcomes, one under the other; null is '-'. `count`: the member that says how many jobs, and its
// column's title.
[[nodiscard]] std::string outcome_table(const nlohmann::json& report, const Way& count, std::span<const Way> ways,
                                        std::string (*seconds)(const nlohmann::json& value));

// "Limits:" and a line for each.
[[nodiscard]] std::string limits_text(const nlohmann::json& report);

}  // namespace shapley::ctl
