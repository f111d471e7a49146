/* Which nodes a run holds or held, with how much of each: processors, memory, generic resources. By node name. */
#ifndef SHAPLEY_ALLOCATION_H
#define SHAPLEY_ALLOCATION_H

#include <stddef.h>

#include "plugin/client/shapley_client.h"
#include "plugin/slurm_compat.h"

/* One run's nodes, reused from run to run. Zero-initialized is empty. One thread's. */
typedef struct {
  shapley_node_holding_t* nodes;
  size_t count;
  struct shapley_named_node* named; /* owns the names that slurmctld's node table cannot lend */
  size_t named_count;
  size_t capacity;
} shapley_allocation_t;

/* Reads them from the job's record, under the job and node read locks; the texts are valid until the next reading,
 * while these locks last. Empty when the record does not tell. */
void shapley_allocation_read(shapley_allocation_t* allocation, const job_record_t* job);
/* Mixes into `hash` what changes when what shapley_allocation_read() would read does. Job lock. */
uint64_t shapley_allocation_hash(uint64_t hash, const job_record_t* job);
void shapley_allocation_free(shapley_allocation_t* allocation);

#endif
