/* A job's request: how many nodes one task will block, and how much of each. */
#include "plugin/scan/records.h"

/* What Slurm has computed for one task; 0 when it has not, at most a moment after submission. */
static uint64_t requested(const job_record_t* record, int tres) {
  uint64_t count = record->tres_req_cnt && slurmctld_tres_cnt > tres ? record->tres_req_cnt[tres] : 0;
  return shapley_is_count(count) ? count : 0;
}

/* NO_VAL and above is not set. */
static uint32_t at_least_one(uint32_t number) {
  return number && number < NO_VAL ? number : 1;
}

/* The threads of a core where whole cores are allocated, else 1; by the first node of the partition. */
static uint32_t threads_of_core(const part_record_t* partition) {
  bitoff_t first = partition && partition->node_bitmap ? bit_ffs(partition->node_bitmap) : -1;
  const node_record_t* node = first >= 0 && first < node_record_count ? node_record_table_ptr[first] : NULL;
  return node && node->tpc && shapley_allocation_unit(node) > 1 ? node->tpc : 1;
}

static uint32_t quotient_up(uint32_t of, uint32_t by) {
  return of / by + (of % by != 0);
}

/* The CPUs that a waiting job will be allocated. It gets all threads of a core, though it uses only some of them
 * (--threads-per-core, --hint=nomultithread) or has one task on it (--ntasks-per-core=1, CR_ONE_TASK_PER_CORE). */
static uint32_t cpus_of_cores(const job_record_t* record, uint32_t cpus) {
  const multi_core_data_t* options = record->details ? record->details->mc_ptr : NULL;
  uint32_t threads = IS_JOB_PENDING(record) ? threads_of_core(record->part_ptr) : 1;
  if (threads == 1) return cpus;
  uint32_t tasks = at_least_one(record->details ? record->details->num_tasks : 1);
  bool one_a_core = slurm_conf.select_type_param & SHAPLEY_SELECT_ONE_TASK_PER_CORE;
  uint32_t cores = 0;
  if (options && options->threads_per_core && options->threads_per_core < threads)
    cores = quotient_up(cpus, options->threads_per_core);
  else if (tasks <= cpus && (one_a_core || (options && options->ntasks_per_core == 1)))
    cores = tasks * quotient_up(quotient_up(cpus, tasks), threads);
  return cores * threads > cpus ? cores * threads : cpus;
}

static uint32_t requested_cpus(const job_record_t* record) {
  uint64_t count = requested(record, TRES_ARRAY_CPU);
  if (count && count < NO_VAL) return cpus_of_cores(record, (uint32_t)count);
  uint32_t least = record->details && record->details->min_cpus < NO_VAL ? record->details->min_cpus : 0;
  return cpus_of_cores(record, least);
}

/* ---- the partitions that are asked for ---------------------------------------------------------- */

/* Whole nodes, nodes of its user alone and memory are requested if every partition in which the job may start makes it
 * so: the least that it will hold. */
typedef struct {
  bool known, exclusive, one_user, memory;
} partitions_t;

static int look_at(void* element, void* to) {
  const part_record_t* partition = element;
  partitions_t* partitions = to;
  partitions->known = true;
  if (partition->max_share != 0) partitions->exclusive = false;
  if (!(partition->flags & PART_FLAG_EXCLUSIVE_USER)) partitions->one_user = false;
  if (!shapley_memory_is_allocated(partition)) partitions->memory = false;
  return 0;
}

/* part_ptr goes through all requested partitions of a waiting job, see job_traits.c. */
static partitions_t partitions_of(const job_record_t* record) {
  partitions_t partitions = {.known = false, .exclusive = true, .one_user = true, .memory = true};
  if (IS_JOB_PENDING(record) && record->part_ptr_list)
    list_for_each_ro(record->part_ptr_list, look_at, &partitions);
  else if (record->part_ptr)
    look_at(record->part_ptr, &partitions);
  if (partitions.known) return partitions;
  return (partitions_t){.memory = shapley_memory_is_allocated(NULL)};
}

/* ---- whole nodes -------------------------------------------------------------------------------- */

/* select/linear allocates whole nodes only, without noting it. Otherwise a started job's resources show it; the request
 * is used only before the start, because the partition may lose its exclusive flag later. slurmctld decides on the
 * partition when it tries to place the job (node_scheduler.c: _resolve_shared_status), so both are examined. */
static bool is_exclusive(const job_record_t* record, const partitions_t* partitions, const shapley_job_t* job) {
  if (shapley_whole_nodes_only()) return true;
  if (job->start_time && record->job_resrcs)
    return shapley_is_whole_node(record->job_resrcs->whole_node, WHOLE_NODE_REQUIRED);
  return (record->details && shapley_is_whole_node(record->details->whole_node, WHOLE_NODE_REQUIRED)) ||
         partitions->exclusive;
}

static bool is_of_one_user(const job_record_t* record, const partitions_t* partitions) {
  return (record->details && shapley_is_whole_node(record->details->whole_node, WHOLE_NODE_USER)) ||
         partitions->one_user;
}

/* ---- what is needed of one node ----------------------------------------------------------------- */

static uint32_t count_or_none(uint32_t number, uint32_t none) {
  return number < none ? number : 0;
}

static uint32_t greater(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

/* All CPUs of a task are on one node. Where the number of nodes is limited, one of them has its part of all. */
static uint32_t least_node_cpus(const job_record_t* record, uint32_t cpus) {
  uint32_t task = at_least_one(count_or_none(record->details->cpus_per_task, NO_VAL16));
  uint32_t tasks = at_least_one(count_or_none(record->details->ntasks_per_node, NO_VAL16));
  uint32_t least = greater(task * tasks, count_or_none(record->details->pn_min_cpus, NO_VAL));
  uint32_t most_nodes = count_or_none(record->details->max_nodes, NO_VAL);
  if (most_nodes) least = greater(least, quotient_up(cpus, most_nodes));
  return least < cpus ? least : cpus;
}

/* 0 is all memory of a node, unless the memory follows from the GPUs: slurmctld then counts that of the partition's
 * first node. */
static uint64_t least_node_memory(const job_record_t* record, const shapley_job_t* job) {
  uint64_t memory = record->details->pn_min_memory;
  uint32_t node_cpus = job->node_cpus;
  if (!memory && !record->mem_per_tres) memory = job->requested_memory / job->requested_nodes;
  if (!(memory & MEM_PER_CPU)) return shapley_is_count(memory) ? memory : 0;
  memory &= ~MEM_PER_CPU;
  return shapley_is_count(memory) ? memory * node_cpus : 0;
}

void shapley_request_fill(const job_record_t* record, shapley_gres_request_t* gres, shapley_job_t* job) {
  const partitions_t partitions = partitions_of(record);
  job->requested_cpus = requested_cpus(record);
  job->exclusive = is_exclusive(record, &partitions, job);
  job->one_user = is_of_one_user(record, &partitions);
  job->requested_nodes = 1;
  if (job->start_time) return; /* its nodes show it */
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
  if (!record->details) return;
  job->node_cpus = least_node_cpus(record, job->requested_cpus);
  if (partitions.memory) job->node_memory = least_node_memory(record, job);
}
