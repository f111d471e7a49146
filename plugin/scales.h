/* Which site factors are ours: the scales by which ranks have been written into jobs and not yet been taken off.
 * Slurm-free.
 *
 * slurmctld keeps a job's site factor in its own state and does not say who set it. A value is ours when it lies on a
 * scale that was in use; the scales are kept in a small file beside slurmctld's state, so that ranks can be taken off
 * after a restart too, and a site's own site factors are left alone. A scale is saved before its first value is
 * written.
 *
 * One thread adds, forgets, loads and saves; any thread may ask. The mutex is held for a search in memory only.
 */
#ifndef SHAPLEY_SCALES_H
#define SHAPLEY_SCALES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values a scale has: see site_factor.h. */
typedef struct {
  bool strict;
  uint32_t unit;       /* strict: the step between two ranks; weighted: what the first rank adds */
  uint32_t ranks;      /* number of ranked organizations */
  uint32_t level_unit; /* distance between two levels; 0: no levels */
} shapley_scale_t;

/* Whether a rank of this scale, at some level, has this site factor (without Slurm's NICE_OFFSET). 0 is never ours: it
 * is Slurm's default. */
bool shapley_scale_has(const shapley_scale_t* scale, uint32_t site);

/* A scale changes with the number of organizations and the weights, so a handful is usual. Beyond this many the oldest
 * is given up: jobs that still carry it (held since then) keep it. */
enum { k_shapley_scales_max = 64 };

typedef struct {
  pthread_mutex_t mutex;
  shapley_scale_t scale[k_shapley_scales_max]; /* oldest first */
  size_t count;
} shapley_scales_t;

#define SHAPLEY_SCALES_NONE                                                                                   \
  {                                                                                                           \
    .mutex = PTHREAD_MUTEX_INITIALIZER, .scale = {{.strict = false, .unit = 0, .ranks = 0, .level_unit = 0}}, \
    .count = 0                                                                                                \
  }

bool shapley_scales_any(shapley_scales_t* scales);
bool shapley_scales_know(shapley_scales_t* scales, const shapley_scale_t* scale);
/* Whether the value lies on one of them. */
bool shapley_scales_recognize(shapley_scales_t* scales, uint32_t site);
void shapley_scales_add(shapley_scales_t* scales, const shapley_scale_t* scale);
void shapley_scales_forget(shapley_scales_t* scales);

/* Reads the file; none means no scales. False when it cannot be read or is damaged: errno says why (EBADMSG: damaged),
 * and there are no scales. */
bool shapley_scales_load(shapley_scales_t* scales, const char* path);
/* Replaces the file at once and durably; no scales remove it. False with errno when that is impossible. */
bool shapley_scales_save(shapley_scales_t* scales, const char* path);

/* ---- what to do with site factors --------------------------------------------------------------- */

enum shapley_site_mode {
  SHAPLEY_SITE_LEAVE, /* nothing */
  SHAPLEY_SITE_RANK,  /* rank pending jobs */
  SHAPLEY_SITE_CLEAR, /* take our values off, so that plain multifactor order is back */
};

/* `act`: shapleyd's ranks apply. `told`: shapleyd said that they do not (mode: observe). `acted`: ranks have been
 * applied in this life of the plugin. `waited`: shapleyd has been silent for so long that recovered ranks are too old.
 */
enum shapley_site_mode shapley_site_mode_of(bool act, bool written, bool told, bool acted, bool waited);

#endif
