#include "plugin/priority/ranking.h"

#include <math.h>
#include <stdatomic.h>

#include "plugin/front.h"
#include "plugin/multifactor.h"
#include "plugin/scan/records.h"

/* Largest possible sum of everything but rank and nice. Only grows between two readings of the configuration. */
static _Atomic uint64_t others_max;

void shapley_ranking_read_weights(void) {
  double sum = shapley_tres_weights_sum(slurm_conf.priority_weight_tres);
  sum += (double)slurm_conf.priority_weight_age + slurm_conf.priority_weight_assoc + slurm_conf.priority_weight_fs +
         slurm_conf.priority_weight_js + slurm_conf.priority_weight_part + slurm_conf.priority_weight_qos;
  atomic_store(&others_max, (uint64_t)fmin(ceil(sum), (double)UINT32_MAX));
}

/* With PriorityFlags=NO_NORMAL_* factors are not bounded by their weights; the largest sum seen bounds them instead,
 * rounded up to a power of two, so that a slowly growing factor does not change every job's site factor with each
 * scan. */
static void note_others(double sum) {
  if (!(sum > 0) || sum <= (double)atomic_load(&others_max)) return;
  uint64_t grown = 1;
  while ((double)grown < sum && grown < UINT32_MAX) grown <<= 1;
  atomic_store(&others_max, grown);
}

shapley_ranking_t shapley_ranking_now(shapley_client_t* client) {
  shapley_ranking_t ranking = {.client = client, .order = shapley_client_order(client)};
  const shapley_order_t* order = &ranking.order;
  ranking.steps = order->strict ? shapley_steps_strict(atomic_load(&others_max), order->ranks, order->levels)
                                : shapley_steps_weighted(order->weight, order->ranks, order->levels);
  ranking.narrow = (shapley_narrow_t){.ranks = order->act && !ranking.steps.ranks_fit,
                                      .levels = order->act && !ranking.steps.levels_fit};
  return ranking;
}

bool shapley_ranking_same(const shapley_ranking_t* a, const shapley_ranking_t* b) {
  const shapley_order_t *one = &a->order, *two = &b->order;
  bool same_steps = a->steps.rank == b->steps.rank && a->steps.level == b->steps.level;
  if (one->generation == two->generation) return same_steps;
  /* With order strict, different leads change labels only. */
  return same_steps && one->act && two->act && one->strict && two->strict && one->sorting == two->sorting;
}

void shapley_ranking_log_narrow(const shapley_ranking_t* ranking, shapley_narrow_t* logged) {
  const shapley_order_t* order = &ranking->order;
  if (ranking->narrow.ranks && !logged->ranks) {
    error(
        "%s: the PriorityWeight* values leave no room for %u ranks below 2^31: an organization's job may "
        "pass one of a better rank; lower the weights or use order: weighted",
        plugin_type, order->ranks);
  }
  if (ranking->narrow.levels && !logged->levels) {
    info("%s: %s too little room for levels below %u ranks: %s; %s", plugin_type,
         order->strict ? "the PriorityWeight* values leave" : "rank_weight leaves", order->ranks,
         ranking->steps.level ? "a job's other factors may outweigh its level"
                              : "the jobs of an organization are not ordered among themselves",
         order->strict ? "lower the weights" : "raise it");
  }
  logged->ranks = logged->ranks || ranking->narrow.ranks;
  logged->levels = logged->levels || ranking->narrow.levels;
}

shapley_site_formula_t shapley_ranking_formula(const shapley_ranking_t* ranking) {
  const shapley_order_t* order = &ranking->order;
  return (shapley_site_formula_t){.strict = order->strict,
                                  .unit = order->strict ? ranking->steps.rank : order->weight,
                                  .ranks = order->strict ? ranking->steps.labels : order->ranks,
                                  .level_unit = ranking->steps.level};
}

bool shapley_is_rankable(const job_record_t* job) {
  return job->details && job->priority && !job->direct_set_prio && IS_JOB_PENDING(job) && !IS_JOB_REVOKED(job) &&
         !IS_JOB_POWER_UP_NODE(job);
}

uint32_t shapley_label_of(const shapley_ranking_t* ranking, const job_record_t* job) {
  if (job->site_factor < NICE_OFFSET) return SHAPLEY_NO_LABEL;
  return shapley_label_of_site(&ranking->steps, job->site_factor - NICE_OFFSET);
}

uint32_t shapley_wanted_site_factor(const shapley_ranking_t* ranking, uint32_t job_id,
                                    const shapley_job_traits_t* traits, uint32_t label) {
  const shapley_order_t* order = &ranking->order;
  uint32_t level = ranking->steps.level ? shapley_client_level(ranking->client, job_id) : 0;
  if (order->strict && label != SHAPLEY_NO_LABEL)
    return NICE_OFFSET + shapley_site_of_label(&ranking->steps, label, level);
  uint32_t position = shapley_client_rank(ranking->client, traits);
  uint32_t site = order->strict ? shapley_site_strict(ranking->steps.rank, order->ranks, position)
                                : shapley_site_weighted(order->weight, order->ranks, position);
  return NICE_OFFSET + site + ranking->steps.level * level;
}

uint32_t shapley_wanted_site_factor_of(const shapley_ranking_t* ranking, const job_record_t* job, uint32_t label) {
  shapley_job_traits_buffer_t buffer;
  shapley_job_traits_lock();
  shapley_job_traits_fill(job, &buffer);
  uint32_t wanted = shapley_wanted_site_factor(ranking, job->job_id, &buffer.traits, label);
  shapley_job_traits_unlock();
  return wanted;
}

/* ---- the stock plugin's sum --------------------------------------------------------------------- */

/* Whether the stock plugin has stored factors: it clears them when a priority is set directly. */
static bool has_factors(const job_record_t* job) {
  return job->prio_factors && job->prio_factors->nice;
}

/* Its weighted factors, added up in its own order so that rounding agrees. */
static double factors_sum(const job_record_t* job) {
  double tres = 0;
  for (uint32_t i = 0; job->prio_factors->priority_tres && i < job->prio_factors->tres_cnt; i++)
    tres += job->prio_factors->priority_tres[i];
  return job->prio_factors->priority_age + job->prio_factors->priority_assoc + job->prio_factors->priority_fs +
         job->prio_factors->priority_js + job->prio_factors->priority_part + job->prio_factors->priority_qos + tres;
}

static uint32_t priority_with(const job_record_t* job, double others, uint32_t site_factor) {
  double site = (double)site_factor - (double)NICE_OFFSET;
  double nice = (double)job->prio_factors->nice - (double)NICE_OFFSET;
  return shapley_priority_of_sum(others + site - nice);
}

static bool differs_by_at_most_one(uint32_t a, uint32_t b) {
  return a > b ? a - b <= 1 : b - a <= 1;
}

bool shapley_priority_is_current(const job_record_t* job) {
  if (!has_factors(job)) return true; /* nothing to compare with; the stock plugin's next pass fills them */
  double others = factors_sum(job);
  note_others(others);
  if (differs_by_at_most_one(job->priority, priority_with(job, others, job->site_factor))) return true;
  /* The scheduler leaves the priority in the partition that it tried last. */
  int count = 0;
  const uint32_t* priorities = shapley_part_priorities(job, &count);
  for (int i = 0; i < count; i++)
    if (priorities[i] == job->priority) return true;
  return false;
}

/* The site factor enters the priority of each partition alike. A priority that Slurm had cut to 1 becomes too high by
 * the amount that was cut, until Slurm computes it again. */
static void shift_part_priorities(job_record_t* job, uint32_t site_factor) {
  int count = 0;
  uint32_t* priorities = shapley_part_priorities(job, &count);
  double shift = (double)site_factor - (double)job->prio_factors->priority_site;
  for (int i = 0; i < count; i++) priorities[i] = shapley_priority_of_sum((double)priorities[i] + shift);
}

/* A tenth of the cost of the stock plugin's full computation, and the same number. 0 without stored factors. */
static uint32_t priority_from_factors(job_record_t* job, uint32_t site_factor) {
  if (!has_factors(job)) return 0;
  shift_part_priorities(job, site_factor);
  job->prio_factors->priority_site = site_factor;
  return priority_with(job, factors_sum(job), site_factor);
}

bool shapley_set_site_factor(job_record_t* job, uint32_t site_factor) {
  job->site_factor = site_factor;
  if (!shapley_is_rankable(job)) return false;

  uint32_t priority = 0;
  int count = 0;
  (void)shapley_part_priorities(job, &count);
  /* With several priorities, or none computed so far, the stock plugin computes it, if it can be called. */
  if (count || !has_factors(job)) priority = shapley_multifactor_set(job);
  if (!priority) priority = priority_from_factors(job, site_factor);
  if (!priority || priority == job->priority) return false;
  job->priority = priority;
  return true;
}
