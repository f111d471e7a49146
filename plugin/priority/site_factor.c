#include "plugin/priority/site_factor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Slurm adds 2^31 to a site factor and keeps it in 32 bits. */
static const uint64_t k_max_site = (UINT64_C(1) << 31) - 1;

/* More places than any cluster starts jobs at once. */
static const uint64_t k_max_labels = UINT64_C(1) << 20;

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* Of a level: above the other factors' sum, and one more, because decimals are dropped. What fits of it: the first
 * rank's highest level ends below 2^31, and each step between ranks is wider by all levels. */
static uint64_t level_step_strict(uint64_t others_max, uint64_t rank_step, uint64_t gaps, uint64_t room) {
  if (gaps && rank_step > room / gaps) return 0;
  return least(others_max + 2, (room - rank_step * gaps) / (k_shapley_max_level * (gaps + 1)));
}

shapley_steps_t shapley_steps_strict(uint64_t others_max, uint32_t ranks, bool levels) {
  uint64_t step = others_max + k_shapley_nice_headroom + 1;
  uint64_t room = k_max_site - k_shapley_nice_headroom;
  uint64_t gaps = ranks > 1 ? ranks - 1 : 0;
  uint64_t widest = gaps ? room / gaps : room;
  uint64_t level = levels ? level_step_strict(others_max, step, gaps, room) : 0;
  if (gaps) step += k_shapley_max_level * level;
  bool fit = step <= widest;
  step = least(step, widest);
  uint64_t labels = (room - k_shapley_max_level * level) / step + 1;
  return (shapley_steps_t){.rank = (uint32_t)step,
                           .level = (uint32_t)level,
                           .labels = (uint32_t)least(labels, k_max_labels),
                           .ranks_fit = fit,
                           .levels_fit = !levels || level > others_max};
}

shapley_steps_t shapley_steps_weighted(uint32_t weight, uint32_t ranks, bool levels) {
  uint64_t capped = least(weight, k_max_site);
  uint64_t gap = ranks > 1 ? capped / (ranks - 1) : capped;
  uint64_t level = levels && gap ? least(gap - 1, k_max_site - capped) / k_shapley_max_level : 0;
  return (shapley_steps_t){.level = (uint32_t)level, .ranks_fit = true, .levels_fit = !levels || level};
}

uint32_t shapley_site_strict(uint32_t step, uint32_t ranks, uint32_t position) {
  if (ranks == 0 || position >= ranks) return k_shapley_nice_headroom;
  return k_shapley_nice_headroom + step * (ranks - 1 - position);
}

uint32_t shapley_site_weighted(uint32_t weight, uint32_t ranks, uint32_t position) {
  if (ranks < 2 || position >= ranks) return 0;
  uint64_t capped = least(weight, k_max_site);
  return (uint32_t)(capped * (ranks - 1 - position) / (ranks - 1));
}

uint32_t shapley_site_of_label(const shapley_steps_t* steps, uint32_t label, uint32_t level) {
  return k_shapley_nice_headroom + steps->rank * label + steps->level * level;
}

uint32_t shapley_label_of_site(const shapley_steps_t* steps, uint32_t site) {
  if (site < k_shapley_nice_headroom || !steps->rank) return SHAPLEY_NO_LABEL;
  uint32_t above = site - k_shapley_nice_headroom;
  uint32_t label = above / steps->rank, rest = above % steps->rank;
  bool is_level = steps->level ? rest % steps->level == 0 && rest / steps->level <= k_shapley_max_level : !rest;
  return is_level && label < steps->labels ? label : SHAPLEY_NO_LABEL;
}

double shapley_tres_weights_sum(const char* text) {
  double sum = 0;
  for (const char* equals = text ? strchr(text, '=') : NULL; equals; equals = strchr(equals + 1, '=')) {
    double weight = strtod(equals + 1, NULL);
    if (isfinite(weight) && weight > 0) sum += weight;
  }
  return sum;
}

uint32_t shapley_priority_of_sum(double sum) {
  if (!(sum >= 1)) return 1;
  if (sum >= (double)UINT32_MAX) return UINT32_MAX;
  return (uint32_t)sum;
}
