/* A hash over the fields of a waiting job that change when slurmctld or one of its schedulers does something with it:
 * a quarter of the memory that the fingerprint reads. What users edit in place (name, account, dependencies, times) is
 * not among them.
 */
#ifndef SHAPLEY_QUICK_HASH_H
#define SHAPLEY_QUICK_HASH_H

#include <stdint.h>

#include "plugin/scan/fingerprint.h"
#include "plugin/slurm_compat.h"

/* 0: the job does not wait. Job lock. */
static inline uint64_t shapley_quick_hash(const job_record_t* record) {
  if (!IS_JOB_PENDING(record)) return 0;
  uint64_t hash = SHAPLEY_FINGERPRINT_START;
  hash = shapley_mix(hash, (uint64_t)record->job_state << 32 | record->priority);
  hash = shapley_mix(hash, (uint64_t)record->state_reason << 32 | record->site_factor);
  hash = shapley_mix(hash, record->restart_cnt);
  return hash ? hash : 1;
}

#endif
