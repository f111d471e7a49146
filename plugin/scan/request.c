#include "plugin/scan/request.h"

#include <string.h>

/* What Slurm has worked out for one task, 0 when it has not, at most a moment after submission. */
static uint64_t requested(const job_record_t* record, int tres) {
  uint64_t count = record->tres_req_cnt && slurmctld_tres_cnt > tres ? record->tres_req_cnt[tres] : 0;
  return shapley_is_count(count) ? count : 0;
}

/* NO_VAL and above is not set. */
static uint32_t at_least_one(uint32_t number) {
  return number && number < NO_VAL ? number : 1;
}

static uint32_t requested_cpus(const job_record_t* record) {
  uint64_t count = requested(record, TRES_ARRAY_CPU);
  if (count && count < NO_VAL) return (uint32_t)count;
  return record->details && record->details->min_cpus < NO_VAL ? record->details->min_cpus : 0;
}

/* ---- the partition that is asked for ------------------------------------------------------------ */

typedef struct {
  const char* name;
  const part_record_t* found;
} partition_search_t;

static int match_partition(void* element, void* to) {
  const part_record_t* partition = element;
  partition_search_t* search = to;
  if (!partition->name || strcmp(partition->name, search->name) != 0) return 0;
  search->found = partition;
  return -1;
}

/* The one that the record names: part_ptr goes through all that a waiting job asks for, see job_traits.c. */
static const part_record_t* partition_of(const job_record_t* record, const char* name) {
  partition_search_t search = {.name = name};
  if (IS_JOB_PENDING(record) && record->part_ptr_list && name)
    list_for_each_ro(record->part_ptr_list, match_partition, &search);
  return search.found ? search.found : record->part_ptr;
}

/* ---- whole nodes -------------------------------------------------------------------------------- */

/* select/linear knows nothing but whole nodes, and does not note it. Elsewhere a started job's resources tell; the
 * request is asked only before: an exclusive partition may be gone from it later. slurmctld decides on the partition
 * when it tries to place the job (node_scheduler.c: _resolve_shared_status), so both are looked at. */
static bool is_exclusive(const job_record_t* record, const part_record_t* partition, const shapley_job_t* job) {
  if (shapley_whole_nodes_only()) return true;
  if (job->start_time && record->job_resrcs) return shapley_is_whole_node(record->job_resrcs->whole_node);
  return (record->details && shapley_is_whole_node(record->details->whole_node)) ||
         (partition && partition->max_share == 0);
}

void shapley_request_fill(const job_record_t* record, shapley_gres_request_t* gres, shapley_job_t* job) {
  const part_record_t* partition = partition_of(record, job->partition);
  job->requested_cpus = requested_cpus(record);
  job->exclusive = is_exclusive(record, partition, job);
  job->requested_nodes = 1;
  if (job->start_time) return; /* its nodes tell */
  if (record->details) job->requested_nodes = at_least_one(record->details->min_nodes);
  if (shapley_memory_is_allocated(partition)) job->requested_memory = requested(record, TRES_ARRAY_MEM);
  *gres = (shapley_gres_request_t){
      .per_job = record->tres_per_job,
      .per_node = record->tres_per_node,
      .per_socket = record->tres_per_socket,
      .per_task = record->tres_per_task,
      .tasks = record->details ? at_least_one(record->details->num_tasks) : 1,
  };
  job->gres_request = gres;
}
