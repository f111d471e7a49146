/* New threads inherit the mask of who starts them: slurmctld's signals are for its own signal thread. Slurm-free. */
#ifndef SHAPLEY_SIGNALS_H
#define SHAPLEY_SIGNALS_H

#include <signal.h>

static inline void shapley_block_signals(sigset_t* before) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, before);
}

static inline void shapley_restore_signals(const sigset_t* before) {
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

#endif
