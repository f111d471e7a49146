/* Converts ranks and levels to priorities: computes the site factor that a job should have, and sets it.
 *
 * Only pending jobs that Slurm itself would re-prioritize are touched: not held, not with a directly set priority, not
 * revoked, not while their nodes boot. Rank and level enter as job_ptr->site_factor, which the stock plugin adds to its
 * own factors whenever it computes a priority; so its own recalculations keep them.
 */
#ifndef SHAPLEY_RANKING_H
#define SHAPLEY_RANKING_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/client/shapley_client.h"
#include "plugin/priority/site_factor.h"
#include "plugin/slurm/slurm_compat.h"

/* The largest sum of the other weights of slurm.conf; a rank step exceeds it. Reads slurm_conf: config read lock, or a
 * moment when slurmctld does not reconfigure. Any thread may read it afterwards. */
void shapley_ranking_read_weights(void);

/* What has not enough room in Slurm's numbers. */
typedef struct {
  bool ranks;  /* the other weights are too large for this many ranks */
  bool levels; /* too little is left for levels, or nothing */
} shapley_narrow_t;

/* The ranking for one pass over the jobs, the same for all of them. */
typedef struct {
  shapley_client_t* client;
  shapley_order_t order;
  shapley_steps_t steps;
  shapley_narrow_t narrow;
} shapley_ranking_t;

shapley_ranking_t shapley_ranking_now(shapley_client_t* client);

/* Whether both give every job the same site factor, as long as its label stays. */
bool shapley_ranking_same(const shapley_ranking_t* a, const shapley_ranking_t* b);

/* Logs in slurmctld's log what is too narrow, each thing once until *logged is cleared. */
void shapley_ranking_log_narrow(const shapley_ranking_t* ranking, shapley_narrow_t* logged);

/* The formula that gives this order's site factors. */
shapley_site_formula_t shapley_ranking_formula(const shapley_ranking_t* ranking);

/* True for a job whose priority is Slurm's to compute and ours to order. Job lock. */
bool shapley_is_rankable(const job_record_t* job);

/* The label in a job's site factor, or SHAPLEY_NO_LABEL. Job lock. */
uint32_t shapley_label_of(const shapley_ranking_t* ranking, const job_record_t* job);

/* The site factor, Slurm's offset included, that a job with these traits should have; with order strict, by `label`,
 * or, if that is SHAPLEY_NO_LABEL, as one of its organization that is not in line. Requires ranking->order.act. */
uint32_t shapley_wanted_site_factor(const shapley_ranking_t* ranking, uint32_t job_id,
                                    const shapley_job_traits_t* traits, uint32_t label);

/* The same for a job record. Job lock; takes the association manager's locks of scan/records.h. */
uint32_t shapley_wanted_site_factor_of(const shapley_ranking_t* ranking, const job_record_t* job, uint32_t label);

/* Whether the stored priority is what the stored factors and the site factor add up to. False after Slurm's backfill
 * wrote an older priority back. Notes the largest sum of the other factors, which may exceed the weights under
 * PriorityFlags=NO_NORMAL_*. Job lock. */
bool shapley_priority_is_current(const job_record_t* job);

/* Sets the site factor and, for a rankable job, the priority that follows from it. Job write, node and part read lock;
 * not under the association manager's locks. True when the priority changed. */
bool shapley_set_site_factor(job_record_t* job, uint32_t site_factor);

#endif
