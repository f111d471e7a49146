// The jobs of a ledger for people and programs: what runs, what waits, and under which organization it is booked.
// docs/reference/shapleyctl.md lists every member; ledger/reports/jobs_report.hpp makes it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/types.hpp"
#include "reports/status.hpp"

namespace shapley::ledger {

// A task of an array, by Slurm's number of the array and its own.
struct ArrayTask {
  std::uint32_t array = 0;
  std::uint32_t task = 0;
  friend bool operator==(const ArrayTask&, const ArrayTask&) = default;
};

// A part of a heterogeneous job, by Slurm's number of the whole and the part's place: "3+1".
struct HetPart {
  std::uint32_t het_job = 0;
  std::uint32_t part = 0;
  friend bool operator==(const HetPart&, const HetPart&) = default;
};

// A user who sees only jobs of the user's own and of certain accounts.
struct JobsViewer {
  std::uint32_t user_id = 0;
  std::vector<std::string> accounts = {};

  [[nodiscard]] bool sees(std::uint32_t owner, std::string_view account) const {
    return owner == user_id || std::ranges::find(accounts, account) != accounts.end();
  }
};

// An empty list selects everything; several lists must all match, except that `jobs`, `tasks` and `parts` count as one
// list.
struct JobsFilter {
  bool all = false;  // ended, suspended and blocked jobs, too; else only those that run or could start
  // With `all`: only jobs submitted at this time or later. Not used when jobs are named.
  std::optional<Instant> since = std::nullopt;
  std::vector<std::string> organizations = {};
  std::vector<std::string> accounts = {};
  std::vector<std::uint32_t> user_ids = {};
  std::vector<std::uint32_t> jobs = {};  // a job of an array is found by the array's id, too
  std::vector<ArrayTask> tasks = {};     // a waiting task is part of its array's record, and is not found by a number
  std::vector<HetPart> parts = {};

  [[nodiscard]] bool names_jobs() const { return !jobs.empty() || !tasks.empty() || !parts.empty(); }
};

// As members of the request `jobs`.
constexpr auto description_of(std::type_identity<JobsFilter>) {
  return describe(supplement("all", &JobsFilter::all), supplement("since", &JobsFilter::since),
                  supplement("organizations", &JobsFilter::organizations),
                  supplement("accounts", &JobsFilter::accounts), supplement("user_ids", &JobsFilter::user_ids),
                  supplement("jobs", &JobsFilter::jobs), supplement("tasks", &JobsFilter::tasks),
                  supplement("parts", &JobsFilter::parts));
}
// In a request: [array, task] and [job, part].
[[nodiscard]] nlohmann::json json_value(const ArrayTask& task);
[[nodiscard]] bool take_json_value(const nlohmann::json& value, ArrayTask& task);
[[nodiscard]] nlohmann::json json_value(const HetPart& part);
[[nodiscard]] bool take_json_value(const nlohmann::json& value, HetPart& part);

struct NodeProcessors {
  std::string node = {};
  std::optional<Processors> processors = {};
};
constexpr auto description_of(std::type_identity<NodeProcessors>) {
  return describe(member("node", &NodeProcessors::node), member("processors", &NodeProcessors::processors));
}

struct JobSegment {
  std::string kind = {};  // "run" or "wait"
  std::optional<Instant> begin = {};
  std::optional<Instant> end = {};
  std::optional<Processors> processors = {};
  std::string reason = {};  // why it was closed
  std::string job_state = {};
  bool retracted = false;
  std::vector<NodeProcessors> nodes = {};
};
constexpr auto description_of(std::type_identity<JobSegment>) {
  return describe(member("kind", &JobSegment::kind), member("begin", &JobSegment::begin),
                  member("end", &JobSegment::end), member("processors", &JobSegment::processors),
                  member("reason", &JobSegment::reason), member("job_state", &JobSegment::job_state),
                  member("retracted", &JobSegment::retracted), member("nodes", &JobSegment::nodes));
}

// The ledger's description of a submission.
struct JobIdentity {
  std::uint32_t job = 0;
  std::optional<std::uint32_t> array_job = {};
  std::optional<std::uint32_t> array_task = {};
  std::string organization = {};
  std::string account = {};
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
  std::string partition = {};
  std::string qos = {};
  std::string name = {};
  std::string slurm_state = {};               // Slurm's name when its last segment ended
  std::optional<Processors> processors = {};  // held, asked for, or held last
  std::optional<Instant> begin = {};          // of its first run
};
constexpr auto description_of(std::type_identity<JobIdentity>) {
  return describe(member("job", &JobIdentity::job), member("array_job", &JobIdentity::array_job),
                  member("array_task", &JobIdentity::array_task), member("organization", &JobIdentity::organization),
                  member("account", &JobIdentity::account), member("user_id", &JobIdentity::user_id),
                  member("group_id", &JobIdentity::group_id), member("partition", &JobIdentity::partition),
                  member("qos", &JobIdentity::qos), member("name", &JobIdentity::name),
                  member("slurm_state", &JobIdentity::slurm_state), member("processors", &JobIdentity::processors),
                  member("begin", &JobIdentity::begin));
}

struct JobRow {
  JobIdentity is = {};
  Instant submit = {};
  std::optional<std::uint32_t> het_job = {};
  std::string wckey = {};
  std::string state = {};           // pending, running, suspended or ended, by the books
  std::optional<Instant> end = {};  // of its last run
  CpuTime work = {};
  std::vector<JobSegment> segments = {};
};
constexpr auto description_of(std::type_identity<JobRow>) {
  return describe(flattened(&JobRow::is), member("submit", &JobRow::submit), member("het_job", &JobRow::het_job),
                  member("wckey", &JobRow::wckey), member("state", &JobRow::state), member("end", &JobRow::end),
                  member("processor_seconds", &JobRow::work), member("segments", &JobRow::segments));
}

struct JobsReport {
  int report_version = k_report_version;
  Dated at = {};
  std::vector<JobRow> jobs = {};  // by id and submit time
  bool truncated = false;
  std::optional<std::vector<NoStart>> no_start = {};  // report.hpp
  std::optional<bool> is_private = {};                // of a daemon: some jobs are hidden from the asker
};
constexpr auto description_of(std::type_identity<JobsReport>) {
  return describe(member("report_version", &JobsReport::report_version), member("at", &JobsReport::at),
                  member("jobs", &JobsReport::jobs), member("truncated", &JobsReport::truncated),
                  supplement("no_start", &JobsReport::no_start), supplement("private", &JobsReport::is_private));
}

// A pending job of the daemon's queue that could start.
struct QueuedJob {
  std::uint32_t job = 0;
  std::string organization;     // guests if it belongs to none
  std::int64_t processors = 1;  // of one task
  std::int64_t tasks = 1;       // of an array's pending rest, the tasks that could start
  Instant submit = {};
  std::optional<std::int64_t> time_limit_s = {};
};
constexpr auto description_of(std::type_identity<QueuedJob>) {
  return describe(member("job", &QueuedJob::job), member("organization", &QueuedJob::organization),
                  member("processors", &QueuedJob::processors), member("tasks", &QueuedJob::tasks),
                  member("submit", &QueuedJob::submit), member("time_limit_s", &QueuedJob::time_limit_s));
}

struct QueueReport {
  Instant at = {};
  bool plugin_connected = false;
  std::vector<QueuedJob> jobs = {};  // by id, those of the lowest ids
  bool truncated = false;
};
constexpr auto description_of(std::type_identity<QueueReport>) {
  return describe(member("at", &QueueReport::at), member("plugin_connected", &QueueReport::plugin_connected),
                  member("jobs", &QueueReport::jobs), member("truncated", &QueueReport::truncated));
}

}  // namespace shapley::ledger
