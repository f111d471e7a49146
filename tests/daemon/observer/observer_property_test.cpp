// Random job histories, played by a small slurmctld that keeps its record as Slurm does, and scanned at random moments.
//
// Whatever was missed between two scans, the run seconds in the books must equal the true ones once the final record
// was seen; and feeding everything again must change nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "bench.hpp"

namespace shapley::daemon {
namespace {

using accounting::CloseReason;
using protocol::JobState;
using protocol::JobUpdate;

// One job's life in slurmctld's own bookkeeping (slurm-internals: pre_sus_time, tot_sus_time, suspend_time), beside a
// count of run seconds that knows nothing of that bookkeeping.
class Slurm {
 public:
  Slurm() : record_(record_of(JobState::pending)) {}

  void pass(std::int64_t seconds) {
    if (record_.state == JobState::running) ran_ += seconds;
    now_ += seconds;
  }
  void start() {
    record_.state = JobState::running;
    record_.slurm_state = "RUNNING";
    record_.start_time = now_;
    record_.nodes = {{"n1", 1}, {"n2", 3}};
  }
  void suspend() {
    record_.pre_suspend_run_s += now_ - (record_.suspend_time > 0 ? record_.suspend_time : record_.start_time);
    record_.suspend_time = now_;
    record_.state = JobState::suspended;
  }
  void resume() {
    record_.total_suspended_s += now_ - record_.suspend_time;
    record_.suspend_time = now_;
    record_.state = JobState::running;
  }
  void resize() {
    record_.resize_time = now_;
    record_.nodes = {{"n1", 1}};
  }
  void end() {
    record_.end_time = record_.state == JobState::suspended ? record_.suspend_time : now_;
    record_.state = JobState::ended;
    record_.slurm_state = "COMPLETED";
  }
  void begin_requeue() {
    record_.end_time = record_.state == JobState::suspended ? record_.suspend_time : now_;
    record_.state = JobState::pending;
    record_.completing = true;
    record_.restart_count += 1;
  }
  void finish_requeue() {
    const std::uint32_t restarts = record_.restart_count;
    record_ = record_of(JobState::pending);
    record_.restart_count = restarts;
    record_.submit_time = now_;
    record_.eligible_time = now_ + 20;
    record_.wait = protocol::WaitReason::begin_time;
  }
  void become_eligible() { record_.wait = protocol::WaitReason::startable; }

  void save() { saved_ = record_; }
  // SIGKILL and a restart, a second later: what was not saved is forgotten.
  void die() {
    record_ = saved_;
    now_ += 1;
  }

  [[nodiscard]] const JobUpdate& record() const { return record_; }
  [[nodiscard]] std::int64_t now() const { return now_; }
  [[nodiscard]] std::int64_t ran() const { return ran_; }
  // Of the present run, by the ended record alone.
  [[nodiscard]] std::int64_t recorded_seconds() const {
    const std::int64_t pivot = record_.suspend_time > 0 ? record_.suspend_time : record_.start_time;
    return record_.pre_suspend_run_s + record_.end_time - pivot;
  }

 private:
  JobUpdate record_;
  JobUpdate saved_ = record_;
  std::int64_t now_ = 100;
  std::int64_t ran_ = 0;
};

struct Scanned {
  JobUpdate record;
  std::int64_t at;
};

// A random life; `scan` is called at every moment at which a scan could happen, `must` when it has to.
template <typename Scan>
void live(Slurm& job, const Scan& scan) {
  const auto pause = [&] {
    scan(false);
    job.pass(*rc::gen::inRange(0, 4));
    scan(false);
  };
  const auto run = [&] {
    job.start();
    pause();
    const int flips = *rc::gen::inRange(0, 5);
    for (int i = 0; i < flips; ++i) {
      if (*rc::gen::inRange(0, 4) == 0 && job.record().state == JobState::running) job.resize();
      job.record().state == JobState::running ? job.suspend() : job.resume();
      pause();
    }
  };
  pause();
  run();
  const int requeues = *rc::gen::inRange(0, 3);
  for (int i = 0; i < requeues; ++i) {
    job.begin_requeue();
    // The record of a requeued run is wiped when it has finished completing: it must have been seen by then.
    scan(true);
    pause();
    job.finish_requeue();
    pause();
    job.pass(20);
    job.become_eligible();
    pause();
    run();
  }
  job.end();
  job.pass(1);
  scan(true);
}

struct BookedPart {
  std::int64_t begin;
  std::int64_t end;
  CloseReason reason;
};

// The parts of every run that still count, as an audit reads them.
std::map<std::int64_t, std::vector<BookedPart>> booked_parts(const Bench& bench) {
  std::map<accounting::SegmentKey, BookedPart> parts;
  for (const accounting::Event& event : bench.history) {
    if (const auto* opened = std::get_if<accounting::SegmentOpened>(&event)) {
      parts[opened->key] = {opened->begin.value, opened->begin.value, CloseReason::ended};
    } else if (const auto* closed = std::get_if<accounting::SegmentClosed>(&event)) {
      parts[closed->key].end = closed->end.value;
      parts[closed->key].reason = closed->reason;
    } else if (const auto* taken = std::get_if<accounting::SegmentRetracted>(&event)) {
      parts.erase(taken->key);
    }
  }
  std::map<std::int64_t, std::vector<BookedPart>> by_run;
  for (const auto& [key, part] : parts) {
    if (key.kind == accounting::SegmentKind::run) by_run[key.anchor.value].push_back(part);
  }
  for (auto& [run, of_run] : by_run) {
    std::stable_sort(of_run.begin(), of_run.end(),
                     [](const BookedPart& a, const BookedPart& b) { return a.begin < b.begin; });
  }
  return by_run;
}

// Where a run holds nothing for a while, the part before says that it was suspended.
void expect_gaps_are_suspensions(const Bench& bench) {
  for (const auto& [run, parts] : booked_parts(bench)) {
    for (std::size_t i = 1; i < parts.size(); ++i) {
      RC_ASSERT(parts[i - 1].end == parts[i].begin || parts[i - 1].reason == CloseReason::suspended);
    }
  }
}

RC_GTEST_PROP(ObserverProperty, RunSecondsAreExactWhateverWasMissed, ()) {
  Slurm job;
  Bench bench;
  std::vector<Scanned> scans;
  const bool snapshots = *rc::gen::arbitrary<bool>();
  std::int64_t previous = 0;
  live(job, [&](bool must) {
    if (!must && *rc::gen::inRange(0, 3) != 0) return;
    bench.see(job.record(), job.now(), previous);
    scans.push_back({job.record(), job.now()});
    if (snapshots) RC_ASSERT(bench.see(job.record(), job.now(), previous).events.empty());
    previous = job.now();
  });
  RC_ASSERT(!bench.anything_open());
  RC_ASSERT(bench.closed_run_seconds() == job.ran());
  expect_gaps_are_suspensions(bench);
  for (const accounting::Event& event : bench.history) {
    const auto* taken = std::get_if<accounting::SegmentRetracted>(&event);
    if (taken != nullptr) RC_ASSERT(taken->key.kind == accounting::SegmentKind::wait);
  }
  const std::string runs = bench.runs();
  for (const Scanned& scan : scans) RC_ASSERT(bench.see(scan.record, scan.at).events.empty());
  RC_ASSERT(bench.runs() == runs);
}

// The books hold every second of the day at most once, whatever was missed.
RC_GTEST_PROP(ObserverProperty, SegmentsOfOneJobNeverOverlap, ()) {
  Slurm job;
  Bench bench;
  live(job, [&](bool must) {
    if (must || *rc::gen::inRange(0, 2) == 0) bench.see(job.record(), job.now());
  });
  std::map<std::int64_t, std::int64_t> ends;
  for (const accounting::Event& event : bench.history) {
    if (const auto* opened = std::get_if<accounting::SegmentOpened>(&event)) {
      if (opened->key.kind != accounting::SegmentKind::run) continue;
      const accounting::LiveSegment* live = bench.state.find_segment(opened->key);
      RC_ASSERT(live != nullptr);
      if (live->end && *live->end > opened->begin) {
        RC_ASSERT(ends.emplace(opened->begin.value, live->end->value).second);
      }
    }
  }
  std::int64_t last_end = 0;
  for (const auto& [begin, end] : ends) {
    RC_ASSERT(begin >= last_end);
    last_end = end;
  }
}

// What slurmctld, or a user, may do with the job as it is now.
void act(Slurm& job) {
  const int choice = *rc::gen::inRange(0, 4);
  switch (job.record().state) {
    case JobState::pending:
      if (job.record().completing) return job.finish_requeue();
      job.pass(std::max<std::int64_t>(0, job.record().eligible_time - job.now()));
      job.start();
      return;
    case JobState::running:
      if (choice == 0) job.end();
      if (choice == 1) job.begin_requeue();
      if (choice == 2) job.suspend();
      if (choice == 3) job.resize();
      return;
    case JobState::suspended:
      if (choice == 0) job.end();
      if (choice == 1) job.begin_requeue();
      if (choice > 1) job.resume();
      return;
    case JobState::ended:
      return;
  }
}

void end_well(Slurm& job) {
  if (job.record().completing) job.finish_requeue();
  job.pass(1);
  if (job.record().state == JobState::pending) act(job);
  job.pass(2);
  if (job.record().state != JobState::ended) job.end();
  job.pass(1);
}

// slurmctld dies again and again, and each time goes back to what it had saved. Whatever the books had seen of the
// forgotten life, after the last record nothing is open, and the run has the seconds that Slurm counts.
RC_GTEST_PROP(ObserverProperty, TheLastRecordDecidesWhateverSlurmctldForgot, ()) {
  Slurm job;
  Bench bench;
  const auto see = [&] {
    const JobUpdate& r = job.record();
    RC_LOG() << "at " << job.now() << ": " << r.slurm_state << (r.completing ? ", completing" : "") << ", submit "
             << r.submit_time << ", start " << r.start_time << ", end " << r.end_time << ", flip " << r.suspend_time
             << ", before " << r.pre_suspend_run_s << ", restarts " << r.restart_count << "; books " << bench.runs()
             << '\n';
    bench.see(r, job.now());
  };
  const int steps = *rc::gen::inRange(1, 30);
  for (int step = 0; step < steps; ++step) {
    switch (*rc::gen::inRange(0, 6)) {
      case 0:
        job.save();
        break;
      case 1:
        job.die();
        break;
      default:
        act(job);
    }
    if (*rc::gen::inRange(0, 2) == 0) see();
    job.pass(*rc::gen::inRange(0, 3));
    if (*rc::gen::inRange(0, 2) == 0) see();
  }
  end_well(job);
  see();
  RC_ASSERT(!bench.anything_open());
  RC_ASSERT(bench.closed_run_seconds(job.record().start_time) == job.recorded_seconds());
  RC_ASSERT(job.record().end_time == job.record().start_time ||
            bench.last_end(job.record().start_time) == job.record().end_time);
  RC_ASSERT(bench.see(job.record(), job.now()).events.empty());
}

// ---- demand that is withdrawn before it starts leaves no trace ----

// Slurm's times are odd and scans even, so that nothing falls into the second of a scan.
constexpr std::int64_t k_last_scan = 120;

std::int64_t some_odd(std::int64_t from, std::int64_t to) {
  return from + 1 + 2 * *rc::gen::inRange<std::int64_t>(0, std::max<std::int64_t>(1, (to - from) / 2));
}

struct PlannedJob {
  JobUpdate record;  // as submitted
  std::int64_t start = 0;
  std::int64_t end = 0;
};

// Several tasks in one record. Some more are cancelled before the last of these starts, which has the array's own
// record then: that a task started is known of the others as of the next scan only.
struct PlannedArray {
  JobUpdate record;
  std::vector<PlannedJob> tasks;  // by start
  std::uint32_t withdrawn = 0;
  std::int64_t cancelled = 0;
};

// Waits in changing ways until it is cancelled, or gone.
struct Junk {
  JobUpdate record;
  std::int64_t cancelled = 0;
  bool purged = false;
};

JobUpdate request(std::uint32_t id, int organization) {
  JobUpdate r = record_of(JobState::pending);
  r.job_id = id;
  r.account = std::string(1, static_cast<char>('a' + organization));
  r.submit_time = r.eligible_time = some_odd(0, 60);
  r.requested_cpus = *rc::gen::inRange<std::uint32_t>(1, 5);
  return r;
}

PlannedJob planned(JobUpdate record) {
  PlannedJob job{std::move(record)};
  job.start = some_odd(job.record.submit_time + 1, 100);
  job.end = some_odd(job.start + 1, 110);
  return job;
}

JobUpdate at(const PlannedJob& job, std::int64_t now) {
  JobUpdate r = job.record;
  if (now < job.start) return r;
  r.state = now < job.end ? JobState::running : JobState::ended;
  r.slurm_state = now < job.end ? "RUNNING" : "COMPLETED";
  r.start_time = job.start;
  r.end_time = now < job.end ? 0 : job.end;
  r.nodes = {{"n1", r.requested_cpus}};
  return r;
}

JobUpdate cancelled_at(JobUpdate r, std::int64_t when) {
  r.state = JobState::ended;
  r.slurm_state = "CANCELLED";
  r.end_time = when;
  return r;
}

class World {
 public:
  World() {
    apply(accounting::OrganizationsDeclared{Instant{0}, {"A", "B", "C"}});
    apply(accounting::CapacityChanged{"n1", Instant{0}, 0, ProcessorMillionths{16 * k_micro}});
    apply(accounting::OwnershipStated{
        "n1", Instant{0}, {{Instant{0}, {{"A", 500'000}, {"B", 250'000}, {"C", 250'000}}}}});
    for (int i = 0; i < 3; ++i) {
      protocol::Rule rule;
      rule.organization = std::string(1, static_cast<char>('A' + i));
      rule.name = std::string(1, static_cast<char>('a' + i));
      account_rules_.push_back(rule);
    }
    rules_ = {protocol::Classifier(account_rules_), Charging({config::Charge::weights, {{"cpu", 1}}, {}})};
  }

  void see(const JobUpdate& record, std::int64_t now) {
    for (const auto& e : observe_job(state_, record, {Instant{now}, Instant{now - 2}}, rules_).events) apply(e);
  }
  void gone(std::uint32_t job, std::int64_t last_alive) {
    for (const auto& e : observe_gone(state_, JobId{job}, Instant{last_alive}).events) apply(e);
  }

  void see(const PlannedArray& array, std::uint32_t withdrawn, std::int64_t now) {
    if (now < array.record.submit_time) return;
    JobUpdate rest = array.record;
    rest.pending_tasks = now >= array.cancelled ? 0 : withdrawn;
    for (std::size_t i = 0; i < array.tasks.size(); ++i) {
      PlannedJob task = array.tasks[i];
      task.record.array_task_id = static_cast<std::int64_t>(i);
      if (i + 1 == array.tasks.size()) task.record.job_id = array.record.job_id;
      if (now >= task.start) {
        see(at(task, now), now);
      } else {
        rest.pending_tasks += 1;
      }
    }
    if (rest.pending_tasks > 0) see(rest, now);
  }

  void see(const Junk& junk, std::int64_t now) {
    if (now < junk.record.submit_time) return;
    if (now >= junk.cancelled) {
      junk.purged ? gone(junk.record.job_id, now - 2) : see(cancelled_at(junk.record, junk.cancelled), now);
      return;
    }
    JobUpdate r = junk.record;
    r.wait = *rc::gen::weightedElement<protocol::WaitReason>({{6, protocol::WaitReason::startable},
                                                              {1, protocol::WaitReason::held},
                                                              {1, protocol::WaitReason::account_limit},
                                                              {1, protocol::WaitReason::dependency}});
    r.requested_cpus = *rc::gen::inRange<std::uint32_t>(1, 20);
    if (r.array_job_id != 0) r.pending_tasks = *rc::gen::inRange<std::uint32_t>(1, 4);
    r.account = *rc::gen::weightedElement<std::string>({{8, r.account}, {1, "a"}, {1, "none"}});
    r.required_nodes = *rc::gen::weightedElement<std::string>({{4, ""}, {1, "n1"}, {1, "n2"}});
    see(r, now);
  }

  // Every figure of every organization by every estimator.
  [[nodiscard]] std::map<std::string, std::vector<std::string>> figures() {
    std::map<std::string, std::vector<std::string>> all;
    for (const accounting::Standing& s : state_.advance(Instant{k_last_scan + 10}).standings()) {
      std::vector<std::string>& row = all[state_.organizations()[s.organization.value]];
      row = {to_string(s.psi.value), std::to_string(s.used.value), std::to_string(s.waiting.value)};
      for (const accounting::EstimatorId e : accounting::estimator_ids()) row.push_back(to_string(s.phi(e).value));
    }
    return all;
  }

  accounting::State& state() { return state_; }

 private:
  void apply(const accounting::Event& event) {
    const auto applied = state_.apply(event);
    if (!applied) RC_FAIL(applied.error().what);
    RC_ASSERT(*applied == accounting::Applied::changed);
  }

  accounting::State state_;
  std::vector<protocol::Rule> account_rules_;
  ReadingRules rules_;
};

PlannedArray planned_array(std::uint32_t id, int organization) {
  PlannedArray array{request(id, organization), {}};
  array.record.array_job_id = id;
  const int tasks = *rc::gen::inRange(1, 4);
  for (int i = 0; i < tasks; ++i) {
    JobUpdate record = array.record;
    record.job_id = id + 1 + static_cast<std::uint32_t>(i);
    array.tasks.push_back(planned(record));
  }
  std::sort(array.tasks.begin(), array.tasks.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  array.withdrawn = *rc::gen::inRange<std::uint32_t>(0, 4);
  array.cancelled = some_odd(array.record.submit_time + 1, array.tasks.back().start);
  return array;
}

RC_GTEST_PROP(ObserverProperty, WhatIsWithdrawnBeforeItStartsLeavesNoTraceInTheBooks, ()) {
  std::vector<PlannedJob> jobs;
  std::vector<PlannedArray> arrays;
  std::vector<Junk> junk;
  const int count = *rc::gen::inRange(1, 6);
  for (int i = 0; i < count; ++i) {
    const auto id = static_cast<std::uint32_t>(100 * i);
    const int organization = *rc::gen::inRange(0, 3);
    jobs.push_back(planned(request(id + 1, organization)));
    arrays.push_back(planned_array(id + 10, organization));
    JobUpdate record = request(id + 20, 1);
    if (*rc::gen::arbitrary<bool>()) record.array_job_id = record.job_id;
    const std::int64_t submit = record.submit_time;
    junk.push_back({std::move(record), some_odd(submit + 1, 110), *rc::gen::arbitrary<bool>()});
  }
  World honest;
  World playing;
  for (std::int64_t now = 2; now <= k_last_scan; now += 2) {
    for (World* world : {&honest, &playing}) {
      for (const PlannedJob& job : jobs) {
        if (now >= job.record.submit_time) world->see(at(job, now), now);
      }
      for (const PlannedArray& array : arrays) world->see(array, world == &honest ? 0 : array.withdrawn, now);
    }
    for (const Junk& job : junk) playing.see(job, now);
  }
  RC_ASSERT(playing.figures() == honest.figures());
  RC_ASSERT(playing.state().jobs_with_open_segments().empty());
}

}  // namespace
}  // namespace shapley::daemon
