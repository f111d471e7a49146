/* What the serving line asks of a waiting job's record: whose it is, how wide, where in Slurm's own order, and whether
 * it could start.
 */
#ifndef SHAPLEY_WAITING_H
#define SHAPLEY_WAITING_H

#include <time.h>

#include "plugin/client/shapley_client.h"
#include "plugin/slurm_compat.h"

/* So many tasks of an array stay in its record: Slurm makes the last one a job of its own in a way of its own. */
enum { k_shapley_least_array_rest = 2 };

/* How far a line is made that serves so many processors: somewhat more than could start at once, so that what comes
 * next has its place already. */
static inline int64_t shapley_reach(int64_t processors) {
  return processors ? processors + processors / 8 + 16 : 0;
}

/* All but organization, level and label. `record` waits and is rankable. Job and partition lock. */
void shapley_waiting_fill(const job_record_t* record, time_t now, shapley_waiting_t* waiting);

/* Its priority without its site factor: Slurm's own order. Job lock. */
int64_t shapley_own_order(const job_record_t* record);

#endif
