#include "ledger/reports/explain_report.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/number.hpp"
#include "ledger/readers/declarations.hpp"
#include "ledger/readers/jobs.hpp"
#include "ledger/readers/runs.hpp"

namespace shapley::ledger {

namespace {

using accounting::AdjustmentMade;
using accounting::SegmentKey;
using accounting::SegmentKind;

std::string text_of(const JobName& name) {
  if (name.het_job != 0) return std::to_string(name.het_job) + "+" + std::to_string(name.job - name.het_job);
  return std::to_string(name.job) + (name.task ? "_" + std::to_string(*name.task) : "");
}

bool is_named(const JobRow& job, const JobName& name) {
  if (name.het_job != 0 && job.het_job != name.het_job) return false;
  if (!name.task) return job.is.job == name.job;
  return job.is.array_job == name.job && job.is.array_task == *name.task;
}

// Of the jobs with that name the one that was submitted last, by `at` if there is one. A task that has not started is
// part of its array's pending rest.
const JobRow* newest(const std::vector<JobRow>& jobs, const JobName& name, Instant at) {
  const JobRow* found = nullptr;
  for (const JobRow& job : jobs) {
    if (!is_named(job, name)) continue;
    if (found == nullptr || job.submit <= at) found = &job;
  }
  return found != nullptr || !name.task ? found : newest(jobs, {name.job, std::nullopt, 0}, at);
}

const OpenSegment* open_segment_of(const Moment& moment, std::uint32_t job) {
  const OpenSegment* found = nullptr;
  for (auto it = std::ranges::lower_bound(moment.open, JobId{job}, {}, &OpenSegment::job);
       it != moment.open.end() && it->job == JobId{job}; ++it) {
    if (found == nullptr || it->kind == SegmentKind::run) found = &*it;
  }
  return found;
}

// The state of a job that neither runs nor could start at the moment.
JobTurn closed_state(const JobRow& job, Instant at) {
  if (job.submit > at) return JobTurn::not_submitted;
  const auto begins_later = [&](const JobSegment& segment) { return segment.begin && *segment.begin > at; };
  if (std::ranges::any_of(job.segments, begins_later)) return JobTurn::blocked;
  if (job.state == "ended") return JobTurn::ended;
  return job.state == "suspended" ? JobTurn::suspended : JobTurn::blocked;
}

Ahead ahead_of(const Moment& moment, const RankedRow& own) {
  Ahead ahead;
  const accounting::Outlook idle = moment.without_what_runs();
  for (const OrganizationRow& each : moment.status.organizations) {
    const RankedRow& row = each.is;
    if (!row.rank || !own.rank || *row.rank >= *own.rank) continue;
    const Because because = own.last == true                                              ? Because::guests
                            : row.below_guarantee == true && own.below_guarantee == false ? Because::guarantee
                                                                                          : Because::key;
    const auto would_be_behind = [&](const accounting::Outlook& otherwise) {
      return because == Because::key &&
             accounting::goes_first(otherwise, moment.rank_row(own.name), moment.rank_row(row.name), Duration{0});
    };
    ahead.jobs += row.waiting_jobs;
    ahead.processors += row.waiting.number();
    AheadRow& better = ahead.organizations.emplace_back(AheadRow{.waits = {row.name, row.waiting_jobs, row.waiting},
                                                                 .rank = *row.rank,
                                                                 .because = because,
                                                                 .by_what_runs = would_be_behind(idle)});
    if (because == Because::key)
      better.deciding_clusters =
          deciding_clusters(moment.outlook, moment.elsewhere, moment.rank_row(row.name), moment.rank_row(own.name));
    better.by_other_clusters = !better.deciding_clusters.empty();
  }
  return ahead;
}

// The organization's other jobs; their order is determined by Slurm and the levels.
OwnJobs own_jobs(const Moment& moment, const JobAt& job) {
  OwnJobs own;
  ProcessorMillionths asked;
  const bool waits = job.state == JobTurn::waiting || job.state == JobTurn::hypothetical;
  for (const OpenSegment& segment : moment.open) {
    if (segment.kind != SegmentKind::wait || segment.job == JobId{job.is.job}) continue;
    if (job.is.organization != moment.names[segment.organization.value]) continue;
    own.jobs += segment.jobs(moment.tasks);
    asked = asked + segment.processors;
    own.longer += waits && segment.since < job.since ? segment.jobs(moment.tasks) : 0;
  }
  own.processors = asked;
  return own;
}

// The turns that follow if nothing starts or ends.
Turns turns_of(const Moment& moment, const std::string& organization) {
  const accounting::Outlook& outlook = moment.outlook;
  Turns turns{.limit = limit_of(outlook), .next = {}};
  const std::size_t own = moment.rank_row(organization);
  for (std::size_t other = 0; other < outlook.rows.size(); ++other) {
    if (own >= outlook.rows.size() || other == own) continue;
    bool is_ahead = accounting::goes_first(outlook, own, other, Duration{0});
    for (const Instant turn : accounting::turns(outlook, own, other)) {
      is_ahead = !is_ahead;
      turns.next.push_back({outlook.rows[other].organization, is_ahead, turn});
    }
  }
  std::ranges::stable_sort(turns.next, {}, [](const Turn& turn) { return turn.at.value; });
  return turns;
}

std::string name_of(const Moment& moment, const std::string& organization) {
  return organization.empty() ? std::string(accounting::k_guests) : moment.row_name(organization);
}

// "72_3" of a task of an array, whose own number only Slurm knows; else the job's number.
Expected<std::string> job_id_of(const SegmentKey& run, const Ledger& ledger) {
  SHAPLEY_TRY_ASSIGN(const auto job, submission_by(ledger, run.job, run.anchor));
  if (!job) return std::to_string(run.job.value);
  return ledger::job_id_of(run.job.value, job->array_job, job->array_task);
}

Expected<std::vector<NextStart>> starts_after(const Moment& moment, const Ledger& ledger) {
  std::vector<NextStart> starts;
  for (const accounting::SegmentOpened& run : moment.next_starts) {
    const std::string organization = name_of(moment, run.organization);
    const RankedRow* row = moment.row(organization);
    SHAPLEY_TRY_ASSIGN(std::string job_id, job_id_of(run.key, ledger));
    starts.push_back({.is = {run.key.job.value, organization, run.processors, run.begin},
                      .job_id = std::move(job_id),
                      .rank = row == nullptr ? std::nullopt : row->rank});
  }
  return starts;
}

Expected<Meanwhile> started_meanwhile(const Moment& moment, const Ledger& ledger, const JobAt& job, const LastRun& run,
                                      QueryBudget budget) {
  const StartsAsked asked{.run = run,
                          .job = {job.is.job},
                          .array_job = job.is.array_job,
                          .submit = job.submit,
                          .since = *run.released,
                          .most_listed = k_listed_earlier_starts};
  SHAPLEY_TRY_ASSIGN(const EarlierStarts earlier, earlier_starts(ledger, asked, budget));
  Meanwhile meanwhile;
  for (const StartsOfOrganization& of : earlier.organizations) {
    meanwhile.organizations.push_back({name_of(moment, of.organization), of.runs, of.processors});
  }
  for (const StartedRun& started : earlier.last) {
    meanwhile.last.push_back(
        {started.job.value, name_of(moment, started.organization), started.processors, started.begin});
  }
  return meanwhile;
}

Expected<std::optional<JobHistory>> job_history(const Moment& moment, const Ledger& ledger, const JobAt& job,
                                                QueryBudget budget) {
  SHAPLEY_TRY_ASSIGN(const std::optional<LastRun> run, last_run(ledger, {job.is.job}, job.submit, budget));
  if (!run) return std::nullopt;
  JobHistory history{.processors = run->processors,
                     .held_s = run->held.value,
                     .waited_s = run->released ? std::optional((run->start - *run->released).value) : std::nullopt,
                     .begin = run->start,
                     .end = run->end,
                     .waited_since = run->released,
                     .meanwhile = {}};
  if (!run->released || *run->released == run->start) return history;
  auto meanwhile = started_meanwhile(moment, ledger, job, *run, budget);
  if (!meanwhile && meanwhile.error().code != Errc::limit) return tl::unexpected(std::move(meanwhile).error());
  if (meanwhile) history.meanwhile = *std::move(meanwhile);
  return history;
}

// The last adjustment that gave a run of the job to another organization and was not taken back; nullopt: none did.
Expected<std::optional<BookedBy>> adjustment_of(const Ledger& ledger, const Moment& moment, const JobAt& job) {
  std::set<std::uint32_t> reversed;
  for (const AdjustmentMade& made : moment.adjustments) reversed.insert(made.reverses);
  for (auto last = moment.adjustments.rbegin(); last != moment.adjustments.rend(); ++last) {
    const AdjustmentMade& made = *last;
    if (made.kind != accounting::AdjustmentKind::attribute || reversed.contains(made.number)) continue;
    SHAPLEY_TRY_ASSIGN(const bool is_of_job, restates_run(ledger, made, {job.is.job}, job.submit));
    if (!is_of_job) continue;
    return BookedBy{.by = BookedWay::adjustment, .number = made.number, .reason = made.reason, .at = made.at};
  }
  return std::nullopt;
}

// The instant at which the job's organization was decided: a run keeps the organization that it began with.
Instant decided_at(const Moment& moment, const JobAt& job) {
  if (job.is.begin) return *job.is.begin;
  return job.state == JobTurn::ended ? job.submit : moment.at;
}

// `rule`: of the configuration in force at the moment, with all that is known of the job.
Expected<BookedBy> booked_by(const Ledger& ledger, const Moment& moment, const JobAt& job,
                             const std::optional<RuleMatched>& rule, const RuleIn& rule_in) {
  const std::string& booked = job.is.organization;
  const auto leads_there = [&](const std::optional<RuleMatched>& to) {
    return to && moment.row_name(to->organization) == booked;
  };
  if (leads_there(rule)) return BookedBy{.by = BookedWay::rule};
  SHAPLEY_TRY_ASSIGN(const auto adjustment, adjustment_of(ledger, moment, job));
  if (adjustment) return *adjustment;
  SHAPLEY_TRY_ASSIGN(const auto loaded, configuration_behind(ledger, decided_at(moment, job)));
  const RuleFound then = loaded ? rule_in(loaded->text, job.is) : RuleFound();
  if (leads_there(then.rule)) return BookedBy{.by = BookedWay::rule_of_then, .rule = then.rule, .loaded = loaded->at};
  if (!then.rule && booked == accounting::k_guests) return BookedBy{.by = BookedWay::no_rule};
  const bool may_be_above = std::ranges::any_of(
      then.by_account, [&](const std::string& organization) { return moment.row_name(organization) == booked; });
  return BookedBy{.by = may_be_above ? BookedWay::account_above : BookedWay::unknown};
}

}  // namespace

Expected<JobName> checked_job_name(const std::string& text) {
  if (const auto name = parse_job_name(text)) return *name;
  return fail(
      Errc::invalid_argument,
      fmt::format(
          "'{}' is no job; write its number, 4711, an array's task, 4711_3, or a part of a heterogeneous job, 4711+1",
          text));
}

Expected<JobAt> job_at(const Moment& moment, const Ledger& ledger, const JobName& name, QueryBudget budget) {
  SHAPLEY_TRY_ASSIGN(const JobsReport report,
                     jobs_report(ledger, {.all = true, .jobs = {name.job}}, moment.at, budget));
  const JobRow* row = newest(report.jobs, name, moment.at);
  if (row == nullptr) {
    return fail(Errc::invalid_argument, fmt::format("job {} is not in the ledger: it was submitted a moment ago, was "
                                                    "purged before it was seen, or is older than the ledger",
                                                    text_of(name)));
  }
  JobAt job{.is = row->is, .job_id = text_of(name), .submit = row->submit};
  job.is.organization = name_of(moment, row->is.organization);
  const OpenSegment* open = open_segment_of(moment, row->is.job);
  if (open == nullptr || row->submit > moment.at) {
    job.state = closed_state(*row, moment.at);
    return job;
  }
  job.state = open->kind == SegmentKind::run ? JobTurn::running : JobTurn::waiting;
  job.is.processors = open->processors;
  // The organization under which it was booked then; an account that changed since is in the description.
  job.is.organization = moment.names[open->organization.value];
  job.since = open->since;
  return job;
}

JobAt hypothetical_job(const Moment& moment, const SubmissionAsked& asked, const std::optional<RuleMatched>& rule) {
  return {.is = {.organization = name_of(moment, rule ? rule->organization : std::string()),
                 .account = asked.account,
                 .user_id = asked.user_id,
                 .group_id = asked.group_id,
                 .partition = asked.partition,
                 .qos = asked.qos,
                 .processors = ProcessorMillionths{asked.processors * k_micro}},
          .job_id = {},
          .submit = moment.at,
          .state = JobTurn::hypothetical,
          .since = moment.at};
}

Expected<ExplainReport> explain_report(const Moment& moment, const Ledger& ledger, JobAt job,
                                       const ExplainSources& sources, QueryBudget budget) {
  const RankedRow* row = moment.row(job.is.organization);
  if (row == nullptr) {
    const std::string which = job.state == JobTurn::hypothetical ? "such a job" : "job " + job.job_id;
    return fail(Errc::invalid_argument, fmt::format("{} is of {}, which was not in the books at {}", which,
                                                    job.is.organization, format_instant(moment.at)));
  }
  ExplainReport report;
  report.at = moment.at;
  report.past = moment.is_past;
  report.contribution = moment.status.contribution;
  report.ranking = moment.status.ranking;
  report.organization = *row;
  report.ranked = moment.outlook.rows.size();
  report.ahead = ahead_of(moment, *row);
  report.own = own_jobs(moment, job);
  for (const OrganizationRow& each : moment.status.organizations) report.organizations.push_back(each.is);
  report.clusters = moment.status.clusters;
  report.turns = turns_of(moment, row->name);
  SHAPLEY_TRY_ASSIGN(report.next_starts, starts_after(moment, ledger));
  if (!moment.is_past && job.state != JobTurn::hypothetical) {
    SHAPLEY_TRY_ASSIGN(report.history, job_history(moment, ledger, job, budget));
  }
  if (sources.rule_now) {
    report.rule = sources.rule_now(job.is);
  } else {
    SHAPLEY_TRY_ASSIGN(const auto loaded, configuration_behind(ledger, moment.at));
    if (loaded) report.rule = sources.rule_in(loaded->text, job.is).rule;
  }
  SHAPLEY_TRY_ASSIGN(report.booked_by, booked_by(ledger, moment, job, report.rule, sources.rule_in));
  report.priorities = sources.priorities;
  report.waits_for = sources.waits_for;
  report.job = std::move(job);
  if (const auto user = moment.users.find(report.job.is.user_id); user != moment.users.end())
    report.job.is.user = user->second;
  report.in = moment.status.in;
  return report;
}

}  // namespace shapley::ledger
