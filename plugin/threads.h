/* Clock, signals, the gate for callbacks, and the plugin's own thread, which is in timer.c. Slurm-free.
 *
 * The scanning thread's time comes from a clock that cannot be set. */
#ifndef SHAPLEY_THREADS_H
#define SHAPLEY_THREADS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "plugin/client/shapley_client.h"

static inline int64_t monotonic_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static inline int64_t monotonic_ms(void) {
  return monotonic_us() / 1000;
}

/* Processor time of the calling thread, without the time in which it did not run. */
static inline int64_t thread_us(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (int64_t)used.tv_sec * 1000000 + used.tv_nsec / 1000;
}

static inline void sleep_ms(int64_t milliseconds) {
  struct timespec pause = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
  nanosleep(&pause, NULL);
}

/* New threads inherit the mask of the thread that starts them: slurmctld's signals are for its own signal thread. */
static inline void shapley_block_signals(sigset_t* before) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, before);
}

static inline void shapley_restore_signals(const sigset_t* before) {
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* A gate for callbacks that closes when the plugin is unloaded.
 *
 * A caller that enters never waits, so a gate may be entered under any lock and any lock may be taken inside. (A
 * read-write lock in its place would order the callbacks' locks: some arrive with slurmctld's locks held, others take
 * them inside.) Closing waits for those inside.
 *
 * All zero: closed. What is written before opening is visible inside. */
typedef struct {
  atomic_bool open;
  atomic_uint inside;
} shapley_gate_t;

/* False: closed, and there is nothing to leave. */
static inline bool shapley_gate_enter(shapley_gate_t* gate) {
  atomic_fetch_add(&gate->inside, 1);
  if (atomic_load(&gate->open)) return true;
  atomic_fetch_sub(&gate->inside, 1);
  return false;
}

static inline void shapley_gate_leave(shapley_gate_t* gate) {
  atomic_fetch_sub(&gate->inside, 1);
}

static inline void shapley_gate_open(shapley_gate_t* gate) {
  atomic_store(&gate->open, true);
}

/* Returns when no thread is inside. The caller holds nothing that threads inside may wait for. */
static inline void shapley_gate_close(shapley_gate_t* gate) {
  atomic_store(&gate->open, false);
  while (atomic_load(&gate->inside)) sleep_ms(1);
}

/* The plugin's own thread inside slurmctld: it decides when to scan the records; after each scan priorities are written
 * (timer.c).
 *
 * Time, a hint (a submission, an end) and new ranks or levels wake it. It waits for slurmctld's locks; only
 * shapley_timer_stop waits for it.
 *
 * No effect if the thread is running. The reason why it cannot start is logged. */
void shapley_timer_start(shapley_client_t* client);
/* Stops the client's waits, too, and joins the thread, if it ran. The caller holds no slurmctld lock. */
void shapley_timer_stop(shapley_client_t* client);

#endif
