#include "plugin/scan/scan.h"

#include "plugin/front.h"
#include "plugin/priority/writer.h"
#include "plugin/scan/records.h"
#include "plugin/slurm/slurm_compat.h"
#include "plugin/threads.h"

enum {
  /* From so many on, waiting jobs may be skipped by their quick hash. A scan of 10,000 takes 15 ms: fewer are read in
   * full, and edits of waiting jobs are seen at once. */
  k_skipped_list = 20000,
};

/* Slurm has taken the record's number and keeps the rest until it purges old jobs: a job of a federation that started
 * on another cluster (fed_mgr.c: fed_mgr_job_revoke). There may be many. */
static bool is_unlinked(const job_record_t* record) {
  return record->job_id == NO_VAL;
}

/* The traits come first, because the writer and the records both need them. A job whose priority is to be written is
 * read in full until that is done. */
static int scan_job(void* element, void* to) {
  const job_record_t* record = element;
  shapley_scan_t* scan = to;
  if (is_unlinked(record)) return 0;
  uint64_t quick_hash = shapley_quick_hash(record);
  if (scan->quick && shapley_client_scan_quick_hash(scan->records.client, record->job_id, quick_hash) &&
      shapley_writer_pass_again(record)) {
    scan->skipped++;
    return 0;
  }
  shapley_job_traits_fill(record, &scan->traits);
  if (shapley_writer_pass(record, &scan->traits.traits)) quick_hash = 0;
  shapley_records_pass_job(&scan->records, record, &scan->traits.traits, quick_hash);
  return 0;
}

/* Of the rest the last whole scan saw what there is to see of their runs, or there was none. A job that waits again
 * after a run has a count of restarts. */
static bool may_have_started_or_ended(const job_record_t* record, time_t complete_at) {
  if (IS_JOB_COMPLETING(record)) return true;
  if (IS_JOB_PENDING(record)) return record->restart_cnt > 0;
  return !IS_JOB_FINISHED(record) || record->end_time >= complete_at;
}

static int scan_run(void* element, void* to) {
  const job_record_t* record = element;
  shapley_scan_t* scan = to;
  if (is_unlinked(record) || !may_have_started_or_ended(record, scan->complete_at)) return 0;
  shapley_job_traits_fill(record, &scan->traits);
  shapley_writer_pass_run(record, &scan->traits.traits);
  shapley_records_pass_job(&scan->records, record, &scan->traits.traits, 0);
  return 0;
}

/* Deleted dynamic nodes leave empty slots in the table. */
static void scan_nodes(shapley_scan_t* scan) {
  scan->processors = 0;
  for (int i = 0; i < node_record_count; i++) {
    const node_record_t* record = node_record_table_ptr[i];
    if (!record || !record->name) continue;
    shapley_records_pass_node(&scan->records, (uint32_t)i, record);
    scan->processors += record->cpus;
  }
}

static int note_closed(void* element, void* to) {
  const part_record_t* partition = element;
  shapley_scan_t* scan = to;
  if (partition->name && !shapley_starts_jobs(partition))
    shapley_client_scan_closed_partition(scan->records.client, partition->name);
  return 0;
}

/* Under all locks. False when the records could not all be read. */
static bool scan_records(shapley_scan_t* scan, time_t now, int (*scan_record)(void*, void*)) {
  size_t tres = slurmctld_tres_cnt > 0 ? (size_t)slurmctld_tres_cnt : 0;
  if (!job_list || !shapley_records_begin(&scan->records, now, tres)) return false;
  if (part_list) list_for_each_ro(part_list, note_closed, scan);
  scan_nodes(scan);
  if (scan_record == scan_job) shapley_writer_begin_jobs(now, scan->processors);
  list_for_each_ro(job_list, scan_record, scan);
  return true;
}

/* Under slurmctld's locks, not the association manager's. */
static void begin(shapley_scan_t* scan) {
  scan->started_at = time(NULL);
  scan->skipped = 0;
  bool same_order = shapley_writer_begin(shapley_configuration_refresh());
  int records = job_list ? list_count(job_list) : 0;
  scan->quick = same_order && records >= k_skipped_list;
}

static const slurmctld_lock_t locks = {.conf = READ_LOCK, .job = READ_LOCK, .node = READ_LOCK, .part = READ_LOCK};

void shapley_scan_run(shapley_scan_t* scan) {
  assoc_mgr_lock_t assoc_locks = {.assoc = READ_LOCK, .qos = READ_LOCK, .tres = READ_LOCK};

  lock_slurmctld(locks);
  int64_t locked_us = monotonic_us();
  begin(scan);
  if (shapley_privacy_begin(&scan->privacy, monotonic_ms())) assoc_locks.user = READ_LOCK;
  assoc_mgr_lock(&assoc_locks);
  shapley_client_scan_begin(scan->records.client, scan->started_at);
  shapley_privacy_pass(&scan->privacy, scan->records.client);
  scan->complete = scan_records(scan, scan->started_at, scan_job);
  assoc_mgr_unlock(&assoc_locks);
  unlock_slurmctld(locks);

  scan->held_us = monotonic_us() - locked_us;
  scan->ended_ms = monotonic_ms();
  scan->next_eligible = scan->complete ? scan->records.next_eligible : 0;
  if (scan->complete) scan->complete_at = scan->started_at;
  shapley_client_scan_end(scan->records.client, scan->complete);
}

void shapley_scan_runs(shapley_scan_t* scan) {
  assoc_mgr_lock_t assoc_locks = {.assoc = READ_LOCK, .qos = READ_LOCK, .tres = READ_LOCK};

  lock_slurmctld(locks);
  int64_t locked_us = monotonic_us();
  int64_t used_us = thread_us();
  assoc_mgr_lock(&assoc_locks);
  scan->runs_started_at = time(NULL);
  bool begun = shapley_client_scan_begin_runs(scan->records.client, scan->runs_started_at, monotonic_ms());
  if (begun) scan_records(scan, scan->runs_started_at, scan_run);
  assoc_mgr_unlock(&assoc_locks);
  unlock_slurmctld(locks);

  scan->runs_held_us = monotonic_us() - locked_us;
  scan->runs_used_us = thread_us() - used_us;
  scan->runs_ended_ms = monotonic_ms();
  if (begun) shapley_client_scan_end(scan->records.client, false);
}

void shapley_scan_free(shapley_scan_t* scan) {
  shapley_records_free(&scan->records);
  shapley_privacy_free(&scan->privacy);
}
