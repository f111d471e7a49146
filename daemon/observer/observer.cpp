#include "daemon/observer/observer.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "daemon/observer/placement.hpp"
#include "daemon/observer/run_facts.hpp"
#include "daemon/observer/wait_writer.hpp"

namespace shapley::daemon {

using accounting::CloseReason;
using accounting::SegmentKind;
using protocol::JobRecord;
using protocol::JobState;
using protocol::WaitReason;

namespace {

enum class Freshness { newer, stale, same_second };

// Whether a record of a live run can be newer than what the books hold of it. An ended run is final: always newer.
Freshness freshness_of(const RunFacts& facts, const RunWriter& run, Instant observed_at) {
  const std::optional<Instant> edge = run.last_edge();
  if (!edge || facts.now == RunFacts::Now::ended) return Freshness::newer;
  if (*edge > observed_at) return Freshness::stale;
  const bool same_second = *edge == observed_at;
  if (facts.now == RunFacts::Now::running && !run.is_open() && same_second) return Freshness::same_second;
  if (facts.now == RunFacts::Now::suspended && same_second && (run.is_open() || *edge > facts.pivot)) {
    return Freshness::same_second;
  }
  return Freshness::newer;
}

// Makes the books' run seconds in [start, pivot) equal to the record's. They hold more only where slurmctld, killed,
// forgot some of what was seen.
void settle_before_pivot(const RunFacts& facts, RunWriter& run, Instant observed_at, CloseReason at_end) {
  const Duration excess = run.seconds_within(facts.start, facts.pivot) - facts.before;
  const bool runs_on = facts.now == RunFacts::Now::running || facts.end > facts.pivot;
  if (run.is_open() && run.open_begin() <= facts.pivot && (!runs_on || excess.value > 0)) {
    // Suspensions that nobody saw lie somewhere before the pivot; they are taken to be the last seconds before it. A
    // run that was resumed in the very second in which it ended has such a suspension before its end, too.
    const bool stops_at_end = facts.now == RunFacts::Now::ended && !runs_on && excess.value <= 0;
    const Instant stop = facts.pivot - Duration{std::max<std::int64_t>(excess.value, 0)};
    run.close(stop, stops_at_end ? at_end : CloseReason::suspended);
  }
  const Duration missing = facts.before - run.seconds_within(facts.start, facts.pivot);
  if (missing.value > 0) run.fill(facts.start, facts.pivot, missing, CloseReason::suspended);
  run.retract_seconds(facts.start, facts.pivot, Duration{} - missing, observed_at, CloseReason::suspended);
}

void settle_since_pivot(const RunFacts& facts, RunWriter& run, Instant observed_at, CloseReason at_end) {
  switch (facts.now) {
    case RunFacts::Now::suspended:
      // Resumed, and slurmctld forgot that.
      run.retract_after(facts.pivot, observed_at, CloseReason::suspended);
      return;
    case RunFacts::Now::running:
      if (!run.is_open()) run.open(std::max(facts.pivot, run.latest_end().value_or(facts.pivot)));
      run.apply_resize(observed_at);
      return;
    case RunFacts::Now::ended:
      // A resume that slurmctld forgot when it was killed: Slurm's record ends with the suspension before.
      run.retract_after(facts.end, observed_at, at_end);
      if (run.is_open()) run.close(facts.end, at_end);
      const Duration missing = (facts.end - facts.pivot) - run.seconds_within(facts.pivot, facts.end);
      if (missing.value > 0) run.fill(facts.pivot, facts.end, missing, at_end);
      run.mark_end(facts.end, at_end);  // resumed in the very second in which it ended
      return;
  }
}

// One record against the books; collects what observe_job returns.
class JobObserver {
 public:
  JobObserver(const accounting::State& books, const JobRecord& record, Scan scan, const ReadingRules& rules,
              const Background& background)
      : books_(books),
        record_(record),
        scan_(scan),
        rules_(rules),
        background_(background),
        memory_(books.find_job(JobId{record.job_id})) {
    const std::string_view name = rules.classifier.organization_of(protocol::traits_of(record));
    organization_ = name.empty() ? accounting::k_guests : name;
    for (const accounting::SegmentKey& key : segments()) {
      if (key.kind == SegmentKind::run) runs_.insert(key.anchor);
    }
  }

  Observation observe() {
    if (record_.state == JobState::pending) {
      settle_requeue();
    } else {
      settle_started();
    }
    settle_wait();
    describe();
    tell_changes();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::vector<accounting::SegmentKey> segments() const {
    return memory_ == nullptr ? std::vector<accounting::SegmentKey>{} : memory_->segments;
  }

  RunWriter writer(Instant start) {
    RunWriter::Run run{.job = JobId{record_.job_id}, .start = start, .organization = organization_};
    run.job_state = record_.slurm_state;
    if (start != Instant{record_.start_time}) return RunWriter(books_, {}, std::move(run), out_.events);
    if (!runs_.contains(start)) tell_request(run);
    run.shares =
        rules_.charging.shares_of(record_, [this](std::string_view node) { return books_.last_capacity(node); });
    if (record_.resize_time > 0) run.resized = Instant{record_.resize_time};
    return RunWriter(books_, background_.past, std::move(run), out_.events);
  }

  // What the request asked of its nodes when it started at `start`: as it waited, if that was seen, for the record of
  // a running job names of several partitions only the one where it runs. A task of an array waited as a part of the
  // array's record.
  [[nodiscard]] std::string placement_at(Instant start) const {
    for (const JobId waited : {JobId{record_.job_id}, JobId{record_.array_job_id}}) {
      if (const accounting::SegmentOpened* wait = wait_at(waited, start)) return wait->placement;
    }
    return placement_of(record_);
  }

  // Since when Slurm could have started the run: as it waited, if that was booked for its organization, else by Slurm's
  // word for the last time that it could start. What is older than the books' horizon is not told: nothing there may
  // change.
  void tell_request(RunWriter::Run& run) const {
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
    run.released = std::max({eligible, Instant{record_.submit_time}, books_.horizon()});
    // A limit does not make a job less eligible to Slurm; but the books knew that it could not start.
    if (memory_ != nullptr) run.released = std::max(*run.released, scan_.previous);
  }

  // The same start as the books have it, where Slurm moved its time (end_superseded_run retracts it). nullptr: none.
  [[nodiscard]] const accounting::SegmentOpened* start_that_was_moved(const RunWriter::Run& run) const {
    for (const accounting::SegmentKey& key : segments()) {
      const accounting::LiveSegment* live = key.kind == SegmentKind::run ? books_.find_segment(key) : nullptr;
      if (live == nullptr || live->end || key.anchor >= run.start) continue;
      const bool is_of_it = live->opened.organization == run.organization && live->opened.begin == key.anchor;
      if (is_of_it && !was_resubmitted_since(key.anchor)) return &live->opened;
    }
    return nullptr;
  }

  // The wait of the job that lasted until `start` or longer; of several the last one to begin.
  [[nodiscard]] const accounting::SegmentOpened* wait_at(JobId job, Instant start) const {
    const accounting::SegmentOpened* found = nullptr;
    const accounting::JobMemory* memory = books_.find_job(job);
    if (memory == nullptr) return found;
    for (const accounting::SegmentKey& key : memory->segments) {
      const accounting::LiveSegment* live = key.kind == SegmentKind::wait ? books_.find_segment(key) : nullptr;
      if (live == nullptr || live->opened.begin > start || live->end.value_or(start) < start) continue;
      if (found == nullptr || live->opened.begin >= found->begin) found = &live->opened;
    }
    return found;
  }

  // The record's own run, and earlier runs that must be over since it began.
  void settle_started() {
    std::optional<RunFacts> facts = facts_of(record_, scan_.at, out_.warnings);
    if (!facts) {
      out_.unsettled = record_.start_time > scan_.at.value;
      if (record_.start_time <= 0) settle_requeue();
      return;
    }
    end_superseded_runs(facts->start);
    std::erase_if(runs_, [&](Instant start) { return start > facts->start && takes_back_forgotten(start); });
    CloseReason at_end = CloseReason::ended;
    RunWriter run = writer(facts->start);
    const auto later = runs_.upper_bound(facts->start);
    if (later != runs_.end() && facts->now != RunFacts::Now::ended) {
      // The books are a run ahead. This one's end was not seen: it is counted as far as it was seen.
      if (run.known()) return;
      facts->end = facts->now == RunFacts::Now::suspended ? facts->pivot : std::min(scan_.at, *later);
      facts->now = RunFacts::Now::ended;
      at_end = CloseReason::vanished;
    }
    settle_run(*facts, run, at_end);
  }

  // A record tells of the job's last run. One of an earlier run, read after a later one began, says that slurmctld was
  // killed and went back to a state from before that: the later run, unless it ended, is not in Slurm's own records.
  bool takes_back_forgotten(Instant later) {
    RunWriter run = writer(later);
    if (!run.is_open() || run.open_begin() > scan_.at) return false;
    if (run.open_begin() == scan_.at) {
      out_.unsettled = true;
      return false;
    }
    out_.warnings.push_back(fmt::format(
        "observer: {}: slurmctld went back to its run since {} and forgot the one since {}, which is retracted",
        name_of(record_), record_.start_time, later.value));
    run.retract(scan_.at);
    return true;
  }

  void settle_run(const RunFacts& facts, RunWriter& run, CloseReason at_end) {
    const Freshness freshness = freshness_of(facts, run, scan_.at);
    if (freshness == Freshness::same_second) out_.unsettled = true;
    if (freshness != Freshness::newer) return;
    if (run.is_elsewhere(facts.now != RunFacts::Now::ended)) run.retract(scan_.at);
    settle_before_pivot(facts, run, scan_.at, at_end);
    settle_since_pivot(facts, run, scan_.at, at_end);
  }

  // Every requeue raises Slurm's count of restarts. Where there was none, a run of which the record knows nothing is
  // one that slurmctld forgot (killed before it saved the start, or even the job, whose number another one got then).
  [[nodiscard]] bool was_requeued() const { return record_.restart_count > 0; }

  // A requeue gives the job a new submit_time and, until its old credential has run out, a begin time after that. Only
  // so is it distinguished from the submission before a run that started in the same second: when slurmctld finds no
  // node to clean, a requeued job keeps its old submit_time.
  [[nodiscard]] bool was_resubmitted_since(Instant begin) const {
    const Instant submit{record_.submit_time};
    return was_requeued() && (submit > begin || (submit == begin && record_.eligible_time > record_.submit_time));
  }

  // Whether the record is of another job than the run that began then: slurmctld lost its state and numbers jobs anew.
  [[nodiscard]] bool is_renumbered(Instant start) const {
    return scan_.last_look && !was_requeued() && Instant{record_.submit_time} > start && start <= *scan_.last_look;
  }

  // A run that is open although a later one began: requeued at the new submit time. If the submit time lies before the
  // run, the job was never requeued: slurmctld forgot the first start, or nodes had to boot first.
  void end_superseded_run(Instant start, Instant next_start) {
    RunWriter run = writer(start);
    const Instant submit{record_.submit_time};
    if (!run.is_open()) return;
    if (was_resubmitted_since(run.open_begin())) {
      run.close(std::min(submit, next_start), CloseReason::requeued);
    } else if (is_renumbered(start)) {
      lose(run, start);
    } else {
      run.retract(scan_.at);
    }
  }

  void end_superseded_runs(Instant next_start) {
    for (const Instant start : runs_) {
      if (start < next_start) end_superseded_run(start, next_start);
    }
  }

  // A record without a run of its own: whatever run is open is over, at the earliest end that Slurm's times allow.
  void settle_requeue() {
    Instant began = k_beginning_of_time;
    if (record_.completing && record_.start_time > 0 && record_.end_time >= record_.start_time) {
      // The requeue is under way and the record still tells of the run.
      if (const auto facts = facts_of(record_, scan_.at, out_.warnings)) {
        began = facts->start;
        end_superseded_runs(began);
        RunWriter run = writer(began);
        settle_run(*facts, run, CloseReason::requeued);
      }
    }
    for (const Instant start : runs_) {
      if (start >= began) end_requeued_run(start);
    }
  }

  // Backfill wipes the start_time of every pending job, also while one completes; its end_time is then the run's and
  // its submit_time still the one before the run. Afterwards end_time may be unknown, and submit_time is the requeue's.
  [[nodiscard]] std::optional<Instant> end_before_requeue(const RunWriter& run) const {
    if (!was_requeued()) return std::nullopt;
    std::optional<Instant> end;
    const auto consider = [&](Instant candidate) {
      if (candidate >= run.open_begin() && candidate <= scan_.at) end = std::min(end.value_or(candidate), candidate);
    };
    consider(Instant{record_.end_time});
    if (!record_.completing && was_resubmitted_since(run.open_begin())) consider(Instant{record_.submit_time});
    return end;
  }

  void end_requeued_run(Instant start) {
    if (record_.completing && start == Instant{record_.start_time}) return;
    RunWriter run = writer(start);
    if (!run.is_open() || scan_.at < run.open_begin()) return;
    const std::optional<Instant> end = end_before_requeue(run);
    if (end) {
      run.close(*end, CloseReason::requeued);
    } else if (scan_.at == run.open_begin()) {
      out_.unsettled = true;
    } else if (!record_.completing && scan_.last_look && start <= *scan_.last_look) {
      lose(run, start);
    } else if (!record_.completing) {
      out_.warnings.push_back(
          fmt::format("observer: {}: pending again without a requeue; slurmctld forgot its start at {}, "
                      "which is retracted",
                      name_of(record_), start.value));
      run.retract(scan_.at);
    }
  }

  void lose(RunWriter& run, Instant start) {
    const LostRuns lost = lose_run(run, start, *scan_.last_look, scan_.at);
    out_.warnings.push_back(fmt::format("observer: {}: slurmctld came back without its run since {}, which {}",
                                        name_of(record_), start.value, what_becomes_of(lost, *scan_.last_look)));
    out_.lost += lost;
  }

  void settle_wait() {
    WaitWriter wait(books_,
                    {.id = JobId{record_.job_id},
                     .organization = whose_demand(),
                     .slurm_state = record_.slurm_state,
                     .task = rules_.charging.task_of(record_, background_.node_kinds),
                     .is_array = is_array(),
                     .waits_as = array_of_task()},
                    out_.events);
    const bool settled = record_.state == JobState::pending
                             ? wait.settle_pending({.amount = wanted(),
                                                    .outstanding = outstanding(),
                                                    .eligible = Instant{record_.eligible_time},
                                                    .submit = Instant{record_.submit_time},
                                                    .observed_at = scan_.at,
                                                    .previous_scan = scan_.previous,
                                                    .placement = placement_of(record_)})
                             : wait.settle_started({.start = Instant{record_.start_time},
                                                    .end = Instant{record_.end_time},
                                                    .ran = !record_.nodes.empty(),
                                                    .over = record_.state == JobState::ended,
                                                    .observed_at = scan_.at,
                                                    .asked = asked()});
    if (!settled) out_.unsettled = true;
  }

  // What a job asked for that ended without having started.
  [[nodiscard]] WaitWriter::Asked asked() const {
    const bool is_known = memory_ != nullptr && !memory_->organization.empty();
    return {.organization = is_known ? memory_->organization : organization_,
            .amount = rules_.charging.waiting_of(record_, background_.node_kinds),
            .placement = placement_of(record_)};
  }

  // Whose the demand is that the job had or has. A run keeps the organization it started with.
  [[nodiscard]] std::string whose_demand() const {
    if (record_.state == JobState::pending) return organization_;
    std::string booked = whose_run();
    if (!booked.empty()) return booked;
    return record_.nodes.empty() ? std::string{} : organization_;
  }

  // Whom the books have the record's own run under; empty: they do not have it.
  [[nodiscard]] std::string whose_run() const {
    for (const accounting::SegmentKey& key : segments()) {
      if (key.kind != SegmentKind::run || key.anchor.value != record_.start_time) continue;
      const accounting::LiveSegment* live = books_.find_segment(key);
      if (live != nullptr) return live->opened.organization;
    }
    return {};
  }

  // The array's record, if this is one of a task of its own; else 0.
  [[nodiscard]] JobId array_of_task() const {
    return JobId{record_.array_job_id == record_.job_id ? 0 : record_.array_job_id};
  }

  // The record that stands for the pending tasks of an array, at last for one task. What a resized run asks for is no
  // longer what its tasks waited for.
  [[nodiscard]] bool is_array() const {
    return record_.array_job_id == record_.job_id && record_.array_job_id != 0 && record_.resize_time == 0;
  }

  // What the job asks for now; nothing while something but resources holds it back.
  [[nodiscard]] MicroProcessors wanted() const {
    return could_start(record_) ? rules_.charging.waiting_of(record_, background_.node_kinds) : MicroProcessors{};
  }

  // What it asks for as soon as Slurm lets it; nothing if its user (or an administrator) has set it aside. Tasks of an
  // array get their dependencies one by one (aftercorr), so there a dependency says nothing.
  [[nodiscard]] MicroProcessors outstanding() const {
    const bool set_aside = record_.wait == WaitReason::held || record_.wait == WaitReason::begin_time ||
                           record_.wait == WaitReason::nice || (record_.wait == WaitReason::dependency && !is_array());
    return set_aside && !record_.completing ? MicroProcessors{}
                                            : rules_.charging.waiting_of(record_, background_.node_kinds);
  }

  // Once for each (job, submit time): when the books hear of the job, and when they get its first segment since a
  // requeue.
  void describe() {
    const Instant submit{record_.submit_time};
    if (memory_ != nullptr) {
      const bool opens = std::any_of(out_.events.begin(), out_.events.end(), [](const accounting::Event& e) {
        return std::holds_alternative<accounting::SegmentOpened>(e);
      });
      if (!opens || (memory_->segments.empty() && memory_->retracted.empty())) return;
      for (const accounting::SegmentKey& key : memory_->segments) {
        const accounting::LiveSegment* live = books_.find_segment(key);
        if (live != nullptr && live->opened.begin >= submit) return;
      }
      for (const accounting::RetractedSegment& taken : memory_->retracted) {
        if (taken.key.anchor >= submit) return;
      }
    }
    out_.events.insert(out_.events.begin(), description());
  }

  // What is said of the job otherwise than before, in a record that is newer than what is known: somebody moved or
  // renamed it while it waited, it runs in one of several partitions, an array's last task runs under the array's
  // number.
  void tell_changes() {
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

  // A job that started is whose run it is booked as, whatever the rules say by now.
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
                                    .partition = sorted_names(record_.partition),
                                    .qos = record_.qos,
                                    .name = record_.name,
                                    .wckey = record_.wckey};
  }

  const accounting::State& books_;
  const JobRecord& record_;
  const Scan scan_;
  const ReadingRules& rules_;
  const Background& background_;
  const accounting::JobMemory* memory_;
  std::string organization_;
  std::set<Instant> runs_;  // starts of the runs that the books remember
  Observation out_;
};

}  // namespace

Observation observe_job(const accounting::State& books, const JobRecord& record, Scan scan, const ReadingRules& rules,
                        const Background& background) {
  return JobObserver(books, record, scan, rules, background).observe();
}

Observation observe_gone(const accounting::State& books, JobId job, Instant last_alive, Departure departure) {
  Observation out;
  const accounting::JobMemory* memory = books.find_job(job);
  if (memory == nullptr) return out;
  for (const accounting::SegmentKey& key : memory->segments) {
    const accounting::LiveSegment* live = books.find_segment(key);
    if (key.kind == SegmentKind::wait || live == nullptr || live->end) continue;
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
  WaitWriter(books, {.id = job, .is_array = true}, out.events).settle_gone(last_alive);
  return out;
}

}  // namespace shapley::daemon
