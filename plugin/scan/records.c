#include "plugin/scan/records.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/scan/fingerprint.h"
#include "plugin/scan/job_state.h"
#include "plugin/scan/request.h"

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

/* Slurm counts minutes; NO_VAL and INFINITE, at the top of the range, are no limits. */
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
  const uint64_t words[] = {job->job_id,
                            job->array_job_id,
                            (uint64_t)job->array_task_id,
                            job->pending_tasks,
                            job->het_job_id,
                            job->restart_count,
                            job->state,
                            job->completing,
                            record->job_state & JOB_STATE_BASE,
                            job->wait,
                            job->user_id,
                            job->group_id,
                            (uint64_t)job->submit_time,
                            (uint64_t)job->eligible_time,
                            (uint64_t)job->start_time,
                            (uint64_t)job->end_time,
                            (uint64_t)job->suspend_time,
                            (uint64_t)job->pre_suspend_run_s,
                            (uint64_t)job->total_suspended_s,
                            (uint64_t)job->resize_time,
                            job->requested_cpus,
                            job->time_limit_s,
                            job->requested_nodes,
                            job->requested_memory,
                            job->exclusive};
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) hash = shapley_mix(hash, words[i]);

  const char* const texts[] = {job->account, job->partition, job->qos, job->name, job->wckey};
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) hash = shapley_mix_text(hash, texts[i]);
  for (size_t i = 0; i < job->account_ancestors_count; i++) hash = shapley_mix_text(hash, job->account_ancestors[i]);

  /* While a job waits, its allocation holds estimates that change with each try to place it. */
  if (job->start_time) hash = shapley_allocation_hash(hash, record);
  if (job->gres_request) hash = mix_gres_request(hash, job->gres_request);
  hash = shapley_placement_mix_job(hash, job);
  const uint64_t* counts = tres_counts(record, job);
  for (int i = 0; counts && i < slurmctld_tres_cnt; i++) hash = shapley_mix(hash, counts[i]);

  size_t dependencies = read_dependencies(records, record);
  for (size_t i = 0; i < dependencies; i++) hash = shapley_mix(hash, records->depends_on[i]);
  return hash;
}

/* Everything but the lists of nodes, resources and dependencies. */
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

/* Whether nothing but a user's edit can change this waiting job's fingerprint while its quick hash stays. Begin times
 * pass by the clock, an array's rest shrinks by counters of its own, and what completes still changes its times. */
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

/* Could Slurm start something here, now or after waking it up? A node that does not answer is not called unusable:
 * Slurm sets it DOWN soon if that lasts. */
static bool is_usable(const node_record_t* record) {
  return !(IS_NODE_DOWN(record) || IS_NODE_DRAIN(record) || IS_NODE_FAIL(record) || IS_NODE_FUTURE(record) ||
           IS_NODE_UNKNOWN(record) || IS_NODE_INVALID_REG(record));
}

/* MemSpecLimit is set aside for the system. */
static uint64_t usable_memory(const node_record_t* record) {
  return record->real_memory > record->mem_spec_limit ? record->real_memory - record->mem_spec_limit : 0;
}

/* What slurm.conf (or scontrol update) says: the node's own text, written anew when it registers, no longer tells what
 * is not counted (no_consume). It does tell of what a node feature brings. */
static const char* configured_gres(const node_record_t* record) {
  const char* configured = record->config_ptr ? record->config_ptr->gres : NULL;
  return configured && configured[0] ? configured : record->gres;
}

static uint64_t node_fingerprint(const node_record_t* record, const shapley_node_t* node) {
  uint64_t hash = shapley_mix_text(SHAPLEY_FINGERPRINT_START, node->name);
  hash = shapley_mix(shapley_mix(hash, node->cpus), node->usable);
  hash = shapley_mix_text(shapley_mix(hash, node->memory), node->gres);
  for (int i = 0; record->tres_cnt && i < slurmctld_tres_cnt; i++) hash = shapley_mix(hash, record->tres_cnt[i]);
  return shapley_placement_mix_node(hash, node);
}

void shapley_records_pass_node(shapley_records_t* records, uint32_t index, const node_record_t* record) {
  shapley_node_t node = {
      .name = record->name,
      .cpus = record->cpus_efctv ? record->cpus_efctv : record->cpus,
      .usable = is_usable(record),
      .memory = usable_memory(record),
      .gres = configured_gres(record),
  };
  shapley_placement_fill_node(&records->placement, index, record, &node);
  if (!shapley_client_scan_node(records->client, index, node_fingerprint(record, &node))) return;
  node.tres = records->tres;
  node.tres_count = copy_tres(record->tres_cnt, records);
  shapley_client_scan_node_record(records->client, index, &node);
}
