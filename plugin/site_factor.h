/* From a rank to the job's site factor, and from factors to a priority: the arithmetic, Slurm-free and pure.
 *
 * order strict:   site = k_nice_headroom + step * (ranks - 1 - position), step > everything else that can differ
 * between two jobs, so that no job of a later organization passes one of an earlier organization. order weighted: site
 * = weight * (ranks - 1 - position) / (ranks - 1), one factor among the others.
 *
 * Slurm keeps priority = sum of weighted factors + site - nice, cut to [1, 2^32 - 1], and a site factor within +-2^31.
 */
#ifndef SHAPLEY_SITE_FACTOR_H
#define SHAPLEY_SITE_FACTOR_H

#include <stdbool.h>
#include <stdint.h>

/* A job's own `--nice` up to this value reorders it within its organization only: the step is that much wider, and the
 * lowest organization starts that much above Slurm's floor of 1. */
enum { k_shapley_nice_headroom = 10000 };

/* Distance between two ranks under order strict, for other factors that sum to at most others_max. When ranks of that
 * distance do not fit below 2^31, the widest distance that fits, and *fits is false: ranks then may be passed. */
uint32_t shapley_rank_step(uint64_t others_max, uint32_t ranks, bool* fits);

/* Site values, without Slurm's NICE_OFFSET. position < ranks; ranks 0 or 1 give the lowest value of the order. */
uint32_t shapley_site_strict(uint32_t step, uint32_t ranks, uint32_t position);
uint32_t shapley_site_weighted(uint32_t weight, uint32_t ranks, uint32_t position);

/* Sum of the numbers in PriorityWeightTRES ("cpu=1000,gres/gpu=5000"); NULL counts as 0, what is no number as 0. */
double shapley_tres_weights_sum(const char* text);

/* The priority that the stock plugin stores for this sum: cut to [1, 2^32 - 1], decimals dropped. */
uint32_t shapley_priority_of_sum(double sum);

#endif
