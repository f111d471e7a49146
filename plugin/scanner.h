/* The plugin's own thread inside slurmctld: looks at the job list, hands changes to the client, re-asserts priorities.
 *
 * It is woken by the clock, by a hint (a submission, an end) or by new ranks. One look takes slurmctld's read locks
 * once; priorities are written in holds of the job write lock of 5 ms with pauses between. No I/O happens
 * under a lock, and no caller of these functions waits for the thread, except shapley_scanner_stop.
 */
#ifndef SHAPLEY_SCANNER_H
#define SHAPLEY_SCANNER_H

#include <stdbool.h>

#include "plugin/options.h"
#include "plugin/slurm_compat.h"

/* Creates the client, so that ranks apply from the first priority_p_set on. Nothing waits for slurmctld's locks. False
 * when that is impossible (logged); every other function is then a no-op, and the stock order holds. */
bool shapley_scanner_open(const shapley_options_t* options);
/* Starts the thread. It may wait for slurmctld's locks at once; the caller does not wait for it. */
void shapley_scanner_start(void);
/* Stops and joins the thread, then the client. The caller holds no slurmctld lock. */
void shapley_scanner_stop(void);

/* Puts the rank into a pending job's site factor, from memory, and asks for an early look. Job write lock. */
void shapley_scanner_rank(job_record_t* job);
/* Something happened: look soon. */
void shapley_scanner_hint(void);
/* slurm.conf was read anew: the thread reads the options and weights again at its next look. */
void shapley_scanner_reload(void);

#endif
