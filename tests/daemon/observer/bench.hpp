// A State with records fed into it through the observer, for tests: what the service does, without ledger and sockets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "accounting/state/state.hpp"
#include "daemon/observer/observer.hpp"

namespace shapley::daemon {

inline ReadingRules physics_and_guests() {
  protocol::Rule rule;
  rule.organization = "physics";
  rule.name = "phys";
  return {protocol::Classifier({rule}), Charging()};
}

// A record of job 7 of account phys, one cpu on n1 unless changed.
inline protocol::JobRecord record_of(protocol::JobState state) {
  protocol::JobRecord r;
  r.job_id = 7;
  r.account = "phys";
  r.user_id = 1000;
  r.submit_time = 100;
  r.eligible_time = 100;
  r.requested_cpus = 1;
  r.tres = {{"cpu", 1}};
  r.state = state;
  switch (state) {
    case protocol::JobState::pending:
      r.slurm_state = "PENDING";
      return r;
    case protocol::JobState::running:
      r.slurm_state = "RUNNING";
      break;
    case protocol::JobState::suspended:
      r.slurm_state = "SUSPENDED";
      break;
    case protocol::JobState::ended:
      r.slurm_state = "COMPLETED";
      break;
  }
  r.nodes = {{"n1", 1}};
  return r;
}

class Bench {
 public:
  explicit Bench(ReadingRules rules = physics_and_guests()) : rules_(std::move(rules)) {}

  Observation see(const protocol::JobRecord& record, std::int64_t at, std::int64_t previous = 0) {
    return taken(observe_job(state, record, {.at = Instant{at}, .previous = Instant{previous}}, rules_));
  }
  // A record of a slurmctld that came back; its records were looked at last at `last_look`.
  Observation see_back(const protocol::JobRecord& record, std::int64_t at, std::int64_t last_look) {
    return taken(observe_job(state, record, {.at = Instant{at}, .last_look = Instant{last_look}}, rules_));
  }
  Observation see_gone(std::uint32_t job, std::int64_t last_alive, Departure departure = Departure::purged) {
    return taken(observe_gone(state, JobId{job}, Instant{last_alive}, departure));
  }

  // The run segments of job 7 as text: "[100,160) n1:1 n2:2; [200,...) n1:1"; in order of their begin.
  [[nodiscard]] std::string runs() const { return segments(accounting::SegmentKind::run); }
  [[nodiscard]] std::string waits() const { return segments(accounting::SegmentKind::wait); }

  // Run seconds of all closed segments of job 7, or of those of its run that began at `start`.
  [[nodiscard]] std::int64_t closed_run_seconds(std::optional<std::int64_t> start = std::nullopt) const;
  // When the last closed segment of that run ended; 0: there is none.
  [[nodiscard]] std::int64_t last_end(std::int64_t start) const;
  [[nodiscard]] bool anything_open() const { return !state.jobs_with_open_segments().empty(); }

  accounting::State state;
  std::vector<accounting::Event> history;

 private:
  Observation taken(Observation observation);
  [[nodiscard]] std::vector<const accounting::LiveSegment*> live(accounting::SegmentKind kind) const;
  [[nodiscard]] std::string segments(accounting::SegmentKind kind) const;

  ReadingRules rules_;
};

// How many events of a kind an observation holds.
template <typename Kind>
std::size_t count_of(const Observation& observation) {
  std::size_t count = 0;
  for (const accounting::Event& event : observation.events) count += std::holds_alternative<Kind>(event) ? 1 : 0;
  return count;
}

inline protocol::JobRecord waiting() {
  return record_of(protocol::JobState::pending);
}

inline protocol::JobRecord running(std::int64_t start) {
  protocol::JobRecord r = record_of(protocol::JobState::running);
  r.start_time = start;
  return r;
}

inline protocol::JobRecord ended(std::int64_t start, std::int64_t end) {
  protocol::JobRecord r = record_of(protocol::JobState::ended);
  r.start_time = start;
  r.end_time = end;
  return r;
}

// `flip`: suspend_time, the last suspend or resume. `before`: run seconds until the last suspend.
inline protocol::JobRecord flipped(protocol::JobRecord r, std::int64_t flip, std::int64_t before) {
  r.suspend_time = flip;
  r.pre_suspend_run_s = before;
  return r;
}

inline protocol::JobRecord suspended(std::int64_t start, std::int64_t flip, std::int64_t before) {
  protocol::JobRecord r = record_of(protocol::JobState::suspended);
  r.start_time = start;
  return flipped(r, flip, before);
}

// Pending once more after a requeue.
inline protocol::JobRecord pending_again(std::int64_t submit) {
  protocol::JobRecord r = record_of(protocol::JobState::pending);
  r.submit_time = submit;
  r.wait = protocol::WaitReason::begin_time;
  r.restart_count = 1;
  return r;
}

// Of the last segment that was closed.
inline accounting::CloseReason last_reason(const Bench& bench) {
  for (auto e = bench.history.rbegin(); e != bench.history.rend(); ++e) {
    if (const auto* closed = std::get_if<accounting::SegmentClosed>(&*e)) return closed->reason;
  }
  ADD_FAILURE() << "no segment was closed";
  return accounting::CloseReason::vanished;
}

}  // namespace shapley::daemon
