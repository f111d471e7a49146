// Decides which of the feeder's messages are read, wait, or are dropped, because of the wall clock.
//
// While the wall clock is in doubt, messages that were made under it wait without acknowledgement, so the feeder keeps
// them. When the wall clock is right again, their times are known to be wrong: they are dropped, and a new session
// begins, in which the feeder sends all of slurmctld's records again. An event records for which time the books lack
// them (accounting::ObservationGap). If it turns out that the wall clock was right all the time, they are read.
//
// Messages of the future that come while the clock is not in doubt were made under a clock that was wrong while
// shapleyd did not run; they are dropped likewise.
//
// Pure except for its memory; single-threaded.
#pragma once

#include <cstdint>
#include <optional>

#include "base/types.hpp"
#include "daemon/books/trusted_clock.hpp"

namespace shapley::daemon {

class Admission {
 public:
  // `last_observed`: the newest observation of the books; nullopt: they have none. `resumed`: an earlier process ended
  // in this doubt; what it held is not known.
  explicit Admission(std::optional<Instant> last_observed,
                     const std::optional<TrustedClock::Doubt>& resumed = std::nullopt);

  // Sets the state of the wall clock, in trusted time. Call before messages are judged.
  void note_clock(const std::optional<TrustedClock::Doubt>& doubt, Grounds grounds);

  // A session begins. The feeder first sends the `backlog` messages that were not acknowledged, then a snapshot.
  void begin_session(std::uint64_t backlog);

  struct Message {
    std::uint64_t sequence = 0;
    Instant observed_at;  // the time that it claims
    bool begins_snapshot = false;
  };
  enum class Fate : std::uint8_t { read, hold, drop };
  // The decision about the next message.
  [[nodiscard]] Fate judge(const Message& message, Instant now);

  // The message was read as one of `observed_at`.
  void note_read(Instant observed_at);
  // A whole snapshot was read, so that nothing of a wrong clock follows.
  void note_snapshot_read() { stage_ = Stage::trusting; }

  // Whether this session's messages of the wrong clock cannot be distinguished from later ones, so that another one has
  // to begin.
  [[nodiscard]] bool wants_session() const { return !doubt_ && stage_ == Stage::awaiting_session; }
  // Whether a wrong clock has passed and no whole snapshot was read since.
  [[nodiscard]] bool awaits_snapshot() const { return stage_ != Stage::trusting; }
  [[nodiscard]] bool is_in_doubt() const { return doubt_.has_value(); }
  // The trusted time since which the next message waits for the clock; nullopt: it does not.
  [[nodiscard]] std::optional<Instant> holds_since() const { return holds_since_; }

 private:
  // After a wrong clock: in the next session the numbers of the messages show which of them were made before it.
  enum class Stage : std::uint8_t { trusting, awaiting_session, awaiting_snapshot };

  [[nodiscard]] bool is_of_doubt(Instant observed_at, Instant now) const;

  std::optional<Instant> newest_;             // newest observation time that was read or is in the books
  std::optional<TrustedClock::Doubt> doubt_;  // with the least error that the clock had in it
  bool has_held_ = false;                     // a message, in this doubt
  std::optional<Instant> holds_since_;

  Stage stage_ = Stage::trusting;
  std::uint64_t backlog_ = 0;               // of this session
  std::optional<std::uint64_t> last_kept_;  // the number of the last of these messages, at most; nullopt: none came
  bool in_snapshot_ = false;                // a snapshot has begun that was made after the wrong clock
};

}  // namespace shapley::daemon
