// A State with records fed into it through the observer, for tests: what the service does, without ledger and sockets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
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
inline protocol::JobUpdate record_of(protocol::JobState state) {
  protocol::JobUpdate r;
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

  Observation see(const protocol::JobUpdate& record, std::int64_t at, std::int64_t previous = 0) {
    return taken(observe_job(state, record, {.at = Instant{at}, .previous = Instant{previous}}, rules_));
  }
  // A record of a slurmctld that came back; its records were looked at last at `last_look`.
  Observation see_back(const protocol::JobUpdate& record, std::int64_t at, std::int64_t last_look) {
    return taken(observe_job(state, record, {.at = Instant{at}, .last_look = Instant{last_look}}, rules_));
  }
  // After a clock that was wrong until `reliable_since`.
  Observation see_after_wrong_clock(const protocol::JobUpdate& record, std::int64_t at, std::int64_t reliable_since) {
    return taken(observe_job(state, record, {.at = Instant{at}, .reliable_since = Instant{reliable_since}}, rules_));
  }
  Observation see_mistimed(const protocol::JobUpdate& record, std::int64_t at, const WrongClock& clock) {
    return taken(observe_mistimed(state, record, Instant{at}, clock));
  }
  Observation see_gone(std::uint32_t job, std::int64_t last_alive, Departure departure = Departure::purged) {
    return taken(observe_gone(state, JobId{job}, Instant{last_alive}, departure));
  }

  // The run segments of job 7 as text: "[100,160) n1:1 n2:2; [200,...) n1:1"; in order of their begin.
  [[nodiscard]] std::string runs() const;

  // Run seconds of all closed segments of job 7, or of those of its run that began at `start`.
  [[nodiscard]] std::int64_t closed_run_seconds(std::optional<std::int64_t> start = std::nullopt) const;
  // When the last closed segment of that run ended; 0: no segment was closed.
  [[nodiscard]] std::int64_t last_end(std::int64_t start) const;
  [[nodiscard]] bool anything_open() const { return !state.jobs_with_open_segments().empty(); }

  accounting::State state;
  std::vector<accounting::Event> history;

 private:
  Observation taken(Observation observation);
  // In order of their begin.
  [[nodiscard]] std::vector<const accounting::LiveSegment*> segments() const;

  ReadingRules rules_;
};

// What came of a record that was seen at `at`, in words: "described, run [120,...) n1:1 since 100". A segment whose
// anchor is not its begin, or that is not the first of its run or wait, is named: "run 120/1 [150,...) n1:1". "look
// again": it is unsettled. Of physics, and of job 7, where nothing else is said.
[[nodiscard]] std::string in_words(const Observation& observation, std::int64_t at);

inline protocol::JobUpdate running(std::int64_t start) {
  protocol::JobUpdate r = record_of(protocol::JobState::running);
  r.start_time = start;
  return r;
}

}  // namespace shapley::daemon
