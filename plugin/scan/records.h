/* Slurm's job and node records, translated into the client's (states, reasons, exact times, what is held by node name)
 * and passed on to it where they changed since the scan before.
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
#include "plugin/scan/allocation.h"
#include "plugin/scan/placement.h"
#include "plugin/slurm_compat.h"

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

/* Fills in a shapley_job_t and its fingerprint; where the client finds that this differs from the scan before, also the
 * lists of nodes, resources and dependencies, and hands it over. `quick_hash`: what lets later scans skip this job
 * (quick_hash.h), 0: nothing; it is dropped where more than a user's edits can change the job behind it. */
void shapley_records_pass_job(shapley_records_t* records, const job_record_t* record,
                              const shapley_job_traits_t* traits, uint64_t quick_hash);

/* The same for a node with a name, `index` in slurmctld's table. */
void shapley_records_pass_node(shapley_records_t* records, uint32_t index, const node_record_t* record);

#endif
