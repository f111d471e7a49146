#include "ctl/advice/pending_advice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/counted.hpp"
#include "base/printable.hpp"
#include "ctl/advice/advice_parts.hpp"
#include "ctl/output/table.hpp"
#include "planning/alone/alone.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using planning::Grid;

constexpr std::size_t k_max_tasks = 100'000;

// Who owns processors, and what of the queue can be planned.
struct Pending {
  std::vector<std::string> names;
  Grid grid;
  std::vector<std::vector<planning::SubmittedJob>> jobs;  // by organization; all of them are there at 0
  std::map<std::string, std::int64_t> left_out;           // why -> tasks
};

std::map<std::string, std::size_t> read_owners(const json& queue, Pending& pending) {
  std::map<std::string, std::size_t> number_of;
  for (const json& row : queue.value("organizations", json::array())) {
    const auto processors = static_cast<std::int64_t>(std::floor(row.value("processors", 0.0)));
    if (processors < 1 || row["organization"] == "commons") continue;
    number_of[row["organization"].get<std::string>()] = pending.names.size();
    pending.names.push_back(row["organization"].get<std::string>());
    pending.grid.clusters.push_back(processors);
  }
  pending.jobs.resize(pending.names.size());
  return number_of;
}

Expected<Pending> read_queue(const json& queue) {
  Pending pending;
  const auto number_of = read_owners(queue, pending);
  std::vector<json> jobs = queue.value("jobs", std::vector<json>{});
  std::ranges::stable_sort(jobs, {}, [](const json& job) { return job.value("submit", std::int64_t{0}); });
  for (const json& job : jobs) {
    const auto tasks = job.value("tasks", std::int64_t{1});
    const auto processors = job.value("processors", std::int64_t{1});
    const auto owner = number_of.find(job.value("organization", ""));
    if (owner == number_of.end()) {
      pending.left_out["of whoever owns no processor"] += tasks;
    } else if (!job.contains("time_limit_s") || !job["time_limit_s"].is_number_integer()) {
      pending.left_out["without a time limit"] += tasks;
    } else if (processors > pending.grid.clusters[owner->second]) {
      pending.left_out["wider than what the organization owns"] += tasks;
    } else if (pending.grid.jobs.size() + static_cast<std::size_t>(tasks) > k_max_tasks) {
      return fail(Errc::limit, "advise: more than 100,000 tasks wait, too many to plan");
    } else {
      const auto length = std::max<std::int64_t>(1, job["time_limit_s"].get<std::int64_t>());
      for (std::int64_t i = 0; i < tasks; ++i) {
        pending.grid.jobs.push_back({static_cast<std::uint32_t>(owner->second), length, processors});
        pending.jobs[owner->second].push_back({0, length, processors});
      }
    }
  }
  return pending;
}

json in_order(const std::vector<planning::SubmittedJob>& jobs, std::int64_t processors) {
  const auto starts = planning::run_alone(jobs, processors);
  std::int64_t last = 0;
  std::int64_t flow = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    last = std::max(last, starts[i] + jobs[i].length);
    flow += starts[i] + jobs[i].length;
  }
  return outcome(static_cast<double>(last), static_cast<double>(flow), jobs.size());
}

json limits_of_plans(bool is_by_mocca) {
  return {
      "Every job takes its time limit, which it seldom does: the shorter the jobs really are, the less this says.",
      "All nodes are taken as free now; running jobs, jobs to come, memory, partitions and reservations are not "
      "looked at.",
      "Alone, in order is list scheduling of the jobs as they were submitted, on the own nodes; planned alone begins "
      "with the widest.",
      limits_of_together(is_by_mocca) + " Slurm does not plan so.",
      "A job runs on the nodes of one organization only.",
      "What has been until now is another question: shapleyctl status --worth tells what each has got, beside what it "
      "would have got alone."};
}

constexpr std::array k_pending_ways{Way{"in_order", "alone, in order"}, Way{"planned_alone", "planned alone"},
                                    Way{"planned_together", "planned together"}};

std::string whole_seconds(const json& value) {
  return std::to_string(std::llround(value.get<double>())) + " s";
}

std::string pending_verdict(const json& row) {
  const std::string name = member_text(row, "organization");
  if (row["jobs"] == 0) return name + " has no job that waits and can be planned.";
  const double alone = row["planned_alone"]["mean_flow"].get<double>();
  const double together = row["planned_together"]["mean_flow"].get<double>();
  const std::string gain = together < alone ? "its pending jobs would be done sooner together"
                                            : "its pending jobs would be done no sooner together";
  return name + ": " + gain + " (mean " + whole_seconds(row["planned_together"]["mean_flow"]) + ") than alone (" +
         whole_seconds(row["planned_alone"]["mean_flow"]) + ").";
}

}  // namespace

Expected<json> pending_advice_report(const json& queue) {
  SHAPLEY_TRY_ASSIGN(const Pending pending, read_queue(queue));
  SHAPLEY_TRY_ASSIGN(const PlannedTwice plans, planned_twice(pending.grid));
  json report{{"at", queue.value("at", json(nullptr))},
              {"truncated", queue.value("truncated", false)},
              {"organizations", json::array()},
              {"left_out", pending.left_out},
              {"limits", limits_of_plans(plans.is_by_mocca)}};
  for (std::size_t u = 0; u < pending.names.size(); ++u) {
    const auto& jobs = pending.jobs[u];
    report["organizations"].push_back(
        {{"organization", pending.names[u]},
         {"processors", pending.grid.clusters[u]},
         {"jobs", jobs.size()},
         {"in_order", in_order(jobs, pending.grid.clusters[u])},
         {"planned_alone", planned_outcome(pending.grid, plans.alone, u, jobs.size())},
         {"planned_together", planned_outcome(pending.grid, plans.together, u, jobs.size())}});
  }
  return report;
}

std::string render_pending_advice(const json& report) {
  std::string text = outcome_table(report, {"jobs", "Pending"}, k_pending_ways, whole_seconds) + '\n';
  if (report["organizations"].empty()) text += "No organization owns processors: nothing can be planned.\n";
  for (const json& organization : report["organizations"]) text += pending_verdict(organization) + '\n';
  text += '\n';
  for (const auto& [why, tasks] : report["left_out"].items())
    text += "Left out: " + counted(tasks.get<std::int64_t>(), "job") + ' ' + printable(why) + ".\n";
  if (report.value("truncated", false)) text += "Only the 20,000 jobs of the lowest ids are looked at.\n";
  return text + limits_text(report);
}

}  // namespace shapley::ctl
