#include "ctl/advice.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <vector>

#include "ctl/advice_parts.hpp"
#include "ledger/store/ledger.hpp"
#include "planning/algorithms/algorithms.hpp"
#include "planning/alone/alone.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using planning::Grid;
using planning::Schedule;

struct Run {
  std::string organization;
  planning::SubmittedJob job;
  std::int64_t end = 0;
};

struct Consortium {
  std::vector<std::string> names;
  std::vector<std::int64_t> processors;
  std::vector<std::vector<Run>> runs;                 // by organization, those that every cluster could run
  std::vector<std::int64_t> too_wide;                 // runs left out: wider than the smallest cluster
  std::map<std::string, std::int64_t> without_nodes;  // runs left out, of whoever owns no processor
};

std::int64_t integer(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Every node at the largest capacity that it had, shared by the owners of the last instant; whole processors, down.
std::string processors_query(std::int64_t until) {
  const std::string at = std::to_string(until);
  return "SELECT o.organization, CAST(SUM(c.most * (o.parts_per_million / 1e6)) / 1e6 + 1e-9 AS INTEGER) FROM "
         "ownership o "
         "JOIN (SELECT node, MAX(processors) AS most FROM capacity WHERE at <= " +
         at +
         " GROUP BY node) c ON c.node = o.node "
         "WHERE o.begin <= " +
         at + " AND (o.end IS NULL OR o.end > " + at + ") GROUP BY o.organization ORDER BY 1";
}

// Slurm reuses job numbers, so the submission is the last one before the run's start.
std::string runs_query(std::int64_t since, std::int64_t until) {
  return "SELECT s.organization, j.submit, SUM(s.end - s.begin), MAX(s.processors), MAX(s.end) FROM segments s "
         "JOIN jobs j ON j.job = s.job AND j.submit = "
         "(SELECT MAX(submit) FROM jobs WHERE job = s.job AND submit <= s.anchor) "
         "WHERE s.kind = 'run' AND s.retracted IS NULL AND s.begin IS NOT NULL AND s.end IS NOT NULL AND j.submit >= " +
         std::to_string(since) + " GROUP BY s.job, s.anchor HAVING MAX(s.end) <= " + std::to_string(until) +
         " AND SUM(s.end - s.begin) > 0 ORDER BY j.submit, s.job";
}

Expected<Consortium> read_consortium(const ledger::Ledger& ledger, std::int64_t since, std::int64_t until) {
  Consortium consortium;
  std::map<std::string, std::size_t> number_of;
  SHAPLEY_TRY_ASSIGN(const auto owners, ledger.query(processors_query(until)));
  for (const auto& row : owners) {
    if (row[0].empty() || integer(row[1]) < 1) continue;
    number_of[row[0]] = consortium.names.size();
    consortium.names.push_back(row[0]);
    consortium.processors.push_back(integer(row[1]));
  }
  consortium.runs.resize(consortium.names.size());
  consortium.too_wide.resize(consortium.names.size(), 0);
  const std::int64_t smallest =
      consortium.processors.empty() ? 0 : *std::min_element(consortium.processors.begin(), consortium.processors.end());
  SHAPLEY_TRY_ASSIGN(const auto rows, ledger.query(runs_query(since, until)));
  for (const auto& row : rows) {
    const std::int64_t processors = std::max<std::int64_t>(1, (integer(row[3]) + k_micro / 2) / k_micro);
    const auto owner = number_of.find(row[0]);
    if (owner == number_of.end()) {
      ++consortium.without_nodes[row[0].empty() ? "nobody" : row[0]];
    } else if (processors > smallest) {
      ++consortium.too_wide[owner->second];
    } else {
      consortium.runs[owner->second].push_back(
          {row[0], {integer(row[1]), integer(row[2]), processors}, integer(row[4])});
    }
  }
  return consortium;
}

json as_it_ran(const std::vector<Run>& runs, std::int64_t begin) {
  double last = 0;
  double flow = 0;
  for (const Run& run : runs) {
    last = std::max(last, static_cast<double>(run.end - begin));
    flow += static_cast<double>(run.end - run.job.submit);
  }
  return outcome(last, flow, runs.size());
}

json alone(const std::vector<Run>& runs, std::int64_t processors, std::int64_t begin) {
  std::vector<planning::SubmittedJob> jobs;
  for (const Run& run : runs) jobs.push_back(run.job);
  const auto starts = planning::run_alone(jobs, processors);
  std::vector<Run> moved = runs;
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i].end = starts[i] + jobs[i].length;
  return as_it_ran(moved, begin);
}

Grid grid_of(const Consortium& consortium) {
  Grid grid;
  grid.clusters = consortium.processors;
  for (std::size_t u = 0; u < consortium.runs.size(); ++u)
    for (const Run& run : consortium.runs[u])
      grid.jobs.push_back({static_cast<std::uint32_t>(u), run.job.length, run.job.processors});
  return grid;
}

json limits() {
  return {
      "As it ran and alone use the real submission times; alone means list scheduling in their order on the own nodes.",
      "Slurm's pauses between jobs, limits, reservations and outages are in as it ran only, which favours the other "
      "rows.",
      "Planned assumes every job there at the beginning and its run time known, which no scheduler has.",
      "Planned together is MOCCA, then ILBA: no job ends later than planned alone.",
      "A run keeps its length wherever it is placed; a job runs on the nodes of one organization only.",
      "Runs wider than the smallest organization, and runs of whoever owns no processor, are left out everywhere."};
}

std::int64_t beginning(const Consortium& consortium) {
  std::int64_t begin = INT64_MAX;
  for (const auto& runs : consortium.runs)
    for (const Run& run : runs) begin = std::min(begin, run.job.submit);
  return begin;
}

}  // namespace

Expected<json> advice_report(const AdviceQuestion& question) {
  SHAPLEY_TRY_ASSIGN(const auto ledger, ledger::Ledger::open(question.ledger, ledger::OpenMode::read_only));
  const std::int64_t since = question.since ? question.since->value : 0;
  const std::int64_t until = question.until ? question.until->value : INT64_MAX - 1;
  SHAPLEY_TRY_ASSIGN(const Consortium consortium, read_consortium(ledger, since, until));
  const Grid grid = grid_of(consortium);
  if (grid.jobs.empty()) {
    return fail(Errc::not_found, "advise: " + question.ledger.string() +
                                     ": no finished run of an organization that owns processors in that time");
  }
  SHAPLEY_TRY_ASSIGN(const Schedule local, planning::plan(grid, "local_hf"));
  SHAPLEY_TRY_ASSIGN(const Schedule together, planning::plan(grid, "mocca_ilba"));
  const std::int64_t begin = beginning(consortium);
  json report = {{"begin", begin},
                 {"organizations", json::array()},
                 {"runs", grid.jobs.size()},
                 {"limits", limits()},
                 {"left_out_without_nodes", consortium.without_nodes}};
  for (std::size_t u = 0; u < consortium.names.size(); ++u) {
    const auto& runs = consortium.runs[u];
    report["organizations"].push_back({{"organization", consortium.names[u]},
                                       {"processors", consortium.processors[u]},
                                       {"runs", runs.size()},
                                       {"left_out_too_wide", consortium.too_wide[u]},
                                       {"as_it_ran", as_it_ran(runs, begin)},
                                       {"alone", alone(runs, consortium.processors[u], begin)},
                                       {"planned_alone", planned_outcome(grid, local, u, runs.size())},
                                       {"planned_together", planned_outcome(grid, together, u, runs.size())}});
  }
  return report;
}

}  // namespace shapley::ctl
