#include "plugin/scan/job_state.h"

#include <string.h>

#include "plugin/priority/site_factor.h"

/* ---- why a pending job waits -------------------------------------------------------------------- */

/* Slurm has some 170 reasons for limits of associations and QOS and adds more in each release; their names have kept
 * one pattern, their numbers have not kept one range. */
static bool is_account_limit(uint32_t reason) {
  if (reason == WAIT_ACCOUNT || reason == WAIT_ACCOUNT_POLICY) return true;
  const char* name = shapley_reason_name(reason);
  return !strncmp(name, "QOS", 3) || !strncmp(name, "Assoc", 5) || strstr(name, "PerAccount") ||
         strstr(name, "PerUser");
}

/* Tasks of an array's pending rest that its own limit would let start now. */
uint32_t shapley_startable_tasks(const job_array_struct_t* array) {
  if (!array->max_run_tasks) return array->task_cnt;
  if (array->tot_run_tasks >= array->max_run_tasks) return 0;
  uint32_t room = array->max_run_tasks - array->tot_run_tasks;
  return room < array->task_cnt ? room : array->task_cnt;
}

bool shapley_is_array_rest(const job_record_t* record) {
  return record->array_recs && record->array_task_id == NO_VAL;
}

/* Slurm says that a job is eligible when it submits it, but of an array's rest only when the scheduler has looked at it
 * (job_mgr.c: job_independent), up to a second later. Accounting has that instant, and none of its tasks starts before.
 */
static bool is_unscheduled_array(const job_record_t* record) {
  return shapley_is_array_rest(record) && record->details && record->details->begin_time == 0;
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
  if (IS_JOB_REVOKED(record)) return SHAPLEY_WAIT_OTHER; /* it runs, or waits, on another cluster of the federation */
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
      return is_account_limit(reason) ? SHAPLEY_WAIT_ACCOUNT_LIMIT : SHAPLEY_WAIT_OTHER;
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
    /* Also while its nodes boot (POWER_UP_NODE). Slurm counts from the allocation on, and sets start_time anew when
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
