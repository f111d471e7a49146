// Random job histories, played by a small slurmctld that keeps its record as Slurm does, and scanned at random moments.
//
// Whatever was missed between two scans, the run seconds in the books must equal the true ones once the final record
// was seen; and feeding everything again must change nothing.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "bench.hpp"

namespace shapley::daemon {
namespace {

using protocol::JobRecord;
using protocol::JobState;

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

  [[nodiscard]] const JobRecord& record() const { return record_; }
  [[nodiscard]] std::int64_t now() const { return now_; }
  [[nodiscard]] std::int64_t ran() const { return ran_; }
  // Of the present run, by the ended record alone.
  [[nodiscard]] std::int64_t recorded_seconds() const {
    const std::int64_t pivot = record_.suspend_time > 0 ? record_.suspend_time : record_.start_time;
    return record_.pre_suspend_run_s + record_.end_time - pivot;
  }

 private:
  JobRecord record_;
  JobRecord saved_ = record_;
  std::int64_t now_ = 100;
  std::int64_t ran_ = 0;
};

struct Scanned {
  JobRecord record;
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
  for (const accounting::Event& event : bench.history)
    RC_ASSERT(!std::holds_alternative<accounting::SegmentRetracted>(event));
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
      const accounting::LiveSegment* live = bench.state.find_segment(opened->key);
      RC_ASSERT(live != nullptr);
      if (live->end && *live->end > opened->begin && opened->key.kind == accounting::SegmentKind::run) {
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
    const JobRecord& r = job.record();
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

}  // namespace
}  // namespace shapley::daemon
