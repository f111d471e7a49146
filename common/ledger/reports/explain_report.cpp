#include "ledger/reports/explain_report.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/calendar.hpp"
#include "ledger/reports/job_history.hpp"
#include "ledger/reports/jobs_report.hpp"
#include "ledger/reports/report.hpp"
#include "ledger/store/query.hpp"

namespace shapley::ledger {

namespace {

using accounting::SegmentKey;
using accounting::SegmentKind;
using nlohmann::json;

std::optional<std::uint32_t> parse_number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string text_of(const JobName& name) {
  if (name.het_job != 0) return std::to_string(name.het_job) + "+" + std::to_string(name.job - name.het_job);
  return std::to_string(name.job) + (name.task ? "_" + std::to_string(*name.task) : "");
}

bool is_named(const json& job, const JobName& name) {
  if (name.het_job != 0 && job["het_job"] != name.het_job) return false;
  if (!name.task) return job["job"] == name.job;
  return job["array_job"] == name.job && job["array_task"] == *name.task;
}

// Of the jobs of a name the one that was submitted last, by `at` if there is one. A task that has not started is in its
// array's pending rest.
const json* newest(const json& jobs, const JobName& name, Instant at) {
  const json* found = nullptr;
  for (const json& job : jobs) {
    if (!is_named(job, name)) continue;
    if (found == nullptr || job["submit"] <= at.value) found = &job;
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

// Of a job that neither runs nor could start at the moment.
std::string closed_state(const json& job, Instant at) {
  if (job["submit"] > at.value) return "not submitted";
  const std::string latest = job["state"];
  bool begins_later = false;
  for (const json& segment : job["segments"]) {
    begins_later = begins_later || (segment["begin"].is_number_integer() && segment["begin"] > at.value);
  }
  if (begins_later) return "blocked";
  return latest == "ended" || latest == "suspended" ? latest : "blocked";
}

json compact(const json& row) {
  json out;
  for (const char* member : {"name", "rank", "standing_core_hours", "sentence", "key_core_hours", "running_core_hours",
                             "lead", "lacking", "below_guarantee", "guarantee", "gives", "owned", "used", "lent",
                             "borrowed", "waiting", "running_jobs", "waiting_jobs", "no_start_since"}) {
    out[member] = row.at(member);
  }
  return out;
}

// Whether `other`, which has the better rank by its key, has it because of what runs now.
bool is_ahead_by_what_runs(const Moment& moment, const json& own, const json& other) {
  accounting::Outlook idle = moment.outlook;
  idle.terms.running_factor = 0;
  return accounting::goes_first(idle, moment.course(own["name"]), moment.course(other["name"]), Duration{0});
}

// Those with a better rank, in rank order.
json ahead_of(const Moment& moment, const json& own) {
  json rows = json::array();
  std::int64_t jobs = 0;
  double asked = 0;
  for (const json& row : moment.status["organizations"]) {
    if (row["rank"].is_null() || own["rank"].is_null() || row["rank"] >= own["rank"]) continue;
    const bool by_guarantee = row["below_guarantee"] == true && own["below_guarantee"] == false;
    jobs += row["waiting_jobs"].get<std::int64_t>();
    asked += row["waiting"].get<double>();
    rows.push_back({{"organization", row["name"]},
                    {"rank", row["rank"]},
                    {"jobs", row["waiting_jobs"]},
                    {"processors", row["waiting"]},
                    {"because", by_guarantee ? "guarantee" : "key"},
                    {"by_what_runs", !by_guarantee && is_ahead_by_what_runs(moment, own, row)}});
  }
  return {{"jobs", jobs}, {"processors", asked}, {"organizations", std::move(rows)}};
}

// Of the organization's other jobs that could start: whose turn it is among them is Slurm's and the levels' business.
json own_jobs(const Moment& moment, const json& job) {
  std::int64_t jobs = 0;
  std::int64_t longer = 0;
  MicroProcessors asked;
  for (const OpenSegment& segment : moment.open) {
    if (segment.kind != SegmentKind::wait || segment.job == JobId{job["job"].get<std::uint32_t>()}) continue;
    if (job["organization"] != moment.names[segment.organization.value]) continue;
    jobs += 1;
    asked = asked + segment.processors;
    const bool is_waiting = job["state"] == "waiting";
    longer += is_waiting && segment.since.value < job["since"].get<std::int64_t>() ? 1 : 0;
  }
  return {{"jobs", jobs}, {"processors", processor_count(asked)}, {"longer", longer}};
}

// When the organization passes another one, or is passed, as long as nothing starts or ends.
json turns_of(const Moment& moment, const std::string& organization) {
  json report;
  add_instant(report, "until", moment.outlook.until);
  report["by_date"] = moment.outlook.by_date;
  json next = json::array();
  const std::size_t own = moment.course(organization);
  for (std::size_t other = 0; other < moment.outlook.courses.size(); ++other) {
    if (own >= moment.outlook.courses.size() || other == own) continue;
    bool is_ahead = accounting::goes_first(moment.outlook, own, other, Duration{0});
    for (const Instant turn : accounting::turns(moment.outlook, own, other)) {
      is_ahead = !is_ahead;
      json row{{"organization", moment.names[moment.outlook.courses[other].organization.value]}, {"ahead", is_ahead}};
      add_instant(row, "at", turn);
      next.push_back(std::move(row));
    }
  }
  std::stable_sort(next.begin(), next.end(), [](const json& a, const json& b) { return a["at"] < b["at"]; });
  report["next"] = std::move(next);
  return report;
}

// "72_3" of a task of an array, whose own number only Slurm knows; else the job's number.
Expected<std::string> job_id_of(const SegmentKey& run, const Ledger& ledger, QueryBudget budget) {
  SHAPLEY_TRY_ASSIGN(const auto rows,
                     query(ledger,
                           "SELECT array_job, array_task FROM jobs WHERE job = " + std::to_string(run.job.value) +
                               " AND submit <= " + std::to_string(run.anchor.value) + " ORDER BY submit DESC LIMIT 1",
                           budget));
  const bool is_task = !rows.empty() && !rows[0][0].empty() && !rows[0][1].empty();
  return is_task ? rows[0][0] + '_' + rows[0][1] : std::to_string(run.job.value);
}

Expected<json> starts_after(const Moment& moment, const Ledger& ledger, QueryBudget budget) {
  json starts = json::array();
  for (const accounting::SegmentOpened& run : moment.next_starts) {
    const std::string name =
        run.organization.empty() ? std::string(accounting::k_guests) : moment.row_name(run.organization);
    const json row = moment.row(name);
    SHAPLEY_TRY_ASSIGN(std::string job_id, job_id_of(run.key, ledger, budget));
    json start{{"job", run.key.job.value},
               {"job_id", std::move(job_id)},
               {"organization", name},
               {"rank", row.is_null() ? json(nullptr) : row["rank"]},
               {"processors", processor_count(run.processors)}};
    add_instant(start, "begin", run.begin);
    starts.push_back(std::move(start));
  }
  return starts;
}

}  // namespace

std::optional<JobName> parse_job_name(std::string_view text) {
  if (const std::size_t plus = text.find('+'); plus != std::string_view::npos) {
    const auto first = parse_number(text.substr(0, plus));
    const auto part = parse_number(text.substr(plus + 1));
    if (!first || !part || *first == 0 || *part > std::numeric_limits<std::uint32_t>::max() - *first)
      return std::nullopt;
    return JobName{*first + *part, std::nullopt, *first};
  }
  const std::size_t underscore = text.find('_');
  const auto job = parse_number(text.substr(0, underscore));
  if (!job || *job == 0) return std::nullopt;
  if (underscore == std::string_view::npos) return JobName{*job, std::nullopt, 0};
  const auto task = parse_number(text.substr(underscore + 1));
  if (!task) return std::nullopt;
  return JobName{*job, *task, 0};
}

Expected<JobName> checked_job_name(const std::string& text) {
  if (const auto name = parse_job_name(text)) return *name;
  return fail(Errc::invalid_argument,
              "'" + text +
                  "' is no job; write its number, 4711, an array's task, 4711_3, or a part of a "
                  "heterogeneous job, 4711+1");
}

Expected<json> job_at(const Moment& moment, const Ledger& ledger, const JobName& name, QueryBudget budget) {
  SHAPLEY_TRY_ASSIGN(const json report, jobs_report(ledger, {.all = true, .jobs = {name.job}}, moment.at, budget));
  const json* job = newest(report["jobs"], name, moment.at);
  if (job == nullptr) {
    return fail(Errc::invalid_argument,
                "job " + text_of(name) +
                    " is not in the ledger: it was submitted a moment ago, was purged before it was "
                    "seen, or is older than the ledger");
  }
  json out;
  for (const char* member : {"job", "array_job", "array_task", "organization", "account", "user_id", "group_id",
                             "partition", "qos", "name", "processors", "slurm_state"}) {
    out[member] = (*job)[member];
  }
  if (out["organization"] == "") out["organization"] = std::string(accounting::k_guests);
  out["organization"] = moment.row_name(out["organization"]);
  out["job_id"] = text_of(name);
  add_instant(out, "submit", Instant{(*job)["submit"].get<std::int64_t>()});
  const OpenSegment* open = open_segment_of(moment, (*job)["job"].get<std::uint32_t>());
  if (open == nullptr || (*job)["submit"] > moment.at.value) {
    out["state"] = closed_state(*job, moment.at);
    add_instant(out, "since", k_end_of_time);
  } else {
    out["state"] = open->kind == SegmentKind::run ? "running" : "waiting";
    out["processors"] = processor_count(open->processors);
    // As it was booked then; an account that changed since is in the description.
    out["organization"] = moment.names[open->organization.value];
    add_instant(out, "since", open->since);
  }
  out["begin"] = (*job)["begin"];
  return out;
}

Expected<json> explain_report(const Moment& moment, const Ledger& ledger, const JobName& name, QueryBudget budget) {
  SHAPLEY_TRY_ASSIGN(json job, job_at(moment, ledger, name, budget));
  const json row = moment.row(job["organization"]);
  if (row.is_null()) {
    return fail(Errc::invalid_argument, "job " + text_of(name) + " is of " + job["organization"].get<std::string>() +
                                            ", which was not in the books at " + format_instant(moment.at));
  }
  json history = nullptr;
  if (!moment.is_past) {
    SHAPLEY_TRY_ASSIGN(history, job_history(moment, ledger, job, budget));
  }
  json rows = json::array();
  for (const json& each : moment.status["organizations"]) rows.push_back(compact(each));
  SHAPLEY_TRY_ASSIGN(json starts, starts_after(moment, ledger, budget));
  json report{{"report_version", k_report_version},
              {"past", moment.is_past},
              {"contribution", moment.status["contribution"]},
              {"ranking", moment.status["ranking"]},
              {"organization", compact(row)},
              {"ranked", moment.outlook.courses.size()},
              {"ahead", ahead_of(moment, row)},
              {"own", own_jobs(moment, job)},
              {"organizations", std::move(rows)},
              {"turns", turns_of(moment, row["name"])},
              {"next_starts", std::move(starts)},
              {"history", std::move(history)}};
  add_instant(report, "at", moment.at);
  report["job"] = std::move(job);
  return report;
}

}  // namespace shapley::ledger
