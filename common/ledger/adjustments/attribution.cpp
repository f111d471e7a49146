#include "ledger/adjustments/attribution.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/calendar.hpp"
#include "base/contract.hpp"
#include "ledger/encoding/event_reader.hpp"
#include "ledger/readers/jobs.hpp"
#include "ledger/store/rows.hpp"

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

Submission submission_of(const StoredSubmission& stored) {
  return {.described = {.job = stored.job,
                        .submit = stored.submit,
                        .organization = stored.organization,
                        .array_job = stored.array_job.value_or(0),
                        .array_task = stored.array_task,
                        .het_job = stored.het_job.value_or(0),
                        .user_id = stored.user_id,
                        .group_id = stored.group_id,
                        .account = stored.account,
                        .partition = stored.partition,
                        .qos = stored.qos,
                        .name = stored.name,
                        .wckey = stored.wckey},
          .begin = stored.is_first ? k_beginning_of_time : stored.submit,
          .end = stored.next.value_or(k_end_of_time)};
}

Expected<std::vector<StoredSubmission>> submissions_of(const Ledger& ledger, const AttributionAsked& asked) {
  if (asked.job && asked.task) return submissions_of_task(ledger, {asked.job->value, *asked.task});
  if (asked.job && asked.part) return submissions_of_part(ledger, {asked.job->value, *asked.part});
  if (asked.job) return submissions_of_job(ledger, *asked.job);
  if (asked.account) return submissions_of_account(ledger, *asked.account, *asked.until);
  return submissions_of_user(ledger, *asked.user_id, *asked.until);
}

class Restating {
 public:
  static Expected<Restating> create(const Ledger& ledger, Instant now) {
    SHAPLEY_TRY_ASSIGN(EventReader reader, EventReader::create(ledger.rows().database()));
    return Restating(ledger, std::move(reader), now);
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
    return fail(Errc::limit,
                fmt::format("these are more than {} runs; adjust a shorter time at once (--since, --until)",
                            k_most_adjusted_runs));
  }

  // `jobs` and `shapleyctl jobs` take a job's organization from its newest run, from the run's begin on.
  Expected<void> describe(const Submission& submission, Instant run, const std::string& into) {
    accounting::JobDescribed now = submission.described;
    if (now.organization == into) return {};
    SHAPLEY_TRY_ASSIGN(const std::optional<Instant> change, last_change(ledger_, now.job, now.submit));
    const Instant at = change ? std::max(run, *change + Duration{1}) : run;
    now.organization = into;
    result_.facts.emplace_back(accounting::change_to(now, at));
    return {};
  }

  static Stay stay_of(const SegmentKey& key) { return {key.kind, key.job, key.anchor}; }

  Restated take() && { return std::move(result_); }
  [[nodiscard]] std::int64_t runs() const { return result_.runs; }

 private:
  Restating(const Ledger& ledger, EventReader reader, Instant now)
      : ledger_(ledger), reader_(std::move(reader)), now_(now) {}

  Expected<void> restate(const StoredSegment& segment, std::uint32_t ordinal, const std::string& into) {
    SHAPLEY_TRY_ASSIGN(StoredEvent event_opened, reader_.read(*segment.opened));
    auto* opened = std::get_if<SegmentOpened>(&event_opened.event);
    if (opened == nullptr) return fail(Errc::corrupt, fmt::format("event {} opens nothing", *segment.opened));
    result_.facts.emplace_back(SegmentRetracted{segment.key, *segment.begin});
    opened->key.ordinal = ordinal;
    opened->organization = into;
    const bool is_run = segment.key.kind == SegmentKind::run;
    const Instant end = std::min(segment.end.value_or(k_end_of_time), std::max(now_, *segment.begin));
    if (is_run) result_.work += opened->processors * (end - *segment.begin);
    result_.facts.push_back(std::move(event_opened.event));
    if (!segment.closed) return {};
    SHAPLEY_TRY_ASSIGN(StoredEvent event_closed, reader_.read(*segment.closed));
    auto* closed = std::get_if<SegmentClosed>(&event_closed.event);
    if (closed == nullptr) return fail(Errc::corrupt, fmt::format("event {} closes nothing", *segment.closed));
    closed->key.ordinal = ordinal;
    result_.facts.push_back(std::move(event_closed.event));
    return {};
  }

  const Ledger& ledger_;
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
    return !is_run_segment(segment) && !segment.retracted && !segment.closed && *segment.begin >= begin &&
           *segment.begin < end;
  });
}

bool is_own(const StoredSegment& segment, const Submission& of) {
  return !segment.retracted && *segment.begin >= of.begin && *segment.begin < of.end;
}

class Attributing {
 public:
  Attributing(const Ledger& ledger, Restating& restating, const AttributionAsked& asked)
      : ledger_(ledger), restating_(restating), asked_(asked) {}

  Expected<void> take(const Submission& submission) {
    SHAPLEY_TRY_ASSIGN(const auto all, segments_of_job(ledger_, submission.described.job));
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
      if (is_run_segment(segment) || !is_own(segment, submission) || !segment.closed || *segment.end > last_run)
        continue;
      anchors.insert(segment.key.anchor);
    }
    for (const Instant anchor : anchors) {
      // A stretch that goes on follows the configuration's rules.
      const bool goes_on = std::any_of(all.begin(), all.end(), [&](const StoredSegment& segment) {
        return !is_run_segment(segment) && segment.key.anchor == anchor && !segment.retracted && !segment.closed;
      });
      if (goes_on) continue;
      SHAPLEY_TRY(restating_.restate(all, {SegmentKind::wait, submission.described.job, anchor}, asked_.into));
    }
    return {};
  }

  const Ledger& ledger_;
  Restating& restating_;
  const AttributionAsked& asked_;
};

tl::unexpected<Error> booked_otherwise(const StoredSegment& segment, const std::string& into) {
  return fail(Errc::conflict,
              fmt::format("the run of job {} that began {} is booked under {} by now, not under {}: reverse what was "
                          "adjusted since first",
                          segment.key.job.value, format_instant(segment.key.anchor), *segment.organization, into));
}

// The organization of each stay before the adjustment.
Expected<std::map<Stay, std::string>> former_organizations(const Ledger& ledger, const std::vector<Event>& facts) {
  std::map<Stay, std::string> former;
  for (const Event& fact : facts) {
    const auto* retracted = std::get_if<SegmentRetracted>(&fact);
    if (retracted == nullptr || former.contains(Restating::stay_of(retracted->key))) continue;
    SHAPLEY_TRY_ASSIGN(const auto all, segments_of_job(ledger, retracted->key.job));
    const auto was = std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.key == retracted->key; });
    if (was != all.end()) former[Restating::stay_of(retracted->key)] = *was->organization;
  }
  return former;
}

Expected<void> restore_description(Restating& restating, const Ledger& ledger, const Event& fact,
                                   const std::map<Stay, std::string>& former, const std::string& into) {
  const auto* changed = std::get_if<accounting::JobChanged>(&fact);
  if (changed == nullptr) return {};
  SHAPLEY_TRY_ASSIGN(const auto stored, submission_at(ledger, changed->job, changed->submit));
  if (!stored || stored->organization != into) return {};
  const Submission submission = submission_of(*stored);
  SHAPLEY_TRY_ASSIGN(const auto all, segments_of_job(ledger, changed->job));
  const auto newest = newest_run(all, submission.begin, submission.end);
  if (!newest) return {};
  const auto was = former.find({SegmentKind::run, changed->job, *newest});
  return was == former.end() ? Expected<void>{} : restating.describe(submission, *newest, was->second);
}

}  // namespace

Expected<Restated> attribute_runs(const Ledger& ledger, const AttributionAsked& asked, Instant now) {
  SHAPLEY_TRY_ASSIGN(Restating restating, Restating::create(ledger, now));
  SHAPLEY_TRY_ASSIGN(const auto submissions, submissions_of(ledger, asked));
  Attributing attributing(ledger, restating, asked);
  for (const StoredSubmission& stored : submissions) SHAPLEY_TRY(attributing.take(submission_of(stored)));
  return std::move(restating).take();
}

Expected<Restated> restore_runs(const Ledger& ledger, const std::vector<Event>& facts, const std::string& into,
                                Instant now) {
  SHAPLEY_TRY_ASSIGN(Restating restating, Restating::create(ledger, now));
  SHAPLEY_TRY_ASSIGN(const auto former, former_organizations(ledger, facts));
  for (const auto& [stay, organization] : former) {
    SHAPLEY_TRY_ASSIGN(const auto all, segments_of_job(ledger, std::get<JobId>(stay)));
    for (const StoredSegment& segment : all) {
      const bool counts = Restating::stay_of(segment.key) == stay && !segment.retracted;
      if (counts && segment.organization != into) return booked_otherwise(segment, into);
    }
    SHAPLEY_TRY(restating.restate(all, stay, organization));
  }
  for (const Event& fact : facts) SHAPLEY_TRY(restore_description(restating, ledger, fact, former, into));
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
