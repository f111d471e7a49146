/* Slurm's job and node records, translated into the client's: states, reasons, exact times, processors by node name.
 *
 * Everything here only reads, under the locks of a scan (job, node and partition read; assoc, qos and tres read), and
 * hands out pointers that are valid while these are held, until the next record. Memory is reused from record to record
 * and bounded by the largest job's nodes.
 */
#ifndef SHAPLEY_RECORDS_H
#define SHAPLEY_RECORDS_H

#include <stdint.h>
#include <time.h>

#include "plugin/allocation.h"
#include "plugin/client/shapley_client.h"
#include "plugin/job_traits.h"
#include "plugin/slurm_compat.h"

/* Room for one record's lists, kept between scans. Zero-initialized is empty. One thread's. */
typedef struct {
  shapley_job_traits_buffer_t traits;
  shapley_allocation_t allocation;
  shapley_tres_t* tres;
  size_t tres_capacity;
  uint32_t depends_on[k_shapley_depends_on_max];
} shapley_records_t;

/* Makes room for records with `tres` kinds of resources. False when there is no memory. */
bool shapley_records_reserve(shapley_records_t* records, size_t tres);
void shapley_records_free(shapley_records_t* records);

/* Fills *job from a record and returns its fingerprint. Cheap part first: the lists of nodes, resources and
 * dependencies are hashed from the record and stay empty; shapley_job_lists fills them for a record that is to be sent.
 */
uint64_t shapley_job_summary(shapley_records_t* records, const job_record_t* record, time_t now, shapley_job_t* job);
void shapley_job_lists(shapley_records_t* records, const job_record_t* record, shapley_job_t* job);

/* A hash over the fields of a waiting job that change when slurmctld or one of its schedulers does something with it:
 * a quarter of the memory that the summary reads. What users edit in place (name, account, dependencies, times) is not
 * among them. 0: the job does not wait. */
uint64_t shapley_job_glance(const job_record_t* record);
/* Whether nothing but such edits can make the summary of this waiting job differ while its glance stays. */
bool shapley_glance_suffices(const job_record_t* record, const shapley_job_t* job);

/* The same for a node. */
uint64_t shapley_node_summary(const node_record_t* record, shapley_node_t* node);
void shapley_node_lists(shapley_records_t* records, const node_record_t* record, shapley_node_t* node);

#endif
