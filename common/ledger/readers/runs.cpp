#include "ledger/readers/runs.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "ledger/encoding/event_reader.hpp"
#include "ledger/file/typed_rows.hpp"
#include "ledger/readers/jobs.hpp"
#include "ledger/store/rows.hpp"

namespace shapley::ledger {

namespace {

using accounting::CloseReason;
using accounting::SegmentKind;
using accounting::SegmentOpened;

// A segment of a run, with the job's description where the whole run is wanted.
struct SegmentOfRun {
  JobId job;
  Instant start;
  Instant begin;
  std::optional<Instant> end;
  ProcessorMillionths processors;
};
constexpr auto description_of(std::type_identity<SegmentOfRun>) {
  return describe(member("job", &SegmentOfRun::job), member("start", &SegmentOfRun::start),
                  member("begin", &SegmentOfRun::begin), member("end", &SegmentOfRun::end),
                  member("processors", &SegmentOfRun::processors));
}

struct SegmentWithJob {
  SegmentOfRun is;
  std::string organization;
  std::optional<std::string> job_state;  // of a segment that has ended
  Instant submit;
  std::uint32_t user_id = 0;
  std::uint32_t array_job = 0;
  std::string name;
  std::string wckey;
  std::string account;
};
constexpr auto description_of(std::type_identity<SegmentWithJob>) {
  return describe(member("", &SegmentWithJob::is), member("organization", &SegmentWithJob::organization),
                  member("job_state", &SegmentWithJob::job_state), member("submit", &SegmentWithJob::submit),
                  member("user_id", &SegmentWithJob::user_id), member("array_job", &SegmentWithJob::array_job),
                  member("name", &SegmentWithJob::name), member("wckey", &SegmentWithJob::wckey),
                  member("account", &SegmentWithJob::account));
}

// One row for each segment, those of a run together; where an event that opened or closed it is missing, its columns
// have no value of their type. The jobs are chosen first, newest first, so that a bounded question has a bounded cost;
// CROSS JOIN keeps SQLite from walking all segments instead.
constexpr const char* k_segments_with_jobs =
    "SELECT s.job, s.anchor, o.at, CASE WHEN s.closed IS NOT NULL THEN COALESCE(c.at, 'missing') END \"end\", "
    "o.processors, (SELECT text FROM words WHERE word = o.organization) organization, "
    "(SELECT text FROM words WHERE word = c.job_state) job_state, "
    "j.submit, j.user_id, COALESCE(j.array_job, 0), j.name, j.wckey, j.account "
    "FROM (SELECT job, submit, user_id, array_job, name, wckey, account FROM jobs WHERE submit >= ?1 "
    "ORDER BY submit DESC LIMIT ?2) AS j CROSS JOIN segment_events AS s ON s.job = j.job AND s.anchor >= j.submit "
    "LEFT JOIN event_rows o ON o.seq = s.opened LEFT JOIN event_rows c ON c.seq = s.closed "
    "WHERE s.kind = :run AND s.retracted IS NULL AND s.opened IS NOT NULL AND NOT EXISTS "
    "(SELECT 1 FROM event_jobs later WHERE later.job = j.job AND later.submit > j.submit AND later.submit <= s.anchor) "
    "ORDER BY s.job, s.anchor, s.ordinal";

// The same for the runs of which a segment was closed last.
constexpr const char* k_segments_that_ended_last =
    "SELECT s.job, s.anchor, o.at, CASE WHEN s.closed IS NOT NULL THEN COALESCE(c.at, 'missing') END \"end\", "
    "o.processors FROM (SELECT DISTINCT job, anchor FROM (SELECT job, anchor FROM event_rows WHERE kind = :closed AND "
    "seq > (SELECT MAX(seq) FROM event_rows) - ?2 ORDER BY seq DESC LIMIT ?1)) AS latest "
    "CROSS JOIN segment_events AS s ON s.job = latest.job AND s.anchor = latest.anchor AND s.kind = :run "
    "LEFT JOIN event_rows o ON o.seq = s.opened LEFT JOIN event_rows c ON c.seq = s.closed "
    "WHERE s.retracted IS NULL AND s.opened IS NOT NULL ORDER BY s.job, s.anchor, s.ordinal";

EndedRun run_of(const SegmentWithJob& row) {
  return {.job = row.is.job,
          .start = row.is.start,
          .end = k_beginning_of_time,
          .length = {},
          .processors = {},
          .ended = true,
          .organization = row.organization,
          .job_state = {},
          .submit = row.submit,
          .user_id = row.user_id,
          .array_job = row.array_job,
          .name = row.name,
          .wckey = row.wckey,
          .account = row.account};
}

// Adds the segment; true if its end is the latest so far.
bool add_segment(EndedRun& run, const SegmentOfRun& segment) {
  if (!segment.end) {
    run.ended = false;
    return false;
  }
  run.length += *segment.end - segment.begin;
  run.processors = std::max(run.processors, segment.processors);
  if (*segment.end <= run.end) return false;
  run.end = *segment.end;
  return true;
}

bool is_of(const EndedRun& run, const SegmentOfRun& segment) {
  return run.job == segment.job && run.start == segment.start;
}

Expected<std::vector<EndedRun>> read_runs(const Database& database, const RunsAsked& asked) {
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(with_kinds(k_segments_with_jobs)));
  select.bind(1, asked.submitted_since.value_or(k_beginning_of_time).value);
  select.bind(2, asked.newest_jobs.value_or(std::numeric_limits<std::int64_t>::max()));
  std::vector<EndedRun> result;
  const auto none_ended = [&] { return !result.empty() && result.back().end == k_beginning_of_time; };
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool there, select.step());
    if (!there) break;
    SHAPLEY_TRY_ASSIGN(const SegmentWithJob row, typed_row<SegmentWithJob>(select));
    if (result.empty() || !is_of(result.back(), row.is)) {
      if (none_ended()) result.pop_back();
      result.push_back(run_of(row));
    }
    if (!add_segment(result.back(), row.is)) continue;
    if (!row.job_state) return fail(Errc::corrupt, "the state in which a run ended is missing");
    result.back().job_state = *row.job_state;
  }
  if (none_ended()) result.pop_back();
  return result;
}

Expected<std::vector<EndedRun>> read_latest_runs(const Database& database, std::int64_t most, std::int64_t events) {
  SHAPLEY_TRY_ASSIGN(const auto segments,
                     read_within<SegmentOfRun>(database, with_kinds(k_segments_that_ended_last), {},
                                               [&](Statement& select) { select.bind(1, most).bind(2, events); }));
  std::vector<EndedRun> result;
  for (const SegmentOfRun& segment : segments) {
    if (result.empty() || !is_of(result.back(), segment)) {
      EndedRun& run = result.emplace_back();
      run.job = segment.job;
      run.start = segment.start;
      run.end = k_beginning_of_time;
      run.ended = true;
    }
    add_segment(result.back(), segment);
  }
  return result;
}

}  // namespace

Expected<std::vector<EndedRun>> runs(const Ledger& ledger, const RunsAsked& asked) {
  return ledger.rows().run("read runs", read_runs, asked);
}

Expected<std::vector<EndedRun>> latest_runs(const Ledger& ledger, std::int64_t most, std::int64_t events) {
  return ledger.rows().run("read the latest runs", read_latest_runs, most, events);
}

namespace {

// Of the runs of a job.
Expected<std::vector<StoredSegment>> segments_of_runs(const Ledger& ledger, JobId job, QueryBudget budget = {}) {
  SHAPLEY_TRY_ASSIGN(auto segments, segments_of_job(ledger, job, budget));
  std::erase_if(segments, [](const StoredSegment& segment) { return segment.key.kind != SegmentKind::run; });
  return segments;
}

bool has_vanished(const StoredSegment& segment) {
  return segment.reason == accounting::name_of(CloseReason::vanished);
}

void by_begin(std::vector<StoredSegment>& segments) {
  std::ranges::stable_sort(segments, {}, [](const StoredSegment& s) { return std::pair(s.key.anchor, *s.begin); });
}

}  // namespace

Expected<std::vector<RunSegment>> segments_of_run(const Ledger& ledger, JobId job, Instant start) {
  SHAPLEY_TRY_ASSIGN(const auto segments, segments_of_runs(ledger, job));
  std::vector<RunSegment> of_run;
  for (const StoredSegment& segment : segments) {
    if (segment.key.anchor != start) continue;
    of_run.push_back({.ordinal = segment.key.ordinal,
                      .begin = *segment.begin,
                      .end = segment.end,
                      .organization = *segment.organization,
                      .retracted = segment.retracted.has_value()});
  }
  return of_run;
}

Expected<void> for_each_held(
    const Ledger& ledger, Instant since, Instant until,
    const std::function<Expected<void>(const SegmentOpened&, std::optional<Instant> end)>& visit) {
  return ledger.rows().run("read what runs held", [&](const Database& database) -> Expected<void> {
    SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
    SHAPLEY_TRY_ASSIGN(
        Statement select,
        database.prepare(with_kinds("SELECT o.seq, c.at FROM segment_events s JOIN event_rows o ON o.seq = s.opened "
                                    "LEFT JOIN event_rows c ON c.seq = s.closed WHERE s.kind = :run AND s.retracted "
                                    "IS NULL AND o.at < ?2 AND (c.at IS NULL OR c.at > ?1) ORDER BY o.seq")));
    select.bind(1, since.value).bind(2, until.value);
    while (true) {
      SHAPLEY_TRY_ASSIGN(const bool there, select.step());
      if (!there) return {};
      SHAPLEY_TRY_ASSIGN(const StoredEvent stored, reader.read(select.integer(0)));
      const auto end = select.is_null(1) ? std::nullopt : std::optional(Instant{select.integer(1)});
      if (const auto* opened = std::get_if<SegmentOpened>(&stored.event)) SHAPLEY_TRY(visit(*opened, end));
    }
  });
}

Expected<std::vector<BookedRun>> booked_runs(const Ledger& ledger, JobId job) {
  SHAPLEY_TRY_ASSIGN(auto segments, segments_of_runs(ledger, job));
  by_begin(segments);
  std::vector<BookedRun> runs;
  for (const StoredSegment& segment : segments) {
    if (segment.retracted) continue;
    if (runs.empty() || runs.back().start != segment.key.anchor)
      runs.push_back({.start = segment.key.anchor, .end = k_beginning_of_time});
    BookedRun& run = runs.back();
    run.cpus = std::max(run.cpus, segment.cpus);
    if (!segment.end) {
      run.end.reset();
      run.end_seen = false;
    } else if (run.end && *segment.end >= *run.end) {
      run.end = segment.end;
      run.end_seen = !has_vanished(segment);
    }
  }
  return runs;
}

Expected<std::optional<UnseenEnd>> unseen_end(const Ledger& ledger, JobId job, Instant start) {
  SHAPLEY_TRY_ASSIGN(const auto segments, segments_of_runs(ledger, job));
  UnseenEnd found;
  const StoredSegment* last = nullptr;
  for (const StoredSegment& segment : segments) {
    if (segment.key.anchor != start) continue;
    found.next_ordinal = segment.key.ordinal + 1;
    if (segment.retracted) continue;
    if (!segment.end) return std::nullopt;
    found.held += *segment.end - *segment.begin;
    if (last == nullptr || *segment.end >= *last->end) last = &segment;
  }
  if (last == nullptr || !has_vanished(*last)) return std::nullopt;
  found.end = *last->end;
  return ledger.rows().run("read a run's end", [&](const Database& database) -> Expected<std::optional<UnseenEnd>> {
    SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
    SHAPLEY_TRY_ASSIGN(const StoredEvent stored, reader.read(*last->opened));
    if (const auto* opened = std::get_if<SegmentOpened>(&stored.event)) found.last = *opened;
    return found;
  });
}

Expected<std::optional<LastRun>> last_run(const Ledger& ledger, JobId job, Instant submit, QueryBudget budget) {
  SHAPLEY_TRY_ASSIGN(auto segments, segments_of_runs(ledger, job, budget));
  std::erase_if(segments, [](const StoredSegment& segment) { return segment.retracted.has_value(); });
  if (segments.empty() || segments.back().key.anchor < submit) return std::nullopt;
  const Instant start = segments.back().key.anchor;
  std::erase_if(segments, [&](const StoredSegment& segment) { return segment.key.anchor != start; });
  by_begin(segments);
  LastRun run{.start = start, .first_event = *segments.front().opened, .released = segments.front().released};
  for (const StoredSegment& segment : segments) {
    run.end = segment.end;
    if (segment.end) run.held += *segment.end - *segment.begin;
    run.processors = std::max(run.processors, *segment.processors);
  }
  return run;
}

namespace {

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

namespace {

// Runs that began from ?1 on, before ?2 or then with an earlier number than ?3, of other jobs than ?4. They were
// recorded after the job or its array ?5 was described, submitted at ?6, and before ?3 or a little later: one scan of
// the cluster finds several starts, in any order.
constexpr const char* k_earlier_starts =
    " FROM event_rows e JOIN segment_events s ON s.job = e.job AND s.anchor = e.anchor AND s.kind = :run AND "
    "s.ordinal = e.ordinal LEFT JOIN words w ON w.word = e.organization WHERE e.kind = :opened AND s.retracted IS NULL "
    "AND e.anchor = e.at AND e.at >= ?1 AND (e.at < ?2 OR (e.at = ?2 AND e.seq < ?3)) AND e.job <> ?4 AND "
    "e.seq < ?3 + 10000 AND e.seq > (SELECT COALESCE(MIN(seq), ?3) FROM event_jobs WHERE job IN (?4, ?5) AND "
    "submit = ?6)";

Expected<EarlierStarts> read_earlier_starts(const Database& database, const StartsAsked& asked,
                                            const QueryBudget& budget) {
  const auto bind = [&](Statement& select) {
    select.bind(1, asked.since.value).bind(2, asked.run.start.value).bind(3, asked.run.first_event);
    select.bind(4, std::int64_t{asked.job.value}).bind(5, std::int64_t{asked.array_job.value_or(asked.job.value)});
    select.bind(6, asked.submit.value);
  };
  const std::string earlier = with_kinds(k_earlier_starts);
  EarlierStarts starts;
  SHAPLEY_TRY_ASSIGN(starts.organizations,
                     read_within<StartsOfOrganization>(
                         database,
                         "SELECT w.text organization, COUNT(*) runs, CASE WHEN COUNT(e.processors) = COUNT(*) THEN "
                         "SUM(e.processors) END processors" +
                             earlier + " GROUP BY w.text ORDER BY 2 DESC, 1",
                         budget, bind));
  SHAPLEY_TRY_ASSIGN(starts.last, read_within<StartedRun>(database,
                                                          "SELECT w.text organization, e.job, e.at, e.processors" +
                                                              earlier + " ORDER BY e.at DESC, e.seq DESC LIMIT " +
                                                              std::to_string(asked.most_listed),
                                                          budget, bind));
  return starts;
}

Expected<bool> has_restated(const Database& database, const accounting::AdjustmentMade& made, JobId job,
                            Instant submit) {
  SHAPLEY_TRY_ASSIGN(Statement select,
                     database.prepare(with_kinds(
                         "SELECT 1 FROM event_texts t JOIN event_rows e ON e.seq > t.seq AND e.seq <= t.seq + ?2 "
                         "WHERE t.key = ?1 AND e.kind = :opened AND e.job = ?3 AND e.anchor >= ?4 LIMIT 1")));
  const std::string key = accounting::event_key(made);
  select.bind(1, key).bind(2, made.facts).bind(3, std::int64_t{job.value}).bind(4, submit.value);
  return select.step();
}

}  // namespace

Expected<EarlierStarts> earlier_starts(const Ledger& ledger, const StartsAsked& asked, QueryBudget budget) {
  return ledger.rows().run("read what started", read_earlier_starts, asked, budget);
}

Expected<bool> restates_run(const Ledger& ledger, const accounting::AdjustmentMade& made, JobId job, Instant submit) {
  return ledger.rows().run("read an adjustment's facts", has_restated, made, job, submit);
}

}  // namespace shapley::ledger
