// The jobs of a ledger for people and programs: what runs, what waits, and under which organization it is booked.
// docs/reference/shapleyctl/jobs.md lists every member; ledger/reports/jobs_report.hpp makes it.
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

struct JobsReport;

// An empty list selects everything; several lists must all match, except that `jobs`, `tasks` and `parts` count as one
// list.
// A user by name. The number is the one that the asker's host has for it, k_no_user: none; it is meant where the ledger
// knows no user of that name.
inline constexpr std::uint32_t k_no_user = 0xffff'ffffU;
struct UserAsked {
  std::string name = {};
  std::uint32_t user_id = k_no_user;
};
SHAPLEY_DESCRIBE(UserAsked, name, user_id);

struct JobsFilter {
  using Report = JobsReport;
  static constexpr std::string_view k_name = "jobs";
  bool all = false;  // ended, suspended and blocked jobs, too; else only those that run or could start
  // With `all`: only jobs submitted at this time or later. Not used when jobs are named.
  std::optional<Instant> since = std::nullopt;
  std::vector<std::string> organizations = {};
  std::vector<std::string> accounts = {};
  std::vector<std::uint32_t> user_ids = {};  // of `users`, too
  std::vector<UserAsked> users = {};
  std::vector<std::uint32_t> jobs = {};  // a job of an array is found by the array's id, too
  std::vector<ArrayTask> tasks = {};     // a waiting task is part of its array's record, and is not found by a number
  std::vector<HetPart> parts = {};

  [[nodiscard]] bool names_jobs() const { return !jobs.empty() || !tasks.empty() || !parts.empty(); }
};

// As members of the request `jobs`.
SHAPLEY_DESCRIBE(JobsFilter, (supplement, all), (supplement, since), (supplement, organizations),
                 (supplement, accounts), (supplement, user_ids), (supplement, users), (supplement, jobs),
                 (supplement, tasks), (supplement, parts));
// In a request: [array, task] and [job, part].
[[nodiscard]] nlohmann::json json_value(const ArrayTask& task);
[[nodiscard]] bool take_json_value(const nlohmann::json& value, ArrayTask& task);
[[nodiscard]] nlohmann::json json_value(const HetPart& part);
[[nodiscard]] bool take_json_value(const nlohmann::json& value, HetPart& part);

struct NodeProcessors {
  std::string node = {};
  std::optional<Processors> processors = {};
};
SHAPLEY_DESCRIBE(NodeProcessors, node, processors);

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
SHAPLEY_DESCRIBE(JobSegment, kind, begin, end, processors, reason, job_state, retracted, nodes);

// "72_3" of a task of an array that has a number of its own, else the number.
[[nodiscard]] inline std::string job_id_of(std::uint32_t job, const std::optional<std::uint32_t>& array,
                                           const std::optional<std::uint32_t>& task) {
  return array && task ? std::to_string(*array) + '_' + std::to_string(*task) : std::to_string(job);
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
  std::string user = {};                      // the user's name by the ledger; empty: it has none
};
SHAPLEY_DESCRIBE(JobIdentity, job, array_job, array_task, organization, account, user_id, group_id, partition, qos,
                 name, slurm_state, processors, begin, (supplement, user));

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
SHAPLEY_DESCRIBE(JobRow, (flattened, is), submit, het_job, wckey, state, end, (named, work, "processor_seconds"),
                 segments);

struct JobsReport {
  int report_version = k_report_version;
  Dated at = {};
  std::vector<JobRow> jobs = {};  // by id and submit time
  bool truncated = false;
  std::optional<std::vector<NoStart>> no_start = {};  // report.hpp
  std::optional<bool> is_private = {};                // of a daemon: some jobs are hidden from the asker
  AmountUnit in = {};
};
SHAPLEY_DESCRIBE(JobsReport, report_version, at, jobs, truncated, (supplement, no_start),
                 (supplement, is_private, "private"), (flattened, in));

// A pending job of the daemon's queue that could start.
struct QueuedJob {
  std::uint32_t job = 0;
  std::string organization;     // guests if it belongs to none
  std::int64_t processors = 1;  // of one task
  std::int64_t tasks = 1;       // of an array's pending rest, the tasks that could start
  Instant submit = {};
  std::optional<std::int64_t> time_limit_s = {};
  std::optional<std::uint32_t> array_job = {};  // both: of an array's task that has a record of its own
  std::optional<std::uint32_t> array_task = {};

  // As Slurm's commands name it.
  [[nodiscard]] std::string job_id() const { return job_id_of(job, array_job, array_task); }
};
SHAPLEY_DESCRIBE(QueuedJob, job, organization, processors, tasks, submit, time_limit_s, (supplement, array_job),
                 (supplement, array_task));

struct QueueReport {
  Instant at = {};
  bool plugin_connected = false;
  std::vector<QueuedJob> jobs = {};  // by id, those of the lowest ids
  bool truncated = false;
};
SHAPLEY_DESCRIBE(QueueReport, at, plugin_connected, jobs, truncated);

}  // namespace shapley::ledger
