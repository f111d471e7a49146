#include "ctl/advice/advice.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "accounting/events/event.hpp"
#include "ctl/advice/advice_parts.hpp"
#include "ledger/readers/nodes.hpp"
#include "ledger/readers/runs.hpp"
#include "ledger/store/ledger.hpp"
#include "planning/alone/alone.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using planning::Grid;

struct Run {
  planning::SubmittedJob job;
  std::int64_t end = 0;
};

struct Organization {
  std::string name;
  std::vector<planning::ClusterSize> owned;  // whole processors, down; ascending by `from`
  std::vector<Run> runs;                     // in the order of submission

  [[nodiscard]] std::int64_t at_last() const { return owned.back().processors; }
};

struct Consortium {
  std::vector<Organization> organizations;            // that owned processors at some time
  std::map<std::string, std::int64_t> without_nodes;  // runs left out, of whoever never did
};

// The time that is looked at.
struct Stretch {
  Instant begin;  // the first submission
  Instant end;
};

// What the parts of nodes come to, from when on; the last holds on. In millionths of micro-processors until the last
// step.
std::vector<planning::ClusterSize> size_over_time(const std::vector<ledger::OwnedPart>& parts,
                                                  const std::string& organization, const Stretch& time) {
  std::map<Instant, Int128> changes;
  for (const ledger::OwnedPart& part : parts) {
    if (part.organization != organization || part.end <= time.begin) continue;
    const Int128 amount = static_cast<Int128>(part.largest.value) * part.parts_per_million;
    changes[std::max(part.begin, time.begin)] += amount;
    if (part.end < time.end) changes[part.end] -= amount;
  }
  std::vector<planning::ClusterSize> sizes;
  Int128 now = 0;
  for (const auto& [from, change] : changes) {
    now += change;
    const auto whole = static_cast<std::int64_t>(now / accounting::k_whole_node / k_micro);
    if (sizes.empty() ? whole > 0 : whole != sizes.back().processors) sizes.push_back({from.value, whole});
  }
  return sizes;
}

// Runs of jobs that were submitted since, ended by `until`, in the order of submission.
Expected<std::vector<ledger::Run>> runs_between(const ledger::Ledger& ledger, const AdviceQuestion& question) {
  SHAPLEY_TRY_ASSIGN(auto runs, ledger::runs(ledger, {.submitted_since = question.since}));
  const Instant until = question.until.value_or(k_end_of_time);
  std::erase_if(runs, [&](const ledger::Run& run) { return run.end > until || run.length.value <= 0; });
  std::stable_sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.submit < b.submit; });
  return runs;
}

Expected<Consortium> read_consortium(const ledger::Ledger& ledger, const AdviceQuestion& question) {
  SHAPLEY_TRY_ASSIGN(const auto runs, runs_between(ledger, question));
  Consortium consortium;
  if (runs.empty()) return consortium;
  Stretch time{.begin = runs.front().submit, .end = k_beginning_of_time};
  for (const ledger::Run& run : runs) time.end = std::max(time.end, run.end);
  time.end = question.until.value_or(time.end);
  SHAPLEY_TRY_ASSIGN(const auto parts, ledger::owned_parts(ledger, time.end));
  std::set<std::string> owners;
  for (const ledger::OwnedPart& part : parts) owners.insert(part.organization);
  std::map<std::string, std::size_t> number_of;
  for (const std::string& owner : owners) {
    auto owned = size_over_time(parts, owner, time);
    if (owned.empty()) continue;
    number_of[owner] = consortium.organizations.size();
    consortium.organizations.push_back({.name = owner, .owned = std::move(owned), .runs = {}});
  }
  for (const ledger::Run& run : runs) {
    const auto owner = number_of.find(run.organization);
    if (owner == number_of.end()) {
      ++consortium.without_nodes[run.organization.empty() ? "nobody" : run.organization];
      continue;
    }
    const std::int64_t processors = std::max<std::int64_t>(1, (run.processors.value + k_micro / 2) / k_micro);
    consortium.organizations[owner->second].runs.push_back(
        {{run.submit.value, run.length.value, processors}, run.end.value});
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

// The runs that the organization could have had alone, as they were and as they would have been.
struct Compared {
  std::vector<Run> as_they_ran;
  std::vector<Run> alone;
};

Compared compared(const Organization& organization) {
  std::vector<planning::SubmittedJob> jobs;
  for (const Run& run : organization.runs) jobs.push_back(run.job);
  const auto starts = planning::run_alone(jobs, organization.owned);
  Compared both;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!starts[i]) continue;
    both.as_they_ran.push_back(organization.runs[i]);
    both.alone.push_back({jobs[i], *starts[i] + jobs[i].length});
  }
  return both;
}

// What can be planned: who owns processors in the end, with the runs that fit its own cluster.
struct Plans {
  Grid grid;
  std::vector<std::optional<std::uint32_t>> cluster_of;  // by organization
  std::vector<std::size_t> runs;                         // by organization
  PlannedTwice both;
};

Expected<Plans> planned(const Consortium& consortium) {
  Plans plans;
  for (const Organization& organization : consortium.organizations) {
    plans.runs.push_back(0);
    plans.cluster_of.emplace_back();
    if (organization.at_last() < 1) continue;
    plans.cluster_of.back() = static_cast<std::uint32_t>(plans.grid.clusters.size());
    plans.grid.clusters.push_back(organization.at_last());
  }
  for (std::size_t u = 0; u < consortium.organizations.size(); ++u) {
    for (const Run& run : consortium.organizations[u].runs) {
      if (!plans.cluster_of[u] || run.job.processors > consortium.organizations[u].at_last()) continue;
      plans.grid.jobs.push_back({*plans.cluster_of[u], run.job.length, run.job.processors});
      ++plans.runs[u];
    }
  }
  SHAPLEY_TRY_ASSIGN(plans.both, planned_twice(plans.grid));
  return plans;
}

json sizes_over_time(const std::vector<planning::ClusterSize>& sizes) {
  json list = json::array();
  for (const planning::ClusterSize& size : sizes)
    list.push_back({{"from", size.from}, {"processors", size.processors}});
  return list;
}

json limits_of_runs(bool is_by_mocca) {
  return {
      "As it ran and alone use the real submission times; alone means list scheduling in their order on what the "
      "organization owned at each time; runs that never fit there are in neither.",
      "Slurm's pauses between jobs, limits, reservations and outages are in as it ran only, which favours the other "
      "rows.",
      "Planned assumes every job there at the beginning and its run time known, which no scheduler has, on what is "
      "owned "
      "in the end.",
      limits_of_together(is_by_mocca) +
          " Runs wider than what their organization owns in the end are in neither of the planned rows.",
      "A run keeps its length wherever it is placed; a job runs on the nodes of one organization only.",
      "Runs of whoever never owned a processor are left out everywhere.",
      "By utility is another comparison and may come out otherwise: all jobs of the books' period, those that wait or "
      "run included, the earlier second counting more; alone there starts a job in parts as processors become free, "
      "however wide it is."};
}

// The first submission of a run that is counted anywhere.
std::int64_t beginning(const Consortium& consortium) {
  std::int64_t begin = INT64_MAX;
  for (const Organization& organization : consortium.organizations)
    for (const Run& run : organization.runs) begin = std::min(begin, run.job.submit);
  return begin;
}

json row_of(const Organization& organization, const Compared& both, std::int64_t begin) {
  return {{"organization", organization.name},
          {"processors", organization.at_last()},
          {"owned", sizes_over_time(organization.owned)},
          {"runs", both.alone.size()},
          {"could_not_run_alone", organization.runs.size() - both.alone.size()},
          {"as_it_ran", as_it_ran(both.as_they_ran, begin)},
          {"alone", as_it_ran(both.alone, begin)}};
}

}  // namespace

Expected<json> advice_report(const AdviceQuestion& question) {
  SHAPLEY_TRY_ASSIGN(const auto ledger, ledger::Ledger::open(question.ledger, ledger::OpenMode::read_only));
  SHAPLEY_TRY_ASSIGN(const Consortium consortium, read_consortium(ledger, question));
  const std::int64_t begin = beginning(consortium);
  if (begin == INT64_MAX) {
    return fail(Errc::invalid_argument, "advise: " + question.ledger.string() +
                                            ": no finished run of an organization that owns processors in that time");
  }
  SHAPLEY_TRY_ASSIGN(const Plans plans, planned(consortium));
  json report = {{"begin", begin},
                 {"organizations", json::array()},
                 {"runs", 0},
                 {"planned_runs", plans.grid.jobs.size()},
                 {"limits", limits_of_runs(plans.both.is_by_mocca)},
                 {"left_out_without_nodes", consortium.without_nodes}};
  std::size_t runs = 0;
  for (std::size_t u = 0; u < consortium.organizations.size(); ++u) {
    const Organization& organization = consortium.organizations[u];
    json row = row_of(organization, compared(organization), begin);
    runs += row["runs"].get<std::size_t>();
    const auto& cluster = plans.cluster_of[u];
    const bool is_planned = cluster && !plans.grid.jobs.empty();
    row["planned_runs"] = plans.runs[u];
    row["planned_alone"] =
        is_planned ? planned_outcome(plans.grid, plans.both.alone, *cluster, plans.runs[u]) : json(nullptr);
    row["planned_together"] =
        is_planned ? planned_outcome(plans.grid, plans.both.together, *cluster, plans.runs[u]) : json(nullptr);
    report["organizations"].push_back(std::move(row));
  }
  report["runs"] = runs;
  return report;
}

}  // namespace shapley::ctl
