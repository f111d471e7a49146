// Which time it is. The wall clock can be set to anything, and slurmctld's records follow it; the time since boot
// cannot be set, and goes on while the host sleeps. So the trusted time is where the wall clock was when it was last
// believed, and the time since boot that passed since.
//
// While both agree, within k_tolerance, the trusted time is the wall clock's. When they part, the wall clock is in
// doubt until it comes back, or until there are grounds to believe it (Grounds). At a start there is nothing to compare
// with but the time at which the ledger was last written: the host may have been off since, so everything up to
// k_longest_pause after it is believed.
//
// Pure: readings are passed in. Single-threaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/types.hpp"

namespace shapley::daemon {

struct ClockReading {
  Instant wall;               // CLOCK_REALTIME
  Duration since_boot;        // CLOCK_BOOTTIME
  bool synchronized = false;  // the kernel says that a time service (NTP, PTP) disciplines the wall clock
};

// Why the wall clock is believed.
enum class Grounds : std::uint8_t {
  agreement,        // it is where the time since boot says
  synchronization,  // the kernel called it synchronized for k_synchronized_for
  administrator,    // accept() was called
  steadiness,       // nobody has set it for k_steady_for
};
[[nodiscard]] std::string_view name_of(Grounds grounds);

class TrustedClock {
 public:
  // The wall clock may be so far from the trusted time, and observations may be so far in the future. A time service
  // that works stays within a second; Slurm itself bears no more than five minutes between its hosts.
  static constexpr Duration k_tolerance{60};
  static constexpr Duration k_longest_pause{30 * 24 * 3600};
  // A time service that has just been told a wrong time needs that long to find out.
  static constexpr Duration k_synchronized_for{5 * 60};
  // Without a time service and without a word of anybody.
  static constexpr Duration k_steady_for{24 * 3600};

  struct Doubt {
    Instant since;     // trusted time
    Duration ahead{};  // the wall clock is so far ahead of the trusted time; negative: behind
    // Whether `ahead` is what the clock was set by. If not, the trusted time itself is only known not to be earlier.
    bool is_exact = true;
    // Whether a process of shapleyd was there, at `since`, when the clock went wrong.
    bool is_witnessed = true;
  };

  // What is known at a start.
  struct Past {
    std::optional<Instant> last_written = {};  // trusted time of the last write to the ledger; nullopt: it is new
    std::optional<Duration> offset = {};       // offset() of an earlier process within this boot of the host
    std::optional<Doubt> doubt = {};           // the one that it was in
  };

  TrustedClock(const ClockReading& first, const Past& past);

  // The trusted time. It does not go back, unless the wall clock is believed after a doubt.
  Instant read(const ClockReading& reading);

  // Somebody with the right to say so says that the wall clock is right. Counts for the present doubt.
  void accept() { accepted_ = doubt_.has_value(); }

  // Nobody was there when the present doubt began.
  void unwitness() {
    if (doubt_) doubt_->is_witnessed = false;
  }

  [[nodiscard]] const std::optional<Doubt>& doubt() const { return doubt_; }
  // On which the wall clock was believed last.
  [[nodiscard]] Grounds grounds() const { return grounds_; }
  // Trusted time less time since boot; nullopt while it is not exact.
  [[nodiscard]] std::optional<Duration> offset() const;

 private:
  [[nodiscard]] bool agrees(Duration ahead) const;
  [[nodiscard]] std::optional<Grounds> grounds_to_believe(const ClockReading& reading);
  void believe(Duration offset, Grounds grounds);

  Duration offset_;       // trusted time = time since boot + offset
  bool is_exact_ = true;  // false: at a start, offset_ is from when the ledger was last written
  Instant now_ = k_beginning_of_time;
  std::optional<Doubt> doubt_;
  std::optional<Doubt> first_doubt_;  // what one at the start would be
  Grounds grounds_ = Grounds::agreement;
  bool accepted_ = false;
  // Of the wall clock in doubt.
  std::optional<Duration> steady_offset_;  // where it has stayed, within the tolerance, ...
  Duration steady_since_;                  // ... since that time since boot
  std::optional<Duration> synchronized_since_;
};

// Whether two offsets or two leads of a clock are no more apart than k_tolerance.
[[nodiscard]] bool are_near(Duration a, Duration b);

}  // namespace shapley::daemon
