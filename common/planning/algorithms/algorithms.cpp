#include "planning/algorithms/algorithms.hpp"

#include <optional>
#include <string>

#include "planning/algorithms/ilba.hpp"
#include "planning/algorithms/mocca.hpp"
#include "planning/algorithms/mocca4.hpp"
#include "planning/algorithms/mocca_experiment.hpp"

namespace shapley::planning {

namespace {

Expected<Schedule> literal(const Grid& grid) {
  SHAPLEY_TRY_ASSIGN(MoccaPlan plan, plan_mocca(grid));
  return std::move(plan.schedule);
}

Expected<Schedule> plan_base(const Grid& grid, std::string_view name, std::uint64_t seed) {
  if (name == "mocca") return literal(grid);
  if (name == "mocca_experiment") return plan_mocca_experiment(grid).schedule;
  if (name == "ilba") return balance(grid, schedule_locally(grid, LocalOrder::hf));
  if (name.starts_with("local_")) {
    if (const auto order = parse_local_order(name.substr(6))) return schedule_locally(grid, *order, seed);
  }
  if (name.starts_with("mocca4_")) {
    if (const auto order = parse_local_order(name.substr(7))) return plan_mocca4(grid, *order, seed);
  }
  std::string names;
  for (const std::string_view known : algorithm_names()) names += (names.empty() ? "" : ", ") + std::string(known);
  return fail(Errc::not_found, "algorithm \"" + std::string(name) + "\" is unknown; there are " + names);
}

Expected<Schedule> plan_any(const Grid& grid, std::string_view name, std::uint64_t seed) {
  constexpr std::string_view k_then_balance = "_ilba";
  if (name != "mocca_ilba" && name != "mocca_experiment_ilba") return plan_base(grid, name, seed);
  name.remove_suffix(k_then_balance.size());
  SHAPLEY_TRY_ASSIGN(Schedule schedule, plan_base(grid, name, seed));
  return balance(grid, std::move(schedule));
}

}  // namespace

const std::vector<std::string_view>& algorithm_names() {
  static const std::vector<std::string_view> k_names = {
      "local_hf",   "local_lpt",  "local_spt",  "local_rnd",        "mocca",      "mocca4_hf",
      "mocca4_lpt", "mocca4_spt", "mocca4_rnd", "mocca_experiment", "mocca_ilba", "mocca_experiment_ilba",
      "ilba"};
  return k_names;
}

Expected<Schedule> plan(const Grid& grid, std::string_view algorithm, std::uint64_t seed) {
  SHAPLEY_TRY(algorithm.starts_with("mocca") ? validate(grid) : validate_at_home(grid));
  SHAPLEY_TRY_ASSIGN(Schedule schedule, plan_any(grid, algorithm, seed));
  SHAPLEY_TRY(check_schedule(grid, schedule));
  return schedule;
}

}  // namespace shapley::planning
