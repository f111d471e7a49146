#include "ctl/advice/advice.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "accounting/events/event.hpp"
#include "base/contract.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "ctl/output/amounts.hpp"
#include "ctl/output/table.hpp"
#include "ledger/readers/declarations.hpp"
#include "ledger/readers/runs.hpp"
#include "ledger/store/ledger.hpp"
#include "planning/algorithms.hpp"
#include "planning/alone.hpp"

namespace shapley::ctl {

namespace {

using nlohmann::json;
using planning::Grid;

// `flow` is the sum over the jobs.
JobsOutcome outcome(double makespan, double flow, std::size_t jobs) {
  return {.makespan = makespan, .mean_flow = jobs == 0 ? 0 : flow / static_cast<double>(jobs)};
}

// The outcome of an organization's jobs, `jobs` of them, in a schedule of the grid.
JobsOutcome planned_outcome(const planning::Grid& grid, const planning::Schedule& schedule, std::size_t organization,
                            std::size_t jobs) {
  const auto unit = static_cast<double>(grid.ticks_per_unit());
  return outcome(static_cast<double>(planning::organization_makespans(grid, schedule)[organization]) / unit,
                 static_cast<double>(planning::organization_flows(grid, schedule)[organization]) / unit, jobs);
}

// The outcomes of the jobs on their owners' clusters alone (local HF), and on all clusters together: by MOCCA, then
// ILBA; by ILBA alone if a job does not fit every cluster, which MOCCA's bounds do not allow.
struct PlannedTwice {
  planning::Schedule alone;
  planning::Schedule together;
  bool is_by_mocca = true;
};

// Empty schedules without jobs. REQUIRES: every job fits its owner's cluster.
Expected<PlannedTwice> planned_twice(const planning::Grid& grid) {
  PlannedTwice plans;
  if (grid.jobs.empty()) return plans;
  SHAPLEY_REQUIRE(planning::validate_at_home(grid));
  plans.is_by_mocca = planning::fits_everywhere(grid);
  SHAPLEY_TRY_ASSIGN(plans.alone, planning::plan(grid, "local_hf"));
  SHAPLEY_TRY_ASSIGN(plans.together, planning::plan(grid, plans.is_by_mocca ? "mocca_ilba" : "ilba"));
  return plans;
}

// The limits of `together`, for the reader.
std::string limits_of_together(bool is_by_mocca) {
  constexpr const char* k_no_later = ": no job ends later than planned alone.";
  if (is_by_mocca) return std::string("Planned together is MOCCA, then ILBA") + k_no_later;
  return std::string(
             "Planned together is ILBA without MOCCA, because some jobs are wider than an organization; those "
             "are placed only where they fit") +
         k_no_later;
}

struct Run {
  planning::SubmittedJob job;
  std::int64_t end = 0;
};

struct Organization {
  std::string name;
  std::vector<planning::ClusterSize> owned;  // whole processors, rounded down; ascending by `from`
  std::vector<Run> runs;                     // in the order of submission

  [[nodiscard]] std::int64_t at_last() const { return owned.back().processors; }
};

struct Consortium {
  std::vector<Organization> organizations;            // that owned processors at some time
  std::map<std::string, std::int64_t> without_nodes;  // runs of the others, which are left out
};

// The time of the report.
struct Stretch {
  Instant begin;  // the first submission
  Instant end;
};

// The sum of the parts of nodes, with the instant from which it holds. In millionths of micro-processors until the last
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

// Runs of jobs that were submitted at `since` or later and ended by `until`, in the order of submission.
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

JobsOutcome as_it_ran(const std::vector<Run>& runs, std::int64_t begin) {
  double last = 0;
  double flow = 0;
  for (const Run& run : runs) {
    last = std::max(last, static_cast<double>(run.end - begin));
    flow += static_cast<double>(run.end - run.job.submit);
  }
  return outcome(last, flow, runs.size());
}

// The runs that the organization could have had alone: their real outcome, and the outcome alone.
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

// The input of the plans: the organizations that own processors in the end, with the runs that fit their own clusters.
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

std::vector<OwnedSince> sizes_over_time(const std::vector<planning::ClusterSize>& sizes) {
  std::vector<OwnedSince> list;
  for (const planning::ClusterSize& size : sizes) list.push_back({size.from, size.processors});
  return list;
}

std::vector<std::string> limits_of_runs(bool is_by_mocca) {
  return {
      "As it ran and alone use the real submission times; alone means list scheduling in their order on what the "
      "organization owned at each time; runs that never fit there are in neither.",
      "Slurm's pauses between jobs, limits, reservations and outages are in as it ran only, which favours the other "
      "rows.",
      "Planned assumes every job there at the beginning and its run time known, which no scheduler has, on what "
      "is owned in the end.",
      limits_of_together(is_by_mocca) +
          " Runs wider than what their organization owns in the end are in neither of the planned rows.",
      "A run keeps its length wherever it is placed; a job runs on the nodes of one organization only.",
      "Runs of organizations that never owned a processor are left out everywhere.",
      "By utility is another comparison and may come out otherwise: all jobs of the books' period, those that wait or "
      "run included, the earlier second counting more; alone there starts a job in parts as processors become free, "
      "however wide it is."};
}

// The first submission of all runs that count.
std::int64_t beginning(const Consortium& consortium) {
  std::int64_t begin = INT64_MAX;
  for (const Organization& organization : consortium.organizations)
    for (const Run& run : organization.runs) begin = std::min(begin, run.job.submit);
  return begin;
}

AdviceRow row_of(const Organization& organization, const Compared& both, std::int64_t begin) {
  return {.organization = organization.name,
          .processors = organization.at_last(),
          .owned = sizes_over_time(organization.owned),
          .runs = both.alone.size(),
          .could_not_run_alone = organization.runs.size() - both.alone.size(),
          .as_it_ran = as_it_ran(both.as_they_ran, begin),
          .alone = as_it_ran(both.alone, begin)};
}

}  // namespace

Expected<AdviceReport> advice_report(const AdviceQuestion& question) {
  SHAPLEY_TRY_ASSIGN(const auto ledger, ledger::Ledger::open(question.ledger, ledger::OpenMode::read_only));
  SHAPLEY_TRY_ASSIGN(const Consortium consortium, read_consortium(ledger, question));
  const std::int64_t begin = beginning(consortium);
  if (begin == INT64_MAX) {
    return fail(Errc::invalid_argument, "advise: " + question.ledger.string() +
                                            ": no finished run of an organization that owns processors in that time");
  }
  SHAPLEY_TRY_ASSIGN(const Plans plans, planned(consortium));
  AdviceReport report{.begin = begin,
                      .planned_runs = plans.grid.jobs.size(),
                      .limits = limits_of_runs(plans.both.is_by_mocca),
                      .left_out_without_nodes = consortium.without_nodes};
  for (std::size_t u = 0; u < consortium.organizations.size(); ++u) {
    const Organization& organization = consortium.organizations[u];
    AdviceRow row = row_of(organization, compared(organization), begin);
    report.runs += row.runs;
    row.planned_runs = plans.runs[u];
    if (const auto& cluster = plans.cluster_of[u]; cluster && !plans.grid.jobs.empty()) {
      row.planned_alone = planned_outcome(plans.grid, plans.both.alone, *cluster, plans.runs[u]);
      row.planned_together = planned_outcome(plans.grid, plans.both.together, *cluster, plans.runs[u]);
    }
    report.organizations.push_back(std::move(row));
  }
  return report;
}

std::string outcome_table(const std::vector<OutcomeRow>& rows, const CountColumn& count) {
  const Field fields[] = {left({"organization", "Organization"}),
                          {"processors", "Owned"},
                          {count.name, count.title, {}, "jobs"},
                          left({"way", "How"}),
                          {"makespan", "Makespan"},
                          {"mean_flow", "MeanFlow"}};
  json lines = json::array();
  for (const OutcomeRow& row : rows) {
    bool first = true;
    for (const Way& way : row.ways) {
      const auto& reached = way.reached;
      lines.push_back({{"organization", first ? row.organization : std::string()},
                       {"processors", first ? json(row.processors) : json(nullptr)},
                       {"jobs", first ? json(row.jobs) : json(nullptr)},
                       {"way", way.title},
                       {"makespan", reached ? json(rounded_duration(reached->makespan)) : json(nullptr)},
                       {"mean_flow", reached ? json(rounded_duration(reached->mean_flow)) : json(nullptr)}});
      first = false;
    }
  }
  auto columns =
      parse_columns("organization%-16,processors," + std::string(count.name) + ",way%-16,makespan,mean_flow", fields);
  fit_names(*columns, "organization", lines, 0);
  return render_table(*columns, lines, {});
}

std::string limits_text(const std::vector<std::string>& limits) {
  std::string text = "Limits:\n";
  for (const std::string& limit : limits) text += "- " + printable(limit) + '\n';
  return text;
}

namespace {

constexpr std::size_t k_max_tasks = 100'000;

// The organizations that own processors, and the jobs of the queue that can be planned.
struct Pending {
  std::vector<std::string> names;
  Grid grid;
  std::vector<std::vector<planning::SubmittedJob>> jobs;  // by organization; all jobs are submitted at 0
  std::map<std::string, std::int64_t> left_out;           // reason -> tasks
};

std::map<std::string, std::size_t> read_owners(const ledger::QueueReport& queue, Pending& pending) {
  std::map<std::string, std::size_t> number_of;
  for (const ledger::OwnedProcessors& row : queue.organizations) {
    const auto processors = static_cast<std::int64_t>(std::floor(row.processors.number()));
    if (processors < 1 || row.organization == "commons") continue;
    number_of[row.organization] = pending.names.size();
    pending.names.push_back(row.organization);
    pending.grid.clusters.push_back(processors);
  }
  pending.jobs.resize(pending.names.size());
  return number_of;
}

Expected<Pending> read_queue(const ledger::QueueReport& queue) {
  Pending pending;
  const auto number_of = read_owners(queue, pending);
  std::vector<ledger::QueuedJob> jobs = queue.jobs;
  std::ranges::stable_sort(jobs, {}, [](const ledger::QueuedJob& job) { return job.submit.value; });
  for (const ledger::QueuedJob& job : jobs) {
    const auto owner = number_of.find(job.organization);
    if (owner == number_of.end()) {
      pending.left_out["of organizations that own no processor"] += job.tasks;
    } else if (!job.time_limit_s) {
      pending.left_out["without a time limit"] += job.tasks;
    } else if (job.processors > pending.grid.clusters[owner->second]) {
      pending.left_out["wider than what the organization owns"] += job.tasks;
    } else if (pending.grid.jobs.size() + static_cast<std::size_t>(job.tasks) > k_max_tasks) {
      return fail(Errc::limit, "advise: more than 100,000 tasks wait, too many to plan");
    } else {
      const auto length = std::max<std::int64_t>(1, *job.time_limit_s);
      for (std::int64_t i = 0; i < job.tasks; ++i) {
        pending.grid.jobs.push_back({static_cast<std::uint32_t>(owner->second), length, job.processors});
        pending.jobs[owner->second].push_back({0, length, job.processors});
      }
    }
  }
  return pending;
}

JobsOutcome in_order(const std::vector<planning::SubmittedJob>& jobs, std::int64_t processors) {
  const auto starts = planning::run_alone(jobs, processors);
  std::int64_t last = 0;
  std::int64_t flow = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    last = std::max(last, starts[i] + jobs[i].length);
    flow += starts[i] + jobs[i].length;
  }
  return outcome(static_cast<double>(last), static_cast<double>(flow), jobs.size());
}

std::vector<std::string> limits_of_plans(bool is_by_mocca) {
  return {
      "Every job takes its time limit, which it seldom does: the shorter the jobs really are, the less this says.",
      "All nodes are taken as free now; running jobs, jobs to come, memory, partitions and reservations are not "
      "looked at.",
      "Alone, in order is list scheduling of the jobs as they were submitted, on the own nodes; planned alone begins "
      "with the widest.",
      limits_of_together(is_by_mocca) + " Slurm does not plan so.",
      "A job runs on the nodes of one organization only.",
      "What has been until now is another question: shapleyctl status --worth shows what each has got, beside what it "
      "would have got alone."};
}

std::string pending_verdict(const PendingRow& row) {
  const std::string name = printable(row.organization);
  if (row.jobs == 0) return name + " has no job that waits and can be planned.";
  const double alone = row.planned_alone.mean_flow;
  const double together = row.planned_together.mean_flow;
  const std::string gain = together < alone ? "its pending jobs would be done sooner together"
                                            : "its pending jobs would be done no sooner together";
  return name + ": " + gain + " (mean " + rounded_duration(together) + ") than alone (" + rounded_duration(alone) +
         ").";
}

}  // namespace

Expected<PendingReport> pending_advice_report(const ledger::QueueReport& queue) {
  SHAPLEY_TRY_ASSIGN(const Pending pending, read_queue(queue));
  SHAPLEY_TRY_ASSIGN(const PlannedTwice plans, planned_twice(pending.grid));
  PendingReport report{.at = queue.at,
                       .truncated = queue.truncated,
                       .left_out = pending.left_out,
                       .limits = limits_of_plans(plans.is_by_mocca)};
  for (std::size_t u = 0; u < pending.names.size(); ++u) {
    const auto& jobs = pending.jobs[u];
    report.organizations.push_back({.organization = pending.names[u],
                                    .processors = pending.grid.clusters[u],
                                    .jobs = jobs.size(),
                                    .in_order = in_order(jobs, pending.grid.clusters[u]),
                                    .planned_alone = planned_outcome(pending.grid, plans.alone, u, jobs.size()),
                                    .planned_together = planned_outcome(pending.grid, plans.together, u, jobs.size())});
  }
  return report;
}

std::string render_pending_advice(const PendingReport& report) {
  std::vector<OutcomeRow> rows;
  for (const PendingRow& row : report.organizations) {
    rows.push_back({row.organization,
                    row.processors,
                    row.jobs,
                    {{"alone, in order", row.in_order},
                     {"planned alone", row.planned_alone},
                     {"planned together", row.planned_together}}});
  }
  std::string text = outcome_table(rows, {"jobs", "Pending"}) + '\n';
  if (report.organizations.empty()) text += "No organization owns processors: nothing can be planned.\n";
  for (const PendingRow& row : report.organizations) text += pending_verdict(row) + '\n';
  text += '\n';
  for (const auto& [why, tasks] : report.left_out)
    text += "Left out: " + counted(tasks, "job") + ' ' + printable(why) + ".\n";
  if (report.truncated) text += "Only the 20,000 jobs of the lowest ids are looked at.\n";
  return text + limits_text(report.limits);
}

}  // namespace shapley::ctl
