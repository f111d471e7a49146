#include "ctl/advice/advice.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "ctl/advice/advice_parts.hpp"
#include "ledger/readers/nodes.hpp"
#include "ledger/readers/runs.hpp"
#include "ledger/store/ledger.hpp"
#include "planning/algorithms/algorithms.hpp"
#include "planning/alone/alone.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using planning::Grid;
using planning::Schedule;

struct Run {
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

// Whole processors of every organization, down: its parts of the nodes at the last instant, every node at its largest.
Expected<std::map<std::string, std::int64_t>> processors_owned(const ledger::Ledger& ledger, Instant until) {
  SHAPLEY_TRY_ASSIGN(const auto parts, ledger::owned_parts(ledger, until));
  std::map<std::string, Int128> owned;  // millionths of micro-processors
  for (const ledger::OwnedPart& part : parts)
    owned[part.organization] += static_cast<Int128>(part.largest.value) * part.parts_per_million;
  std::map<std::string, std::int64_t> whole;
  for (const auto& [organization, amount] : owned)
    whole[organization] = static_cast<std::int64_t>(amount / accounting::k_whole_node / k_micro);
  return whole;
}

// Runs of jobs that were submitted since, ended by `until`, in the order of submission.
Expected<std::vector<ledger::Run>> runs_between(const ledger::Ledger& ledger, const AdviceQuestion& question,
                                                Instant until) {
  SHAPLEY_TRY_ASSIGN(auto runs, ledger::runs(ledger, {.submitted_since = question.since}));
  std::erase_if(runs, [&](const ledger::Run& run) { return run.end > until || run.length.value <= 0; });
  std::stable_sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.submit < b.submit; });
  return runs;
}

Expected<Consortium> read_consortium(const ledger::Ledger& ledger, const AdviceQuestion& question) {
  const Instant until = question.until.value_or(k_end_of_time);
  Consortium consortium;
  std::map<std::string, std::size_t> number_of;
  SHAPLEY_TRY_ASSIGN(const auto owners, processors_owned(ledger, until));
  for (const auto& [organization, processors] : owners) {
    if (organization.empty() || processors < 1) continue;
    number_of[organization] = consortium.names.size();
    consortium.names.push_back(organization);
    consortium.processors.push_back(processors);
  }
  consortium.runs.resize(consortium.names.size());
  consortium.too_wide.resize(consortium.names.size(), 0);
  const std::int64_t smallest =
      consortium.processors.empty() ? 0 : *std::min_element(consortium.processors.begin(), consortium.processors.end());
  SHAPLEY_TRY_ASSIGN(const auto runs, runs_between(ledger, question, until));
  for (const ledger::Run& run : runs) {
    const std::int64_t processors = std::max<std::int64_t>(1, (run.processors.value + k_micro / 2) / k_micro);
    const auto owner = number_of.find(run.organization);
    if (owner == number_of.end()) {
      ++consortium.without_nodes[run.organization.empty() ? "nobody" : run.organization];
    } else if (processors > smallest) {
      ++consortium.too_wide[owner->second];
    } else {
      consortium.runs[owner->second].push_back({{run.submit.value, run.length.value, processors}, run.end.value});
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

json limits_of_runs() {
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
  SHAPLEY_TRY_ASSIGN(const Consortium consortium, read_consortium(ledger, question));
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
                 {"limits", limits_of_runs()},
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
