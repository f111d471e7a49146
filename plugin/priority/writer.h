/* From the ranks and levels in force to priorities in job records: which jobs need another site factor or priority is
 * noted during a scan, under its read locks, and written after it, in short holds of the job write lock.
 *
 * One in the process. All functions are the timer's thread's but shapley_writer_rank; open and close come before and
 * after everything else.
 */
#ifndef SHAPLEY_WRITER_H
#define SHAPLEY_WRITER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "plugin/client/shapley_client.h"
#include "plugin/slurm_compat.h"

/* Reads weights from slurm_conf (config read lock, or a moment when slurmctld does not reconfigure) and the history of
 * site factors from StateSaveLocation. */
void shapley_writer_open(shapley_client_t* client);
void shapley_writer_close(void);

/* Before a scan reads jobs, under its locks: takes the ranks and levels now in force, which stay those of the scan and
 * of the writing after it. `reconfigured`: slurm.conf's weights are read anew. True when each job's site factor should
 * be what it was in the scan before, so that only jobs that changed need to be noted. */
bool shapley_writer_begin(bool reconfigured);
/* Whether this job's site factor or priority is to be written; it is then noted. Under the scan's locks. */
bool shapley_writer_note(const job_record_t* record, const shapley_job_traits_t* traits);
/* Number of jobs noted since the scan began. */
size_t shapley_writer_noted(void);

/* After the scan, no lock held: writes what is noted. `complete`: the scan read every record. Ends early once
 * *stopping is set. Between two holds of the locks it calls `meanwhile`. */
void shapley_writer_write(bool complete, const atomic_bool* stopping, void (*meanwhile)(void));
/* Whether other ranks or levels are in force than those last written. */
bool shapley_writer_is_due(void);

/* Puts the rank into a pending job's site factor at once, from memory. Any thread with the job write lock. */
void shapley_writer_rank(job_record_t* job);

#endif
