/* The arithmetic from a rank and a level to the job's site factor, and from factors to a priority. Slurm-free and
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

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
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

/* order strict, for other factors that sum to at most others_max. Ranks come first: if steps that exceed everything
 * below them do not fit below 2^31, levels get what the ranks leave, and if that is not enough, ranks the widest
 * distance that fits. */
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

/* The history of the site factors that the plugin has written into jobs: which values are ours. Slurm-free.
 *
 * slurmctld keeps a job's site factor in its own state without its author. A value is ours when one of the formulas in
 * the history gives it. The history is kept in a small file beside slurmctld's state (`shapley.scales`), so that ranks
 * can be removed after a restart too, and a site's own site factors are left alone. A formula is saved before its first
 * value is written.
 *
 * One thread adds, clears, loads and saves; any thread may ask. The mutex is held for a search in memory only.
 */

/* From rank and level to a site factor: the numbers behind shapley_site_strict and _weighted (site_factor.h). */
typedef struct {
  bool strict;
  uint32_t unit;       /* strict: the step between two ranks; weighted: what the first rank adds */
  uint32_t ranks;      /* number of ranked organizations */
  uint32_t level_unit; /* distance between two levels; 0: no levels */
} shapley_site_formula_t;

/* Whether some rank and level give this site factor (without Slurm's NICE_OFFSET). 0 is never ours: it is Slurm's
 * default. */
bool shapley_site_formula_gives(const shapley_site_formula_t* formula, uint32_t site);

/* A formula changes with the number of organizations and the weights, so a handful is usual. Beyond this many the
 * oldest is dropped: jobs that still carry its values (held since then) keep them. */
enum { k_shapley_max_site_history = 64 };

typedef struct {
  pthread_mutex_t mutex;
  shapley_site_formula_t formula[k_shapley_max_site_history]; /* oldest first */
  size_t count;
} shapley_site_history_t;

#define SHAPLEY_SITE_HISTORY_NONE                                                                               \
  {                                                                                                             \
    .mutex = PTHREAD_MUTEX_INITIALIZER, .formula = {{.strict = false, .unit = 0, .ranks = 0, .level_unit = 0}}, \
    .count = 0                                                                                                  \
  }

bool shapley_site_history_any(shapley_site_history_t* history);
bool shapley_site_history_has(shapley_site_history_t* history, const shapley_site_formula_t* formula);
/* Whether one of the formulas gives the value. */
bool shapley_site_history_recognizes(shapley_site_history_t* history, uint32_t site);
void shapley_site_history_add(shapley_site_history_t* history, const shapley_site_formula_t* formula);
void shapley_site_history_clear(shapley_site_history_t* history);

/* Reads the file; none means an empty history. False when it cannot be read or is damaged: errno says why (EBADMSG:
 * damaged), and the history is empty. */
bool shapley_site_history_load(shapley_site_history_t* history, const char* path);
/* Replaces the file at once and durably; an empty history removes it. False with errno when that is impossible. */
bool shapley_site_history_save(shapley_site_history_t* history, const char* path);

/* ---- what to do with site factors --------------------------------------------------------------- */

enum shapley_site_mode {
  SHAPLEY_SITE_LEAVE, /* nothing */
  SHAPLEY_SITE_RANK,  /* rank pending jobs */
  SHAPLEY_SITE_CLEAR, /* take our values off, so that plain multifactor order is back */
};

/* `act`: shapleyd's ranks apply. `written`: the history is not empty. `observe`: shapleyd reported that ranks do not
 * apply (mode: observe). `acted`: ranks have been applied in this life of the plugin. `timed_out`: shapleyd has been
 * silent for so long that recovered ranks are too old. */
enum shapley_site_mode shapley_site_mode_of(bool act, bool written, bool observe, bool acted, bool timed_out);

#endif
