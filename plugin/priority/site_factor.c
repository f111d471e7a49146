#include "plugin/priority/site_factor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Slurm adds 2^31 to a site factor and keeps it in 32 bits. */
static const uint64_t k_max_site = (UINT64_C(1) << 31) - 1;

/* More places than any cluster starts jobs at once. */
static const uint64_t k_max_labels = UINT64_C(1) << 20;

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* The step of a level: above the other factors' sum, and one more, because decimals are dropped; reduced to what fits:
 * the first rank's highest level ends below 2^31, and each step between ranks is wider by all levels. */
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

static const char k_first_line[] = "shapley scales 1\n";

/* Strict values are equally spaced. */
static bool is_strict_rank(const shapley_site_formula_t* formula, uint32_t site) {
  if (site < k_shapley_nice_headroom) return false;
  uint32_t above = site - k_shapley_nice_headroom;
  return above % formula->unit == 0 && above / formula->unit < formula->ranks;
}

/* The weighted ones are rounded down, so the only candidate is the position whose value is the next one at or above. */
static bool is_weighted_rank(const shapley_site_formula_t* formula, uint32_t site) {
  if (!site || formula->ranks < 2) return !site;
  uint64_t gaps = formula->ranks - 1;
  uint64_t from_last = ((uint64_t)site * gaps + formula->unit - 1) / formula->unit;
  return from_last <= gaps &&
         shapley_site_weighted(formula->unit, formula->ranks, (uint32_t)(gaps - from_last)) == site;
}

bool shapley_site_formula_gives(const shapley_site_formula_t* formula, uint32_t site) {
  if (!site || !formula->ranks || !formula->unit) return false;
  uint32_t levels = formula->level_unit ? k_shapley_max_level : 0;
  for (uint32_t level = 0; level <= levels; level++) {
    uint64_t part = (uint64_t)formula->level_unit * level;
    if (part > site) return false;
    uint32_t rank = site - (uint32_t)part;
    if (formula->strict ? is_strict_rank(formula, rank) : is_weighted_rank(formula, rank)) return true;
  }
  return false;
}

static bool same_formula(const shapley_site_formula_t* a, const shapley_site_formula_t* b) {
  return a->strict == b->strict && a->unit == b->unit && a->ranks == b->ranks && a->level_unit == b->level_unit;
}

bool shapley_site_history_any(shapley_site_history_t* history) {
  pthread_mutex_lock(&history->mutex);
  bool any = history->count > 0;
  pthread_mutex_unlock(&history->mutex);
  return any;
}

/* Newest first, because that one is usually asked for. */
bool shapley_site_history_has(shapley_site_history_t* history, const shapley_site_formula_t* formula) {
  bool known = false;
  pthread_mutex_lock(&history->mutex);
  for (size_t i = history->count; i > 0 && !known; i--) known = same_formula(&history->formula[i - 1], formula);
  pthread_mutex_unlock(&history->mutex);
  return known;
}

bool shapley_site_history_recognizes(shapley_site_history_t* history, uint32_t site) {
  bool ours = false;
  pthread_mutex_lock(&history->mutex);
  for (size_t i = history->count; i > 0 && !ours; i--)
    ours = shapley_site_formula_gives(&history->formula[i - 1], site);
  pthread_mutex_unlock(&history->mutex);
  return ours;
}

void shapley_site_history_add(shapley_site_history_t* history, const shapley_site_formula_t* formula) {
  if (shapley_site_history_has(history, formula)) return;
  pthread_mutex_lock(&history->mutex);
  if (history->count == k_shapley_max_site_history)
    memmove(&history->formula[0], &history->formula[1], --history->count * sizeof(history->formula[0]));
  history->formula[history->count++] = *formula;
  pthread_mutex_unlock(&history->mutex);
}

void shapley_site_history_clear(shapley_site_history_t* history) {
  pthread_mutex_lock(&history->mutex);
  history->count = 0;
  pthread_mutex_unlock(&history->mutex);
}

/* ---- the file ----------------------------------------------------------------------------------- */

/* The distance between levels is written where there are levels only. */
static bool read_line(const char* line, shapley_site_formula_t* formula) {
  char kind[16], end = 0;
  formula->level_unit = 0;
  int read = sscanf(line, "%15s %" SCNu32 " %" SCNu32 "%c", kind, &formula->unit, &formula->ranks, &end);
  if (read == 4 && end == ' ')
    read = sscanf(line, "%*s %*u %*u %" SCNu32 "%c", &formula->level_unit, &end) == 2 ? 4 : 0;
  if (read != 4 || end != '\n') return false;
  formula->strict = !strcmp(kind, "strict");
  return formula->strict || !strcmp(kind, "weighted");
}

static bool read_file(shapley_site_history_t* history, FILE* file) {
  char line[128];
  if (!fgets(line, sizeof(line), file) || strcmp(line, k_first_line) != 0) return false;
  while (fgets(line, sizeof(line), file)) {
    shapley_site_formula_t formula;
    if (!read_line(line, &formula)) return false;
    shapley_site_history_add(history, &formula);
  }
  return !ferror(file);
}

bool shapley_site_history_load(shapley_site_history_t* history, const char* path) {
  shapley_site_history_clear(history);
  FILE* file = fopen(path, "re");
  if (!file) return errno == ENOENT;
  bool whole = read_file(history, file);
  fclose(file);
  if (whole) return true;
  shapley_site_history_clear(history);
  errno = EBADMSG;
  return false;
}

static bool write_file(const shapley_site_history_t* history, FILE* file) {
  bool written = fputs(k_first_line, file) >= 0;
  for (size_t i = 0; i < history->count; i++) {
    const shapley_site_formula_t* formula = &history->formula[i];
    written = fprintf(file, "%s %" PRIu32 " %" PRIu32, formula->strict ? "strict" : "weighted", formula->unit,
                      formula->ranks) > 0 &&
              written;
    if (formula->level_unit) written = fprintf(file, " %" PRIu32, formula->level_unit) > 0 && written;
    written = fputc('\n', file) != EOF && written;
  }
  return written && !fflush(file) && !fsync(fileno(file));
}

/* The thread that saves is the only one that changes the history, so it reads without the mutex. */
bool shapley_site_history_save(shapley_site_history_t* history, const char* path) {
  if (!history->count) return !unlink(path) || errno == ENOENT;
  char fresh[4160];
  if (snprintf(fresh, sizeof(fresh), "%s.new", path) >= (int)sizeof(fresh)) {
    errno = ENAMETOOLONG;
    return false;
  }
  int descriptor = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  FILE* file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
  if (!file) {
    if (descriptor >= 0) close(descriptor);
    return false;
  }
  bool written = write_file(history, file);
  int fault = written ? 0 : errno;
  if (fclose(file) && !fault) fault = errno;
  if (!fault && rename(fresh, path)) fault = errno;
  if (!fault) return true;
  unlink(fresh);
  errno = fault;
  return false;
}

/* ---- what to do with site factors --------------------------------------------------------------- */

enum shapley_site_mode shapley_site_mode_of(bool act, bool written, bool observe, bool acted, bool timed_out) {
  if (act) return SHAPLEY_SITE_RANK;
  return written && (observe || acted || timed_out) ? SHAPLEY_SITE_CLEAR : SHAPLEY_SITE_LEAVE;
}
