// Random job histories, played by a small slurmctld that keeps its record as Slurm does, and scanned at random moments.
//
// Whatever was missed between two scans, the run seconds in the books must equal the true ones once the final record
// was seen; and feeding everything again must change nothing.
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

  [[nodiscard]] const JobRecord& record() const { return record_; }
  [[nodiscard]] std::int64_t now() const { return now_; }
  [[nodiscard]] std::int64_t ran() const { return ran_; }

 private:
  JobRecord record_;
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
  for (const fairness::Event& event : bench.history) {
    if (const auto* opened = std::get_if<fairness::SegmentOpened>(&event)) {
      const fairness::LiveSegment* live = bench.state.find_segment(opened->key);
      RC_ASSERT(live != nullptr);
      if (live->end && *live->end > opened->begin && opened->key.kind == fairness::SegmentKind::run) {
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

}  // namespace
}  // namespace shapley::daemon
