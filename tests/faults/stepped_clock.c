/* Preloaded, it moves a process's wall clock by the seconds in the file that SHAPLEY_STEPPED_CLOCK names, which is read
 * each time; the file is replaced (rename) to step the clock. The time since boot is the machine's own, and no time
 * service has synchronized the clock: one that had is believed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

static long ahead(void) {
  const char* file = getenv("SHAPLEY_STEPPED_CLOCK");
  int descriptor = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
  char text[32] = {0};
  if (descriptor < 0) abort();
  if (read(descriptor, text, sizeof text - 1) < 0) abort();
  close(descriptor);
  return strtol(text, NULL, 10);
}

int clock_gettime(clockid_t id, struct timespec* time) {
  int result = (int)syscall(SYS_clock_gettime, id, time);
  if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) time->tv_sec += ahead();
  return result;
}

int gettimeofday(struct timeval* restrict time, void* restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}

int adjtimex(struct timex* state) {
  state->status = STA_UNSYNC;
  return TIME_ERROR;
}
