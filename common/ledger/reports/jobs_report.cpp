#include "ledger/reports/jobs_report.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "base/int128.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/store/query.hpp"

namespace shapley::ledger {

namespace {

using nlohmann::json;
using Row = std::vector<std::string>;

json number_or_null(const std::string& text) {
  const auto value = integer_of(text);
  return value ? json(*value) : json(nullptr);
}

json processors(const std::string& micro) {
  const auto value = integer_of(micro);
  return value ? processor_count({*value}) : json(nullptr);
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

// SQL for whether a job is one of those that are named. An id names a job, a whole array or a whole heterogeneous job.
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
  // Slurm numbers the parts in a row.
  for (const HetPart& part : filter.parts) {
    add('(' + table + "job = " + std::to_string(std::uint64_t{part.het_job} + part.part) + " AND " + table +
        "het_job = " + std::to_string(part.het_job) + ')');
  }
  return any + ')';
}

// SQL for the (job, submit) to look at. Every branch is a search in an index, so that a question's cost follows from
// its answer and not from the age of the ledger.
std::string chosen(const JobsFilter& filter, Instant at) {
  if (!filter.all) return k_live;
  if (filter.names_jobs()) return "SELECT job, submit FROM jobs WHERE " + named(filter, "");
  const Instant since = filter.since.value_or(at - k_reported_history);
  return "SELECT job, submit FROM jobs WHERE submit >= " + std::to_string(since.value) + " UNION " + k_live;
}

std::string seen_by(const JobsViewer& viewer) {
  return "(jobs.user_id = " + std::to_string(viewer.user_id) + " OR jobs.account IN " + listed(viewer.accounts) + ')';
}

std::string conditions(const JobsFilter& filter) {
  std::string where = "1";
  if (!filter.organizations.empty()) where += " AND jobs.organization IN " + listed(filter.organizations);
  if (!filter.accounts.empty()) where += " AND jobs.account IN " + listed(filter.accounts);
  if (!filter.user_ids.empty()) where += " AND jobs.user_id IN " + listed_numbers(filter.user_ids);
  if (filter.names_jobs()) where += " AND " + named(filter, "jobs.");
  if (filter.viewer) where += " AND " + seen_by(*filter.viewer);
  return where;
}

// CROSS JOIN keeps SQLite from walking all jobs in the order of submission instead.
std::string jobs_query(const JobsFilter& filter, Instant at) {
  return "SELECT jobs.job, jobs.submit, organization, array_job, array_task, het_job, user_id, group_id, account, "
         "partition, qos, name, wckey, (SELECT MIN(later.submit) FROM jobs AS later WHERE later.job = jobs.job AND "
         "later.submit > jobs.submit) FROM (" +
         chosen(filter, at) + ") AS chosen CROSS JOIN jobs ON jobs.job = chosen.job AND jobs.submit = chosen.submit " +
         "WHERE " + conditions(filter) + " ORDER BY jobs.submit DESC, jobs.job DESC LIMIT " +
         std::to_string(k_max_reported_jobs + 1);
}

struct Segment {
  std::string kind;
  std::int64_t anchor = 0;
  std::optional<std::int64_t> begin;
  std::optional<std::int64_t> end;
  std::optional<std::int64_t> processors;
  std::string reason;
  std::string job_state;
  bool retracted = false;
  json as_json;

  [[nodiscard]] bool open() const { return begin && !end; }
};

// Processors by node of the segments of some jobs; the key is what names a segment.
using SegmentName = std::vector<std::string>;  // job, anchor, kind, ordinal
using NodesOf = std::map<SegmentName, json>;

Expected<NodesOf> nodes_of(const Ledger& ledger, const std::string& jobs, QueryBudget budget) {
  SHAPLEY_TRY_ASSIGN(const auto rows, query(ledger,
                                            "SELECT job, anchor, kind, ordinal, node, processors FROM "
                                            "segment_nodes WHERE job IN " +
                                                jobs + " ORDER BY job, anchor, kind, ordinal, node",
                                            budget));
  NodesOf nodes;
  for (const Row& row : rows) {
    nodes[{row.begin(), row.begin() + 4}].push_back({{"node", row[4]}, {"processors", processors(row[5])}});
  }
  return nodes;
}

Segment segment_of(const Row& row, const NodesOf& nodes) {
  Segment segment{.kind = row[2],
                  .anchor = integer_of(row[1]).value_or(0),
                  .begin = integer_of(row[4]),
                  .end = integer_of(row[5]),
                  .processors = integer_of(row[6]),
                  .reason = row[7],
                  .job_state = row[8],
                  .retracted = integer_of(row[9]).has_value(),
                  .as_json = nullptr};
  const auto found = nodes.find({row.begin(), row.begin() + 4});
  segment.as_json = {{"kind", row[2]},
                     {"begin", number_or_null(row[4])},
                     {"end", number_or_null(row[5])},
                     {"processors", processors(row[6])},
                     {"reason", row[7]},
                     {"job_state", row[8]},
                     {"retracted", segment.retracted},
                     {"nodes", found == nodes.end() ? json::array() : found->second}};
  return segment;
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

// What the segments of one job, in the order of time, add up to.
struct Summary {
  std::string state = "pending";
  std::string slurm_state;
  std::optional<std::int64_t> processors;  // held, asked for, or held last
  std::optional<std::int64_t> first_begin;
  std::optional<std::int64_t> last_end;
  CpuTime work;
};

std::string state_after(const Segment& last) {
  if (last.open()) return last.kind == "run" ? "running" : "pending";
  if (last.reason == "suspended") return "suspended";
  // Back in the queue, about to run, or not startable for now: the segment that says more has not been opened yet.
  if (last.reason == "requeued" || last.reason == "changed" || last.reason == "started") return "pending";
  return "ended";
}

Summary summary_of(const std::vector<const Segment*>& segments, Instant at) {
  Summary summary;
  for (const Segment* segment : segments) {
    // A wait that was taken back still tells what became of the job.
    if (!segment->begin || (segment->retracted && segment->kind == "run")) continue;
    summary.state = state_after(*segment);
    summary.slurm_state = segment->job_state;
    summary.processors = segment->processors;
    if (segment->kind != "run") continue;
    const std::int64_t end = segment->end.value_or(std::max(at.value, *segment->begin));
    summary.work += MicroProcessors{segment->processors.value_or(0)} * Duration{end - *segment->begin};
    if (!summary.first_begin) summary.first_begin = segment->begin;
    summary.last_end = segment->end;
  }
  return summary;
}

template <typename T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

// A job id that Slurm used again has several rows; a segment belongs to the last one submitted before it.
std::vector<const Segment*> segments_between(const std::vector<Segment>& all, std::int64_t submit,
                                             std::optional<std::int64_t> next_submit) {
  std::vector<const Segment*> out;
  for (const Segment& segment : all) {
    if (segment.anchor >= submit && (!next_submit || segment.anchor < *next_submit)) out.push_back(&segment);
  }
  return out;
}

// Columns: job, submit, organization, array_job, array_task, het_job, user_id, group_id, account, partition, qos, name,
// wckey, next submit of the same id.
json job_json(const Row& row, const std::vector<Segment>& all, Instant at) {
  const auto segments = segments_between(all, integer_of(row[1]).value_or(0), integer_of(row[13]));
  Summary summary = summary_of(segments, at);
  // Of a submission that another one followed (a requeue, the number of a job that Slurm used again) no more comes.
  if (integer_of(row[13])) summary.state = "ended";
  json listed_segments = json::array();
  for (const Segment* segment : segments) listed_segments.push_back(segment->as_json);
  return {{"job", number_or_null(row[0])},
          {"submit", number_or_null(row[1])},
          {"organization", row[2]},
          {"array_job", number_or_null(row[3])},
          {"array_task", number_or_null(row[4])},
          {"het_job", number_or_null(row[5])},
          {"user_id", number_or_null(row[6])},
          {"group_id", number_or_null(row[7])},
          {"account", row[8]},
          {"partition", row[9]},
          {"qos", row[10]},
          {"name", row[11]},
          {"wckey", row[12]},
          {"state", summary.state},
          {"slurm_state", summary.slurm_state},
          {"processors", processors(summary.processors ? std::to_string(*summary.processors) : "")},
          {"begin", or_null(summary.first_begin)},
          {"end", or_null(summary.last_end)},
          {"processor_seconds", format_micro(summary.work.value)},
          {"segments", std::move(listed_segments)}};
}

constexpr const char* k_lists[] = {"organizations", "accounts", "user_ids", "jobs"};

bool is_number_of_32_bits(const json& item) {
  return item.is_number_unsigned() && item.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
}

Expected<void> check_request(const json& request) {
  if (!request.is_object()) return fail(Errc::invalid_argument, "jobs: the request is no JSON object");
  if (request.contains("all") && !request["all"].is_boolean()) {
    return fail(Errc::invalid_argument, "jobs: 'all' must be true or false");
  }
  if (request.contains("since") && !request["since"].is_number_integer()) {
    return fail(Errc::invalid_argument, "jobs: 'since' must be a whole number of seconds since the epoch");
  }
  for (const char* list : k_lists) {
    if (!request.contains(list)) continue;
    const bool of_text = std::string_view(list) == "organizations" || std::string_view(list) == "accounts";
    const auto fits = [&](const json& item) {
      if (of_text) return item.is_string();
      return is_number_of_32_bits(item);
    };
    if (!request[list].is_array() || !std::all_of(request[list].begin(), request[list].end(), fits)) {
      return fail(Errc::invalid_argument,
                  std::string("jobs: '") + list + "' must be a list of " + (of_text ? "names" : "numbers of 32 bits"));
    }
  }
  const auto is_pair = [](const json& item) {
    return item.is_array() && item.size() == 2 && is_number_of_32_bits(item[0]) && is_number_of_32_bits(item[1]);
  };
  for (const char* list : {"tasks", "parts"}) {
    if (!request.contains(list)) continue;
    if (!request[list].is_array() || !std::all_of(request[list].begin(), request[list].end(), is_pair)) {
      return fail(Errc::invalid_argument, std::string("jobs: '") + list + "' must be a list of [" +
                                              (list == std::string_view("tasks") ? "array, task" : "job, part") +
                                              "], numbers of 32 bits");
    }
  }
  return {};
}

// Tasks of arrays, or parts of heterogeneous jobs.
template <typename Pair>
std::vector<Pair> pairs_of(const json& request, const char* list) {
  std::vector<Pair> pairs;
  for (const json& pair : request.value(list, json::array())) {
    pairs.push_back({pair[0].get<std::uint32_t>(), pair[1].get<std::uint32_t>()});
  }
  return pairs;
}

}  // namespace

Expected<JobsFilter> parse_jobs_filter(const json& request) {
  SHAPLEY_TRY(check_request(request));
  return JobsFilter{
      .all = request.value("all", false),
      .since = request.contains("since") ? std::optional(Instant{request["since"].get<std::int64_t>()}) : std::nullopt,
      .organizations = request.value("organizations", std::vector<std::string>{}),
      .accounts = request.value("accounts", std::vector<std::string>{}),
      .user_ids = request.value("user_ids", std::vector<std::uint32_t>{}),
      .jobs = request.value("jobs", std::vector<std::uint32_t>{}),
      .tasks = pairs_of<ArrayTask>(request, "tasks"),
      .parts = pairs_of<HetPart>(request, "parts"),
      .viewer = std::nullopt};
}

json jobs_request(const JobsFilter& filter) {
  json request{{"request", "jobs"},           {"all", filter.all},           {"organizations", filter.organizations},
               {"accounts", filter.accounts}, {"user_ids", filter.user_ids}, {"jobs", filter.jobs}};
  if (filter.since) request["since"] = filter.since->value;
  for (const ArrayTask& task : filter.tasks) request["tasks"].push_back({task.array, task.task});
  for (const HetPart& part : filter.parts) request["parts"].push_back({part.het_job, part.part});
  return request;
}

namespace {

Expected<json> bounded_report(const Ledger& ledger, const JobsFilter& filter, Instant at, QueryBudget budget) {
  SHAPLEY_TRY_ASSIGN(const Snapshot snapshot, Snapshot::begin(ledger));
  SHAPLEY_TRY_ASSIGN(auto rows, query(ledger, jobs_query(filter, at), budget));
  const bool truncated = rows.size() > k_max_reported_jobs;
  if (truncated) rows.resize(k_max_reported_jobs);
  std::reverse(rows.begin(), rows.end());

  std::vector<std::int64_t> ids;
  for (const Row& row : rows) ids.push_back(integer_of(row[0]).value_or(0));
  SHAPLEY_TRY_ASSIGN(const SegmentsByJob segments, segments_of(ledger, listed_numbers(ids), budget));
  json jobs = json::array();
  for (const Row& row : rows) {
    if (budget.is_ended()) return fail(Errc::limit, "nobody waits for the answer any more");
    const auto found = segments.find(integer_of(row[0]).value_or(0));
    jobs.push_back(job_json(row, found == segments.end() ? std::vector<Segment>{} : found->second, at));
  }
  return json{{"report_version", k_report_version},
              {"at", at.value},
              {"at_utc", format_instant(at)},
              {"jobs", std::move(jobs)},
              {"truncated", truncated}};
}

}  // namespace

Expected<json> jobs_report(const Ledger& ledger, const JobsFilter& filter, Instant at, QueryBudget budget) {
  auto report = bounded_report(ledger, filter, at, budget);
  if (!report && report.error().code == Errc::limit) {
    report.error().what +=
        "; ask for fewer jobs (a later 'since', fewer ids), or read a copy of the ledger (shapleyctl backup)";
  }
  return report;
}

}  // namespace shapley::ledger
