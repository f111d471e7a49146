/* Preloaded, it gives a process the wall clock, the time since boot and the kernel's answer on synchronization that a
 * test wrote into the file that SHAPLEY_TEST_CLOCKS names (clock_process_test.cpp). All other clocks go on as they are.
 *
 * libfaketime does not do here: it moves CLOCK_BOOTTIME together with CLOCK_MONOTONIC or not at all, so no host can
 * sleep under it, and adjtimex() stays the machine's own.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

struct reading {
  int64_t wall;
  int64_t since_boot;
  int64_t is_synchronized;
};
struct clocks {
  _Atomic uint32_t current;
  struct reading readings[2];
};

static const struct clocks* clocks;

__attribute__((constructor)) static void map_clocks(void) {
  const char* file = getenv("SHAPLEY_TEST_CLOCKS");
  int descriptor = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
  if (descriptor < 0) abort();
  void* memory = mmap(NULL, sizeof *clocks, PROT_READ, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) abort();
  clocks = memory;
  close(descriptor);
}

/* What a thread asks for after the wall clock is of the same moment, as if nothing came between: a test that sets the
 * clocks must not look like a clock that is set between two system calls. */
static _Thread_local struct reading last;

static struct reading at_wall(void) {
  last = clocks->readings[atomic_load(&clocks->current)];
  return last;
}

int clock_gettime(clockid_t id, struct timespec* time) {
  if (!clocks || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE && id != CLOCK_BOOTTIME))
    return (int)syscall(SYS_clock_gettime, id, time);
  time->tv_sec = id == CLOCK_BOOTTIME ? last.since_boot : at_wall().wall;
  time->tv_nsec = 0;
  return 0;
}

int gettimeofday(struct timeval* restrict time, void* restrict zone) {
  (void)zone;
  time->tv_sec = at_wall().wall;
  time->tv_usec = 0;
  return 0;
}

time_t time(time_t* to) {
  time_t now = at_wall().wall;
  if (to) *to = now;
  return now;
}

int adjtimex(struct timex* state) {
  state->status = last.is_synchronized ? 0 : STA_UNSYNC;
  return last.is_synchronized ? TIME_OK : TIME_ERROR;
}
