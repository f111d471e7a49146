/* The properties of a waiting job's record for the serving line: its width, its position in Slurm's own order, and
 * whether it could start. Called by the timer's thread.
 */
#ifndef SHAPLEY_WAITING_H
#define SHAPLEY_WAITING_H

#include <stdint.h>
#include <time.h>

#include "plugin/client/shapley_client.h"
#include "plugin/slurm/slurm_compat.h"

/* The number of tasks of an array that stay in its record. The last one becomes a record as others (job_mgr.c:
 * job_array_split). */
enum { k_shapley_least_array_rest = 1 };

/* Call it when a scan begins: what there is of licenses is looked at once in each. Job and node lock. */
void shapley_waiting_begin(void);

/* Fills everything except organization, level and label. `record` waits and is rankable. Job and partition lock. */
void shapley_waiting_fill(const job_record_t* record, time_t now, shapley_waiting_t* waiting);

/* The priority without the site factor: Slurm's own order. Job lock. */
int64_t shapley_own_order(const job_record_t* record);

#endif
