// Times that were written under a wrong clock, made right.
//
// While the clock of slurmctld's host was wrong by a known number of seconds, slurmctld wrote times that are wrong by
// as many, and keeps them: the start of a job that still runs is one of them long after the clock was set right. A time
// is known for one of these by where it lies. If the clock was ahead, it lies in the future. If the clock was behind,
// times that it wrote lie among true ones, so the books decide: a run that they do not know cannot have begun then, and
// one that they have open cannot have ended then. What was made right once stays so: the books have it.
//
// Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/types.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

// A time that the clock showed from `from` to `to` was so much ahead (negative: behind) of the true one.
struct ClockError {
  Instant from;
  Instant to;
  Duration ahead;  // not 0
  // Whether everything from before that error had been read when it began.
  bool is_witnessed = false;
  // `ahead` is a guess: of use for times that are kept for long, not for when an observation was made.
  bool is_guess = false;
  [[nodiscard]] bool shows(Instant t) const { return from <= t && t <= to; }
};

// The error that an event tells; the clock may have shown a little more than what was observed under it. Where it is
// not known how far ahead the clock was: as if its first observation had been made when it came, which is later than it
// was.
[[nodiscard]] ClockError error_of(const accounting::ObservationsMistimed& event);

// A run of the books.
struct KnownRun {
  std::optional<Instant> end;  // nullopt: it is open
};
// The run of this job that began at `start`; nullopt: the books have none.
using FindRun = std::function<std::optional<KnownRun>(JobId job, Instant start)>;

enum class Wrong : std::uint8_t { ahead, behind };

class ClockErrors {
 public:
  // Without effect: an error of 0.
  void add(const ClockError& error);

  // The error of this kind, no guess, that shows `observed_at`; of several the last one. nullptr: none. Valid until the
  // next add().
  [[nodiscard]] const ClockError* find(Instant observed_at, Wrong wrong) const;

  // The record with the times that it would have under a right clock, for all that can be told; nullopt: as it is.
  // `at`: when it was read, by the right clock. A submission that still lies in the future of that would move the books
  // there, and is taken as `at`.
  [[nodiscard]] std::optional<protocol::JobRecord> corrected(const protocol::JobRecord& as_sent, Instant at,
                                                             const FindRun& find_run) const;

 private:
  std::vector<ClockError> errors_;
};

}  // namespace shapley::daemon
