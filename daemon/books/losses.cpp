#include "daemon/books/losses.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/calendar.hpp"
#include "base/text.hpp"

namespace shapley::daemon {

using accounting::GapCause;
using accounting::LiveSegment;
using accounting::ObservationGap;

const Snapshot::Absent& Snapshot::absent(const accounting::State& books) {
  if (absent_) return *absent_;
  absent_.emplace();
  for (const JobId job : books.jobs_with_open_segments()) {
    if (!has(job)) absent_->jobs.push_back(job);
  }
  for (const std::string& node : books.nodes()) {
    if (!has(node)) absent_->nodes.push_back(node);
  }
  return *absent_;
}

Departure Snapshot::departure(Instant at, const LastLook& look, const std::optional<ObservationGap>& gap,
                              Duration min_job_age) const {
  if (!known_until_) return Departure::purged;
  // While slurmctld was down, it purged no records.
  if (gap && gap->cause == GapCause::slurmctld_down) return Departure::forgotten;
  // A job that ran at the last look cannot have ended and been purged since, if the look is less than MinJobAge ago;
  // Slurm's times are whole seconds, so one second is lost on either side. Under a clock that is ahead, jobs are purged
  // at once.
  const auto& restart = look.restart();
  const Duration unseen = restart ? restart->observed_since - restart->last_look : at - *known_until_;
  return unseen + Duration{2} <= min_job_age ? Departure::forgotten : Departure::purged;
}

// There was no scan between the last look before the snapshot and the snapshot; jobs that slurmctld lost when it went
// away existed at the last look before that.
Instant Snapshot::last_alive(const accounting::State& books, JobId job, const LastLook& look) const {
  const Instant alive = known_until_.value_or(k_beginning_of_time);
  const std::optional<Instant> last = look.before_restart();
  if (!last || books.find_job(job) == nullptr) return alive;
  const bool began_since =
      std::ranges::any_of(runs_of(books, job), [&](const LiveSegment* run) { return run->opened.key.anchor > *last; });
  return began_since ? alive : std::min(alive, *last);
}

bool RestartCounts::note(const protocol::JobUpdate& record, const accounting::State& books,
                         const std::optional<ObservationGap>& gap) {
  const JobId job{record.job_id};
  const Seen now{record.restart_count, record.submit_time};
  const auto [entry, is_new] = seen_.try_emplace(job, now);
  const Seen before = std::exchange(entry->second, now);
  if (is_new) {
    note_first(record, books, gap);
    return false;
  }
  if (now.restart_count <= before.restart_count) return false;
  std::set<Instant> runs;
  for (const LiveSegment* run : runs_of(books, job)) {
    const Instant start = run->opened.key.anchor;
    if (start.value >= before.submit_time) runs.insert(start);
  }
  // A record that is completing is still that of the run that is being requeued.
  if (record.completing && record.start_time > 0) runs.insert(Instant{record.start_time});
  // One that was cancelled while it waited can be queued again, too.
  const accounting::JobMemory* known = books.find_job(job);
  const bool was_cancelled = known != nullptr && known->wait_ended && known->wait_ended->value >= before.submit_time;
  const std::uint64_t restarts = now.restart_count - before.restart_count;
  const std::uint64_t seen = runs.size() + (was_cancelled ? 1 : 0);
  if (seen >= restarts) return false;
  missing_ += restarts - seen;
  spdlog::warn(
      "observer: job {}: requeued {} time(s) since it was last seen, but {} of its runs were seen to begin; what ran "
      "in between is not in the books",
      record.job_id, restarts, runs.size());
  return true;
}

void RestartCounts::note_first(const protocol::JobUpdate& record, const accounting::State& books,
                               const std::optional<ObservationGap>& gap) {
  // For a job that is observed for the first time, the times of its requeues are unknown. But if its last requeue was
  // within the gap and the books have never had the job, all of its earlier runs were within the gap, too.
  const Instant requeued{record.submit_time};
  if (!gap || record.restart_count == 0 || requeued <= gap->begin || requeued > gap->end) return;
  if (books.find_job(JobId{record.job_id}) != nullptr) return;
  missing_ += record.restart_count;
  spdlog::warn(
      "observer: job {}: began and was requeued {} time(s) while slurmctld's records were not observed; what ran then "
      "is not in the books",
      record.job_id, record.restart_count);
}

void log_loss(const accounting::StateLost& loss) {
  spdlog::warn(
      "observer: slurmctld came back without {} going on at {}: {} of them, {} processor-seconds, {} counted until "
      "then; {}, {} processor-seconds, began right before and {} retracted; shapleyctl import --into takes what "
      "Slurm's accounting has of them",
      counted_as(loss.closed + loss.retracted, "run[ that was|s that were]"), format_instant(loss.seen), loss.closed,
      loss.closed_seconds, loss.closed == 1 ? "is" : "are", loss.retracted, loss.retracted_seconds,
      loss.retracted == 1 ? "is" : "are");
}

namespace {

std::string_view missing_after(GapCause cause) {
  switch (cause) {
    case GapCause::slurmctld_down:
      return "nothing says that it ran meanwhile";
    case GapCause::wrong_clock:
      return "runs that began meanwhile, and ends of runs, are not in the books; shapleyctl import --into takes them "
             "from Slurm's accounting, once its times are right";
    case GapCause::events_lost:
      return "runs that ended meanwhile, who waited, and adjustments are not in the books; shapleyctl import --into "
             "takes the runs from Slurm's accounting, adjustments have to be made again";
    case GapCause::unobserved:
    case GapCause::dropped:
      break;
  }
  return "runs that were requeued meanwhile are not in the books, nor who waited";
}

}  // namespace

void log_gap(const ObservationGap& gap) {
  spdlog::warn("observer: {} from {} to {} ({}); {}",
               gap.cause == GapCause::events_lost ? "the ledger lost what was observed"
                                                  : "slurmctld's records were not observed",
               format_instant(gap.begin), format_instant(gap.end), name_of(gap.cause), missing_after(gap.cause));
}

namespace {

// Times are whole seconds and a connection is checked once a second: a shorter time is no gap.
constexpr Duration k_shortest_gap{2};

// slurmctld saves its state some seconds after a change, and at its end after it has stopped the plugin.
constexpr Duration k_saves_late{15};

Instant later(const std::optional<Instant>& known, Instant at) {
  return std::max(known.value_or(at), at);
}

}  // namespace

ObservationWatch::ObservationWatch(std::optional<Instant> last_observed, const std::vector<ObservationGap>& known)
    : observed_until_(last_observed) {
  for (const ObservationGap& gap : known) observed_until_ = later(observed_until_, gap.end);
}

void ObservationWatch::begin_session(const Observing& observing) {
  observing_ = observing;
  returned_ = observing.since == k_beginning_of_time;
  gap_.reset();
}

void ObservationWatch::note_connected(Instant now) {
  observed_until_ = later(observed_until_, now);
}

std::optional<ObservationGap> ObservationWatch::note_read(Instant at) {
  std::optional<ObservationGap> ended;
  // Undelivered messages of an earlier instance of the plugin come first.
  const bool is_of_feeder = !returned_ && at >= observing_.since;
  if (is_of_feeder) returned_ = true;
  if (std::exchange(are_events_lost_, false)) {
    // All of them may be of the second of the last one that is left.
    ended = ObservationGap{
        .begin = std::min(observed_until_.value_or(at), at - Duration{1}), .end = at, .cause = GapCause::events_lost};
  } else if (is_of_feeder) {
    ended = find_gap();
  }
  if (ended) gap_ = ended;
  observed_until_ = later(observed_until_, at);
  return ended;
}

std::optional<ObservationGap> ObservationWatch::end_wrong_clock(Instant now) {
  returned_ = true;
  if (!observed_until_ || *observed_until_ >= now) return std::nullopt;
  const ObservationGap ended{.begin = *observed_until_, .end = now, .cause = GapCause::wrong_clock};
  const bool goes_on = gap_ && gap_->end == ended.begin;
  gap_ = ObservationGap{.begin = goes_on ? gap_->begin : ended.begin, .end = now, .cause = GapCause::wrong_clock};
  observed_until_ = now;
  return ended;
}

std::optional<ObservationGap> ObservationWatch::find_gap() const {
  // Before the first observation there are no books that could lack events.
  if (!observed_until_) return std::nullopt;
  const Instant begin = std::max(*observed_until_, observing_.before);
  if (observing_.since - begin < k_shortest_gap) return std::nullopt;
  GapCause cause = GapCause::slurmctld_down;
  if (observing_.controller_ran > begin + k_saves_late) cause = GapCause::unobserved;
  if (observing_.dropped) cause = GapCause::dropped;
  return ObservationGap{.begin = begin, .end = observing_.since, .cause = cause};
}

void LastLook::begin_session(const Observing& observing) {
  since_.reset();
  if (observing.since == k_beginning_of_time) return;
  since_ = observing.since;
  if (observing.before != k_beginning_of_time) note_scanned(std::min(observing.before, observing.since));
}

void LastLook::note_scanned(Instant until) {
  scanned_until_ = std::max(scanned_until_.value_or(until), until);
}

void LastLook::note_lost(const ObservationGap& gap) {
  restart_ = Restart{.last_look = std::min(before_restart().value_or(gap.begin), gap.begin), .observed_since = gap.end};
}

void LastLook::note_read(Instant at, const std::optional<Instant>& known_until) {
  if (!since_ || at < *since_) return;
  const Instant since = *std::exchange(since_, std::nullopt);
  // Otherwise it is the same feeder as before.
  const bool went_away = known_until && *known_until < since;
  // If slurmctld went away twice, the missing jobs were last observed before the first time.
  if (!went_away || restart_) return;
  restart_ = Restart{.last_look = refined(*known_until, since), .observed_since = since};
}

Instant LastLook::refined(Instant known, Instant at) const {
  return scanned_until_ && *scanned_until_ <= at ? std::max(known, *scanned_until_) : known;
}

}  // namespace shapley::daemon
