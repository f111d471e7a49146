/* Writes the ranks, places and levels in force as priorities into job records. The jobs that need another site factor
 * or priority are noted during a scan, under its read locks, or decided on after it, when all waiting jobs are known;
 * then they are written in short holds of the job write lock.
 *
 * There is one in the process. All functions are called by the timer's thread, except shapley_writer_rank; open and
 * close come before and after everything else.
 */
#ifndef SHAPLEY_WRITER_H
#define SHAPLEY_WRITER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "plugin/client/shapley_client.h"
#include "plugin/slurm/slurm_compat.h"

/* Reads weights from slurm_conf (config read lock, or a moment when slurmctld does not reconfigure) and the history of
 * site factors from StateSaveLocation. */
void shapley_writer_open(shapley_client_t* client);
void shapley_writer_close(void);

/* Call it before a scan reads jobs, under its locks: it takes the ranks and levels now in force, which stay those of
 * the scan and of the writing after it. `reconfigured`: slurm.conf's weights are read again. True when each job's site
 * factor should be what it was in the scan before, so that only jobs that changed need to be noted. */
bool shapley_writer_begin(bool reconfigured);
/* The scan, at `now`, comes to jobs; `processors`: of all nodes together. */
void shapley_writer_begin_jobs(time_t now, int64_t processors);
/* Passes a job. True if its priority has to be written whatever place it gets; the job is then noted. Under the scan's
 * locks. */
bool shapley_writer_pass(const job_record_t* record, const shapley_job_traits_t* traits);
/* The same for a waiting job that equals its state in an earlier scan. False: it must be passed with its traits. */
bool shapley_writer_pass_again(const job_record_t* record);
/* The same in a scan of runs. */
void shapley_writer_pass_run(const job_record_t* record, const shapley_job_traits_t* traits);
/* Number of jobs noted since the scan began. */
size_t shapley_writer_noted(void);

/* After the scan, no lock held: decides on places, and writes what is noted. `complete`: the scan read every record.
 * Ends early once *stopping is set. Between two holds of the locks it calls `meanwhile`. */
void shapley_writer_write(bool complete, const atomic_bool* stopping, void (*meanwhile)(void));
/* After a scan of runs, no lock held: writes the places that starts and ends changed. */
void shapley_writer_write_places(const atomic_bool* stopping);
/* Whether the ranks, leads or levels in force differ from those last written, or places have to be checked. */
bool shapley_writer_is_due(void);

/* Puts the rank into a pending job's site factor at once, from memory. Any thread with the job write lock. */
void shapley_writer_rank(job_record_t* job);

#endif
