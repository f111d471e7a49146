// Decides which of the feeder's messages are read, and when. Messages from the future, or, after the clock was in
// doubt, messages older than those that were read already, were made under a wrong clock.
//
// While the wall clock is in doubt, such messages wait without acknowledgement, so the feeder keeps them. A message is
// read when its time comes. When the wall clock is right again, the remaining messages are read with corrected times,
// if the error of the clock is known; otherwise they are dropped. An event records both
// (accounting::ObservationsMistimed); it becomes durable with the acknowledgement of the messages that it names.
//
// Pure except for its memory; single-threaded.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/types.hpp"
#include "daemon/books/trusted_clock.hpp"
#include "protocol/messages.hpp"

namespace shapley::daemon {

// Corrects times that were written under a wrong clock.
//
// While the clock of slurmctld's host was wrong by a known number of seconds, slurmctld wrote times with the same
// error, and keeps them: the start of a job that still runs has it long after the clock was corrected. Such times are
// recognized by their values. If the clock was ahead, they are in the future. If the clock was behind, they lie among
// true times, so the books decide: a run that is not in the books cannot have begun then, and a run that is open in the
// books cannot have ended then. A time that was corrected once stays corrected, because it is in the books. Pure.
//
// From `from` to `to`, the clock's time was `ahead` seconds ahead (negative: behind) of the true time.
struct ClockError {
  Instant from;
  Instant to;
  Duration ahead;  // not 0
  // Whether all messages from before this error had been read when it began.
  bool is_witnessed = false;
  // Whether `ahead` is an estimate: useful for times that Slurm keeps for long, but not for the time of an observation.
  bool is_guess = false;
  [[nodiscard]] bool shows(Instant t) const { return from <= t && t <= to; }
};

// The error that an event records; the clock may have shown slightly later times than the observed ones. If the error
// is unknown: as if the first observation had been made when it arrived, which is later than its true time.
[[nodiscard]] ClockError error_of(const accounting::ObservationsMistimed& event);

// A run of the books.
struct KnownRun {
  std::optional<Instant> end;  // nullopt: the run is open
};
// The run of this job that began at `start`; nullopt: the books have none.
using FindRun = std::function<std::optional<KnownRun>(JobId job, Instant start)>;

enum class Wrong : std::uint8_t { ahead, behind };

class ClockErrors {
 public:
  // An error of 0 has no effect.
  void add(const ClockError& error);

  // The error of this kind, not an estimate, during which the clock showed `observed_at`; the last one of several.
  // nullptr: none. Valid until the next add().
  [[nodiscard]] const ClockError* find(Instant observed_at, Wrong wrong) const;

  // The record with corrected times, as far as the errors are known; nullopt: it needs no correction. `at`: the true
  // time at which it was read. A submission that is still later than that would move the books into the future, and is
  // set to `at`.
  [[nodiscard]] std::optional<protocol::JobUpdate> corrected(const protocol::JobUpdate& as_sent, Instant at,
                                                             const FindRun& find_run) const;

 private:
  std::vector<ClockError> errors_;
};

class Quarantine {
 public:
  // `known`: the wrong clocks in the books. `last_observed`: the newest observation of the books.
  Quarantine(const std::vector<accounting::ObservationsMistimed>& known, std::optional<Instant> last_observed);

  // Sets the state of the wall clock, in trusted time. Call before messages are judged.
  void note_clock(const std::optional<TrustedClock::Doubt>& doubt, Grounds grounds, Instant now);

  enum class Fate : std::uint8_t { read, hold, drop };
  struct Verdict {
    Fate fate = Fate::read;
    Duration ahead{};  // to be subtracted from its time before it is read
  };
  // The decision about the next message, whose time is `observed_at`.
  [[nodiscard]] Verdict judge(Instant observed_at, Instant now);

  // The message was read as one of `observed_at`.
  void note_read(Instant observed_at);
  // The message of the time `claimed` was read with `ahead` subtracted, or dropped (0).
  void note_mistimed(std::uint64_t sequence, Instant claimed, Duration ahead, Instant now);
  // The events that record the decisions since the last call.
  [[nodiscard]] std::vector<accounting::ObservationsMistimed> take_events(Instant now);

  // The next message is the first of a session: it may have been read before, like those after it. Messages whose
  // decisions were not recorded will come again.
  void begin_session();

  [[nodiscard]] const ClockErrors& errors() const { return errors_; }
  // The trusted time since which the next message is held; nullopt: it is not held.
  [[nodiscard]] std::optional<Instant> holds_since() const { return holds_since_; }

 private:
  void end_stretch(Instant now);

  ClockErrors errors_;
  std::optional<Instant> newest_of_all_;  // newest observation time that was read or is in the books
  std::optional<Instant> newest_;         // compared with the messages of this session
  std::optional<Instant> floor_;          // compared with the first message of a session

  std::optional<TrustedClock::Doubt> doubt_;
  Instant stretch_since_;              // when the clock in doubt got its present error
  std::vector<ClockError> stretches_;  // of the doubt, before that

  std::optional<Instant> holds_since_;
  std::optional<Instant> held_since_;  // of the last messages that were held
  std::vector<accounting::ObservationsMistimed> untold_;
};

}  // namespace shapley::daemon
