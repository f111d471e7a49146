/* The scanning thread's time: a clock that nobody sets, and pauses. Slurm-free. */
#ifndef SHAPLEY_CLOCK_H
#define SHAPLEY_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t monotonic_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static inline int64_t monotonic_ms(void) {
  return monotonic_us() / 1000;
}

/* Processor time of the calling thread: what a busy machine takes away from it is not in it. */
static inline int64_t thread_us(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (int64_t)used.tv_sec * 1000000 + used.tv_nsec / 1000;
}

static inline void sleep_ms(int64_t milliseconds) {
  struct timespec pause = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
  nanosleep(&pause, NULL);
}

#endif
