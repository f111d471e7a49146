// When the feeder of one of two controllers is told that its messages are safe: while the other one follows and has
// everything, when that one has them, too; so the death of a host takes nothing with it that was acknowledged. The
// follower is waited for a second at most. Beyond that the two are out of step: messages are acknowledged when they are
// durable here, and counted, until the follower has caught up.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>

namespace shapley::daemon {

class Acknowledgements {
 public:
  using Milliseconds = std::chrono::milliseconds;
  static constexpr Milliseconds k_patience{1000};
  // A follower that asked nothing for so long is away.
  static constexpr Milliseconds k_silence{3000};

  // A feeder begins to send; its messages are numbered anew.
  void begin();
  // The follower holds the ledger up to the event `sequence`; here it ends with `head`.
  void confirm(std::int64_t sequence, std::int64_t head, Milliseconds now);
  // Messages up to `message` are durable here, in events up to `head`.
  void note_durable(std::uint64_t message, std::int64_t head, Milliseconds now);

  // The highest message that may be acknowledged; 0: none.
  [[nodiscard]] std::uint64_t released(Milliseconds now);
  // Whether what is acknowledged is on both hosts.
  [[nodiscard]] bool in_step(Milliseconds now) const { return in_step_ && now < asked_ + k_silence; }
  // The last event that the follower was known to have.
  [[nodiscard]] std::int64_t confirmed() const { return confirmed_; }
  // Messages that were acknowledged without it.
  [[nodiscard]] std::uint64_t alone() const { return alone_; }

 private:
  struct Pending {
    std::uint64_t message = 0;
    std::int64_t head = 0;
    Milliseconds since;
  };

  std::deque<Pending> pending_;  // ascending
  std::uint64_t released_ = 0;
  std::uint64_t alone_ = 0;
  bool in_step_ = false;
  Milliseconds asked_{0};
  std::int64_t confirmed_ = 0;
  std::int64_t head_then_ = 0;  // the ledger's end when the follower asked last
};

}  // namespace shapley::daemon
