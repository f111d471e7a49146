#include "ledger/readers/runs.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "ledger/store/ledger_impl.hpp"

namespace shapley::ledger {

namespace {

// One row for each segment, those of a run together. The jobs are chosen first, newest first, so that a bounded
// question has a bounded cost; CROSS JOIN keeps SQLite from walking all segments instead.
constexpr const char* k_segments_with_jobs =
    "SELECT s.job, s.anchor, s.begin, s.end, s.processors, s.organization, s.job_state, "
    "j.submit, j.user_id, COALESCE(j.array_job, 0), j.name, j.wckey, j.account "
    "FROM (SELECT job, submit, user_id, array_job, name, wckey, account FROM jobs WHERE submit >= ?1 "
    "ORDER BY submit DESC LIMIT ?2) AS j CROSS JOIN segments AS s ON s.job = j.job AND s.anchor >= j.submit "
    "WHERE s.kind = 'run' AND s.retracted IS NULL AND s.begin IS NOT NULL AND NOT EXISTS (SELECT 1 FROM jobs AS later "
    "WHERE later.job = j.job AND later.submit > j.submit AND later.submit <= s.anchor) "
    "ORDER BY s.job, s.anchor, s.ordinal";

// The same of the runs that a segment of was closed last; 4 is such an event, 0 a run (sql/005_compact.sql).
constexpr const char* k_segments_that_ended_last =
    "SELECT s.job, s.anchor, o.at, c.at, o.processors "
    "FROM (SELECT DISTINCT job, anchor FROM (SELECT job, anchor FROM event_rows WHERE kind = 4 AND "
    "seq > (SELECT MAX(seq) FROM event_rows) - ?2 ORDER BY seq DESC LIMIT ?1)) AS latest "
    "CROSS JOIN segment_events AS s ON s.job = latest.job AND s.anchor = latest.anchor AND s.kind = 0 "
    "CROSS JOIN event_rows AS o ON o.seq = s.opened LEFT JOIN event_rows AS c ON c.seq = s.closed "
    "WHERE s.retracted IS NULL ORDER BY s.job, s.anchor, s.ordinal";

JobId job_id(std::int64_t value) {
  return {static_cast<std::uint32_t>(value)};
}

Run run_of(const Statement& row) {
  return {.job = job_id(row.integer(0)),
          .start = {row.integer(1)},
          .end = k_beginning_of_time,
          .length = {},
          .processors = {},
          .ended = true,
          .organization = std::string(row.text(5)),
          .job_state = {},
          .submit = {row.integer(7)},
          .user_id = static_cast<std::uint32_t>(row.integer(8)),
          .array_job = static_cast<std::uint32_t>(row.integer(9)),
          .name = std::string(row.text(10)),
          .wckey = std::string(row.text(11)),
          .account = std::string(row.text(12))};
}

// True if it is the latest end so far.
bool add_segment(Run& run, const Statement& row) {
  if (row.is_null(3)) {
    run.ended = false;
    return false;
  }
  const Instant end{row.integer(3)};
  run.length += end - Instant{row.integer(2)};
  run.processors = std::max(run.processors, MicroProcessors{row.integer(4)});
  if (end <= run.end) return false;
  run.end = end;
  return true;
}

Expected<std::vector<Run>> read_runs(const Database& database, const RunsAsked& asked) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(k_segments_with_jobs));
  select.bind(1, asked.submitted_since.value_or(k_beginning_of_time).value);
  select.bind(2, asked.newest_jobs.value_or(std::numeric_limits<std::int64_t>::max()));
  std::vector<Run> result;
  const auto none_ended = [&] { return !result.empty() && result.back().end == k_beginning_of_time; };
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    const bool next = !row || result.empty() || result.back().job != job_id(select.integer(0)) ||
                      result.back().start != Instant{select.integer(1)};
    if (next && none_ended()) result.pop_back();
    if (!row) return result;
    if (next) result.push_back(run_of(select));
    if (add_segment(result.back(), select)) result.back().job_state = select.text(6);
  }
}

Expected<std::vector<Run>> read_latest_runs(const Database& database, std::int64_t most, std::int64_t events) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(k_segments_that_ended_last));
  select.bind(1, most).bind(2, events);
  std::vector<Run> result;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return result;
    const JobId job = job_id(select.integer(0));
    const Instant start{select.integer(1)};
    if (result.empty() || result.back().job != job || result.back().start != start) {
      Run& run = result.emplace_back();
      run.job = job;
      run.start = start;
      run.end = k_beginning_of_time;
      run.ended = true;
    }
    add_segment(result.back(), select);
  }
}

Expected<std::vector<RunSegment>> read_segments(const Database& database, JobId job, Instant start) {
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare("SELECT ordinal, begin, end, organization, retracted FROM segments "
                                      "WHERE kind = 'run' AND job = ?1 AND anchor = ?2 AND begin IS NOT NULL "
                                      "ORDER BY ordinal"));
  select.bind(1, std::int64_t{job.value}).bind(2, start.value);
  std::vector<RunSegment> segments;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return segments;
    segments.push_back({.ordinal = static_cast<std::uint32_t>(select.integer(0)),
                        .begin = {select.integer(1)},
                        .end = select.is_null(2) ? std::nullopt : std::optional(Instant{select.integer(2)}),
                        .organization = std::string(select.text(3)),
                        .retracted = !select.is_null(4)});
  }
}

}  // namespace

Expected<std::vector<Run>> runs(const Ledger& ledger, const RunsAsked& asked) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto result = read_runs(impl.database, asked);
  if (!result) return impl.failed("read runs", std::move(result).error());
  return result;
}

Expected<std::vector<Run>> latest_runs(const Ledger& ledger, std::int64_t most, std::int64_t events) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto result = read_latest_runs(impl.database, most, events);
  if (!result) return impl.failed("read the latest runs", std::move(result).error());
  return result;
}

Expected<std::vector<RunSegment>> segments_of_run(const Ledger& ledger, JobId job, Instant start) {
  const Ledger::Impl& impl = LedgerAccess::impl(ledger);
  auto segments = read_segments(impl.database, job, start);
  if (!segments) return impl.failed("read a run's segments", std::move(segments).error());
  return segments;
}

}  // namespace shapley::ledger
