/* What priority_shapley.c and site_factor_shapley.c share: the plugin's start and end, and slurmctld's callbacks.
 *
 * The work is the timer's thread's (timer.h). No caller of these functions waits for it, except shapley_front_stop.
 */
#ifndef SHAPLEY_FRONT_H
#define SHAPLEY_FRONT_H

#include <stdbool.h>

#include "plugin/options.h"
#include "plugin/slurm_compat.h"

/* Creates the client, so that ranks apply from the first priority_p_set on. Nothing waits for slurmctld's locks. False
 * when that is impossible (logged); every other function then does nothing, and the stock order holds. */
bool shapley_front_open(const shapley_options_t* options);
/* Starts the timer's thread, which may wait for slurmctld's locks at once; the caller does not. */
void shapley_front_start(void);
/* Stops and joins the thread, then the client. The caller holds no slurmctld lock. */
void shapley_front_stop(void);

/* The callbacks may come from any thread and at any time, also before opening and during the end.
 *
 * Puts the rank into a pending job's site factor, from memory, and asks for an early scan. Job write lock. */
void shapley_front_rank(job_record_t* job);
/* Something happened: scan soon. */
void shapley_front_hint(void);
/* slurm.conf was read anew: the next scan reads the options and weights again. */
void shapley_front_reload(void);

#endif
