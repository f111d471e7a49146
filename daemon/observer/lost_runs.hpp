// Runs that slurmctld no longer knows when it comes back: it was killed before it saved them, or it lost the state that
// it had saved (`slurmctld -c`, a StateSaveLocation that is gone). Pure.
//
// Whether they count follows from when they began. A run that had been saved is in Slurm's accounting, and its
// processors were in use: it is counted until it was seen last. One that may not have been saved is retracted.
#pragma once

#include <cstdint>
#include <string>

#include "accounting/events/event.hpp"
#include "base/int128.hpp"
#include "base/types.hpp"
#include "daemon/observer/run_writer.hpp"

namespace shapley::daemon {

// slurmctld saves its state 5 s after a change at the latest (SAVE_MAX_WAIT).
inline constexpr Duration k_few_saves{15};

// Work in millionths of processor-seconds.
struct LostRuns {
  std::int64_t closed = 0;  // where they were seen last
  std::int64_t retracted = 0;
  Int128 closed_work = 0;
  Int128 retracted_work = 0;

  LostRuns& operator+=(const LostRuns& other);
  [[nodiscard]] bool any() const { return closed > 0 || retracted > 0; }
};

// Closes the open run at `last_look`, or retracts it as of `at` if it began within k_few_saves before. REQUIRES:
// run.is_open(), start <= last_look.
[[nodiscard]] LostRuns lose_run(RunWriter& run, Instant start, Instant last_look, Instant at);

// What is learned at `at`, of runs that were seen last at `seen`.
[[nodiscard]] accounting::StateLost loss_of(const LostRuns& lost, Instant at, Instant seen);

// "is retracted", "is counted until 1700000000, when it was seen last": of one run.
[[nodiscard]] std::string what_becomes_of(const LostRuns& lost, Instant last_look);

}  // namespace shapley::daemon
