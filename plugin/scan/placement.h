/* The nodes that a job may use: what it requests, and what distinguishes nodes (partitions, features, reservations).
 *
 * Everything here only reads, under the locks of a scan; texts and lists point into slurmctld's records and are valid
 * while these are held. Nothing is allocated: lists beyond their bounds are cut.
 */
#ifndef SHAPLEY_PLACEMENT_H
#define SHAPLEY_PLACEMENT_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "plugin/client/shapley_client.h"
#include "plugin/slurm/slurm_compat.h"

/* Of more reservations to come the nearest so many are known. */
enum { k_shapley_max_coming_reservations = 32 };

/* All zero: new. Between shapley_placement_begin and the end of a scan it holds the reservations that are active or to
 * come. */
typedef struct {
  const slurmctld_resv_t* active[k_shapley_max_node_names];
  size_t active_count;
  /* Active ones of some cores of their nodes. */
  const slurmctld_resv_t* of_cores[k_shapley_max_node_limits];
  size_t of_cores_count;
  /* Those to come, by their begin. */
  struct {
    const slurmctld_resv_t* reservation;
    time_t begin;
  } coming[k_shapley_max_coming_reservations];
  size_t coming_count;
  /* Room for one node's lists. */
  const char* partitions[k_shapley_max_node_names];
  const char* reservations[k_shapley_max_node_names];
  shapley_node_limit_t limits[k_shapley_max_node_limits];
} shapley_placement_t;

/* Called once a scan; `now` is its time. Job and node lock. */
void shapley_placement_begin(shapley_placement_t* placement, time_t now);

/* Fills what *job requests of its nodes, or requested before it started. Job lock. */
void shapley_placement_fill_job(const job_record_t* record, shapley_job_t* job);
uint64_t shapley_placement_mix_job(uint64_t hash, const shapley_job_t* job);

/* Fills the node's partitions, features, reservations and limits, `index` in slurmctld's table; the lists are valid
 * until the next call. Job, node and partition lock. */
void shapley_placement_fill_node(shapley_placement_t* placement, uint32_t index, const node_record_t* record,
                                 shapley_node_t* node);
uint64_t shapley_placement_mix_node(uint64_t hash, const shapley_node_t* node);

/* Which nodes a run holds or held, with how much of each: processors, memory, generic resources. By node name. */

/* One run's nodes, reused from run to run. Zero-initialized is empty. One thread's. */
typedef struct {
  shapley_node_holding_t* nodes;
  size_t count;
  struct shapley_named_node* named; /* owns the names that slurmctld's node table cannot lend */
  size_t named_count;
  size_t capacity;
} shapley_allocation_t;

/* Reads them from the job's record, under the job and node read locks; the texts are valid until the next reading,
 * while these locks are held. Empty when the record has none. */
void shapley_allocation_read(shapley_allocation_t* allocation, const job_record_t* job);
/* Mixes into `hash` the data on which the result of shapley_allocation_read() depends. Job lock. */
uint64_t shapley_allocation_hash(uint64_t hash, const job_record_t* job);
void shapley_allocation_free(shapley_allocation_t* allocation);

#endif
