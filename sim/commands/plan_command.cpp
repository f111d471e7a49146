#include "sim/commands/plan_command.hpp"

#include <iomanip>
#include <iostream>
#include <ostream>

#include "base/counted.hpp"
#include "charts/plot.hpp"
#include "planning/algorithms/algorithms.hpp"
#include "sim/input/grid_file.hpp"
#include "sim/json.hpp"

namespace shapley::sim {

namespace {

using planning::Grid;
using planning::Schedule;
using planning::Ticks;

std::string time_text(const Grid& grid, Ticks ticks) {
  return planning::fraction_text(ticks, grid.ticks_per_unit());
}

// C_max / LB; 1 for an instance without jobs.
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

// The processors of one cluster that each of its jobs takes: at every start the lowest idle ones.
std::vector<charts::GanttBox> boxes_of(const Grid& grid, const Schedule& schedule, std::uint32_t cluster) {
  std::vector<std::uint32_t> jobs;
  for (std::uint32_t i = 0; i < schedule.size(); ++i)
    if (schedule[i].cluster == cluster) jobs.push_back(i);
  std::vector<Ticks> free_since(static_cast<std::size_t>(grid.clusters[cluster]), 0);
  std::vector<charts::GanttBox> boxes;
  for (const std::uint32_t job : planning::by_start(schedule, std::move(jobs))) {
    std::int64_t wanted = grid.jobs[job].processors;
    for (std::uint32_t p = 0; p < free_since.size() && wanted > 0; ++p) {
      if (free_since[p] > schedule[job].start) continue;
      free_since[p] = planning::end_of(grid, schedule, job);
      const Ticks unit = grid.ticks_per_unit();  // a chart shows whole units
      boxes.push_back({p, static_cast<std::int64_t>(schedule[job].start / unit),
                       static_cast<std::int64_t>(free_since[p] / unit), grid.jobs[job].owner});
      --wanted;
    }
  }
  return boxes;
}

Expected<void> plot(const std::filesystem::path& folder, const Grid& grid, const Schedule& schedule) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(Errc::io, "--plot: " + folder.string() + ": " + error.message());
  for (std::uint32_t k = 0; k < grid.organizations(); ++k) {
    const auto boxes = boxes_of(grid, schedule, k);
    if (boxes.empty()) continue;  // nothing runs there
    const std::string number = std::to_string(k);
    SHAPLEY_TRY(
        charts::plot_gantt(folder / ("cluster-" + number + ".svg"), "cluster " + number, grid.organizations(), boxes));
  }
  return {};
}

Expected<NamedGrid> load(const PlanArguments& arguments) {
  if (!arguments.instance.empty()) return read_grid(arguments.instance);
  if (arguments.queue.source.trace.empty())
    return fail(Errc::invalid_argument, "plan: give --instance FILE or --trace FILE");
  SHAPLEY_TRY_ASSIGN(PendingGrid pending, read_pending(arguments.queue));
  if (pending.too_wide > 0)
    std::cerr << "shapley-sim: left out " << counted(pending.too_wide, "job")
              << (pending.too_wide == 1 ? " that is" : " that are") << " wider than the smallest cluster\n";
  return std::move(pending.named);
}

}  // namespace

Expected<void> plan_command(const PlanArguments& arguments, std::ostream& out) {
  SHAPLEY_TRY_ASSIGN(const NamedGrid named, load(arguments));
  SHAPLEY_TRY_ASSIGN(const Schedule schedule, planning::plan(named.grid, arguments.algorithm, arguments.seed));
  if (!arguments.plot.empty()) SHAPLEY_TRY(plot(arguments.plot, named.grid, schedule));
  if (arguments.json) {
    out << json_text(to_json(named, schedule), -1) << '\n';
  } else {
    print_table(named, schedule, out);
  }
  return {};
}

}  // namespace shapley::sim
