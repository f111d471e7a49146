#include "daemon/clock/kernel_clock.hpp"

#include <cstdlib>
#include <ctime>
#include <fstream>

#include <sys/timex.h>

namespace shapley::daemon {

namespace {

bool is_synchronized() {
  // Reads only. The status falls when somebody sets the clock, and when the time service is silent for hours.
  timex state{};
  return adjtimex(&state) != -1 && (state.status & STA_UNSYNC) == 0;
}

}  // namespace

ClockReading read_kernel_clock() {
  timespec wall{};
  timespec since_boot{};
  clock_gettime(CLOCK_REALTIME, &wall);
  clock_gettime(CLOCK_BOOTTIME, &since_boot);
  // Their difference is rounded, not each of them, so that it is the same number of seconds as long as nobody sets the
  // clock.
  const bool borrows = wall.tv_nsec < since_boot.tv_nsec;
  const std::int64_t offset = wall.tv_sec - since_boot.tv_sec - (borrows ? 1 : 0);
  return {
      .wall = Instant{wall.tv_sec}, .since_boot = Duration{wall.tv_sec - offset}, .synchronized = is_synchronized()};
}

std::string boot_name() {
  // systemd's word: its unit hides the file.
  if (const char* name = std::getenv("SHAPLEYD_BOOT")) return name;
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string name;
  std::getline(file, name);
  return name;
}

}  // namespace shapley::daemon
