#include <string.h>

#include "plugin/scan/records.h"

void shapley_job_traits_lock(void) {
  assoc_mgr_lock_t locks = {.assoc = READ_LOCK, .qos = READ_LOCK};
  assoc_mgr_lock(&locks);
}

void shapley_job_traits_unlock(void) {
  assoc_mgr_lock_t locks = {.assoc = READ_LOCK, .qos = READ_LOCK};
  assoc_mgr_unlock(&locks);
}

/* Accounts above the job's own, nearest first. A user's association hangs below its account's association, which
 * carries the same account name and is therefore skipped. Steps are counted, not accounts: a damaged tree must not hold
 * us here. */
static size_t ancestors_of(const job_record_t* job, const char** ancestors) {
  size_t count = 0;
  const char* below = job->account ? job->account : "";
  const slurmdb_assoc_rec_t* assoc = job->assoc_ptr;
  for (int steps = 0; steps < k_shapley_max_ancestors && assoc && assoc->usage; steps++) {
    assoc = assoc->usage->parent_assoc_ptr;
    if (assoc && assoc->acct && strcmp(assoc->acct, below) != 0) ancestors[count++] = below = assoc->acct;
  }
  return count;
}

/* The partition it runs in, also while a requeue is under way; of a pending job all that it asks for, as Slurm lists
 * them. The scheduler sets part_ptr to each requested partition in turn while it tries a pending job, so part_ptr alone
 * would make the answer flicker. */
static const char* partition_of(const job_record_t* job) {
  bool waits = IS_JOB_PENDING(job) && !IS_JOB_COMPLETING(job);
  return (waits && job->partition) || !job->part_ptr ? job->partition : job->part_ptr->name;
}

void shapley_job_traits_fill(const job_record_t* job, shapley_job_traits_buffer_t* buffer) {
  buffer->traits = (shapley_job_traits_t){
      .account = job->account,
      .account_ancestors = buffer->ancestors,
      .account_ancestors_count = ancestors_of(job, buffer->ancestors),
      .partition = partition_of(job),
      .qos = job->qos_ptr ? job->qos_ptr->name : NULL,
      .user_id = job->user_id,
      .group_id = job->group_id,
  };
}
