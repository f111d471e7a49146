#include "daemon/books/trusted_clock.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include <sys/timex.h>

#include "base/files.hpp"
#include "base/text.hpp"

namespace shapley::daemon {

namespace {

Duration offset_of(const ClockReading& reading) {
  return Duration{reading.wall.value - reading.since_boot.value};
}

}  // namespace

bool are_near(Duration a, Duration b) {
  return a - b <= TrustedClock::k_tolerance && b - a <= TrustedClock::k_tolerance;
}

std::string_view name_of(Grounds grounds) {
  switch (grounds) {
    case Grounds::agreement:
      return "agreement";
    case Grounds::synchronization:
      return "synchronization";
    case Grounds::administrator:
      return "administrator";
    case Grounds::steadiness:
      return "steadiness";
  }
  return {};
}

TrustedClock::TrustedClock(const ClockReading& first, const Past& past) : offset_(offset_of(first)) {
  if (past.offset) {
    offset_ = *past.offset;
  } else if (past.last_written) {
    // A time service that kept the clock while shapleyd was away is a better source for that duration than the ledger.
    const bool is_later = first.wall >= *past.last_written - k_tolerance;
    is_exact_ = is_later && first.synchronized;
    if (!is_exact_) offset_ = Duration{past.last_written->value - first.since_boot.value};
  }
  const Instant now{first.since_boot.value + offset_.value};
  first_doubt_ = past.doubt.value_or(Doubt{.since = now, .ahead = {}, .is_exact = is_exact_, .is_witnessed = false});
  read(first);
  first_doubt_.reset();
}

bool TrustedClock::agrees(Duration ahead) const {
  return ahead >= -k_tolerance && ahead <= (is_exact_ ? k_tolerance : k_longest_pause);
}

Instant TrustedClock::read(const ClockReading& reading) {
  const Duration offset = offset_of(reading);
  const Duration ahead = offset - offset_;
  if (agrees(ahead)) {
    believe(offset, Grounds::agreement);
  } else {
    if (!doubt_) {
      const Instant now{reading.since_boot.value + offset_.value};
      doubt_ = first_doubt_.value_or(Doubt{.since = now, .ahead = ahead, .is_exact = is_exact_});
    }
    doubt_->ahead = ahead;
    if (const auto grounds = grounds_to_believe(reading)) {
      now_ = k_beginning_of_time;  // it may go back
      believe(offset, *grounds);
    }
  }
  now_ = std::max(now_, Instant{reading.since_boot.value + offset_.value});
  return now_;
}

void TrustedClock::believe(Duration offset, Grounds grounds) {
  offset_ = offset;
  is_exact_ = true;
  grounds_ = grounds;
  doubt_.reset();
  accepted_ = false;
  steady_offset_.reset();
  synchronized_since_.reset();
}

std::optional<Grounds> TrustedClock::grounds_to_believe(const ClockReading& reading) {
  const Duration now = reading.since_boot;
  const Duration offset = offset_of(reading);
  if (!steady_offset_ || !are_near(*steady_offset_, offset)) {
    steady_offset_ = offset;
    steady_since_ = now;
    synchronized_since_.reset();
  }
  if (!reading.synchronized) {
    synchronized_since_.reset();
  } else if (!synchronized_since_) {
    synchronized_since_ = now;
  }
  if (accepted_) return Grounds::administrator;
  if (synchronized_since_ && now - *synchronized_since_ >= k_synchronized_for) return Grounds::synchronization;
  if (now - steady_since_ >= k_steady_for) return Grounds::steadiness;
  return std::nullopt;
}

std::optional<Duration> TrustedClock::offset() const {
  return is_exact_ ? std::optional(offset_) : std::nullopt;
}

namespace {

bool is_synchronized() {
  // Only reads the status, which is cleared when the clock is set, and when the time service is silent for hours.
  timex state{};
  return adjtimex(&state) != -1 && (state.status & STA_UNSYNC) == 0;
}

}  // namespace

ClockReading read_kernel_clock() {
  timespec wall{};
  timespec since_boot{};
  clock_gettime(CLOCK_REALTIME, &wall);
  clock_gettime(CLOCK_BOOTTIME, &since_boot);
  // The difference is rounded, instead of the two values, so that it stays the same while the clock is not set.
  const bool borrows = wall.tv_nsec < since_boot.tv_nsec;
  const std::int64_t offset = wall.tv_sec - since_boot.tv_sec - (borrows ? 1 : 0);
  return {
      .wall = Instant{wall.tv_sec}, .since_boot = Duration{wall.tv_sec - offset}, .synchronized = is_synchronized()};
}

std::string boot_name() {
  // From systemd, because the unit hides the file.
  if (const char* name = std::getenv("SHAPLEYD_BOOT")) return name;
  const auto name = read_text_file("/proc/sys/kernel/random/boot_id", k_max_notes);
  return name ? name->substr(0, name->find('\n')) : std::string();
}

}  // namespace shapley::daemon
