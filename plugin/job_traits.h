/* What decides a job's organization, read from a job record without copying. */
#ifndef SHAPLEY_JOB_TRAITS_H
#define SHAPLEY_JOB_TRAITS_H

#include "plugin/client/shapley_client.h"
#include "plugin/slurm_compat.h"

/* Deeper account trees than this lose their topmost accounts; sites have three to six levels. */
enum { k_shapley_max_ancestors = 32 };

/* The pointers inside `traits` point into this struct and into slurmctld's records: valid while the caller's locks
 * last. */
typedef struct {
  shapley_job_traits_t traits;
  const char* ancestors[k_shapley_max_ancestors];
} shapley_job_traits_buffer_t;

/* The caller holds the job lock and the assoc and qos read locks of the association manager. */
void shapley_job_traits_fill(const job_record_t* job, shapley_job_traits_buffer_t* buffer);

/* Those two read locks, to be taken after slurmctld's own as locks.h demands. multifactor takes the same pair inside
 * its priority_p_set, so they may be taken wherever that may be called. They cannot be held across a call into
 * multifactor: a reader that locks again behind a waiting writer blocks for ever. */
void shapley_job_traits_lock(void);
void shapley_job_traits_unlock(void);

#endif
