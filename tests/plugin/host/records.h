/* slurmctld's records as the host makes and changes them. The caller holds the locks that slurmctld would hold: write
 * locks for whatever changes. */
#ifndef SHAPLEY_HOST_RECORDS_H
#define SHAPLEY_HOST_RECORDS_H

#include "plugin/slurm/slurm_compat.h"
#include "tests/plugin/host/controller.h"

enum {
  k_host_nodes = 8,
  k_host_node_cpus = 16,
  k_host_tres = 3,
  k_max_host_jobs = 1 << 20,
  k_host_min_job_age_s = 2,
};

_Noreturn void host_fail(const char* what);

/* Nodes and partitions. Made again in an order that `random` decides; what was there before is freed. */
void host_tables_make(uint64_t random);
void host_tables_free(void);
part_record_t* host_find_partition(const char* name);
/* Makes the associations and users, or moves every account name of theirs to other memory: who read it without the lock
 * is caught. */
void host_associations_move(void);
void host_node_flip(uint64_t random);

/* A reservation of n1 to n4, on resv_list: made and marked in the nodes' states, or taken away. */
void host_reservation_flip(void);
/* As the list's destructor. */
void host_reservation_free(void* reservation);
/* After host_tables_make: its bitmap and the nodes' states. */
void host_reservation_follow_tables(void);
bool host_reservation_holds(const char* node);

/* A job that waits; its organization, size and partition by `random`. On no list. */
job_record_t* host_job_make(uint32_t job_id, uint64_t random);
void host_job_free(job_record_t* job);
void host_job_start(job_record_t* job, uint64_t random);
void host_job_end(job_record_t* job, uint32_t state);
void host_job_requeue(job_record_t* job);
void host_job_suspend_or_resume(job_record_t* job);
/* Its nodes are clean: COMPLETING goes, and what a requeued job still had of its run. */
void host_job_clean(job_record_t* job);
/* After host_tables_make: pointers and bitmaps into the new tables, as slurmctld restores them. */
void host_job_follow_tables(job_record_t* job);
host_truth_t host_job_truth(const job_record_t* job);
size_t host_job_organization(const job_record_t* job);

#endif
