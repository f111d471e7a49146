#include "plugin/scan/records.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/priority/site_factor.h"
#include "plugin/scan/fingerprint.h"

bool shapley_records_begin(shapley_records_t* records, time_t now, size_t tres) {
  records->now = now;
  records->next_eligible = 0;
  shapley_placement_begin(&records->placement, now);
  if (tres > records->tres_capacity) {
    shapley_tres_t* grown = realloc(records->tres, tres * sizeof(*grown));
    if (!grown) return false;
    records->tres = grown;
    records->tres_capacity = tres;
  }
  return true;
}

void shapley_records_free(shapley_records_t* records) {
  shapley_allocation_free(&records->allocation);
  free(records->tres);
  memset(records, 0, sizeof(*records));
}

/* ---- resources ---------------------------------------------------------------------------------- */

/* Allocated counts where there is, or was, an allocation; else the requested ones. NULL: none. */
static const uint64_t* tres_counts(const job_record_t* record, const shapley_job_t* job) {
  bool allocated = job->start_time && record->tres_alloc_cnt;
  return allocated ? record->tres_alloc_cnt : record->tres_req_cnt;
}

static size_t copy_tres(const uint64_t* counts, const shapley_records_t* records) {
  size_t copied = 0;
  size_t kinds = slurmctld_tres_cnt > 0 ? (size_t)slurmctld_tres_cnt : 0;
  for (size_t i = 0; counts && assoc_mgr_tres_name_array && i < kinds && copied < records->tres_capacity; i++) {
    if (!shapley_is_count(counts[i]) || !assoc_mgr_tres_name_array[i]) continue;
    records->tres[copied++] = (shapley_tres_t){.name = assoc_mgr_tres_name_array[i], .count = counts[i]};
  }
  return copied;
}

/* ---- dependencies and time limit ---------------------------------------------------------------- */

/* The jobs in Slurm's dependency list, in its order; some kinds (singleton, burst buffer) name none. Only the first
 * `left` entries are read: users write lists of thousands, and this runs under slurmctld's locks. */
typedef struct {
  uint32_t* ids;
  size_t count;
  int left;
} dependencies_t;

static int add_dependency(void* element, void* to) {
  const depend_spec_t* dependency = element;
  dependencies_t* dependencies = to;
  if (dependency->job_id) dependencies->ids[dependencies->count++] = dependency->job_id;
  return --dependencies->left > 0 ? 0 : -1;
}

static size_t read_dependencies(shapley_records_t* records, const job_record_t* record) {
  dependencies_t dependencies = {.ids = records->depends_on, .left = k_shapley_max_depends_on};
  if (record->details && record->details->depend_list)
    list_for_each_ro(record->details->depend_list, add_dependency, &dependencies);
  return dependencies.count;
}

static int by_number(const void* a, const void* b) {
  uint32_t left = *(const uint32_t*)a, right = *(const uint32_t*)b;
  return (left > right) - (left < right);
}

static size_t sort_each_once(uint32_t* ids, size_t count) {
  size_t kept = 0;
  qsort(ids, count, sizeof(*ids), by_number);
  for (size_t i = 0; i < count; i++)
    if (!kept || ids[kept - 1] != ids[i]) ids[kept++] = ids[i];
  return kept;
}

/* Slurm counts minutes; NO_VAL and INFINITE, at the top of the range, mean no limit. */
static uint32_t time_limit_s(const job_record_t* record) {
  return record->time_limit <= UINT32_MAX / 60 ? record->time_limit * 60 : 0;
}

/* ---- jobs --------------------------------------------------------------------------------------- */

static uint64_t mix_gres_request(uint64_t hash, const shapley_gres_request_t* request) {
  const char* const texts[] = {request->per_job, request->per_node, request->per_socket, request->per_task};
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) hash = shapley_mix_text(hash, texts[i]);
  return shapley_mix(hash, request->tasks);
}

static uint64_t fingerprint_of(shapley_records_t* records, const job_record_t* record, const shapley_job_t* job) {
  uint64_t hash = SHAPLEY_FINGERPRINT_START;
#define MIX_NUMBER(type, member) hash = shapley_mix(hash, (uint64_t)job->member);
#define MIX_TEXT(member) hash = shapley_mix_text(hash, job->member);
  SHAPLEY_JOB_NUMBERS(MIX_NUMBER)
  SHAPLEY_JOB_TEXTS(MIX_TEXT)
  MIX_NUMBER(, state)
  MIX_NUMBER(, wait)
  MIX_TEXT(partition)
  hash = shapley_mix(hash, record->job_state & JOB_STATE_BASE);
  for (size_t i = 0; i < job->account_ancestors_count; i++) hash = shapley_mix_text(hash, job->account_ancestors[i]);

  /* While a job waits, its allocation holds estimates that change with each try to place it. */
  if (job->start_time) hash = shapley_allocation_hash(hash, record);
  if (job->gres_request) hash = mix_gres_request(hash, job->gres_request);
  hash = shapley_mix(shapley_mix(shapley_mix(hash, job->node_cpus), job->node_memory), job->one_user);
  hash = shapley_placement_mix_job(hash, job);
  const uint64_t* counts = tres_counts(record, job);
  for (int i = 0; counts && i < slurmctld_tres_cnt; i++) hash = shapley_mix(hash, counts[i]);

  size_t dependencies = read_dependencies(records, record);
  for (size_t i = 0; i < dependencies; i++) hash = shapley_mix(hash, records->depends_on[i]);
  return hash;
}

/* Fills everything except the lists of nodes, resources and dependencies. */
static void fill(shapley_records_t* records, const job_record_t* record, const shapley_job_traits_t* traits,
                 shapley_job_t* job) {
  *job = (shapley_job_t){
      .job_id = record->job_id,
      .array_job_id = record->array_job_id,
      .array_task_id = record->array_task_id == NO_VAL ? -1 : (int64_t)record->array_task_id,
      .het_job_id = record->het_job_id,
      .restart_count = record->restart_cnt,
      .slurm_state = job_state_string(record->job_state & JOB_STATE_BASE),
      .user_id = record->user_id,
      .group_id = record->group_id,
      .account = traits->account,
      .account_ancestors = traits->account_ancestors,
      .account_ancestors_count = traits->account_ancestors_count,
      .partition = traits->partition,
      .qos = traits->qos,
      .name = record->name,
      .wckey = record->wckey,
      .submit_time = record->details ? record->details->submit_time : 0,
      .eligible_time = record->details ? record->details->begin_time : 0,
      .time_limit_s = time_limit_s(record),
  };
  shapley_job_state_fill(record, records->now, job);
  shapley_request_fill(record, &records->gres_request, job);
  shapley_placement_fill_job(record, job);
}

static void fill_lists(shapley_records_t* records, const job_record_t* record, shapley_job_t* job) {
  if (job->start_time) {
    shapley_allocation_read(&records->allocation, record);
    job->nodes = records->allocation.nodes;
    job->nodes_count = records->allocation.count;
  }
  job->tres = records->tres;
  job->tres_count = copy_tres(tres_counts(record, job), records);
  job->depends_on = records->depends_on;
  job->depends_on_count = sort_each_once(records->depends_on, read_dependencies(records, record));
}

/* Whether only a user's edit can change this waiting job's fingerprint while its quick hash stays. Begin times pass by
 * the clock, an array's rest shrinks by counters of its own, and a completing job still changes its times. */
static int look_for_open(void* element, void* to) {
  bool* found = to;
  *found = *found || shapley_starts_jobs(element);
  return *found ? -1 : 0;
}

/* part_ptr goes through all requested partitions of a waiting job, see job_traits.c. */
bool shapley_is_closed_out(const job_record_t* record) {
  if (!record->part_ptr_list) return record->part_ptr && !shapley_starts_jobs(record->part_ptr);
  bool found = false;
  list_for_each_ro(record->part_ptr_list, look_for_open, &found);
  return !found;
}

static bool quick_hash_suffices(const job_record_t* record, const shapley_job_t* job) {
  return IS_JOB_PENDING(record) && !job->completing && job->wait != SHAPLEY_WAIT_BEGIN_TIME && !record->array_recs;
}

void shapley_records_pass_job(shapley_records_t* records, const job_record_t* record,
                              const shapley_job_traits_t* traits, uint64_t quick_hash) {
  shapley_job_t job;
  fill(records, record, traits, &job);
  if (job.wait == SHAPLEY_WAIT_BEGIN_TIME && (!records->next_eligible || job.eligible_time < records->next_eligible))
    records->next_eligible = job.eligible_time;
  uint64_t fingerprint = fingerprint_of(records, record, &job);
  if (!quick_hash_suffices(record, &job)) quick_hash = 0;
  if (!shapley_client_scan_job(records->client, record->job_id, fingerprint, quick_hash)) return;
  fill_lists(records, record, &job);
  shapley_client_scan_record(records->client, &job);
}

/* ---- nodes -------------------------------------------------------------------------------------- */

/* Whether Slurm could start something here, now or after waking the node up. A node that does not answer is not called
 * unusable: Slurm sets it DOWN soon if that lasts. */
static bool is_usable(const node_record_t* record) {
  return !(IS_NODE_DOWN(record) || IS_NODE_DRAIN(record) || IS_NODE_FAIL(record) || IS_NODE_FUTURE(record) ||
           IS_NODE_UNKNOWN(record) || IS_NODE_INVALID_REG(record));
}

/* slurmctld starts something on available nodes only. Of the usable ones those are not that power down, do not answer
 * or are to boot; what they offer will be there again. */
static bool starts_no_jobs(uint32_t index) {
  return avail_node_bitmap && (bitoff_t)index < bit_size(avail_node_bitmap) && !bit_test(avail_node_bitmap, index);
}

/* MemSpecLimit is set aside for the system. */
static uint64_t usable_memory(const node_record_t* record) {
  return record->real_memory > record->mem_spec_limit ? record->real_memory - record->mem_spec_limit : 0;
}

/* The text of slurm.conf (or scontrol update): the node's own text, which is written again when it registers, no longer
 * shows what is not counted (no_consume). It does show what a node feature brings. */
static const char* configured_gres(const node_record_t* record) {
  const char* configured = record->config_ptr ? record->config_ptr->gres : NULL;
  return configured && configured[0] ? configured : record->gres;
}

/* Whether one of the node's partitions has no TRESBillingWeights: there slurmctld bills a job its CPUs. */
static bool bills_cpus(const node_record_t* record) {
  for (uint16_t i = 0; record->part_pptr && i < record->part_cnt; i++) {
    const part_record_t* partition = record->part_pptr[i];
    if (partition && !partition->billing_weights) return true;
  }
  return false;
}

/* slurmctld computes a node's billing by those of its partitions that have weights; a job in another one may be billed
 * more than that. */
static void raise_billing(const node_record_t* record, const shapley_node_t* node, shapley_tres_t* tres) {
  if (!bills_cpus(record)) return;
  for (size_t i = 0; i < node->tres_count; i++)
    if (!strcmp(tres[i].name, "billing") && tres[i].count < node->cpus) tres[i].count = node->cpus;
}

static uint64_t node_fingerprint(const node_record_t* record, const shapley_node_t* node) {
  uint64_t hash = shapley_mix_text(SHAPLEY_FINGERPRINT_START, node->name);
  hash = shapley_mix(shapley_mix(shapley_mix(hash, node->cpus), node->usable), node->allocation_unit);
  hash = shapley_mix_text(shapley_mix(hash, node->memory), node->gres);
  for (int i = 0; record->tres_cnt && i < slurmctld_tres_cnt; i++) hash = shapley_mix(hash, record->tres_cnt[i]);
  hash = shapley_mix(hash, bills_cpus(record));
  return shapley_placement_mix_node(shapley_mix(hash, node->starts_no_jobs), node);
}

void shapley_records_pass_node(shapley_records_t* records, uint32_t index, const node_record_t* record) {
  shapley_node_t node = {
      .name = record->name,
      .cpus = record->cpus_efctv ? record->cpus_efctv : record->cpus,
      .usable = is_usable(record),
      .memory = usable_memory(record),
      .gres = configured_gres(record),
      .allocation_unit = shapley_allocation_unit(record),
      .starts_no_jobs = starts_no_jobs(index),
  };
  shapley_placement_fill_node(&records->placement, index, record, &node);
  if (!shapley_client_scan_node(records->client, index, node_fingerprint(record, &node))) return;
  node.tres = records->tres;
  node.tres_count = copy_tres(record->tres_cnt, records);
  raise_billing(record, &node, records->tres);
  shapley_client_scan_node_record(records->client, index, &node);
}

/* ---- why a pending job waits -------------------------------------------------------------------- */

/* Slurm has some 170 reasons for limits of associations and QOS and adds more in each release; their names have kept
 * one pattern, their numbers have not kept one range. */
bool shapley_is_account_limit(uint32_t reason) {
  if (reason == WAIT_ACCOUNT || reason == WAIT_ACCOUNT_POLICY) return true;
  const char* name = shapley_reason_name(reason);
  return !strncmp(name, "QOS", 3) || !strncmp(name, "Assoc", 5) || strstr(name, "PerAccount") ||
         strstr(name, "PerUser");
}

uint32_t shapley_array_room(const job_array_struct_t* array) {
  if (!array->max_run_tasks) return UINT32_MAX;
  return array->tot_run_tasks < array->max_run_tasks ? array->max_run_tasks - array->tot_run_tasks : 0;
}

uint32_t shapley_startable_tasks(const job_array_struct_t* array) {
  uint32_t room = shapley_array_room(array);
  return room < array->task_cnt ? room : array->task_cnt;
}

bool shapley_is_array_rest(const job_record_t* record) {
  return record->array_recs && record->array_task_id == NO_VAL;
}

/* Slurm says that a job is eligible when it submits it, but of an array only when the scheduler has looked at it
 * (job_mgr.c: job_independent), up to a second later; of tasks that got records of their own before that, too.
 * Accounting has that instant, and none of its tasks starts before. */
static bool is_unscheduled_array(const job_record_t* record) {
  return record->array_job_id && record->details && record->details->begin_time == 0;
}

/* Up to the headroom a nice value moves a job among its organization's own. Beyond, the job gives its organization's
 * place away, and with a large one no other job ever goes behind it. */
static bool goes_behind_others(const job_record_t* record) {
  return record->details && record->details->nice > (uint32_t)NICE_OFFSET + k_shapley_nice_headroom;
}

/* What is known exactly (priority 0, begin time, the array's own counters) goes before state_reason, which is as old as
 * the scheduler's last try to place the job. */
static enum shapley_wait_reason wait_reason(const job_record_t* record, time_t now) {
  uint32_t reason = record->state_reason;
  /* It runs, or waits, on another cluster of the federation, and is no demand here, not even later. */
  if (IS_JOB_REVOKED(record)) return SHAPLEY_WAIT_HELD;
  if (record->priority == 0) return SHAPLEY_WAIT_HELD;
  if (reason == WAIT_DEPENDENCY || reason == WAIT_DEP_INVALID) return SHAPLEY_WAIT_DEPENDENCY;
  if (record->details && record->details->begin_time > now) return SHAPLEY_WAIT_BEGIN_TIME;
  if (goes_behind_others(record)) return SHAPLEY_WAIT_NICE;
  if (is_unscheduled_array(record)) return SHAPLEY_WAIT_OTHER;
  if (reason == WAIT_ARRAY_TASK_LIMIT && !shapley_is_array_rest(record)) return SHAPLEY_WAIT_ARRAY_LIMIT;
  if (shapley_is_array_rest(record) && shapley_startable_tasks(record->array_recs) == 0)
    return SHAPLEY_WAIT_ARRAY_LIMIT;
  switch (reason) {
    case WAIT_NO_REASON:
    case WAIT_PRIORITY:
    case WAIT_RESOURCES:
    case WAIT_TIME:             /* its time has come, see above */
    case WAIT_ARRAY_TASK_LIMIT: /* there is room again, see above */
      return SHAPLEY_WAIT_STARTABLE;
    default:
      return shapley_is_account_limit(reason) ? SHAPLEY_WAIT_ACCOUNT_LIMIT : SHAPLEY_WAIT_OTHER;
  }
}

/* ---- state and times ---------------------------------------------------------------------------- */

/* End of the run before, for a job that waits again after a requeue. Slurm wipes start and end when the requeued job's
 * nodes are clean, but not time_last_active, which every way to end a run sets to the end (job_mgr.c: _job_requeue_op,
 * _job_complete, kill_running_job_by_node_name). A later value than the new submit_time came from something else, such
 * as the recovery of slurmctld's state: then the end is not known here. */
static int64_t end_before_requeue(const job_record_t* record) {
  if (!record->restart_cnt || !record->details) return 0;
  /* Not wiped where slurmctld, just restarted, found no node to clean (job_mgr.c: _job_requeue_op). */
  if (record->end_time) return record->end_time;
  time_t last_active = record->time_last_active;
  return last_active <= record->details->submit_time ? last_active : 0;
}

static void set_pending(const job_record_t* record, time_t now, shapley_job_t* job) {
  job->state = SHAPLEY_JOB_PENDING;
  /* While it completes, the record still describes the run that was requeued, its end included. */
  job->start_time = job->completing ? record->start_time : 0;
  job->end_time = job->completing ? record->end_time : end_before_requeue(record);
  job->wait = job->completing ? SHAPLEY_WAIT_OTHER : wait_reason(record, now);
  if (shapley_is_array_rest(record)) {
    uint32_t tasks = shapley_startable_tasks(record->array_recs);
    job->pending_tasks = tasks ? tasks : 1;
  }
}

void shapley_job_state_fill(const job_record_t* record, time_t now, shapley_job_t* job) {
  job->completing = IS_JOB_COMPLETING(record);
  job->pending_tasks = 1;
  if (IS_JOB_PENDING(record)) {
    set_pending(record, now, job);
  } else if (IS_JOB_FINISHED(record)) {
    job->state = SHAPLEY_JOB_ENDED;
    /* A job cancelled while it waited has a start_time but never held a node. */
    job->start_time = record->job_resrcs ? record->start_time : 0;
    job->end_time = record->end_time;
  } else {
    /* Also while its nodes boot (POWER_UP_NODE). Slurm counts from the allocation on, and sets start_time again when
     * they are up. Where they never come up that allocation is a run in Slurm's records, and nothing else than what was
     * seen of it before says when it began and where: a requeue wipes the record at once. */
    job->state = IS_JOB_SUSPENDED(record) ? SHAPLEY_JOB_SUSPENDED : SHAPLEY_JOB_RUNNING;
    job->start_time = record->start_time; /* end_time is an expectation now */
  }
  if (job->start_time) {
    job->suspend_time = record->suspend_time;
    job->pre_suspend_run_s = record->pre_sus_time;
    job->total_suspended_s = record->tot_sus_time;
    /* Slurm keeps the resize_time of a run before a requeue. */
    job->resize_time = record->resize_time >= record->start_time ? record->resize_time : 0;
  }
}
