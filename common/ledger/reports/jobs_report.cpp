#include "ledger/reports/jobs_report.hpp"

#include <map>
#include <utility>

#include "ledger/store/rows.hpp"

namespace shapley::ledger {

namespace {

using Row = std::vector<std::string>;

std::optional<Instant> instant_of(const std::string& cell) {
  const auto value = integer_of(cell);
  return value ? std::optional(Instant{*value}) : std::nullopt;
}

std::optional<std::uint32_t> id_of(const std::string& cell) {
  const auto value = integer_of(cell);
  return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

std::optional<Processors> processors_of(const std::string& micro) {
  const auto value = integer_of(micro);
  return value ? std::optional(Processors(ProcessorMillionths{*value})) : std::nullopt;
}

std::string sql_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out.append(c == '\'' ? 2 : 1, c);
  return out + '\'';
}

std::string listed(const std::vector<std::string>& values) {
  std::string out;
  for (const std::string& value : values) out.append(out.empty() ? "" : ",").append(sql_text(value));
  return '(' + out + ')';
}

template <typename Integers>
std::string listed_numbers(const Integers& values) {
  std::string out;
  for (const auto value : values) out.append(out.empty() ? "" : ",").append(std::to_string(value));
  return '(' + out + ')';
}

constexpr const char* k_live =
    "SELECT job, submit FROM jobs WHERE job IN (SELECT job FROM segment_events WHERE closed IS NULL "
    "AND retracted IS NULL)";

// SQL for whether a job is named by the filter. An id names a job, a whole array or a whole heterogeneous job.
std::string named(const JobsFilter& filter, const std::string& table) {
  std::string any;
  const auto add = [&](const std::string& condition) { any += (any.empty() ? "(" : " OR ") + condition; };
  if (!filter.jobs.empty()) {
    const std::string ids = " IN " + listed_numbers(filter.jobs);
    for (const char* column : {"job", "array_job", "het_job"}) add(table + column + ids);
  }
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_array;
  for (const ArrayTask& task : filter.tasks) by_array[task.array].push_back(task.task);
  for (const auto& [array, tasks] : by_array) {
    add('(' + table + "array_job = " + std::to_string(array) + " AND " + table + "array_task IN " +
        listed_numbers(tasks) + ')');
  }
  // Slurm numbers the parts consecutively.
  for (const HetPart& part : filter.parts) {
    add('(' + table + "job = " + std::to_string(std::uint64_t{part.het_job} + part.part) + " AND " + table +
        "het_job = " + std::to_string(part.het_job) + ')');
  }
  return any + ')';
}

// SQL for the (job, submit) to examine. Every branch is a search in an index, so that a question's cost depends on its
// answer and not on the age of the ledger.
std::string chosen(const JobsFilter& filter, Instant at) {
  if (!filter.all) return k_live;
  if (filter.names_jobs()) return "SELECT job, submit FROM jobs WHERE " + named(filter, "");
  const Instant since = filter.since.value_or(at - k_reported_history);
  return "SELECT job, submit FROM jobs WHERE submit >= " + std::to_string(since.value) + " UNION " + k_live;
}

std::string seen_by(const JobsViewer& viewer) {
  return "(jobs.user_id = " + std::to_string(viewer.user_id) + " OR jobs.account IN " + listed(viewer.accounts) + ')';
}

std::string conditions(const JobsFilter& filter, const std::optional<JobsViewer>& viewer) {
  std::string where = "1";
  if (!filter.organizations.empty()) where += " AND jobs.organization IN " + listed(filter.organizations);
  if (!filter.accounts.empty()) where += " AND jobs.account IN " + listed(filter.accounts);
  if (!filter.user_ids.empty()) where += " AND jobs.user_id IN " + listed_numbers(filter.user_ids);
  if (filter.names_jobs()) where += " AND " + named(filter, "jobs.");
  if (viewer) where += " AND " + seen_by(*viewer);
  return where;
}

// CROSS JOIN keeps SQLite from walking all jobs in the order of submission instead.
std::string jobs_query(const JobsFilter& filter, const std::optional<JobsViewer>& viewer, Instant at) {
  return "SELECT jobs.job, jobs.submit, organization, array_job, array_task, het_job, user_id, group_id, account, "
         "partition, qos, name, wckey, (SELECT MIN(later.submit) FROM jobs AS later WHERE later.job = jobs.job AND "
         "later.submit > jobs.submit) FROM (" +
         chosen(filter, at) + ") AS chosen CROSS JOIN jobs ON jobs.job = chosen.job AND jobs.submit = chosen.submit " +
         "WHERE " + conditions(filter, viewer) + " ORDER BY jobs.submit DESC, jobs.job DESC LIMIT " +
         std::to_string(k_max_reported_jobs + 1);
}

struct Segment {
  JobSegment is;
  Instant anchor;

  [[nodiscard]] bool open() const { return is.begin && !is.end; }
  [[nodiscard]] bool is_run() const { return is.kind == "run"; }
};

// Processors by node of the segments of some jobs; the key identifies a segment.
using SegmentName = std::vector<std::string>;  // job, anchor, kind, ordinal
using NodesOf = std::map<SegmentName, std::vector<NodeProcessors>>;

Expected<NodesOf> nodes_of(const Ledger& ledger, const std::string& jobs, QueryBudget budget) {
  SHAPLEY_TRY_ASSIGN(const auto rows, query(ledger,
                                            "SELECT job, anchor, kind, ordinal, node, processors FROM "
                                            "segment_nodes WHERE job IN " +
                                                jobs + " ORDER BY job, anchor, kind, ordinal, node",
                                            budget));
  NodesOf nodes;
  for (const Row& row : rows) {
    nodes[{row.begin(), row.begin() + 4}].push_back({row[4], processors_of(row[5])});
  }
  return nodes;
}

Segment segment_of(const Row& row, const NodesOf& nodes) {
  const auto found = nodes.find({row.begin(), row.begin() + 4});
  return {.is = {.kind = row[2],
                 .begin = instant_of(row[4]),
                 .end = instant_of(row[5]),
                 .processors = processors_of(row[6]),
                 .reason = row[7],
                 .job_state = row[8],
                 .retracted = integer_of(row[9]).has_value(),
                 .nodes = found == nodes.end() ? std::vector<NodeProcessors>{} : found->second},
          .anchor = Instant{integer_of(row[1]).value_or(0)}};
}

using SegmentsByJob = std::map<std::int64_t, std::vector<Segment>>;

Expected<SegmentsByJob> segments_of(const Ledger& ledger, const std::string& jobs, QueryBudget budget) {
  SHAPLEY_TRY_ASSIGN(const NodesOf nodes, nodes_of(ledger, jobs, budget));
  SHAPLEY_TRY_ASSIGN(const auto rows,
                     query(ledger,
                           "SELECT job, anchor, kind, ordinal, begin, end, processors, reason, job_state, "
                           "retracted FROM segments WHERE job IN " +
                               jobs + " ORDER BY job, COALESCE(begin, end), kind DESC, ordinal",
                           budget));
  SegmentsByJob segments;
  for (const Row& row : rows) segments[integer_of(row[0]).value_or(0)].push_back(segment_of(row, nodes));
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

// Columns: job, submit, organization, array_job, array_task, het_job, user_id, group_id, account, partition, qos, name,
// wckey, next submit of the same id.
JobRow job_row(const Row& row, const std::vector<Segment>& all, Instant at) {
  JobRow job{.is = {.job = id_of(row[0]).value_or(0),
                    .array_job = id_of(row[3]),
                    .array_task = id_of(row[4]),
                    .organization = row[2],
                    .account = row[8],
                    .user_id = id_of(row[6]).value_or(0),
                    .group_id = id_of(row[7]).value_or(0),
                    .partition = row[9],
                    .qos = row[10],
                    .name = row[11],
                    .slurm_state = {},
                    .processors = {},
                    .begin = {}},
             .submit = instant_of(row[1]).value_or(Instant{0}),
             .het_job = id_of(row[5]),
             .wckey = row[12],
             .state = "pending",
             .end = {},
             .work = {},
             .segments = {}};
  const auto segments = segments_between(all, job.submit, instant_of(row[13]));
  add_up(job, segments, at);
  // A submission that was followed by another one (a requeue, or a job number that Slurm reused) has ended.
  if (integer_of(row[13])) job.state = "ended";
  for (const Segment* segment : segments) job.segments.push_back(segment->is);
  return job;
}

Expected<JobsReport> bounded_report(const Ledger& ledger, const JobsFilter& filter, Instant at, QueryBudget budget,
                                    const std::optional<JobsViewer>& viewer) {
  SHAPLEY_TRY_ASSIGN(const Snapshot snapshot, Snapshot::begin(ledger));
  SHAPLEY_TRY_ASSIGN(auto rows, query(ledger, jobs_query(filter, viewer, at), budget));
  const bool truncated = rows.size() > k_max_reported_jobs;
  if (truncated) rows.resize(k_max_reported_jobs);
  std::reverse(rows.begin(), rows.end());

  std::vector<std::int64_t> ids;
  for (const Row& row : rows) ids.push_back(integer_of(row[0]).value_or(0));
  SHAPLEY_TRY_ASSIGN(const SegmentsByJob segments, segments_of(ledger, listed_numbers(ids), budget));
  JobsReport report{.at = at, .jobs = {}, .truncated = truncated, .no_start = {}, .is_private = {}};
  for (const Row& row : rows) {
    if (budget.is_ended()) return fail(Errc::limit, "request cancelled");
    const auto found = segments.find(integer_of(row[0]).value_or(0));
    report.jobs.push_back(job_row(row, found == segments.end() ? std::vector<Segment>{} : found->second, at));
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

}  // namespace shapley::ledger
