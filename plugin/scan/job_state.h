/* A job's state, its exact times, and why it waits: what docs/internals/plugin.md says under "Exact times". */
#ifndef SHAPLEY_JOB_STATE_H
#define SHAPLEY_JOB_STATE_H

#include <time.h>

#include "plugin/client/shapley_client.h"
#include "plugin/slurm_compat.h"

/* Fills the members of *job from `state` to `wait`, `start_time` to `resize_time`, and pending_tasks. `now`: of the
 * scan, seconds since the epoch. Job lock. */
void shapley_job_state_fill(const job_record_t* record, time_t now, shapley_job_t* job);

/* Whether it is the record of those tasks of an array that have none of their own; and how many of them the array's own
 * limit would let start now. Job lock. */
bool shapley_is_array_rest(const job_record_t* record);
uint32_t shapley_startable_tasks(const job_array_struct_t* array);

#endif
