#include "plugin/scan/request.h"

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

/* ---- the partitions that are asked for ---------------------------------------------------------- */

/* Whole nodes and memory are asked for where every partition that the job may start in makes it so: the least that it
 * will hold. */
typedef struct {
  bool known, exclusive, memory;
} partitions_t;

static int look_at(void* element, void* to) {
  const part_record_t* partition = element;
  partitions_t* partitions = to;
  partitions->known = true;
  if (partition->max_share != 0) partitions->exclusive = false;
  if (!shapley_memory_is_allocated(partition)) partitions->memory = false;
  return 0;
}

/* part_ptr goes through all that a waiting job asks for, see job_traits.c. */
static partitions_t partitions_of(const job_record_t* record) {
  partitions_t partitions = {.known = false, .exclusive = true, .memory = true};
  if (IS_JOB_PENDING(record) && record->part_ptr_list)
    list_for_each_ro(record->part_ptr_list, look_at, &partitions);
  else if (record->part_ptr)
    look_at(record->part_ptr, &partitions);
  if (partitions.known) return partitions;
  return (partitions_t){.exclusive = false, .memory = shapley_memory_is_allocated(NULL)};
}

/* ---- whole nodes -------------------------------------------------------------------------------- */

/* select/linear knows nothing but whole nodes, and does not note it. Elsewhere a started job's resources tell; the
 * request is asked only before: an exclusive partition may be gone from it later. slurmctld decides on the partition
 * when it tries to place the job (node_scheduler.c: _resolve_shared_status), so both are looked at. */
static bool is_exclusive(const job_record_t* record, const partitions_t* partitions, const shapley_job_t* job) {
  if (shapley_whole_nodes_only()) return true;
  if (job->start_time && record->job_resrcs) return shapley_is_whole_node(record->job_resrcs->whole_node);
  return (record->details && shapley_is_whole_node(record->details->whole_node)) || partitions->exclusive;
}

void shapley_request_fill(const job_record_t* record, shapley_gres_request_t* gres, shapley_job_t* job) {
  const partitions_t partitions = partitions_of(record);
  job->requested_cpus = requested_cpus(record);
  job->exclusive = is_exclusive(record, &partitions, job);
  job->requested_nodes = 1;
  if (job->start_time) return; /* its nodes tell */
  if (record->details) job->requested_nodes = at_least_one(record->details->min_nodes);
  if (partitions.memory) job->requested_memory = requested(record, TRES_ARRAY_MEM);
  *gres = (shapley_gres_request_t){
      .per_job = record->tres_per_job,
      .per_node = record->tres_per_node,
      .per_socket = record->tres_per_socket,
      .per_task = record->tres_per_task,
      .tasks = record->details ? at_least_one(record->details->num_tasks) : 1,
  };
  job->gres_request = gres;
}

uint32_t shapley_request_processors(const job_record_t* record) {
  uint32_t processors = requested_cpus(record);
  const partitions_t partitions = partitions_of(record);
  const part_record_t* partition = record->part_ptr;
  bool whole = shapley_whole_nodes_only() || partitions.exclusive ||
               (record->details && shapley_is_whole_node(record->details->whole_node));
  if (whole && partition && partition->total_nodes && partition->total_cpus) {
    uint32_t each = (partition->total_cpus + partition->total_nodes - 1) / partition->total_nodes;
    uint32_t nodes = record->details ? at_least_one(record->details->min_nodes) : 1;
    uint32_t filled = (processors + each - 1) / each;
    processors = each * (nodes > filled ? nodes : filled);
  }
  return processors ? processors : 1;
}
