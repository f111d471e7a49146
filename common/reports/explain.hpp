// "Why is my job waiting?", as far as the books know: its organization and why, the organization's standing and rank,
// the organizations that are served before it, when that changes, and, once it has started, what went before.
// docs/reference/shapleyctl/explain.md lists every member; ledger/reports/explain_report.hpp makes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/mode.hpp"
#include "base/types.hpp"
#include "reports/forecast.hpp"
#include "reports/jobs.hpp"
#include "reports/status.hpp"

namespace shapley::ledger {

// The state of a job at a moment; it waits for its turn (waiting), or for another reason (blocked). A hypothetical one
// is asked about without having been submitted.
enum class JobTurn { running, waiting, blocked, suspended, ended, not_submitted, hypothetical };
[[nodiscard]] std::string_view name_of(JobTurn turn);
constexpr auto values_of(std::type_identity<JobTurn>) {
  return std::array{JobTurn::running, JobTurn::waiting,       JobTurn::blocked,     JobTurn::suspended,
                    JobTurn::ended,   JobTurn::not_submitted, JobTurn::hypothetical};
}

inline constexpr std::int64_t k_most_processors_asked = 100'000'000;

// A job that could be submitted.
struct SubmissionAsked {
  std::string account = {};
  std::vector<std::string> accounts_above = {};  // from the account's parent to the root, as far as they are known
  std::string partition = {};
  std::string qos = {};
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
  std::int64_t processors = 1;  // 1 to k_most_processors_asked
};
SHAPLEY_DESCRIBE(SubmissionAsked, account, (supplement, accounts_above), (supplement, partition), (supplement, qos),
                 (supplement, user_id), (supplement, group_id), (supplement, processors));

struct JobAt {
  JobIdentity is = {};
  std::string job_id = {};  // as it was named
  Dated submit = {};
  JobTurn state = JobTurn::blocked;
  Dated since = {};  // known while it runs or waits
};
SHAPLEY_DESCRIBE(JobAt, (flattened, is), job_id, submit, state, since);

// Why one organization goes before another one: it runs on less than its guaranteed part, by its key, if the keys are
// equal because the configuration names it first, or because the other one has the guests' jobs, which go last.
enum class Because { guarantee, key, order, guests };
[[nodiscard]] std::string_view name_of(Because because);
constexpr auto values_of(std::type_identity<Because>) {
  return std::array{Because::guarantee, Because::key, Because::order, Because::guests};
}

// What an organization's jobs ask for, or got.
struct Demand {
  std::string organization = {};
  std::int64_t jobs = 0;
  Processors processors = {};
};
SHAPLEY_DESCRIBE(Demand, organization, jobs, processors);

struct AheadRow {
  Demand waits = {};
  std::size_t rank = 0;
  Because because = Because::key;
  bool by_what_runs = false;                        // it has the better rank because of what runs now
  bool by_other_clusters = false;                   // by this cluster's books alone it would not have the better rank
  std::vector<std::string> deciding_clusters = {};  // then those whose figures decide that
};
SHAPLEY_DESCRIBE(AheadRow, (flattened, waits), rank, because, by_what_runs, (supplement, by_other_clusters),
                 (supplement, deciding_clusters));

// The organizations with a better rank, in rank order, and the sum of their demands.
struct Ahead {
  std::int64_t jobs = 0;
  double processors = 0;
  std::vector<AheadRow> organizations = {};
};
SHAPLEY_DESCRIBE(Ahead, jobs, processors, organizations);

// The organization's other jobs that could start.
struct OwnJobs {
  std::int64_t jobs = 0;
  Processors processors = {};
  std::int64_t longer = 0;  // number of these that have waited longer than this job
};
SHAPLEY_DESCRIBE(OwnJobs, jobs, processors, longer);

// The organization overtakes another one (ahead), or is overtaken.
struct Turn {
  std::string organization = {};
  bool ahead = false;
  Dated at = {};
};
SHAPLEY_DESCRIBE(Turn, organization, ahead, at);

struct Turns {
  OutlookLimit limit = {};
  std::vector<Turn> next = {};  // by time
};
SHAPLEY_DESCRIBE(Turns, (flattened, limit), next);

// A run that began.
struct Start {
  std::uint32_t job = 0;
  std::string organization = {};
  Processors processors = {};
  Dated begin = {};
};
SHAPLEY_DESCRIBE(Start, job, organization, processors, begin);

struct NextStart {
  Start is = {};
  std::string job_id = {};               // "72_3" for a task of an array, whose own number only Slurm knows
  std::optional<std::size_t> rank = {};  // of its organization at the moment
};
SHAPLEY_DESCRIBE(NextStart, (flattened, is), job_id, rank);

// Starts that the asker may not see: their number by organization.
using HiddenStarts = std::map<std::string, int>;

// What started while a job waited.
struct Meanwhile {
  std::vector<Demand> organizations = {};
  std::vector<Start> last = {};             // the last ones, the latest first
  std::optional<HiddenStarts> hidden = {};  // of a daemon
};
SHAPLEY_DESCRIBE(Meanwhile, organizations, last, (supplement, hidden));

// The last run of a submission, and how long it had waited.
struct JobHistory {
  Processors processors = {};
  std::int64_t held_s = 0;                    // of segments that have ended
  std::optional<std::int64_t> waited_s = {};  // nullopt: not known
  Dated begin = {};
  Dated end = {};
  Dated waited_since = {};
  std::optional<Meanwhile> meanwhile = {};  // nullopt: it did not wait, or too much started to be read
};
SHAPLEY_DESCRIBE(JobHistory, processors, held_s, waited_s, begin, end, waited_since, meanwhile);

// A rule of a configuration that matches a job.
struct RuleMatched {
  std::string kind = {};
  std::string name = {};
  std::string organization = {};
  std::string through = {};  // "itself", or also the accounts above its own, which the ledger does not have
};
SHAPLEY_DESCRIBE(RuleMatched, kind, name, organization, through);

// Why a job belongs to its organization.
enum class BookedWay { rule, adjustment, rule_of_then, no_rule, account_above, unknown };
[[nodiscard]] std::string_view name_of(BookedWay way);
constexpr auto values_of(std::type_identity<BookedWay>) {
  return std::array{BookedWay::rule,    BookedWay::adjustment,    BookedWay::rule_of_then,
                    BookedWay::no_rule, BookedWay::account_above, BookedWay::unknown};
}

struct BookedBy {
  BookedWay by = BookedWay::unknown;
  std::uint32_t number = 0;  // adjustment: which, why and when
  std::string reason = {};
  Dated at = {};
  std::optional<RuleMatched> rule = {};  // rule of then: the rule, and when its configuration was loaded
  Dated loaded = {};
};
SHAPLEY_DESCRIBE(BookedBy, by, (supplement, number), (supplement, reason), (supplement, at), (supplement, rule),
                 (supplement, loaded));

// How ranks reach slurmctld, to compare its priorities with them.
struct Priorities {
  Mode mode = Mode::priorities;
  Order order = Order::strict;
  std::int64_t rank_weight = 0;
  std::vector<std::string> ranks = {};
  bool levels = false;
  bool plugin_connected = false;
  std::optional<std::int64_t> plugin_age_s = {};
  std::optional<std::int64_t> level = {};  // in explain: the job's level

  [[nodiscard]] bool observes() const { return mode == Mode::observe; }
  [[nodiscard]] bool is_strict() const { return order == Order::strict; }
};
SHAPLEY_DESCRIBE(Priorities, mode, order, rank_weight, ranks, levels, plugin_connected, plugin_age_s,
                 (supplement, level));

struct ExplainReport {
  int report_version = k_report_version;
  Dated at = {};
  bool past = false;
  std::string contribution = {};
  RankingReport ranking = {};
  JobAt job = {};
  RankedRow organization = {};
  std::size_t ranked = 0;  // number of organizations with a rank
  Ahead ahead = {};
  OwnJobs own = {};
  std::vector<RankedRow> organizations = {};
  std::vector<OtherClusterReport> clusters = {};  // as of StatusReport, without what the daemon adds
  Turns turns = {};
  std::vector<NextStart> next_starts = {};         // of the past: the runs that began after it
  std::optional<HiddenStarts> hidden_starts = {};  // of a daemon: those that the asker may not see
  std::optional<JobHistory> history = {};          // of the present: nullopt: it has no run
  std::optional<RuleMatched> rule = {};            // in force
  BookedBy booked_by = {};
  std::optional<Priorities> priorities = {};  // of a daemon's present
  std::optional<std::string> waits_for = {};  // of a daemon, about the present: its plugin's last reason
  AmountUnit in = {};                         // of the period so far
};
SHAPLEY_DESCRIBE(ExplainReport, report_version, at, past, contribution, ranking, job, organization, ranked, ahead, own,
                 organizations, (supplement, clusters), turns, next_starts, (supplement, hidden_starts), history, rule,
                 booked_by, priorities, waits_for, (flattened, in));

}  // namespace shapley::ledger
