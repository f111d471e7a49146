#include "ledger/readers/jobs.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "ledger/file/typed_rows.hpp"
#include "ledger/store/rows.hpp"

namespace shapley::ledger {

namespace {

using accounting::SegmentKey;

constexpr std::string_view k_submission_columns =
    "SELECT jobs.job, jobs.submit, organization, array_job, array_task, het_job, user_id, group_id, account, "
    "partition, qos, name, wckey, "
    "(SELECT MIN(later.submit) FROM event_jobs later WHERE later.job = jobs.job AND later.submit > jobs.submit) next, "
    "NOT EXISTS (SELECT 1 FROM event_jobs before WHERE before.job = jobs.job AND before.submit < jobs.submit) "
    "is_first FROM ";

constexpr std::string_view k_live_jobs =
    "SELECT job, submit FROM jobs WHERE job IN (SELECT job FROM segment_events WHERE closed IS NULL "
    "AND retracted IS NULL)";

constexpr std::string_view k_segment_columns =
    "SELECT s.kind, s.job, s.anchor, s.ordinal, s.opened, s.closed, s.retracted, "
    "(SELECT text FROM words WHERE word = o.organization) organization, o.at \"begin\", o.processors, o.released, "
    "(SELECT COALESCE(SUM(n.cpus), 0) FROM event_nodes n WHERE n.seq = s.opened) cpus, c.at \"end\", "
    "(SELECT text FROM words WHERE word = c.reason) reason, (SELECT text FROM words WHERE word = c.job_state) "
    "job_state "
    "FROM segment_events s LEFT JOIN event_rows o ON o.seq = s.opened LEFT JOIN event_rows c ON c.seq = s.closed "
    "WHERE s.job IN ";

constexpr std::string_view k_node_columns =
    "SELECT s.kind, s.job, s.anchor, s.ordinal, w.text node, n.processors FROM segment_events s "
    "JOIN event_nodes n ON n.seq = s.opened LEFT JOIN words w ON w.word = n.node WHERE s.job IN ";

template <typename Integers>
std::string listed(const Integers& values) {
  std::string out;
  for (const auto value : values) out.append(out.empty() ? "" : ",").append(std::to_string(value));
  return '(' + out + ')';
}

// SQL for a condition on jobs, with a parameter for each text.
class JobCondition {
 public:
  explicit JobCondition(const JobsWanted& wanted) {
    add_texts("jobs.organization", wanted.organizations);
    add_texts("jobs.account", wanted.accounts);
    if (!wanted.user_ids.empty()) sql_ += " AND jobs.user_id IN " + listed(wanted.user_ids);
    if (names_jobs(wanted)) sql_ += " AND " + named(wanted, "jobs.");
    if (!wanted.viewer) return;
    sql_ += " AND (jobs.user_id = " + std::to_string(wanted.viewer->user_id) + " OR jobs.account IN ";
    add_list(wanted.viewer->accounts);
    sql_ += ')';
  }

  [[nodiscard]] const std::string& sql() const { return sql_; }
  void bind(Statement& select) const {
    for (std::size_t i = 0; i < texts_.size(); ++i) select.bind(static_cast<int>(i) + 1, texts_[i]);
  }

  [[nodiscard]] static bool names_jobs(const JobsWanted& wanted) {
    return !wanted.jobs.empty() || !wanted.tasks.empty() || !wanted.parts.empty();
  }
  // Whether a job is named.
  [[nodiscard]] static std::string named(const JobsWanted& wanted, const std::string& table) {
    std::string any;
    const auto add = [&](const std::string& condition) { any += (any.empty() ? "(" : " OR ") + condition; };
    if (!wanted.jobs.empty()) {
      const std::string ids = " IN " + listed(wanted.jobs);
      for (const char* column : {"job", "array_job", "het_job"}) add(table + column + ids);
    }
    std::map<std::uint32_t, std::vector<std::uint32_t>> by_array;
    for (const JobPart& task : wanted.tasks) by_array[task.whole].push_back(task.part);
    for (const auto& [array, tasks] : by_array) {
      add('(' + table + "array_job = " + std::to_string(array) + " AND " + table + "array_task IN " + listed(tasks) +
          ')');
    }
    // Slurm numbers the parts consecutively.
    for (const JobPart& part : wanted.parts) {
      add('(' + table + "job = " + std::to_string(std::uint64_t{part.whole} + part.part) + " AND " + table +
          "het_job = " + std::to_string(part.whole) + ')');
    }
    return any + ')';
  }

 private:
  void add_texts(const std::string& column, const std::vector<std::string>& values) {
    if (values.empty()) return;
    sql_ += " AND " + column + " IN ";
    add_list(values);
  }
  void add_list(const std::vector<std::string>& values) {
    std::string list;
    for (const std::string& value : values) {
      texts_.push_back(value);
      list.append(list.empty() ? "?" : ",?").append(std::to_string(texts_.size()));
    }
    sql_ += '(' + list + ')';
  }

  std::string sql_ = "1";
  std::vector<std::string> texts_;
};

// SQL for the (job, submit) to examine. Every branch is a search in an index, so that a question's cost depends on its
// answer and not on the age of the ledger.
std::string to_examine(const JobsWanted& wanted) {
  if (!wanted.since) return std::string(k_live_jobs);
  if (JobCondition::names_jobs(wanted)) {
    return "SELECT job, submit FROM jobs WHERE " + JobCondition::named(wanted, "");
  }
  return "SELECT job, submit FROM jobs WHERE submit >= " + std::to_string(wanted.since->value) + " UNION " +
         std::string(k_live_jobs);
}

// CROSS JOIN keeps SQLite from walking all jobs in the order of submission instead.
Expected<std::vector<StoredSubmission>> read_wanted(const Database& database, const JobsWanted& wanted,
                                                    const QueryBudget& budget) {
  const JobCondition condition(wanted);
  const std::string sql =
      std::string(k_submission_columns) + '(' + to_examine(wanted) +
      ") AS chosen CROSS JOIN jobs ON jobs.job = chosen.job AND jobs.submit = chosen.submit WHERE " + condition.sql() +
      " ORDER BY jobs.submit DESC, jobs.job DESC LIMIT " + std::to_string(wanted.most + 1);
  return read_within<StoredSubmission>(database, sql, budget, [&](Statement& select) { condition.bind(select); });
}

// A segment's row says by which events it is known: they are there.
Expected<void> check_events(const StoredSegment& segment) {
  const bool has_begin = segment.begin && segment.organization && segment.processors;
  const bool has_end = segment.end && segment.reason && segment.job_state;
  if ((!segment.opened || has_begin) && (!segment.closed || has_end)) return {};
  return fail(Errc::corrupt,
              fmt::format("an event of a segment of job {} is missing or damaged; shapleyctl audit says what else is",
                          segment.key.job.value));
}

Expected<std::vector<StoredSegment>> read_stored_segments(const Database& database, const std::string& jobs,
                                                          std::string_view order, const QueryBudget& budget) {
  const std::string sql = std::string(k_segment_columns) + jobs + " ORDER BY " + std::string(order);
  SHAPLEY_TRY_ASSIGN(auto segments, read_within<StoredSegment>(database, sql, budget));
  for (const StoredSegment& segment : segments) SHAPLEY_TRY(check_events(segment));
  return segments;
}

// Errc::invalid_argument: an account that no text of the ledger is, as a misspelt one. What a user may not see stays
// unsaid.
Expected<void> check_accounts(const Database& database, const JobsWanted& wanted) {
  if (wanted.viewer) return {};
  for (const std::string& account : wanted.accounts) {
    SHAPLEY_TRY_ASSIGN(Statement select, database.prepare("SELECT 1 FROM words WHERE text = ?1 LIMIT 1"));
    SHAPLEY_TRY_ASSIGN(const bool is_known, select.bind(1, account).step());
    if (is_known) continue;
    SHAPLEY_TRY_ASSIGN(const Head begin, chain_begin(database));
    return fail(Errc::invalid_argument,
                fmt::format("the ledger has no job of account '{}'{}", account,
                            begin.sequence == 0 ? ""
                                                : "; it goes on from an archive, and jobs that are older are in its "
                                                  "archives only: shapleyctl jobs --ledger ARCHIVE"));
  }
  return {};
}

struct NodeOfSegment {
  SegmentKey key;
  StoredNode node;
};
constexpr auto description_of(std::type_identity<NodeOfSegment>) {
  return describe(member("", &NodeOfSegment::key), member("", &NodeOfSegment::node));
}

Expected<JobsFound> read_jobs(const Database& database, const JobsWanted& wanted, const QueryBudget& budget) {
  SHAPLEY_TRY_ASSIGN(const Transaction snapshot, Transaction::begin(database, Transaction::Kind::read));
  JobsFound found;
  SHAPLEY_TRY_ASSIGN(found.jobs, read_wanted(database, wanted, budget));
  if (found.jobs.empty()) SHAPLEY_TRY(check_accounts(database, wanted));
  found.truncated = found.jobs.size() > wanted.most;
  if (found.truncated) found.jobs.resize(wanted.most);
  std::ranges::reverse(found.jobs);
  std::vector<std::uint32_t> numbers;
  for (const StoredSubmission& job : found.jobs) numbers.push_back(job.job.value);
  const std::string jobs = listed(numbers);
  SHAPLEY_TRY_ASSIGN(auto nodes, read_within<NodeOfSegment>(database,
                                                            std::string(k_node_columns) + jobs +
                                                                " ORDER BY s.job, s.anchor, s.kind, s.ordinal, w.text",
                                                            budget));
  for (NodeOfSegment& row : nodes) found.nodes[row.key].push_back(std::move(row.node));
  SHAPLEY_TRY_ASSIGN(auto segments, read_stored_segments(
                                        database, jobs, "s.job, COALESCE(o.at, c.at), s.kind DESC, s.ordinal", budget));
  for (StoredSegment& segment : segments) found.segments[segment.key.job].push_back(std::move(segment));
  return found;
}

// `condition` is about the view jobs, with the parameters ?1 and ?2.
template <typename First, typename Second>
Expected<std::vector<StoredSubmission>> submissions_where(const Ledger& ledger, std::string_view condition,
                                                          const First& first, const Second& second) {
  return ledger.rows().run("read jobs", [&](const Database& database) {
    const std::string sql = std::string(k_submission_columns) + "jobs WHERE " + std::string(condition);
    return read_within<StoredSubmission>(database, sql, {},
                                         [&](Statement& select) { select.bind(1, first).bind(2, second); });
  });
}

Expected<std::optional<StoredSubmission>> first_of(Expected<std::vector<StoredSubmission>> found) {
  if (!found) return tl::unexpected<Error>(std::move(found).error());
  return found->empty() ? std::nullopt : std::optional(std::move(found->front()));
}

}  // namespace

Expected<JobsFound> find_jobs(const Ledger& ledger, const JobsWanted& wanted, QueryBudget budget) {
  return ledger.rows().run("read jobs", read_jobs, wanted, budget);
}

Expected<std::vector<StoredSubmission>> submissions_of_task(const Ledger& ledger, JobPart task) {
  return submissions_where(ledger, "array_job = ?1 AND array_task = ?2", std::int64_t{task.whole},
                           std::int64_t{task.part});
}

Expected<std::vector<StoredSubmission>> submissions_of_part(const Ledger& ledger, JobPart part) {
  // Slurm numbers the parts consecutively.
  return submissions_where(ledger, "job = ?1 AND het_job = ?2", std::int64_t{part.whole} + part.part,
                           std::int64_t{part.whole});
}

Expected<std::vector<StoredSubmission>> submissions_of_job(const Ledger& ledger, JobId job) {
  const std::int64_t number = job.value;
  return submissions_where(ledger, "job = ?1 OR array_job = ?1 OR het_job = ?2", number, number);
}

Expected<std::vector<StoredSubmission>> submissions_of_account(const Ledger& ledger, const std::string& account,
                                                               Instant before) {
  return submissions_where(ledger, "account = ?1 AND submit < ?2", account, before.value);
}

Expected<std::vector<StoredSubmission>> submissions_of_user(const Ledger& ledger, std::uint32_t user_id,
                                                            Instant before) {
  return submissions_where(ledger, "user_id = ?1 AND submit < ?2", std::int64_t{user_id}, before.value);
}

Expected<std::optional<StoredSubmission>> submission_at(const Ledger& ledger, JobId job, Instant submit) {
  return first_of(submissions_where(ledger, "job = ?1 AND submit = ?2", std::int64_t{job.value}, submit.value));
}

Expected<std::optional<StoredSubmission>> submission_by(const Ledger& ledger, JobId job, Instant by) {
  return first_of(submissions_where(ledger, "job = ?1 AND submit <= ?2 ORDER BY submit DESC LIMIT 1",
                                    std::int64_t{job.value}, by.value));
}

Expected<std::vector<StoredSegment>> segments_of_job(const Ledger& ledger, JobId job, QueryBudget budget) {
  return ledger.rows().run("read a job's segments", [&](const Database& database) {
    const std::string numbers = listed(std::vector{job.value});
    auto segments = read_stored_segments(database, numbers, "s.kind, s.anchor, s.ordinal", budget);
    if (segments) std::erase_if(*segments, [](const StoredSegment& segment) { return !segment.opened; });
    return segments;
  });
}

Expected<std::optional<Instant>> last_change(const Ledger& ledger, JobId job, Instant submit) {
  return ledger.rows().run("read a job's changes", [&](const Database& database) -> Expected<std::optional<Instant>> {
    SHAPLEY_TRY_ASSIGN(Statement select,
                       database.prepare("SELECT MAX(at) FROM job_changes WHERE job = ?1 AND submit = ?2"));
    SHAPLEY_TRY_ASSIGN(const bool row, select.bind(1, std::int64_t{job.value}).bind(2, submit.value).step());
    return row && !select.is_null(0) ? std::optional(Instant{select.integer(0)}) : std::nullopt;
  });
}

}  // namespace shapley::ledger
