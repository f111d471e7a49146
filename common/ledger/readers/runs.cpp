#include "ledger/readers/runs.hpp"

#include <algorithm>
#include <limits>
#include <variant>

#include "ledger/encoding/event_reader.hpp"
#include "ledger/store/rows.hpp"

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

// The same for the runs of which a segment was closed last; 4 is such an event, 0 a run (sql/001_ledger.sql).
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

// Adds the segment; true if its end is the latest so far.
bool add_segment(Run& run, const Statement& row) {
  if (row.is_null(3)) {
    run.ended = false;
    return false;
  }
  const Instant end{row.integer(3)};
  run.length += end - Instant{row.integer(2)};
  run.processors = std::max(run.processors, ProcessorMillionths{row.integer(4)});
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
  return ledger.rows().run("read runs", read_runs, asked);
}

Expected<std::vector<Run>> latest_runs(const Ledger& ledger, std::int64_t most, std::int64_t events) {
  return ledger.rows().run("read the latest runs", read_latest_runs, most, events);
}

Expected<std::vector<RunSegment>> segments_of_run(const Ledger& ledger, JobId job, Instant start) {
  return ledger.rows().run("read a run's segments", read_segments, job, start);
}

namespace {

// 0 is a run (sql/001_ledger.sql).
constexpr const char* k_segments_of_a_job =
    "SELECT s.anchor, (SELECT COALESCE(SUM(n.cpus), 0) FROM event_nodes n WHERE n.seq = s.opened), c.at, w.text FROM "
    "segment_events s JOIN event_rows o ON o.seq = s.opened "
    "LEFT JOIN event_rows c ON c.seq = s.closed LEFT JOIN words w ON w.word = c.reason "
    "WHERE s.kind = 0 AND s.job = ?1 AND s.retracted IS NULL ORDER BY s.anchor, o.at, s.ordinal";

Expected<std::vector<BookedRun>> read_booked_runs(const Database& database, JobId job) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(k_segments_of_a_job));
  select.bind(1, std::int64_t{job.value});
  std::vector<BookedRun> runs;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return runs;
    const Instant start{select.integer(0)};
    if (runs.empty() || runs.back().start != start) runs.push_back({.start = start, .end = k_beginning_of_time});
    BookedRun& run = runs.back();
    run.cpus = std::max(run.cpus, static_cast<std::uint64_t>(select.integer(1)));
    if (select.is_null(2)) {
      run.end.reset();
      run.end_seen = false;
    } else if (run.end && Instant{select.integer(2)} >= *run.end) {
      run.end = Instant{select.integer(2)};
      run.end_seen = select.text(3) != accounting::name_of(accounting::CloseReason::vanished);
    }
  }
}

}  // namespace

Expected<std::vector<BookedRun>> booked_runs(const Ledger& ledger, JobId job) {
  return ledger.rows().run("read a job's runs", read_booked_runs, job);
}

namespace {

using accounting::CloseReason;
using accounting::SegmentOpened;

// 0 is a run (sql/001_ledger.sql).
constexpr const char* k_segments_of_a_run =
    "SELECT s.ordinal, s.opened, s.retracted IS NOT NULL, o.at, c.at, w.text FROM segment_events s "
    "JOIN event_rows o ON o.seq = s.opened LEFT JOIN event_rows c ON c.seq = s.closed "
    "LEFT JOIN words w ON w.word = c.reason WHERE s.kind = 0 AND s.job = ?1 AND s.anchor = ?2 ORDER BY s.ordinal";

struct LastSegment {
  std::int64_t opened = 0;  // number of the event
  bool vanished = false;
  Instant end = k_beginning_of_time;
};

Expected<std::optional<UnseenEnd>> read_unseen_end(const Database& database, JobId job, Instant start) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(k_segments_of_a_run));
  select.bind(1, std::int64_t{job.value}).bind(2, start.value);
  UnseenEnd found;
  LastSegment last;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) break;
    found.next_ordinal = static_cast<std::uint32_t>(select.integer(0)) + 1;
    if (select.integer(2) != 0) continue;
    if (select.is_null(4)) return std::nullopt;
    const Instant end{select.integer(4)};
    found.held += end - Instant{select.integer(3)};
    if (end < last.end) continue;
    last = {.opened = select.integer(1), .vanished = select.text(5) == name_of(CloseReason::vanished), .end = end};
  }
  if (!last.vanished) return std::nullopt;
  found.end = last.end;
  SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
  SHAPLEY_TRY(reader.visit(last.opened - 1, last.opened, [&](const StoredEvent& stored) {
    if (const auto* opened = std::get_if<SegmentOpened>(&stored.event)) found.last = *opened;
    return Expected<void>{};
  }));
  return found;
}

// Segments of the run after those that it has.
class NextSegments {
 public:
  explicit NextSegments(const UnseenEnd& known) : opened_(known.last), ordinal_(known.next_ordinal) {}

  void add(Instant begin, Instant end, CloseReason reason, const std::string& job_state) {
    opened_.key.ordinal = ordinal_++;
    if (begin != opened_.begin) {
      opened_.released.reset();
      opened_.waited_as = {};
    }
    opened_.begin = begin;
    events.emplace_back(opened_);
    events.emplace_back(accounting::SegmentClosed{opened_.key, end, reason, job_state});
  }

  std::vector<accounting::Event> events;

 private:
  SegmentOpened opened_;
  std::uint32_t ordinal_;
};

}  // namespace

Expected<std::optional<UnseenEnd>> unseen_end(const Ledger& ledger, JobId job, Instant start) {
  return ledger.rows().run("read a run's end", read_unseen_end, job, start);
}

std::vector<accounting::Event> end_as_recorded(const UnseenEnd& known, const RecordedEnd& recorded, Instant now) {
  NextSegments writer(known);
  const CloseReason at_end = recorded.job_state == "REQUEUED" ? CloseReason::requeued : CloseReason::ended;
  if (recorded.end < known.end) {
    writer.events.emplace_back(accounting::SegmentRetracted{known.last.key, now});
    if (known.last.begin < recorded.end) {
      writer.add(known.last.begin, recorded.end, at_end, recorded.job_state);
    }
    return writer.events;
  }
  const Duration counted = recorded.end - known.last.key.anchor - recorded.suspended;
  const Instant stop = known.end + std::max(Duration{}, std::min(counted - known.held, recorded.end - known.end));
  if (stop == recorded.end) {
    if (known.end < stop) writer.add(known.end, stop, at_end, recorded.job_state);
    return writer.events;
  }
  // As daemon/observer books a run that was suspended until its end.
  writer.add(known.end, stop, CloseReason::suspended, "SUSPENDED");
  writer.add(recorded.end, recorded.end, at_end, recorded.job_state);
  return writer.events;
}

}  // namespace shapley::ledger
