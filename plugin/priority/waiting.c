#include "plugin/priority/waiting.h"

#include "plugin/scan/fingerprint.h"
#include "plugin/scan/job_state.h"
#include "plugin/scan/request.h"

/* ---- whether it could start --------------------------------------------------------------------- */

/* Why it waits was found when the scheduler tried it last. What only says that its nodes were not there then may be
 * over in the pass in which they are back. Limits of accounts and users are not: their jobs must not hold up others. */
static bool could_start(const job_record_t* record, time_t now, bool* nodes_available) {
  *nodes_available = false;
  if (IS_JOB_COMPLETING(record) || (record->details && record->details->begin_time > now)) return false;
  if (shapley_is_array_rest(record) && !shapley_startable_tasks(record->array_recs)) return false;
  switch (record->state_reason) {
    case WAIT_ARRAY_TASK_LIMIT: /* of an array's record there is room again, see above */
      if (!shapley_is_array_rest(record)) return false;
      *nodes_available = true;
      return true;
    case WAIT_NO_REASON:
    case WAIT_PRIORITY:
    case WAIT_RESOURCES:
    case WAIT_TIME: /* its time has come, see above */
      *nodes_available = true;
      return true;
    case WAIT_PART_DOWN:
    case WAIT_PART_INACTIVE:
    case WAIT_NODE_NOT_AVAIL:
    case WAIT_RESERVATION:
    case WAIT_LICENSES:
      return true;
    default:
      return false;
  }
}

/* ---- partitions --------------------------------------------------------------------------------- */

static int add_partition(void* element, void* to) {
  const part_record_t* partition = element;
  shapley_waiting_t* waiting = to;
  waiting->partition_processors += partition->total_cpus;
  if (partition->priority_tier > waiting->tier) waiting->tier = partition->priority_tier;
  return 0;
}

/* part_ptr goes through all that a waiting job asks for, see job_traits.c. */
static void fill_partitions(const job_record_t* record, shapley_waiting_t* waiting) {
  waiting->partition = (uint32_t)shapley_mix_text(SHAPLEY_FINGERPRINT_START, record->partition);
  if (record->part_ptr_list)
    list_for_each_ro(record->part_ptr_list, add_partition, waiting);
  else if (record->part_ptr)
    add_partition(record->part_ptr, waiting);
}

/* ---- arrays ------------------------------------------------------------------------------------- */

/* Tasks that depend on others, are stored in a burst buffer or run on several clusters are split by Slurm itself, each
 * kind in its own way. */
static uint32_t splittable_tasks(const job_record_t* record) {
  bool depends = record->details && record->details->depend_list && list_count(record->details->depend_list);
  if (!shapley_is_array_rest(record) || !record->array_recs->task_id_bitmap || record->burst_buffer || depends ||
      record->fed_details)
    return 0;
  if (!shapley_split_is_safe(record)) return 0;
  uint32_t tasks = record->array_recs->task_cnt;
  return tasks > k_shapley_least_array_rest ? tasks - k_shapley_least_array_rest : 0;
}

/* Of equal priority the earlier one goes first; an array's record after its tasks. */
static uint64_t tie_of(const job_record_t* record) {
  uint64_t id = record->array_job_id ? record->array_job_id : record->job_id;
  uint32_t task = !record->array_job_id ? 0 : shapley_is_array_rest(record) ? UINT32_MAX : record->array_task_id;
  return id << 32 | task;
}

int64_t shapley_own_order(const job_record_t* record) {
  return (int64_t)record->priority - ((int64_t)record->site_factor - (int64_t)NICE_OFFSET);
}

void shapley_waiting_fill(const job_record_t* record, time_t now, shapley_waiting_t* waiting) {
  bool rest = shapley_is_array_rest(record);
  *waiting = (shapley_waiting_t){
      .job_id = record->job_id,
      .processors = shapley_request_processors(record),
      .tasks = rest ? shapley_startable_tasks(record->array_recs) : 1,
      .own_order = shapley_own_order(record),
      .tie = tie_of(record),
      .label = SHAPLEY_NO_LABEL,
      .splittable = splittable_tasks(record),
  };
  fill_partitions(record, waiting);
  waiting->partition_processors = shapley_reach(waiting->partition_processors);
  waiting->startable = could_start(record, now, &waiting->nodes_available);
  if (!waiting->tasks) waiting->tasks = 1;
}
