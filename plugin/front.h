/* The common part of priority_shapley.c and site_factor_shapley.c: the plugin's start and end, and callbacks.
 *
 * The timer's thread does the work (threads.h). No caller of these functions waits for it, except
 * shapley_front_stop. */
#ifndef SHAPLEY_FRONT_H
#define SHAPLEY_FRONT_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/options.h"
#include "plugin/slurm/slurm_compat.h"

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
/* slurm.conf was read again: the next scan reads the options and weights again. */
void shapley_front_reload(void);

/* The plugin's options in effect, and slurm.conf's lines that concern it, read again after a reconfigure. */

/* These options are in effect. Reads slurm_conf: config read lock, or a moment when slurmctld does not reconfigure. */
void shapley_configuration_open(const shapley_options_t* options);

/* slurm.conf was read again. Any thread, any lock: only sets a flag. */
void shapley_configuration_expire(void);
bool shapley_configuration_is_expired(void);

/* Reads again what expired; true when something had. Only `interval` changes; a fault is logged, and the options in
 * effect stay. The timer's thread, under the config read lock. */
bool shapley_configuration_refresh(void);

/* Longest time between two scans. The timer's thread. */
uint32_t shapley_configuration_interval_ms(void);

/* What the shared files ask of the plugin that they are linked into: priority_shapley.c or site_factor_shapley.c. */

/* "priority/shapley" or "site_factor/shapley": how its lines in slurmctld's log begin. */
extern const char plugin_type[];

/* The line of slurm.conf that holds the plugin's options, and its text, which may be NULL. Config read lock, or a
 * moment when slurmctld does not reconfigure. */
extern const char shapley_parameters_line[];
const char* shapley_parameters(void);

#endif
