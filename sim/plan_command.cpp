#include "sim/plan_command.hpp"

#include <iomanip>
#include <ostream>

#include <nlohmann/json.hpp>

#include "planning/algorithms.hpp"
#include "sim/grid_file.hpp"

namespace shapley::sim {

namespace {

using Json = nlohmann::ordered_json;
using planning::Grid;
using planning::Schedule;
using planning::Ticks;

std::string time_text(const Grid& grid, Ticks ticks) {
  return planning::fraction_text(ticks, grid.ticks_per_unit());
}

// C_max / LB; an instance without jobs is planned perfectly.
std::string score_text(const Grid& grid, const Schedule& schedule) {
  const Ticks bound = grid.lower_bound();
  return bound == 0 ? "1" : planning::fraction_text(planning::makespan(grid, schedule), bound);
}

Json to_json(const NamedGrid& named, const Schedule& schedule) {
  const Grid& grid = named.grid;
  Json json = {{"cmax", time_text(grid, planning::makespan(grid, schedule))},
               {"score", score_text(grid, schedule)},
               {"LB", time_text(grid, grid.lower_bound())},
               {"org_makespans", Json::array()},
               {"schedule", Json::array()}};
  for (const Ticks end : planning::organization_makespans(grid, schedule))
    json["org_makespans"].push_back(time_text(grid, end));
  for (std::uint32_t i = 0; i < schedule.size(); ++i) {
    json["schedule"].push_back({{"id", named.ids[i]},
                                {"cluster", schedule[i].cluster},
                                {"start", time_text(grid, schedule[i].start)},
                                {"end", time_text(grid, planning::end_of(grid, schedule, i))}});
  }
  return json;
}

void print_table(const NamedGrid& named, const Schedule& schedule, std::ostream& out) {
  const Grid& grid = named.grid;
  out << "makespan " << time_text(grid, planning::makespan(grid, schedule)) << ", lower bound "
      << time_text(grid, grid.lower_bound()) << ", score " << score_text(grid, schedule) << "\n\n";
  out << std::left << std::setw(14) << "ORGANIZATION" << std::right << std::setw(12) << "PROCESSORS" << std::setw(20)
      << "MAKESPAN" << std::setw(20) << "CLUSTER BUSY UNTIL" << '\n';
  const auto owned = planning::organization_makespans(grid, schedule);
  const auto busy = planning::cluster_makespans(grid, schedule);
  for (std::size_t k = 0; k < owned.size(); ++k) {
    out << std::left << std::setw(14) << k << std::right << std::setw(12) << grid.clusters[k] << std::setw(20)
        << time_text(grid, owned[k]) << std::setw(20) << time_text(grid, busy[k]) << '\n';
  }
}

}  // namespace

Expected<void> plan_command(const PlanArguments& arguments, std::ostream& out) {
  SHAPLEY_TRY_ASSIGN(const NamedGrid named, read_grid(arguments.instance));
  SHAPLEY_TRY_ASSIGN(const Schedule schedule, planning::plan(named.grid, arguments.algorithm, arguments.seed));
  if (arguments.json) {
    out << to_json(named, schedule).dump() << '\n';
  } else {
    print_table(named, schedule, out);
  }
  return {};
}

}  // namespace shapley::sim
