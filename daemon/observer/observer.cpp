#include "daemon/observer/observer.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "daemon/observer/run_facts.hpp"
#include "daemon/observer/usable_nodes.hpp"
#include "daemon/observer/wait_writer.hpp"

namespace shapley::daemon {

using accounting::CloseReason;
using accounting::LiveSegment;
using accounting::SegmentKind;
using protocol::JobState;
using protocol::JobUpdate;
using protocol::WaitReason;

namespace {

// One record against the books; collects what observe_job returns.
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
    observe_wait();
    describe();
    describe_changes();
    return std::move(out_);
  }

 private:
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

  // Since when Slurm could have started the run: as it waited, if that was booked for its organization, else by what
  // Slurm reports as the last time that it could start. What is older than the books' horizon is left out: nothing
  // there may change.
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
    run.released = std::max({eligible, Instant{record_.submit_time}, books_.memory_horizon()});
    // A limit does not make a job less eligible to Slurm; but the books knew that it could not start.
    if (memory_ != nullptr) run.released = std::max(*run.released, scan_.previous);
  }

  // The same start as the books have it, where Slurm moved its time (RequeueRules retract it). nullptr: none.
  [[nodiscard]] const accounting::SegmentOpened* start_that_was_moved(const RunWriter::Run& run) const {
    for (const LiveSegment* live : booked_) {
      const Instant start = live->opened.key.anchor;
      if (live->end || start >= run.start) continue;
      const bool is_of_it = live->opened.organization == run.organization && live->opened.begin == start;
      if (is_of_it && !requeue_.was_resubmitted_since(start)) return &live->opened;
    }
    return nullptr;
  }

  // The wait of the job that lasted until `start` or longer; of several the last one to begin.
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
      // The books are a run ahead. This one's end was not seen: it is counted as far as it was seen.
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

  // A record without a run of its own: whatever run is open is over, at the earliest end that Slurm's times allow.
  void observe_without_run() {
    Instant began = k_beginning_of_time;
    if (record_.completing && record_.start_time > 0 && record_.end_time >= record_.start_time) {
      // The requeue is under way and the record is still that of the run.
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
                     .task = rules_.charging.task_of(record_, background_.node_kinds),
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
                                                    .placement = placement_of(record_)})
                             : wait.follow_started({.start = Instant{record_.start_time},
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

  // The organization whose run the record's own one is in the books; empty: they do not have it.
  [[nodiscard]] std::string whose_run() const {
    for (const LiveSegment* live : booked_) {
      if (live->opened.key.anchor.value == record_.start_time) return live->opened.organization;
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
  [[nodiscard]] ProcessorMillionths wanted() const {
    return could_start(record_) ? rules_.charging.waiting_of(record_, background_.node_kinds) : ProcessorMillionths{};
  }

  // What it asks for as soon as Slurm lets it; nothing if its user (or an administrator) has set it aside. Tasks of an
  // array get their dependencies one by one (aftercorr), so there a dependency says nothing.
  [[nodiscard]] ProcessorMillionths outstanding() const {
    const bool set_aside = record_.wait == WaitReason::held || record_.wait == WaitReason::begin_time ||
                           record_.wait == WaitReason::nice || (record_.wait == WaitReason::dependency && !is_array());
    return set_aside && !record_.completing ? ProcessorMillionths{}
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
        if (books_.find_segment(key)->opened.begin >= submit) return;
      }
      for (const accounting::RetractedSegment& taken : memory_->retracted) {
        if (taken.key.anchor >= submit) return;
      }
    }
    out_.events.insert(out_.events.begin(), description());
  }

  // What is said of the job otherwise than before, in a record that is newer than what is known: a user moved or
  // renamed it while it waited, it runs in one of several partitions, an array's last task runs under the array's
  // number.
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

// What a node offers, against the books.

namespace {

// `now` is what the node offers, is worth and has at its `at`.
Observation observe_capacity(const accounting::State& books, accounting::CapacityChanged now,
                             std::optional<Instant> last_change) {
  Observation out;
  const accounting::CapacityChanged* known = books.last_capacity(now.node);
  // A node that is worth nothing and was never heard of needs no event. One that drains may have runs.
  if (known == nullptr && now.processors.value == 0 && now.whole.value == 0) return out;
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
  return observe_capacity(books, std::move(now), last_change);
}

}  // namespace shapley::daemon
