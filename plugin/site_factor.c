#include "plugin/site_factor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Slurm adds 2^31 to a site factor and keeps it in 32 bits. */
static const uint64_t k_site_max = (UINT64_C(1) << 31) - 1;

uint32_t shapley_rank_step(uint64_t others_max, uint32_t ranks, bool* fits) {
  uint64_t step = others_max + k_shapley_nice_headroom + 1;
  uint64_t room = k_site_max - k_shapley_nice_headroom;
  uint64_t widest = ranks > 1 ? room / (ranks - 1) : room;
  *fits = step <= widest;
  return (uint32_t)(*fits ? step : widest);
}

uint32_t shapley_site_strict(uint32_t step, uint32_t ranks, uint32_t position) {
  if (ranks == 0 || position >= ranks) return k_shapley_nice_headroom;
  return k_shapley_nice_headroom + step * (ranks - 1 - position);
}

uint32_t shapley_site_weighted(uint32_t weight, uint32_t ranks, uint32_t position) {
  if (ranks < 2 || position >= ranks) return 0;
  uint64_t capped = weight < k_site_max ? weight : k_site_max;
  return (uint32_t)(capped * (ranks - 1 - position) / (ranks - 1));
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
