// Submissions of jobs and their segments in the ledger's tables, as the newest descriptions have them.
//
// A row that a reader cannot read is an error, never a zero: Errc::corrupt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/description.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

struct StoredSubmission {
  JobId job;
  Instant submit;
  std::string organization;
  std::optional<std::uint32_t> array_job = {};
  std::optional<std::uint32_t> array_task = {};
  std::optional<std::uint32_t> het_job = {};
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
  std::string account, partition, qos, name, wckey;
  std::optional<Instant> next = {};  // when the job number was submitted next: earlier runs are of this submission
  bool is_first = false;             // of its job number
};
constexpr auto description_of(std::type_identity<StoredSubmission>) {
  return describe(member("job", &StoredSubmission::job), member("submit", &StoredSubmission::submit),
                  member("organization", &StoredSubmission::organization),
                  member("array_job", &StoredSubmission::array_job),
                  member("array_task", &StoredSubmission::array_task), member("het_job", &StoredSubmission::het_job),
                  member("user_id", &StoredSubmission::user_id), member("group_id", &StoredSubmission::group_id),
                  member("account", &StoredSubmission::account), member("partition", &StoredSubmission::partition),
                  member("qos", &StoredSubmission::qos), member("name", &StoredSubmission::name),
                  member("wckey", &StoredSubmission::wckey), member("next", &StoredSubmission::next),
                  member("is_first", &StoredSubmission::is_first));
}

struct StoredSegment {
  accounting::SegmentKey key;
  std::optional<std::int64_t> opened = {};  // number of the event; nullopt: only the end is known
  std::optional<std::int64_t> closed = {};  // nullopt: it is open
  std::optional<std::int64_t> retracted = {};
  // Of the event that opened it.
  std::optional<std::string> organization = {};
  std::optional<Instant> begin = {};
  std::optional<ProcessorMillionths> processors = {};
  std::optional<Instant> released = {};  // of a run, if it is known
  std::uint64_t cpus = 0;                // on all its nodes
  // Of the event that closed it.
  std::optional<Instant> end = {};
  std::optional<std::string> reason = {};
  std::optional<std::string> job_state = {};
};
constexpr auto description_of(std::type_identity<StoredSegment>) {
  return describe(member("", &StoredSegment::key), member("opened", &StoredSegment::opened),
                  member("closed", &StoredSegment::closed), member("retracted", &StoredSegment::retracted),
                  member("organization", &StoredSegment::organization), member("begin", &StoredSegment::begin),
                  member("processors", &StoredSegment::processors), member("released", &StoredSegment::released),
                  member("cpus", &StoredSegment::cpus), member("end", &StoredSegment::end),
                  member("reason", &StoredSegment::reason), member("job_state", &StoredSegment::job_state));
}

struct StoredNode {
  std::string node;
  ProcessorMillionths processors;
};
constexpr auto description_of(std::type_identity<StoredNode>) {
  return describe(member("node", &StoredNode::node), member("processors", &StoredNode::processors));
}

// A task of an array, by the array's number and its own, or a part of a heterogeneous job, by the number of the whole
// and its place.
struct JobPart {
  std::uint32_t whole = 0;
  std::uint32_t part = 0;
};

// Which submissions are wanted. An empty list selects everything; several lists must all match, except that `jobs`,
// `tasks` and `parts` count as one list.
struct JobsWanted {
  // nullopt: only those that run or could start. Else these, and, if no jobs are named, those that were submitted at
  // this time or later; if some are, all that are named.
  std::optional<Instant> since = std::nullopt;
  std::vector<std::string> organizations = {};
  std::vector<std::string> accounts = {};
  std::vector<std::uint32_t> user_ids = {};
  std::vector<std::uint32_t> jobs = {};  // of jobs, whole arrays, or whole heterogeneous jobs
  std::vector<JobPart> tasks = {};
  std::vector<JobPart> parts = {};
  // Only those that this user may see: the user's own and those of these accounts.
  struct Viewer {
    std::uint32_t user_id = 0;
    std::vector<std::string> accounts = {};
  };
  std::optional<Viewer> viewer = std::nullopt;
  std::size_t most = 0;  // of them the newest
};

struct JobsFound {
  std::vector<StoredSubmission> jobs;  // by submit, then number
  bool truncated = false;
  std::map<JobId, std::vector<StoredSegment>> segments;  // by begin, or by end where only that is known
  std::map<accounting::SegmentKey, std::vector<StoredNode>> nodes;
};

// Reads the tables as they are at one moment, in three queries of at most `budget` each.
[[nodiscard]] Expected<JobsFound> find_jobs(const Ledger& ledger, const JobsWanted& wanted, QueryBudget budget);

[[nodiscard]] Expected<std::vector<StoredSubmission>> submissions_of_task(const Ledger& ledger, JobPart task);
[[nodiscard]] Expected<std::vector<StoredSubmission>> submissions_of_part(const Ledger& ledger, JobPart part);
// Of the job, the whole array or the whole heterogeneous job of this number.
[[nodiscard]] Expected<std::vector<StoredSubmission>> submissions_of_job(const Ledger& ledger, JobId job);
[[nodiscard]] Expected<std::vector<StoredSubmission>> submissions_of_account(const Ledger& ledger,
                                                                             const std::string& account,
                                                                             Instant before);
[[nodiscard]] Expected<std::vector<StoredSubmission>> submissions_of_user(const Ledger& ledger, std::uint32_t user_id,
                                                                          Instant before);
// nullopt: it is not described.
[[nodiscard]] Expected<std::optional<StoredSubmission>> submission_at(const Ledger& ledger, JobId job, Instant submit);
// The last submission of the job by then.
[[nodiscard]] Expected<std::optional<StoredSubmission>> submission_by(const Ledger& ledger, JobId job, Instant by);

// Ascending by key; those of which only the end is known are left out.
[[nodiscard]] Expected<std::vector<StoredSegment>> segments_of_job(const Ledger& ledger, JobId job,
                                                                   QueryBudget budget = {});

// From when on the newest change of the description holds; nullopt: it never changed.
[[nodiscard]] Expected<std::optional<Instant>> last_change(const Ledger& ledger, JobId job, Instant submit);

}  // namespace shapley::ledger
