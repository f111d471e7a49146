// Runs as the ledger's tables tell them. A run is one stay of a job on its nodes, known by the job's number and its
// start (the anchor of its segments); a requeued job ran several times.
//
// Slurm uses job numbers again, so a run belongs to the last submission before its start. Retracted segments count for
// nothing. Only the tables are read, so the cost follows from the answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// A run with at least one segment that has ended. What is said of it is said of its ended segments.
struct Run {
  JobId job;
  Instant start;
  Instant end;                 // the latest end so far
  Duration length;             // seconds that it held processors: suspensions left out
  MicroProcessors processors;  // the most that it held at once
  bool ended = false;          // false: another segment of it is still open
  std::string organization;    // whom it is booked under
  std::string job_state;       // Slurm's word at the latest end ("COMPLETED", ...)
  // of the job
  Instant submit;
  std::uint32_t user_id = 0;
  std::uint32_t array_job = 0;  // 0: not of an array
  std::string name;
  std::string wckey;
  std::string account = {};
};

// Which jobs' runs are read.
struct RunsAsked {
  std::optional<Instant> submitted_since = std::nullopt;
  std::optional<std::int64_t> newest_jobs = std::nullopt;  // of those, so many that were submitted last
};

// Ascending by job number, then start. Errors: Errc::corrupt, Errc::io.
[[nodiscard]] Expected<std::vector<Run>> runs(const Ledger& ledger, const RunsAsked& asked = {});

// Of the runs that ended last, `most` at most, among the newest `events` events: how long they held how many processors
// (job, start, end, length, processors and ended; the other members stay empty). A queue of any length has no part in
// the cost. Ascending by job number, then start. Errors: those of runs().
[[nodiscard]] Expected<std::vector<Run>> latest_runs(const Ledger& ledger, std::int64_t most, std::int64_t events);

// A segment of a run whose begin is known.
struct RunSegment {
  std::uint32_t ordinal = 0;
  Instant begin;
  std::optional<Instant> end;  // nullopt: still open
  std::string organization;
  bool retracted = false;
};

// All segments of one run, the retracted ones too, ascending by ordinal.
[[nodiscard]] Expected<std::vector<RunSegment>> segments_of_run(const Ledger& ledger, JobId job, Instant start);

}  // namespace shapley::ledger
