#include "ctl/advice/advice_parts.hpp"

#include <array>

#include "base/printable.hpp"
#include "ctl/output/table.hpp"
#include "planning/algorithms/algorithms.hpp"

namespace shapley::ctl {

using nlohmann::json;

json outcome(double makespan, double flow, std::size_t jobs) {
  return {{"makespan", makespan}, {"mean_flow", jobs == 0 ? 0 : flow / static_cast<double>(jobs)}};
}

json planned_outcome(const planning::Grid& grid, const planning::Schedule& schedule, std::size_t organization,
                     std::size_t jobs) {
  const auto unit = static_cast<double>(grid.ticks_per_unit());
  return outcome(static_cast<double>(planning::organization_makespans(grid, schedule)[organization]) / unit,
                 static_cast<double>(planning::organization_flows(grid, schedule)[organization]) / unit, jobs);
}

Expected<PlannedTwice> planned_twice(const planning::Grid& grid) {
  PlannedTwice plans;
  if (grid.jobs.empty()) return plans;
  plans.is_by_mocca = planning::fits_everywhere(grid);
  SHAPLEY_TRY_ASSIGN(plans.alone, planning::plan(grid, "local_hf"));
  SHAPLEY_TRY_ASSIGN(plans.together, planning::plan(grid, plans.is_by_mocca ? "mocca_ilba" : "ilba"));
  return plans;
}

std::string limits_of_together(bool is_by_mocca) {
  constexpr const char* k_no_later = ": no job ends later than planned alone.";
  if (is_by_mocca) return std::string("Planned together is MOCCA, then ILBA") + k_no_later;
  return std::string(
             "Planned together is ILBA without MOCCA, because some jobs are wider than an organization; those "
             "are placed only where they fit") +
         k_no_later;
}

std::string outcome_table(const json& report, const Way& count, std::span<const Way> ways,
                          std::string (*seconds)(const json& value)) {
  const std::array fields{Field{.name = "organization",
                                .member = "organization",
                                .title = "Organization",
                                .meaning = "",
                                .align = Align::left},
                          Field{.name = "processors", .member = "processors", .title = "Owned", .meaning = ""},
                          Field{.name = count.member, .member = count.member, .title = count.title, .meaning = ""},
                          Field{.name = "way", .member = "way", .title = "How", .meaning = "", .align = Align::left},
                          Field{.name = "makespan", .member = "makespan", .title = "Makespan", .meaning = ""},
                          Field{.name = "mean_flow", .member = "mean_flow", .title = "MeanFlow", .meaning = ""}};
  json rows = json::array();
  for (const json& organization : report["organizations"]) {
    for (const Way& way : ways) {
      const bool first = rows.size() % ways.size() == 0;
      const json& reached = organization[std::string(way.member)];
      rows.push_back({{"organization", first ? organization["organization"] : json("")},
                      {"processors", first ? organization["processors"] : json(nullptr)},
                      {std::string(count.member), first ? organization[std::string(count.member)] : json(nullptr)},
                      {"way", way.title},
                      {"makespan", reached.is_null() ? json(nullptr) : json(seconds(reached["makespan"]))},
                      {"mean_flow", reached.is_null() ? json(nullptr) : json(seconds(reached["mean_flow"]))}});
    }
  }
  auto columns =
      parse_columns("organization%-16,processors," + std::string(count.member) + ",way%-16,makespan,mean_flow", fields);
  fit_names(*columns, "organization", rows, 0);
  return render_table(*columns, rows, {});
}

std::string limits_text(const json& report) {
  std::string text = "Limits:\n";
  for (const json& limit : report["limits"]) text += "- " + printable(limit.get<std::string>()) + '\n';
  return text;
}

}  // namespace shapley::ctl
