/* From a rank and a level to the job's site factor, and from factors to a priority: the arithmetic, Slurm-free and
 * pure.
 *
 * order strict:   site = k_nice_headroom + step * label + level_step * level, step > everything else that can differ
 * between two jobs, all levels included, so that no job of a lower label passes one of a higher label. Labels are
 * places (plugin/client/places); the least of them, one for each organization, are for jobs that are not in line: ranks
 * - 1 - position. order weighted: site = weight * (ranks - 1 - position) / (ranks - 1) + level_step * level, one factor
 * among the others; all levels together stay below the distance between two ranks. Level steps are 0 where levels are
 * not in use.
 *
 * Slurm keeps priority = sum of weighted factors + site - nice, cut to [1, 2^32 - 1], and a site factor within +-2^31.
 */
#ifndef SHAPLEY_SITE_FACTOR_H
#define SHAPLEY_SITE_FACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/client/shapley_client.h"

/* A job's own `--nice` up to this value reorders it within its organization only: the step is that much wider, and the
 * lowest organization starts that much above Slurm's floor of 1. */
enum { k_shapley_nice_headroom = 10000 };

/* Distances between two ranks and between two levels. */
typedef struct {
  uint32_t rank;   /* order strict */
  uint32_t level;  /* 0: no room for levels, or not in use */
  uint32_t labels; /* order strict: how many there are room for, at least one for each rank */
  bool ranks_fit;  /* false: a job may pass one of a better rank */
  bool levels_fit; /* false: a job may pass one of a higher level in its own organization, by its other factors */
} shapley_steps_t;

/* order strict, for other factors that sum to at most others_max. Ranks come first: where steps above all that is below
 * them do not fit below 2^31, levels get what the ranks leave, and if that is not enough, ranks the widest distance
 * that fits. */
shapley_steps_t shapley_steps_strict(uint64_t others_max, uint32_t ranks, bool levels);
/* order weighted: all levels together are less than the least distance between two ranks; with one organization, than
 * the weight. */
shapley_steps_t shapley_steps_weighted(uint32_t weight, uint32_t ranks, bool levels);

/* Site values, without Slurm's NICE_OFFSET. position < ranks; ranks 0 or 1 give the lowest value of the order. */
uint32_t shapley_site_strict(uint32_t step, uint32_t ranks, uint32_t position);
uint32_t shapley_site_weighted(uint32_t weight, uint32_t ranks, uint32_t position);

/* order strict, without Slurm's NICE_OFFSET. label < steps->labels. */
uint32_t shapley_site_of_label(const shapley_steps_t* steps, uint32_t label, uint32_t level);
/* The label that gives this site value with some level, or SHAPLEY_NO_LABEL. */
uint32_t shapley_label_of_site(const shapley_steps_t* steps, uint32_t site);

/* Sum of the numbers in PriorityWeightTRES ("cpu=1000,gres/gpu=5000"); NULL counts as 0, what is no number as 0. */
double shapley_tres_weights_sum(const char* text);

/* The priority that the stock plugin stores for this sum: cut to [1, 2^32 - 1], decimals dropped. */
uint32_t shapley_priority_of_sum(double sum);

#endif
