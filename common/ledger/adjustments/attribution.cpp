#include "ledger/adjustments/attribution.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "base/calendar.hpp"
#include "base/contract.hpp"
#include "ledger/encoding/event_reader.hpp"

namespace shapley::ledger {

namespace {

using accounting::Event;
using accounting::SegmentClosed;
using accounting::SegmentKey;
using accounting::SegmentKind;
using accounting::SegmentOpened;
using accounting::SegmentRetracted;

// Identifies the segments of one stay on nodes, or of one stretch of waiting.
using Stay = std::tuple<SegmentKind, JobId, Instant>;

// One submission of a job, as the newest description has it.
struct Submission {
  accounting::JobDescribed described;
  Instant begin;  // its runs begin in [begin, end)
  Instant end;
};

struct StoredSegment {
  SegmentKey key;
  std::int64_t opened = 0;  // number of the event
  std::int64_t closed = 0;  // 0: open
  bool retracted = false;
  Instant begin;
  Instant end;  // k_end_of_time: open
  std::string organization;
};

constexpr std::string_view k_submissions =
    "SELECT job, submit, organization, COALESCE(array_job, 0), array_task, COALESCE(het_job, 0), user_id, group_id, "
    "account, partition, qos, name, wckey, "
    "(SELECT MIN(later.submit) FROM event_jobs later WHERE later.job = jobs.job AND later.submit > jobs.submit), "
    "EXISTS (SELECT 1 FROM event_jobs before WHERE before.job = jobs.job AND before.submit < jobs.submit) "
    "FROM jobs WHERE ";

constexpr std::string_view k_segments =
    "SELECT s.kind, s.anchor, s.ordinal, s.opened, COALESCE(s.closed, 0), s.retracted IS NOT NULL, o.at, c.at, w.text "
    "FROM segment_events s JOIN event_rows o ON o.seq = s.opened LEFT JOIN event_rows c ON c.seq = s.closed "
    "JOIN words w ON w.word = o.organization WHERE s.job = ?1 ORDER BY s.kind, s.anchor, s.ordinal";

std::uint32_t small_at(const Statement& row, int column) {
  return static_cast<std::uint32_t>(row.integer(column));
}

Submission submission_of(const Statement& row) {
  Submission submission{.described = {.job = {small_at(row, 0)},
                                      .submit = {row.integer(1)},
                                      .organization = std::string(row.text(2)),
                                      .array_job = small_at(row, 3),
                                      .array_task = std::nullopt,
                                      .het_job = small_at(row, 5),
                                      .user_id = small_at(row, 6),
                                      .group_id = small_at(row, 7),
                                      .account = std::string(row.text(8)),
                                      .partition = std::string(row.text(9)),
                                      .qos = std::string(row.text(10)),
                                      .name = std::string(row.text(11)),
                                      .wckey = std::string(row.text(12))},
                        .begin = {row.integer(1)},
                        .end = k_end_of_time};
  if (!row.is_null(4)) submission.described.array_task = small_at(row, 4);
  if (!row.is_null(13)) submission.end = {row.integer(13)};
  if (row.integer(14) == 0) submission.begin = k_beginning_of_time;
  return submission;
}

Expected<std::vector<Submission>> read_submissions(Statement select) {
  std::vector<Submission> submissions;
  while (true) {
    SHAPLEY_TRY_ASSIGN(const bool row, select.step());
    if (!row) return submissions;
    submissions.push_back(submission_of(select));
  }
}

Expected<std::vector<Submission>> submissions_of(const Database& database, const AttributionAsked& asked) {
  const std::string sql(k_submissions);
  if (asked.job && asked.task) {
    SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(sql + "array_job = ?1 AND array_task = ?2"));
    select.bind(1, std::int64_t{asked.job->value}).bind(2, std::int64_t{*asked.task});
    return read_submissions(std::move(select));
  }
  if (asked.job && asked.part) {
    // Slurm numbers the parts consecutively.
    SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(sql + "job = ?1 AND het_job = ?2"));
    select.bind(1, std::int64_t{asked.job->value} + *asked.part).bind(2, std::int64_t{asked.job->value});
    return read_submissions(std::move(select));
  }
  if (asked.job) {
    SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(sql + "job = ?1 OR array_job = ?1 OR het_job = ?1"));
    select.bind(1, std::int64_t{asked.job->value});
    return read_submissions(std::move(select));
  }
  if (asked.account) {
    SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(sql + "account = ?1 AND submit < ?2"));
    select.bind(1, *asked.account).bind(2, asked.until->value);
    return read_submissions(std::move(select));
  }
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(sql + "user_id = ?1 AND submit < ?2"));
  select.bind(1, std::int64_t{*asked.user_id}).bind(2, asked.until->value);
  return read_submissions(std::move(select));
}

class Restating {
 public:
  static Expected<Restating> create(const Database& database, Instant now) {
    SHAPLEY_TRY_ASSIGN(Statement segments, database.prepare(k_segments));
    SHAPLEY_TRY_ASSIGN(Statement change,
                       database.prepare("SELECT MAX(at) FROM job_changes WHERE job = ?1 AND submit = ?2"));
    SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(database));
    return Restating(std::move(segments), std::move(change), std::move(reader), now);
  }

  Expected<std::vector<StoredSegment>> segments_of(JobId job) {
    std::vector<StoredSegment> segments;
    segments_.bind(1, std::int64_t{job.value});
    while (true) {
      SHAPLEY_TRY_ASSIGN(const bool row, segments_.step());
      if (!row) break;
      segments.push_back({.key = {segments_.integer(0) == 0 ? SegmentKind::run : SegmentKind::wait, job,
                                  Instant{segments_.integer(1)}, small_at(segments_, 2)},
                          .opened = segments_.integer(3),
                          .closed = segments_.integer(4),
                          .retracted = segments_.integer(5) != 0,
                          .begin = {segments_.integer(6)},
                          .end = segments_.is_null(7) ? k_end_of_time : Instant{segments_.integer(7)},
                          .organization = std::string(segments_.text(8))});
    }
    segments_.reset();
    return segments;
  }

  // Restates the segments of the stay that count. `all`: of the job.
  Expected<void> restate(const std::vector<StoredSegment>& all, const Stay& stay, const std::string& into) {
    std::uint32_t next = 0;
    for (const StoredSegment& segment : all) {
      if (stay_of(segment.key) == stay) next = std::max(next, segment.key.ordinal + 1);
    }
    bool moved = false;
    for (const StoredSegment& segment : all) {
      if (stay_of(segment.key) != stay || segment.retracted || segment.organization == into) continue;
      SHAPLEY_TRY(restate(segment, next++, into));
      moved = true;
    }
    if (!moved || std::get<SegmentKind>(stay) == SegmentKind::wait) return {};
    if (++result_.runs <= k_most_adjusted_runs) return {};
    return fail(Errc::limit, "these are more than " + std::to_string(k_most_adjusted_runs) +
                                 " runs; adjust a shorter time at once (--since, --until)");
  }

  // `jobs` and `shapleyctl jobs` take a job's organization from its newest run, from the run's begin on.
  Expected<void> describe(const Submission& submission, Instant run, const std::string& into) {
    accounting::JobDescribed now = submission.described;
    if (now.organization == into) return {};
    SHAPLEY_TRY_ASSIGN(const bool row, change_.bind(1, std::int64_t{now.job.value}).bind(2, now.submit.value).step());
    Instant at = run;
    if (row && !change_.is_null(0)) at = std::max(at, Instant{change_.integer(0)} + Duration{1});
    change_.reset();
    now.organization = into;
    result_.facts.emplace_back(accounting::change_to(now, at));
    return {};
  }

  static Stay stay_of(const SegmentKey& key) { return {key.kind, key.job, key.anchor}; }

  Restated take() && { return std::move(result_); }
  [[nodiscard]] std::int64_t runs() const { return result_.runs; }

 private:
  Restating(Statement segments, Statement change, EventReader reader, Instant now)
      : segments_(std::move(segments)), change_(std::move(change)), reader_(std::move(reader)), now_(now) {}

  Expected<Event> event(std::int64_t sequence) {
    std::optional<Event> found;
    SHAPLEY_TRY(reader_.visit(sequence - 1, sequence, [&](const StoredEvent& stored) {
      found = stored.event;
      return Expected<void>{};
    }));
    if (!found) return fail(Errc::corrupt, "event " + std::to_string(sequence) + " is missing");
    return *std::move(found);
  }

  Expected<void> restate(const StoredSegment& segment, std::uint32_t ordinal, const std::string& into) {
    SHAPLEY_TRY_ASSIGN(Event event_opened, event(segment.opened));
    auto* opened = std::get_if<SegmentOpened>(&event_opened);
    if (opened == nullptr) return fail(Errc::corrupt, "event " + std::to_string(segment.opened) + " opens nothing");
    result_.facts.emplace_back(SegmentRetracted{segment.key, segment.begin});
    opened->key.ordinal = ordinal;
    opened->organization = into;
    const bool is_run = segment.key.kind == SegmentKind::run;
    const Instant end = std::min(segment.end, std::max(now_, segment.begin));
    if (is_run) result_.work += opened->processors * (end - segment.begin);
    result_.facts.push_back(std::move(event_opened));
    if (segment.closed == 0) return {};
    SHAPLEY_TRY_ASSIGN(Event event_closed, event(segment.closed));
    auto* closed = std::get_if<SegmentClosed>(&event_closed);
    if (closed == nullptr) return fail(Errc::corrupt, "event " + std::to_string(segment.closed) + " closes nothing");
    closed->key.ordinal = ordinal;
    result_.facts.push_back(std::move(event_closed));
    return {};
  }

  Statement segments_;
  Statement change_;
  EventReader reader_;
  Instant now_;
  Restated result_;
};

bool is_run_segment(const StoredSegment& segment) {
  return segment.key.kind == SegmentKind::run;
}

// The newest run of a submission that counts; nullopt: it has no such run.
std::optional<Instant> newest_run(const std::vector<StoredSegment>& all, Instant begin, Instant end) {
  std::optional<Instant> newest;
  for (const StoredSegment& segment : all) {
    const Instant anchor = segment.key.anchor;
    if (is_run_segment(segment) && !segment.retracted && anchor >= begin && anchor < end) {
      newest = std::max(newest.value_or(anchor), anchor);
    }
  }
  return newest;
}

// Whether the submission waits now: such waits follow the configuration's rules.
bool waits_now(const std::vector<StoredSegment>& all, Instant begin, Instant end) {
  return std::any_of(all.begin(), all.end(), [&](const StoredSegment& segment) {
    return !is_run_segment(segment) && !segment.retracted && segment.closed == 0 && segment.begin >= begin &&
           segment.begin < end;
  });
}

bool is_own(const StoredSegment& segment, const Submission& of) {
  return !segment.retracted && segment.begin >= of.begin && segment.begin < of.end;
}

class Attributing {
 public:
  Attributing(Restating& restating, const AttributionAsked& asked) : restating_(restating), asked_(asked) {}

  Expected<void> take(const Submission& submission) {
    SHAPLEY_TRY_ASSIGN(const auto all, restating_.segments_of(submission.described.job));
    std::set<Instant> runs;
    for (const StoredSegment& segment : all) {
      const Instant anchor = segment.key.anchor;
      const bool chosen = is_run_segment(segment) && !segment.retracted && anchor >= submission.begin &&
                          anchor < submission.end && anchor >= asked_.since.value_or(k_beginning_of_time) &&
                          anchor < asked_.until.value_or(k_end_of_time);
      if (chosen) runs.insert(anchor);
    }
    const std::int64_t before = restating_.runs();
    for (const Instant run : runs) {
      SHAPLEY_TRY(restating_.restate(all, {SegmentKind::run, submission.described.job, run}, asked_.into));
    }
    if (!runs.empty()) SHAPLEY_TRY(take_waits(all, submission, *runs.rbegin()));
    if (restating_.runs() == before) return {};
    const auto newest = newest_run(all, submission.begin, submission.end);
    if (newest != *runs.rbegin() || waits_now(all, submission.begin, submission.end)) return {};
    return restating_.describe(submission, *newest, asked_.into);
  }

 private:
  // Restates the waits that led to the runs. The wait of all pending tasks of an array moves with the whole array only.
  Expected<void> take_waits(const std::vector<StoredSegment>& all, const Submission& submission, Instant last_run) {
    if (asked_.task && submission.described.array_job == submission.described.job.value) return {};
    std::set<Instant> anchors;
    for (const StoredSegment& segment : all) {
      if (is_run_segment(segment) || !is_own(segment, submission) || segment.closed == 0 || segment.end > last_run)
        continue;
      anchors.insert(segment.key.anchor);
    }
    for (const Instant anchor : anchors) {
      // A stretch that goes on follows the configuration's rules.
      const bool goes_on = std::any_of(all.begin(), all.end(), [&](const StoredSegment& segment) {
        return !is_run_segment(segment) && segment.key.anchor == anchor && !segment.retracted && segment.closed == 0;
      });
      if (goes_on) continue;
      SHAPLEY_TRY(restating_.restate(all, {SegmentKind::wait, submission.described.job, anchor}, asked_.into));
    }
    return {};
  }

  Restating& restating_;
  const AttributionAsked& asked_;
};

tl::unexpected<Error> booked_otherwise(const StoredSegment& segment, const std::string& into) {
  return fail(Errc::conflict, "the run of job " + std::to_string(segment.key.job.value) + " that began " +
                                  format_instant(segment.key.anchor) + " is booked under " + segment.organization +
                                  " by now, not under " + into + ": reverse what was adjusted since first");
}

// The organization of each stay before the adjustment.
Expected<std::map<Stay, std::string>> former_organizations(Restating& restating, const std::vector<Event>& facts) {
  std::map<Stay, std::string> former;
  for (const Event& fact : facts) {
    const auto* retracted = std::get_if<SegmentRetracted>(&fact);
    if (retracted == nullptr || former.contains(Restating::stay_of(retracted->key))) continue;
    SHAPLEY_TRY_ASSIGN(const auto all, restating.segments_of(retracted->key.job));
    const auto was = std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.key == retracted->key; });
    if (was != all.end()) former[Restating::stay_of(retracted->key)] = was->organization;
  }
  return former;
}

Expected<void> restore_description(Restating& restating, const Database& database, const Event& fact,
                                   const std::map<Stay, std::string>& former, const std::string& into) {
  const auto* changed = std::get_if<accounting::JobChanged>(&fact);
  if (changed == nullptr) return {};
  SHAPLEY_TRY_ASSIGN(Statement select, database.prepare(std::string(k_submissions) + "job = ?1 AND submit = ?2"));
  select.bind(1, std::int64_t{changed->job.value}).bind(2, changed->submit.value);
  SHAPLEY_TRY_ASSIGN(const auto submissions, read_submissions(std::move(select)));
  if (submissions.empty() || submissions.front().described.organization != into) return {};
  const Submission& submission = submissions.front();
  SHAPLEY_TRY_ASSIGN(const auto all, restating.segments_of(changed->job));
  const auto newest = newest_run(all, submission.begin, submission.end);
  if (!newest) return {};
  const auto was = former.find({SegmentKind::run, changed->job, *newest});
  return was == former.end() ? Expected<void>{} : restating.describe(submission, *newest, was->second);
}

}  // namespace

Expected<Restated> attribute_runs(const Database& database, const AttributionAsked& asked, Instant now) {
  SHAPLEY_TRY_ASSIGN(Restating restating, Restating::create(database, now));
  SHAPLEY_TRY_ASSIGN(const auto submissions, submissions_of(database, asked));
  Attributing attributing(restating, asked);
  for (const Submission& submission : submissions) SHAPLEY_TRY(attributing.take(submission));
  return std::move(restating).take();
}

Expected<Restated> restore_runs(const Database& database, const std::vector<Event>& facts, const std::string& into,
                                Instant now) {
  SHAPLEY_TRY_ASSIGN(Restating restating, Restating::create(database, now));
  SHAPLEY_TRY_ASSIGN(const auto former, former_organizations(restating, facts));
  for (const auto& [stay, organization] : former) {
    SHAPLEY_TRY_ASSIGN(const auto all, restating.segments_of(std::get<JobId>(stay)));
    for (const StoredSegment& segment : all) {
      const bool counts = Restating::stay_of(segment.key) == stay && !segment.retracted;
      if (counts && segment.organization != into) return booked_otherwise(segment, into);
    }
    SHAPLEY_TRY(restating.restate(all, stay, organization));
  }
  for (const Event& fact : facts) SHAPLEY_TRY(restore_description(restating, database, fact, former, into));
  return std::move(restating).take();
}

namespace {

using accounting::OwnershipSpan;
using accounting::OwnershipStated;

// The statements in force, by the instant from which they are: the highest revision of each below `below`.
std::map<Instant, OwnershipStated> speaking(const OwnershipStatements& known, std::uint32_t below) {
  std::map<Instant, OwnershipStated> by_effective;
  for (const OwnershipStated& statement : known) {
    if (statement.revision >= below) continue;
    const auto [there, is_new] = by_effective.try_emplace(statement.effective, statement);
    if (!is_new && there->second.revision < statement.revision) there->second = statement;
  }
  return by_effective;
}

// The spans of the statement in force at `t`; empty where no statement is.
std::vector<OwnershipSpan> spans_at(const std::map<Instant, OwnershipStated>& statements, Instant t) {
  const auto later = statements.upper_bound(t);
  return later == statements.begin() ? std::vector<OwnershipSpan>{} : std::prev(later)->second.spans;
}

}  // namespace

OwnershipStatements revise_ownership(const std::string& node, const OwnershipStatements& known,
                                     std::vector<accounting::OwnerPart> owners, Instant since, Instant until,
                                     std::uint32_t revision) {
  SHAPLEY_REQUIRE(since < until);
  const auto statements = speaking(known, revision);
  OwnershipStatements revised;
  const auto state = [&](Instant effective, std::vector<OwnershipSpan> spans) {
    revised.push_back({.node = node, .effective = effective, .spans = std::move(spans), .revision = revision});
  };
  state(since, {{since, owners}});
  for (auto next = statements.upper_bound(since); next != statements.end() && next->first < until; ++next) {
    state(next->first, {{next->first, owners}});
  }
  if (!statements.contains(until)) state(until, spans_at(statements, until));
  return revised;
}

OwnershipStatements restore_ownership(const OwnershipStatements& known, std::uint32_t taken_back,
                                      std::uint32_t revision) {
  const auto before = speaking(known, taken_back);
  OwnershipStatements restored;
  for (const OwnershipStated& statement : known) {
    if (statement.revision != taken_back) continue;
    restored.push_back({.node = statement.node,
                        .effective = statement.effective,
                        .spans = spans_at(before, statement.effective),
                        .revision = revision});
  }
  return restored;
}

}  // namespace shapley::ledger
