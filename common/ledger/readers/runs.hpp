// Runs as the ledger's tables have them. A run is one stay of a job on its nodes, known by the job's number and its
// start (the anchor of its segments); a requeued job ran several times.
//
// Slurm uses job numbers again, so a run belongs to the last submission before its start. Retracted segments count for
// nothing. Only the tables are read, so the cost follows from the answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// A run with at least one segment that has ended. What is said of it is said of its ended segments.
struct Run {
  JobId job;
  Instant start;
  Instant end;                     // the latest end so far
  Duration length;                 // seconds that it held processors: suspensions left out
  ProcessorMillionths processors;  // the most that it held at once
  bool ended = false;              // false: another segment of it is still open
  std::string organization;        // that it is booked under
  std::string job_state;           // Slurm's name at the latest end ("COMPLETED", ...)
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

// The runs of one job as they are booked, those that go on too. Retracted segments count for nothing.
struct BookedRun {
  Instant start;
  std::optional<Instant> end;  // nullopt: it goes on
  bool end_seen = false;       // false: it ends where it was seen last, or goes on
  std::uint64_t cpus = 0;      // the most that it held at once
};

// Ascending by start. Errors: Errc::corrupt, Errc::io.
[[nodiscard]] Expected<std::vector<BookedRun>> booked_runs(const Ledger& ledger, JobId job);

// Runs whose end was not seen: they end, for the books, where they were seen last. Slurm's accounting may know more.
struct UnseenEnd {
  accounting::SegmentOpened last;  // its last segment
  Instant end;                     // of that
  Duration held;                   // seconds of all its segments
  std::uint32_t next_ordinal = 0;
};

// nullopt: the ledger does not have this run, or it is open, or its end was seen. Errors: Errc::corrupt, Errc::io.
[[nodiscard]] Expected<std::optional<UnseenEnd>> unseen_end(const Ledger& ledger, JobId job, Instant start);

// A run as Slurm's accounting has it.
struct RecordedEnd {
  Instant end;
  Duration suspended;
  std::string job_state;  // Slurm's name
};

// What makes such a run end as it is recorded: its last segment goes on, or is taken back as of `now` and restated.
// Empty: it ends so already. Suspensions that were not seen are taken to be its last seconds.
[[nodiscard]] std::vector<accounting::Event> end_as_recorded(const UnseenEnd& known, const RecordedEnd& recorded,
                                                             Instant now);

}  // namespace shapley::ledger
