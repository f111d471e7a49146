#include "ledger/reports/jobs_report.hpp"

#include <algorithm>
#include <utility>

#include "accounting/events/event.hpp"
#include "ledger/readers/declarations.hpp"
#include "ledger/readers/jobs.hpp"

namespace shapley::ledger {

namespace {

// Segments of one job number in the order of time, with their nodes.
struct Segment {
  JobSegment is;
  Instant anchor;

  [[nodiscard]] bool open() const { return is.begin && !is.end; }
  [[nodiscard]] bool is_run() const { return is.kind == "run"; }
};

JobsWanted wanted_jobs(const JobsFilter& filter, const std::optional<JobsViewer>& viewer, Instant at) {
  JobsWanted wanted{.organizations = filter.organizations,
                    .accounts = filter.accounts,
                    .user_ids = filter.user_ids,
                    .most = k_max_reported_jobs};
  if (filter.all) wanted.since = filter.since.value_or(at - k_reported_history);
  wanted.jobs = filter.jobs;
  for (const ArrayTask& task : filter.tasks) wanted.tasks.push_back({task.array, task.task});
  for (const HetPart& part : filter.parts) wanted.parts.push_back({part.het_job, part.part});
  if (viewer) wanted.viewer = {viewer->user_id, viewer->accounts};
  return wanted;
}

std::vector<Segment> segments_of(JobId job, const JobsFound& found) {
  std::vector<Segment> segments;
  const auto all = found.segments.find(job);
  if (all == found.segments.end()) return segments;
  for (const StoredSegment& stored : all->second) {
    Segment& segment = segments.emplace_back();
    segment.anchor = stored.key.anchor;
    segment.is = {.kind = std::string(accounting::name_of(stored.key.kind)),
                  .begin = stored.begin,
                  .end = stored.end,
                  .processors = stored.processors,
                  .reason = stored.reason.value_or(""),
                  .job_state = stored.job_state.value_or(""),
                  .retracted = stored.retracted.has_value()};
    const auto nodes = found.nodes.find(stored.key);
    if (nodes == found.nodes.end()) continue;
    for (const StoredNode& node : nodes->second) segment.is.nodes.push_back({node.node, node.processors});
  }
  return segments;
}

std::string state_after(const Segment& last) {
  if (last.open()) return last.is_run() ? "running" : "pending";
  const std::string& reason = last.is.reason;
  if (reason == "suspended") return "suspended";
  // It is back in the queue, about to run, or not startable for now: the segment that will show it is not open yet.
  if (reason == "requeued" || reason == "changed" || reason == "started") return "pending";
  return "ended";
}

// What the segments of one job, in the order of time, add up to.
void add_up(JobRow& job, const std::vector<const Segment*>& segments, Instant at) {
  for (const Segment* segment : segments) {
    const JobSegment& is = segment->is;
    // A retracted wait still shows what became of the job.
    if (!is.begin || (is.retracted && segment->is_run())) continue;
    job.state = state_after(*segment);
    job.is.slurm_state = is.job_state;
    job.is.processors = is.processors;
    if (!segment->is_run()) continue;
    const Instant end = is.end.value_or(std::max(at, *is.begin));
    job.work += is.processors.value_or(Processors{}).count * (end - *is.begin);
    if (!job.is.begin) job.is.begin = is.begin;
    job.end = is.end;
  }
}

// A job id that Slurm used again has several rows; a segment belongs to the last one submitted before it.
std::vector<const Segment*> segments_between(const std::vector<Segment>& all, Instant submit,
                                             std::optional<Instant> next_submit) {
  std::vector<const Segment*> out;
  for (const Segment& segment : all) {
    if (segment.anchor >= submit && (!next_submit || segment.anchor < *next_submit)) out.push_back(&segment);
  }
  return out;
}

JobRow job_row(const StoredSubmission& of, const std::vector<Segment>& all, Instant at) {
  JobRow job{.is = {.job = of.job.value,
                    .array_job = of.array_job,
                    .array_task = of.array_task,
                    .organization = of.organization,
                    .account = of.account,
                    .user_id = of.user_id,
                    .group_id = of.group_id,
                    .partition = of.partition,
                    .qos = of.qos,
                    .name = of.name,
                    .slurm_state = {},
                    .processors = {},
                    .begin = {}},
             .submit = of.submit,
             .het_job = of.het_job,
             .wckey = of.wckey,
             .state = "pending",
             .end = {},
             .work = {},
             .segments = {}};
  const auto segments = segments_between(all, of.submit, of.next);
  add_up(job, segments, at);
  // A submission that was followed by another one (a requeue, or a job number that Slurm reused) has ended.
  if (of.next) job.state = "ended";
  for (const Segment* segment : segments) job.segments.push_back(segment->is);
  return job;
}

Expected<JobsReport> bounded_report(const Ledger& ledger, const JobsFilter& filter, Instant at, QueryBudget budget,
                                    const std::optional<JobsViewer>& viewer) {
  SHAPLEY_TRY_ASSIGN(const JobsFound found, find_jobs(ledger, wanted_jobs(filter, viewer, at), budget));
  JobsReport report{.at = at, .jobs = {}, .truncated = found.truncated, .no_start = {}, .is_private = {}};
  for (const StoredSubmission& job : found.jobs) {
    if (budget.is_ended()) return fail(Errc::limit, "request cancelled");
    report.jobs.push_back(job_row(job, segments_of(job.job, found), at));
  }
  return report;
}

}  // namespace

Expected<JobsReport> jobs_report(const Ledger& ledger, const JobsFilter& filter, Instant at, QueryBudget budget,
                                 const std::optional<JobsViewer>& viewer) {
  auto report = bounded_report(ledger, filter, at, budget, viewer);
  if (!report && report.error().code == Errc::limit) {
    report.error().what +=
        "; ask for fewer jobs (a later 'since', fewer ids), or read a copy of the ledger (shapleyctl backup)";
  }
  return report;
}

Expected<JobsFilter> with_users_of(const accounting::UserNames& names, JobsFilter filter) {
  for (const UserAsked& user : filter.users) {
    const auto on_host = user.user_id == k_no_user ? std::nullopt : std::optional(user.user_id);
    SHAPLEY_TRY_ASSIGN(const std::vector<std::uint32_t> numbers, numbers_of_user(names, user.name, on_host));
    // One of them: the number may have been asked for by itself, too.
    const auto own = std::ranges::find(filter.user_ids, user.user_id);
    if (own != filter.user_ids.end()) filter.user_ids.erase(own);
    filter.user_ids.insert(filter.user_ids.end(), numbers.begin(), numbers.end());
  }
  return filter;
}

void complete(JobsReport& report, const JobsContext& context) {
  Instant since = report.at;
  for (JobRow& job : report.jobs) {
    since = std::min(since, job.is.begin.value_or(since));
    if (const auto user = context.users.find(job.is.user_id); user != context.users.end()) job.is.user = user->second;
  }
  report.in = unit_of(context.charges, since, report.at);
}

}  // namespace shapley::ledger
