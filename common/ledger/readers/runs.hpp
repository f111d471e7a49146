// Runs in the ledger's tables. A run is one stay of a job on its nodes, identified by the job's number and its start
// (the anchor of its segments); a requeued job ran several times.
//
// Slurm reuses job numbers, so a run belongs to the last submission before its start. Retracted segments do not count.
// Only the tables are read, so the cost depends on the answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/description.hpp"
#include "base/error.hpp"
#include "base/types.hpp"
#include "ledger/store/ledger.hpp"

namespace shapley::ledger {

// A run with at least one segment that has ended. The members describe its ended segments.
struct EndedRun {
  JobId job;
  Instant start;
  Instant end;                     // the latest end so far
  Duration length;                 // seconds that it held processors, without suspensions
  ProcessorMillionths processors;  // the most that it held at once
  bool ended = false;              // false: another segment of it is still open
  std::string organization;        // the organization under which it is booked
  std::string job_state;           // Slurm's name at the latest end ("COMPLETED", ...)
  // of the job
  Instant submit;
  std::uint32_t user_id = 0;
  std::uint32_t array_job = 0;  // 0: not of an array
  std::string name;
  std::string wckey;
  std::string account = {};
};

// Selects the jobs whose runs are read.
struct RunsAsked {
  std::optional<Instant> submitted_since = std::nullopt;
  std::optional<std::int64_t> newest_jobs = std::nullopt;  // of these, only so many that were submitted last
};

// Ascending by job number, then start. Errors: Errc::corrupt, Errc::io.
[[nodiscard]] Expected<std::vector<EndedRun>> runs(const Ledger& ledger, const RunsAsked& asked = {});

// At most `most` of the runs that ended last, among the newest `events` events: how long they held how many processors
// (job, start, end, length, processors and ended are set; the other members stay empty). The cost does not depend on
// the length of the queue. Ascending by job number, then start. Errors: those of runs().
[[nodiscard]] Expected<std::vector<EndedRun>> latest_runs(const Ledger& ledger, std::int64_t most, std::int64_t events);

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

// Visits what runs held at some time from `since` to `until`, segment by segment, with its end (nullopt: still open),
// in the order in which the ledger learned of it. Retracted segments do not count. Errors: Errc::corrupt, Errc::io, and
// those of `visit`.
[[nodiscard]] Expected<void> for_each_held(
    const Ledger& ledger, Instant since, Instant until,
    const std::function<Expected<void>(const accounting::SegmentOpened&, std::optional<Instant> end)>& visit);

// The runs of one job as they are booked, including those that go on. Retracted segments do not count.
struct BookedRun {
  Instant start;
  std::optional<Instant> end;  // nullopt: it goes on
  bool end_seen = false;       // false: its end is the time at which it was seen last, or it goes on
  std::uint64_t cpus = 0;      // the most that it held at once
};

// Ascending by start. Errors: Errc::corrupt, Errc::io.
[[nodiscard]] Expected<std::vector<BookedRun>> booked_runs(const Ledger& ledger, JobId job);

// Runs whose end was not seen: in the books they end when they were seen last. Slurm's accounting may have the end.
struct UnseenEnd {
  accounting::SegmentOpened last;  // its last segment
  Instant end;                     // of that segment
  Duration held;                   // sum of seconds of all its segments
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

// The events by which such a run ends as it is recorded: its last segment goes on, or is retracted as of `now` and
// restated. Empty: it ends so already. Suspensions that were not seen are assumed to be its last seconds.
[[nodiscard]] std::vector<accounting::Event> end_as_recorded(const UnseenEnd& known, const RecordedEnd& recorded,
                                                             Instant now);

// The last run of a submission.
struct LastRun {
  Instant start;
  std::int64_t first_event = 0;          // number of the event that opened its first segment
  std::optional<Instant> released = {};  // nullopt: not known
  std::optional<Instant> end = {};       // nullopt: it goes on
  Duration held = {};                    // of the segments that have ended
  ProcessorMillionths processors = {};   // the most that it held at once
};

// nullopt: the job's last run is of an earlier submission, or it has none. Errors: Errc::corrupt, Errc::io,
// Errc::limit.
[[nodiscard]] Expected<std::optional<LastRun>> last_run(const Ledger& ledger, JobId job, Instant submit,
                                                        QueryBudget budget = {});

// Asks for the runs of other jobs that began from `since` on until the run began.
struct StartsAsked {
  LastRun run;
  JobId job;
  std::optional<std::uint32_t> array_job;
  Instant submit;
  Instant since;
  std::size_t most_listed = 0;
};
struct StartsOfOrganization {
  std::string organization;
  std::int64_t runs = 0;
  ProcessorMillionths processors;
};
constexpr auto description_of(std::type_identity<StartsOfOrganization>) {
  return describe(member("organization", &StartsOfOrganization::organization),
                  member("runs", &StartsOfOrganization::runs), member("processors", &StartsOfOrganization::processors));
}
struct StartedRun {
  std::string organization;
  JobId job;
  Instant begin;
  ProcessorMillionths processors;
};
constexpr auto description_of(std::type_identity<StartedRun>) {
  return describe(member("organization", &StartedRun::organization), member("job", &StartedRun::job),
                  member("begin", &StartedRun::begin), member("processors", &StartedRun::processors));
}
struct EarlierStarts {
  std::vector<StartsOfOrganization> organizations;  // most runs first, then by name
  std::vector<StartedRun> last;                     // the latest first
};

// Errors: as of last_run().
[[nodiscard]] Expected<EarlierStarts> earlier_starts(const Ledger& ledger, const StartsAsked& asked,
                                                     QueryBudget budget = {});

// Whether one of the facts that follow the adjustment states a run of the submission.
[[nodiscard]] Expected<bool> restates_run(const Ledger& ledger, const accounting::AdjustmentMade& made, JobId job,
                                          Instant submit);

}  // namespace shapley::ledger
