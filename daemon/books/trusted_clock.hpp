// The trusted time. The wall clock can be set to any time, and slurmctld's records depend on it; the time since boot
// cannot be set, and continues while the host sleeps. The trusted time is therefore the wall clock when it was last
// believed, plus the time since boot that has passed since then.
//
// While both agree, within k_tolerance, the trusted time is the wall clock's. When they differ, the wall clock is in
// doubt until it comes back, or until there are grounds to believe it (Grounds). At a start the only comparison is the
// time at which the ledger was last written: the host may have been off since then, so all times up to k_longest_pause
// after it are believed.
//
// Pure: readings are passed in. Single-threaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/types.hpp"

namespace shapley::daemon {

struct ClockReading {
  Instant wall;               // CLOCK_REALTIME
  Duration since_boot;        // CLOCK_BOOTTIME
  bool synchronized = false;  // the kernel says that a time service (NTP, PTP) disciplines the wall clock
};

// The reason why the wall clock is believed.
enum class Grounds : std::uint8_t {
  agreement,        // it agrees with the time since boot
  synchronization,  // the kernel called it synchronized for k_synchronized_for
  administrator,    // accept() was called
  steadiness,       // it was not set for k_steady_for
};
[[nodiscard]] std::string_view name_of(Grounds grounds);

// The known error of the wall clock. (Not nested: clang 14 does not accept a nested class with initializers as
// default-constructible while its class is incomplete.)
struct ClockDoubt {
  Instant since;     // trusted time
  Duration ahead{};  // seconds by which the wall clock is ahead of the trusted time; negative: behind
  // Whether `ahead` is the amount by which the clock was set. If not, the trusted time is only a lower bound.
  bool is_exact = true;
  // Whether a process of shapleyd ran at `since`, when the clock went wrong.
  bool is_witnessed = true;
};

class TrustedClock {
 public:
  // The tolerance between the wall clock and the trusted time, and for observations in the future. A working time
  // service stays within a second; Slurm itself accepts at most five minutes between its hosts.
  static constexpr Duration k_tolerance{60};
  static constexpr Duration k_longest_pause{30 * 24 * 3600};
  // The time in which a time service that has received a wrong time notices that.
  static constexpr Duration k_synchronized_for{5 * 60};
  // The time after which a steady clock is believed without a time service or an administrator.
  static constexpr Duration k_steady_for{24 * 3600};

  using Doubt = ClockDoubt;

  // The facts at a start.
  struct Past {
    std::optional<Instant> last_written = {};  // trusted time of the last write to the ledger; nullopt: a new ledger
    std::optional<Duration> offset = {};       // offset() of an earlier process within this boot of the host
    std::optional<Doubt> doubt = {};           // the doubt that it was in
  };

  TrustedClock(const ClockReading& first, const Past& past);

  // The trusted time. It does not go back, unless the wall clock is believed after a doubt.
  Instant read(const ClockReading& reading);

  // An administrator confirms the wall clock, which ends the present doubt.
  void accept() { accepted_ = doubt_.has_value(); }

  // Records that this process did not observe the begin of the present doubt.
  void unwitness() {
    if (doubt_) doubt_->is_witnessed = false;
  }

  [[nodiscard]] const std::optional<Doubt>& doubt() const { return doubt_; }
  // The grounds on which the wall clock was last believed.
  [[nodiscard]] Grounds grounds() const { return grounds_; }
  // The trusted time minus the time since boot; nullopt while it is not exact.
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
  // The wall clock in doubt.
  std::optional<Duration> steady_offset_;  // where it has stayed, within the tolerance, ...
  Duration steady_since_;                  // ... since that time since boot
  std::optional<Duration> synchronized_since_;
};

// Whether two offsets or two errors of a clock differ by at most k_tolerance.
[[nodiscard]] bool are_near(Duration a, Duration b);

// The wall clock and the time since boot are read one after the other: a step between the two readings, or a pause of a
// second, looks like a step of the clock until the next reading.
[[nodiscard]] ClockReading read_kernel_clock();

// The name of this boot of the host; empty: unknown to the kernel.
[[nodiscard]] std::string boot_name();

}  // namespace shapley::daemon
