/* The history of the site factors that the plugin has written into jobs: which values are ours. Slurm-free.
 *
 * slurmctld keeps a job's site factor in its own state and does not say who set it. A value is ours when one of the
 * formulas in the history gives it. The history is kept in a small file beside slurmctld's state (`shapley.scales`), so
 * that ranks can be taken off after a restart too, and a site's own site factors are left alone. A formula is saved
 * before its first value is written.
 *
 * One thread adds, clears, loads and saves; any thread may ask. The mutex is held for a search in memory only.
 */
#ifndef SHAPLEY_SITE_HISTORY_H
#define SHAPLEY_SITE_HISTORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* `act`: shapleyd's ranks apply. `written`: the history is not empty. `observe`: shapleyd said that ranks do not apply
 * (mode: observe). `acted`: ranks have been applied in this life of the plugin. `timed_out`: shapleyd has been silent
 * for so long that recovered ranks are too old. */
enum shapley_site_mode shapley_site_mode_of(bool act, bool written, bool observe, bool acted, bool timed_out);

#endif
