// Which of the feeder's messages are read, and when: those that claim to be from the future, or, after the clock was in
// doubt, from before what was read already, were made under a wrong clock.
//
// While the wall clock is in doubt they wait, unacknowledged: the feeder keeps them. When their time comes they are
// read. When the wall clock is right again, those that are left are read with the times that they would have under a
// right clock, if it is known by how much it was wrong, and are not read at all if it is not. Either is told by an
// event (accounting::ObservationsMistimed), which becomes durable with the acknowledgement of what it tells of.
//
// Pure but for its memory; single-threaded.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "accounting/events/event.hpp"
#include "base/types.hpp"
#include "daemon/clock/trusted_clock.hpp"
#include "daemon/observer/clock_errors.hpp"

namespace shapley::daemon {

class Quarantine {
 public:
  // `known`: what the books know of wrong clocks. `last_observed`: their newest observation.
  Quarantine(const std::vector<accounting::ObservationsMistimed>& known, std::optional<Instant> last_observed);

  // How the wall clock is now, in trusted time. To be told before messages are judged.
  void note_clock(const std::optional<TrustedClock::Doubt>& doubt, Grounds grounds, Instant now);

  enum class Fate : std::uint8_t { read, hold, drop };
  struct Verdict {
    Fate fate = Fate::read;
    Duration ahead{};  // to be taken off its time before it is read
  };
  // What to do with the next message, which claims to be of `observed_at`.
  [[nodiscard]] Verdict judge(Instant observed_at, Instant now);

  // It was read as of `observed_at`.
  void note_read(Instant observed_at);
  // It claimed to be of `claimed`, and was read with `ahead` taken off, or dropped (0).
  void note_mistimed(std::uint64_t sequence, Instant claimed, Duration ahead, Instant now);
  // The events that tell of what was noted since the last ones.
  [[nodiscard]] std::vector<accounting::ObservationsMistimed> take_events(Instant now);

  // The next message is the first of a session: it may have been read before, like those after it. What was noted and
  // not told of will come again.
  void begin_session();

  [[nodiscard]] const ClockErrors& errors() const { return errors_; }
  // Since when the next message is held, in trusted time; nullopt: it is not.
  [[nodiscard]] std::optional<Instant> holds_since() const { return holds_since_; }

 private:
  void end_stretch(Instant now);

  ClockErrors errors_;
  std::optional<Instant> newest_of_all_;  // observation time of what was read, or is in the books
  std::optional<Instant> newest_;         // what this session's messages are compared with
  std::optional<Instant> floor_;          // what the first one of a session is compared with

  std::optional<TrustedClock::Doubt> doubt_;
  Instant stretch_since_;              // since when the clock in doubt is so much ahead
  std::vector<ClockError> stretches_;  // of the doubt, before that

  std::optional<Instant> holds_since_;
  std::optional<Instant> held_since_;  // of the last messages that were held
  std::vector<accounting::ObservationsMistimed> untold_;
};

}  // namespace shapley::daemon
