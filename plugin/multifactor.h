/* The stock priority/multifactor plugin, loaded underneath ours by Slurm's own loader. Every call that slurmctld makes
 * to a priority plugin is passed on to it, so usage decay, association and QOS limits, sshare and sprio work as before.
 *
 * Each call enters through a gate (plugin/threads.h) that unloading closes: an RPC that arrives during shutdown finds
 * the plugin either loaded or gone, never half unloaded. A call that finds it gone returns a value that leaves the job
 * as it is.
 */
#ifndef SHAPLEY_MULTIFACTOR_H
#define SHAPLEY_MULTIFACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/slurm/slurm_compat.h"

/* Loads it and runs its init(). False when Slurm cannot load it (Slurm has logged why). */
bool shapley_multifactor_load(void);
/* Waits for calls in flight, then runs its fini() and unloads it. Not while a thread of ours may wait for a slurmctld
 * lock that the caller holds: stop threads first. */
void shapley_multifactor_unload(void);

/* The job's priority with the site factor that it has. Job write lock. 0 when the plugin is gone. */
uint32_t shapley_multifactor_set(job_record_t* job);

void shapley_multifactor_reconfig(bool assoc_clear);
void shapley_multifactor_set_assoc_usage(slurmdb_assoc_rec_t* assoc);
double shapley_multifactor_calc_fs_factor(long double usage_efctv, long double shares_norm);
shapley_list_t shapley_multifactor_get_factors(SHAPLEY_FACTORS_PARAMETERS);
void shapley_multifactor_job_end(job_record_t* job);
uint32_t shapley_multifactor_recover(uint32_t prio_boost);
void shapley_multifactor_thread_start(void);

#endif
