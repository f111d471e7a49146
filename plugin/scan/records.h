/* Converts Slurm's job and node records to the client's (states, reasons, exact times, allocations by node name), and
 * passes on those that changed since the scan before.
 *
 * Everything here only reads, under the locks of a scan (job, node and partition read; assoc, qos and tres read).
 * Memory is reused from record to record and bounded by the largest job's nodes.
 */
#ifndef SHAPLEY_RECORDS_H
#define SHAPLEY_RECORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "plugin/client/shapley_client.h"
#include "plugin/scan/fingerprint.h"
#include "plugin/scan/placement.h"
#include "plugin/slurm/slurm_compat.h"

/* All zero but the client: new. One thread's. */
typedef struct {
  shapley_client_t* client;
  time_t now;           /* of the scan, wall clock */
  time_t next_eligible; /* the scan's earliest begin time still to come, 0: none */
  /* Room for one record's lists, kept between scans. */
  shapley_allocation_t allocation;
  shapley_tres_t* tres;
  size_t tres_capacity;
  uint32_t depends_on[k_shapley_max_depends_on];
  shapley_gres_request_t gres_request;
  shapley_placement_t placement;
} shapley_records_t;

/* A scan's first call, inside the client's scan: records have `tres` kinds of resources. False when there is no memory.
 */
bool shapley_records_begin(shapley_records_t* records, time_t now, size_t tres);
void shapley_records_free(shapley_records_t* records);

/* Fills a shapley_job_t and its fingerprint; if the client finds a difference from the scan before, also the lists of
 * nodes, resources and dependencies, and passes it on. `quick_hash`: allows later scans to skip this job
 * (shapley_quick_hash), 0: none; it is dropped if anything besides a user's edit can change the job while the hash
 * stays. */
void shapley_records_pass_job(shapley_records_t* records, const job_record_t* record,
                              const shapley_job_traits_t* traits, uint64_t quick_hash);

/* The same for a node with a name, `index` in slurmctld's table. */
void shapley_records_pass_node(shapley_records_t* records, uint32_t index, const node_record_t* record);

/* Whether slurmctld starts jobs in it: it is neither down nor inactive. Partition lock. */
static inline bool shapley_starts_jobs(const part_record_t* partition) {
  return partition->state_up & PARTITION_SCHED;
}
/* Whether none of the partitions that the job asked for starts jobs. Job and partition lock. */
bool shapley_is_closed_out(const job_record_t* record);

/* A hash over the fields of a waiting job that change when slurmctld or one of its schedulers does something with it,
 * and over its partitions' state: a quarter of the memory that the fingerprint reads. What users edit in place (name,
 * account, dependencies, times) is not included. */

/* 0: the job does not wait. Job and partition lock. */
static inline uint64_t shapley_quick_hash(const job_record_t* record) {
  if (!IS_JOB_PENDING(record)) return 0;
  uint64_t hash = SHAPLEY_FINGERPRINT_START;
  hash = shapley_mix(hash, (uint64_t)record->job_state << 32 | record->priority);
  hash = shapley_mix(hash, (uint64_t)record->state_reason << 32 | record->site_factor);
  hash = shapley_mix(hash, (uint64_t)record->restart_cnt << 1 | shapley_is_closed_out(record));
  return hash ? hash : 1;
}

/* A job's request: how many nodes one task will block, and how much of each. */

/* Fills requested_cpus, requested_nodes, requested_memory, exclusive and one_user of *job, whose state, times and
 * partition are filled already, and *gres with Slurm's own texts. `gres` becomes the job's gres_request unless it has
 * started. Job and partition lock. */
void shapley_request_fill(const job_record_t* record, shapley_gres_request_t* gres, shapley_job_t* job);

/* A job's state, its exact times, and why it waits, as described in docs/internals/plugin.md, "Exact times". */

/* Fills the members of *job from `state` to `wait`, `start_time` to `resize_time`, and pending_tasks. `now`: of the
 * scan, seconds since the epoch. Job lock. */
void shapley_job_state_fill(const job_record_t* record, time_t now, shapley_job_t* job);

/* Whether a reason to wait is a limit of an account, a user or a QOS. */
bool shapley_is_account_limit(uint32_t reason);

/* Whether it is the record of an array's tasks without records of their own; how many tasks the array's own limit
 * allows to start now (UINT32_MAX: it has none), and how many of the rest. Job lock. */
bool shapley_is_array_rest(const job_record_t* record);
uint32_t shapley_array_room(const job_array_struct_t* array);
uint32_t shapley_startable_tasks(const job_array_struct_t* array);

/* The data that decide a job's organization, read from a job record without copying. */

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
 * multifactor: a reader that locks again behind a waiting writer never returns. */
void shapley_job_traits_lock(void);
void shapley_job_traits_unlock(void);

#endif
