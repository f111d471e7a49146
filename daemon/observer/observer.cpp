#include "daemon/observer/observer.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "daemon/observer/run_facts.hpp"
#include "daemon/observer/wait_writer.hpp"
#include "request/placement.hpp"

namespace shapley::daemon {

using accounting::CloseReason;
using accounting::LiveSegment;
using accounting::SegmentKind;
using protocol::JobState;
using protocol::JobUpdate;
using protocol::WaitReason;

namespace {

// A time that is later than the observation by more than this is of a wrong clock; by less, of a clock that is kept.
constexpr Duration k_most_ahead{60};

// Compares one record with the books; collects the result of observe_job.
class JobObserver {
 public:
  JobObserver(const accounting::State& books, const JobUpdate& record, Scan scan, const ReadingRules& rules,
              const Background& background)
      : books_(books),
        record_(record),
        scan_(scan),
        rules_(rules),
        background_(background),
        memory_(books.find_job(JobId{record.job_id})),
        booked_(runs_of(books, JobId{record.job_id})),
        requeue_(record_, scan_, out_) {
    const std::string_view name = rules.classifier.organization_of(protocol::traits_of(record));
    organization_ = name.empty() ? accounting::k_guests : name;
    for (const LiveSegment* run : booked_) runs_.insert(run->opened.key.anchor);
  }

  Observation observe() {
    if (record_.state == JobState::pending) {
      observe_without_run();
    } else {
      observe_run();
    }
    if (is_mistimed()) {
      Observation nothing;
      nothing.mistimed = true;
      return nothing;
    }
    observe_wait();
    describe();
    describe_changes();
    return std::move(out_);
  }

 private:
  RunWriter writer(Instant start) {
    RunWriter::Observed run{.job = JobId{record_.job_id}, .start = start, .organization = organization_};
    run.job_state = record_.slurm_state;
    if (start != Instant{record_.start_time}) return RunWriter(books_, {}, std::move(run), out_.events);
    if (!runs_.contains(start)) add_request(run);
    run.shares =
        rules_.charging.shares_of(record_, [this](std::string_view node) { return books_.last_capacity(node); });
    if (record_.resize_time > 0) run.resized = Instant{record_.resize_time};
    return RunWriter(books_, background_.past, std::move(run), out_.events);
  }

  // The placement that the request had when it started at `start`: that of its wait, if it was seen, because the record
  // of a running job names, of several partitions, only the one where it runs. A task of an array waited as a part of
  // the array's record.
  [[nodiscard]] std::string placement_at(Instant start) const {
    for (const JobId waited : {JobId{record_.job_id}, JobId{record_.array_job_id}}) {
      if (const accounting::SegmentOpened* wait = wait_at(waited, start)) return wait->placement;
    }
    return request::placement_of(record_);
  }

  // Whether slurmctld wrote the times of the record's run under a wrong clock: times of the future, and, because the
  // books have everything from before the wrong clock, changes of the run that lie there.
  [[nodiscard]] bool is_mistimed() const {
    // In the first scan after a wrong clock no time of the future is of a clock that is kept.
    const bool is_first = scan_.reliable_since && *scan_.reliable_since >= scan_.at;
    const Instant latest = is_first ? scan_.at : scan_.at + k_most_ahead;
    const auto is_future = [&](std::int64_t time) { return Instant{time} > latest; };
    const bool has_run = record_.state != JobState::pending;
    if (has_run && is_future(record_.start_time)) return true;
    if (!scan_.reliable_since) return false;
    const bool is_over = record_.state == JobState::ended;
    if (has_run && (is_future(record_.suspend_time) || (is_over && is_future(record_.end_time)))) return true;
    return std::ranges::any_of(out_.events, [&](const accounting::Event& event) { return changes_past(event); });
  }

  // REQUIRES: reliable_since.
  [[nodiscard]] bool changes_past(const accounting::Event& event) const {
    if (const auto* closed = std::get_if<accounting::SegmentClosed>(&event))
      return closed->end <= *scan_.reliable_since;
    // A run is retracted, too, if its requeue has no time that can be true.
    if (const auto* retracted = std::get_if<accounting::SegmentRetracted>(&event))
      return record_.state == JobState::pending && retracted->key.anchor <= *scan_.reliable_since;
    const auto* opened = std::get_if<accounting::SegmentOpened>(&event);
    return opened != nullptr && opened->begin <= *scan_.reliable_since;
  }

  // Sets since when Slurm could have started the run: by its wait, if that was booked for its organization, else by the
  // last time at which Slurm reports that it could start. A time before the books' horizon is left out, because nothing
  // may change there.
  void add_request(RunWriter::Observed& run) const {
    if (const accounting::SegmentOpened* first = start_that_was_moved(run)) {
      run.placement = first->placement;
      run.released = first->released;
      run.waited_as = first->waited_as;
      return;
    }
    run.placement = placement_at(run.start);
    for (const JobId waited : {run.job, JobId{record_.array_job_id}}) {
      const accounting::SegmentOpened* wait = wait_at(waited, run.start);
      if (wait == nullptr || wait->organization != run.organization) continue;
      run.released = wait->key.anchor;
      run.waited_as = waited == run.job ? wait->waited_as : waited;
      return;
    }
    const Instant eligible{record_.eligible_time};
    if (eligible.value == 0) return;
    run.waited_as = array_of_task();
    run.released = std::max({eligible, Instant{record_.submit_time}, books_.memory_horizon()});
    // For Slurm, a job that a limit holds back is eligible; but the books knew that it could not start.
    if (memory_ != nullptr) run.released = std::max(*run.released, scan_.previous);
    if (scan_.reliable_since) run.released = std::max(*run.released, *scan_.reliable_since);
  }

  // The same start in the books if Slurm changed its time (RequeueRules retract it); nullptr: no such start.
  [[nodiscard]] const accounting::SegmentOpened* start_that_was_moved(const RunWriter::Observed& run) const {
    for (const LiveSegment* live : booked_) {
      const Instant start = live->opened.key.anchor;
      if (live->end || start >= run.start) continue;
      const bool is_of_it = live->opened.organization == run.organization && live->opened.begin == start;
      if (is_of_it && !requeue_.was_resubmitted_since(start)) return &live->opened;
    }
    return nullptr;
  }

  // The job's wait that lasted until `start` or longer; if there are several, the last one to begin.
  [[nodiscard]] const accounting::SegmentOpened* wait_at(JobId job, Instant start) const {
    const accounting::SegmentOpened* found = nullptr;
    for (const LiveSegment* live : waits_of(books_, job)) {
      if (live->opened.begin > start || live->end.value_or(start) < start) continue;
      if (found == nullptr || live->opened.begin >= found->begin) found = &live->opened;
    }
    return found;
  }

  // The record's own run, and earlier runs that must be over since it began.
  void observe_run() {
    std::optional<RunFacts> facts = facts_of(record_, scan_.at, out_.warnings);
    if (!facts) {
      out_.unsettled = record_.start_time > scan_.at.value;
      if (record_.start_time <= 0) observe_without_run();
      return;
    }
    end_superseded_runs(facts->start);
    std::erase_if(runs_, [&](Instant start) {
      if (start <= facts->start) return false;
      RunWriter later = writer(start);
      return requeue_.retract_forgotten(later, start);
    });
    CloseReason at_end = CloseReason::ended;
    RunWriter run = writer(facts->start);
    const auto later = runs_.upper_bound(facts->start);
    if (later != runs_.end() && facts->now != RunFacts::Now::ended) {
      // The books are one run ahead. The end of this one was not seen: it counts as far as it was seen.
      if (run.known()) return;
      facts->end = facts->now == RunFacts::Now::suspended ? facts->pivot : std::min(scan_.at, *later);
      facts->now = RunFacts::Now::ended;
      at_end = CloseReason::vanished;
    }
    book(*facts, run, at_end);
  }

  void book(const RunFacts& facts, RunWriter& run, CloseReason at_end) {
    const Freshness freshness = freshness_of(facts, run, scan_.at);
    if (freshness == Freshness::same_second) out_.unsettled = true;
    if (freshness == Freshness::newer) book_run(facts, run, scan_.at, at_end);
  }

  void end_superseded_runs(Instant next_start) {
    for (const Instant start : runs_) {
      if (start >= next_start) continue;
      RunWriter run = writer(start);
      requeue_.end_superseded(run, start, next_start);
    }
  }

  // A record without a run of its own: an open run has ended, at the earliest end that Slurm's times allow.
  void observe_without_run() {
    Instant began = k_beginning_of_time;
    if (record_.completing && record_.start_time > 0 && record_.end_time >= record_.start_time) {
      // The requeue is under way and the record still describes the run.
      if (const auto facts = facts_of(record_, scan_.at, out_.warnings)) {
        began = facts->start;
        end_superseded_runs(began);
        RunWriter run = writer(began);
        book(*facts, run, CloseReason::requeued);
      }
    }
    for (const Instant start : runs_) {
      if (start < began || (record_.completing && start == Instant{record_.start_time})) continue;
      RunWriter run = writer(start);
      requeue_.end_without_run(run, start);
    }
  }

  void observe_wait() {
    WaitWriter wait(books_,
                    {.id = JobId{record_.job_id},
                     .organization = whose_demand(),
                     .slurm_state = record_.slurm_state,
                     .task = rules_.charging.task_of(record_, background_.kinds),
                     .is_array = is_array(),
                     .waits_as = array_of_task()},
                    out_.events);
    const bool settled = record_.state == JobState::pending
                             ? wait.follow_pending({.amount = wanted(),
                                                    .outstanding = outstanding(),
                                                    .eligible = Instant{record_.eligible_time},
                                                    .submit = Instant{record_.submit_time},
                                                    .observed_at = scan_.at,
                                                    .previous_scan = scan_.previous,
                                                    .reliable_since = scan_.reliable_since,
                                                    .placement = request::placement_of(record_)})
                             : wait.follow_started({.start = Instant{record_.start_time},
                                                    .end = Instant{record_.end_time},
                                                    .ran = !record_.nodes.empty(),
                                                    .over = record_.state == JobState::ended,
                                                    .observed_at = scan_.at,
                                                    .asked = asked()});
    if (!settled) out_.unsettled = true;
  }

  // The request of a job that ended without having started.
  [[nodiscard]] WaitWriter::Asked asked() const {
    const bool is_known = memory_ != nullptr && !memory_->organization.empty();
    return {.organization = is_known ? memory_->organization : organization_,
            .amount = rules_.charging.waiting_of(record_, background_.kinds),
            .placement = request::placement_of(record_)};
  }

  // The organization of the job's demand. A run keeps the organization with which it started.
  [[nodiscard]] std::string whose_demand() const {
    if (record_.state == JobState::pending) return organization_;
    std::string booked = whose_run();
    if (!booked.empty()) return booked;
    return record_.nodes.empty() ? std::string{} : organization_;
  }

  // The organization under which the books have the record's own run; empty: they do not have it.
  [[nodiscard]] std::string whose_run() const {
    for (const LiveSegment* live : booked_) {
      if (live->opened.key.anchor.value == record_.start_time) return live->opened.organization;
    }
    return {};
  }

  // The array's job, if this is the record of one of its tasks; else 0.
  [[nodiscard]] JobId array_of_task() const {
    return JobId{record_.array_job_id == record_.job_id ? 0 : record_.array_job_id};
  }

  // Whether the record stands for the pending tasks of an array, in the end for one task. The request of a resized run
  // is no longer what its tasks waited for.
  [[nodiscard]] bool is_array() const {
    return record_.array_job_id == record_.job_id && record_.array_job_id != 0 && record_.resize_time == 0;
  }

  // The job's present demand; zero while something besides resources holds it back.
  [[nodiscard]] ProcessorMillionths wanted() const {
    return could_start(record_) ? rules_.charging.waiting_of(record_, background_.kinds) : ProcessorMillionths{};
  }

  // Its demand as soon as Slurm lets it start; zero if its user (or an administrator) has set it aside. Tasks of an
  // array get their dependencies one by one (aftercorr), so for arrays a dependency is ignored.
  [[nodiscard]] ProcessorMillionths outstanding() const {
    const bool set_aside = record_.wait == WaitReason::held || record_.wait == WaitReason::begin_time ||
                           record_.wait == WaitReason::nice || (record_.wait == WaitReason::dependency && !is_array());
    return set_aside && !record_.completing ? ProcessorMillionths{}
                                            : rules_.charging.waiting_of(record_, background_.kinds);
  }

  // Emitted once for each (job, submit time): when the books first get the job, and when they get its first segment
  // since a requeue.
  void describe() {
    const Instant submit{record_.submit_time};
    if (memory_ != nullptr) {
      const bool opens = std::any_of(out_.events.begin(), out_.events.end(), [](const accounting::Event& e) {
        return std::holds_alternative<accounting::SegmentOpened>(e);
      });
      if (!opens || (memory_->segments.empty() && memory_->retracted.empty())) return;
      for (const accounting::SegmentKey& key : memory_->segments) {
        if (books_.find_segment(key)->opened.begin >= submit) return;
      }
      for (const accounting::RetractedSegment& taken : memory_->retracted) {
        if (taken.key.anchor >= submit) return;
      }
    }
    out_.events.insert(out_.events.begin(), description());
  }

  // What differs from the known description, in a record that is newer than it: a user moved or renamed the job while
  // it waited, it runs in one of several partitions, or an array's last task runs under the array's number.
  void describe_changes() {
    if (memory_ == nullptr || !memory_->description) return;
    const accounting::KnownDescription& known = *memory_->description;
    accounting::JobDescribed now = description();
    if (now.submit != known.submit || known.since > scan_.at) return;
    now.organization = whose_job();
    if (accounting::content_hash(now) == known.content) return;
    if (known.since == scan_.at) {
      out_.unsettled = true;
      return;
    }
    out_.events.insert(out_.events.begin(), accounting::change_to(now, scan_.at));
  }

  // A job that started belongs to the organization under which its run is booked, whatever the present rules.
  [[nodiscard]] std::string whose_job() const {
    if (record_.state == JobState::pending) return organization_;
    for (const accounting::Event& event : out_.events) {
      const auto* opened = std::get_if<accounting::SegmentOpened>(&event);
      if (opened != nullptr && opened->key.kind == SegmentKind::run) return opened->organization;
    }
    const std::string booked = whose_run();
    return booked.empty() ? memory_->organization : booked;
  }

  [[nodiscard]] accounting::JobDescribed description() const {
    std::optional<std::uint32_t> task;
    if (record_.array_task_id >= 0) task = static_cast<std::uint32_t>(record_.array_task_id);
    return accounting::JobDescribed{.job = JobId{record_.job_id},
                                    .submit = Instant{record_.submit_time},
                                    .organization = organization_,
                                    .array_job = record_.array_job_id,
                                    .array_task = task,
                                    .het_job = record_.het_job_id,
                                    .user_id = record_.user_id,
                                    .group_id = record_.group_id,
                                    .account = record_.account,
                                    .partition = request::sorted_names(record_.partition),
                                    .qos = record_.qos,
                                    .name = record_.name,
                                    .wckey = record_.wckey};
  }

  const accounting::State& books_;
  const JobUpdate& record_;
  const Scan scan_;
  const ReadingRules& rules_;
  const Background& background_;
  const accounting::JobMemory* memory_;
  const std::vector<const LiveSegment*> booked_;  // segments of runs
  std::string organization_;
  std::set<Instant> runs_;  // starts of the runs that the books remember
  Observation out_;
  RequeueRules requeue_;
};

}  // namespace

Observation observe_job(const accounting::State& books, const JobUpdate& record, Scan scan, const ReadingRules& rules,
                        const Background& background) {
  return JobObserver(books, record, scan, rules, background).observe();
}

namespace {

// A run that goes on and that the books do not have open was suspended when the clock went wrong: its end is not known.
void note_unseen_end(const accounting::State& books, const JobUpdate& record, Instant at, Observation& out) {
  if (record.state != JobState::running && record.state != JobState::suspended) return;
  const accounting::SegmentOpened* last = nullptr;
  for (const LiveSegment* live : runs_of(books, JobId{record.job_id})) {
    if (live->opened.key.anchor.value != record.start_time) continue;
    if (!live->end) return;
    last = &live->opened;
  }
  if (last == nullptr) return;
  RunWriter(
      books, {},
      {.job = last->key.job, .start = last->key.anchor, .organization = last->organization, .shares = last->nodes},
      out.events)
      .mark_end(at, CloseReason::vanished);
}

}  // namespace

Observation observe_mistimed(const accounting::State& books, const JobUpdate& record, Instant at,
                             const WrongClock& clock) {
  Observation out;
  const JobId job{record.job_id};
  for (const LiveSegment* live : runs_of(books, job)) {
    if (live->end) continue;
    const Instant begin = live->opened.begin;
    const Instant end{record.end_time};
    if (begin <= clock.begin && !clock.is_imported) {
      out.events.emplace_back(accounting::SegmentClosed{live->opened.key, clock.begin, CloseReason::vanished, ""});
    } else if (record.state == JobState::ended && end > std::max(begin, clock.end) && end <= at) {
      out.events.emplace_back(accounting::SegmentClosed{live->opened.key, end, CloseReason::ended, record.slurm_state});
    }
  }
  note_unseen_end(books, record, clock.begin, out);
  // Its wait, if it is open, ended in the time that is not known. A pending job waits on.
  if (record.state != JobState::pending) {
    (void)WaitWriter(books, {.id = job}, out.events)
        .follow_started({.start = clock.begin, .end = clock.begin, .ran = true, .over = false, .observed_at = at});
  }
  out.warnings.push_back(
      fmt::format("observer: {}: its record has times of a wrong clock; what the books lack of its run is not booked; "
                  "shapleyctl import --into takes it from Slurm's accounting",
                  name_of(record)));
  return out;
}

Observation observe_gone(const accounting::State& books, JobId job, Instant last_alive, Departure departure) {
  Observation out;
  if (books.find_job(job) == nullptr) return out;
  for (const LiveSegment* live : runs_of(books, job)) {
    if (live->end) continue;
    const accounting::SegmentKey& key = live->opened.key;
    if (departure == Departure::forgotten) {
      RunWriter run(books, {}, {.job = job, .start = key.anchor, .organization = {}}, out.events);
      const LostRuns lost = lose_run(run, key.anchor, last_alive, last_alive);
      out.warnings.push_back(fmt::format("observer: job {}: slurmctld came back without it; its run since {} {}",
                                         job.value, key.anchor.value, what_becomes_of(lost, last_alive)));
      out.lost += lost;
      continue;
    }
    const Instant end = std::max(live->opened.begin, last_alive);
    out.events.emplace_back(accounting::SegmentClosed{key, end, CloseReason::vanished, ""});
    out.warnings.push_back(
        fmt::format("observer: job {}: slurmctld no longer has it and its end was not seen; its run since {} "
                    "is counted until {}, when it was last known to run",
                    job.value, live->opened.begin.value, end.value));
  }
  WaitWriter(books, {.id = job, .is_array = true}, out.events).follow_gone(last_alive);
  return out;
}

// Comparison of what a node offers with the books.

namespace {

// `now`: what the node offers, its worth and its resources, at its `at`.
Observation observe_capacity(const accounting::State& books, accounting::CapacityChanged now,
                             std::optional<Instant> last_change) {
  Observation out;
  const accounting::CapacityChanged* known = books.last_capacity(now.node);
  // A node without worth that the books do not have needs no event, unless it has CPUs that are counted. One that
  // drains may have runs.
  if (known == nullptr && now.processors.value == 0 && now.whole.value == 0 && !now.usable_cpus) return out;
  if (known != nullptr) {
    accounting::CapacityChanged as_known = now;
    as_known.at = known->at;
    as_known.ordinal = known->ordinal;
    if (as_known == *known) return out;
    last_change = std::max(last_change.value_or(known->at), known->at);
  }
  if (last_change && *last_change > now.at) return out;
  if (last_change == now.at) {
    out.unsettled = true;
    return out;
  }
  out.events.emplace_back(std::move(now));
  return out;
}

}  // namespace

Observation observe_node(const accounting::State& books, const protocol::NodeRecord& record, Instant observed_at,
                         std::optional<Instant> last_change, const ReadingRules& rules) {
  accounting::CapacityChanged now = rules.charging.capacity_of(record);
  now.at = observed_at;
  return observe_capacity(books, std::move(now), last_change);
}

Observation observe_gone_node(const accounting::State& books, const std::string& node, Instant observed_at,
                              std::optional<Instant> last_change) {
  accounting::CapacityChanged now{.node = node, .at = observed_at};
  if (const accounting::CapacityChanged* known = books.last_capacity(node)) now = *known;
  now.at = observed_at;
  now.ordinal = 0;
  now.processors = {};
  if (now.usable_cpus) now.usable_cpus = 0;
  return observe_capacity(books, std::move(now), last_change);
}

}  // namespace shapley::daemon
