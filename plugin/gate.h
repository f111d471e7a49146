/* A way in for callbacks that closes when the plugin is unloaded. Slurm-free.
 *
 * Whoever enters never waits, so a gate may be entered under any lock and any lock may be taken inside. (A read-write
 * lock in its place would order the callbacks' locks: some arrive with slurmctld's locks held, others take them
 * inside.) Closing waits for those inside.
 */
#ifndef SHAPLEY_GATE_H
#define SHAPLEY_GATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "plugin/clock.h"

/* All zero: closed. What is written before opening is visible inside. */
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

/* Returns when nobody is inside. The caller holds nothing that those inside may wait for. */
static inline void shapley_gate_close(shapley_gate_t* gate) {
  atomic_store(&gate->open, false);
  while (atomic_load(&gate->inside)) sleep_ms(1);
}

#endif
