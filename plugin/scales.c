#include "plugin/scales.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plugin/site_factor.h"

static const char k_first_line[] = "shapley scales 1\n";

/* Strict values are equally spaced. */
static bool is_strict_rank(const shapley_scale_t* scale, uint32_t site) {
  if (site < k_shapley_nice_headroom) return false;
  uint32_t above = site - k_shapley_nice_headroom;
  return above % scale->unit == 0 && above / scale->unit < scale->ranks;
}

/* The weighted ones are rounded down, so the only candidate is the position whose value is the next one at or above. */
static bool is_weighted_rank(const shapley_scale_t* scale, uint32_t site) {
  if (!site || scale->ranks < 2) return !site;
  uint64_t gaps = scale->ranks - 1;
  uint64_t from_last = ((uint64_t)site * gaps + scale->unit - 1) / scale->unit;
  return from_last <= gaps && shapley_site_weighted(scale->unit, scale->ranks, (uint32_t)(gaps - from_last)) == site;
}

bool shapley_scale_has(const shapley_scale_t* scale, uint32_t site) {
  if (!site || !scale->ranks || !scale->unit) return false;
  uint32_t levels = scale->level_unit ? k_shapley_level_max : 0;
  for (uint32_t level = 0; level <= levels; level++) {
    uint64_t part = (uint64_t)scale->level_unit * level;
    if (part > site) return false;
    uint32_t rank = site - (uint32_t)part;
    if (scale->strict ? is_strict_rank(scale, rank) : is_weighted_rank(scale, rank)) return true;
  }
  return false;
}

static bool same_scale(const shapley_scale_t* a, const shapley_scale_t* b) {
  return a->strict == b->strict && a->unit == b->unit && a->ranks == b->ranks && a->level_unit == b->level_unit;
}

bool shapley_scales_any(shapley_scales_t* scales) {
  pthread_mutex_lock(&scales->mutex);
  bool any = scales->count > 0;
  pthread_mutex_unlock(&scales->mutex);
  return any;
}

/* Newest first: that is the one asked for. */
bool shapley_scales_know(shapley_scales_t* scales, const shapley_scale_t* scale) {
  bool known = false;
  pthread_mutex_lock(&scales->mutex);
  for (size_t i = scales->count; i > 0 && !known; i--) known = same_scale(&scales->scale[i - 1], scale);
  pthread_mutex_unlock(&scales->mutex);
  return known;
}

bool shapley_scales_recognize(shapley_scales_t* scales, uint32_t site) {
  bool ours = false;
  pthread_mutex_lock(&scales->mutex);
  for (size_t i = scales->count; i > 0 && !ours; i--) ours = shapley_scale_has(&scales->scale[i - 1], site);
  pthread_mutex_unlock(&scales->mutex);
  return ours;
}

void shapley_scales_add(shapley_scales_t* scales, const shapley_scale_t* scale) {
  if (shapley_scales_know(scales, scale)) return;
  pthread_mutex_lock(&scales->mutex);
  if (scales->count == k_shapley_scales_max)
    memmove(&scales->scale[0], &scales->scale[1], --scales->count * sizeof(scales->scale[0]));
  scales->scale[scales->count++] = *scale;
  pthread_mutex_unlock(&scales->mutex);
}

void shapley_scales_forget(shapley_scales_t* scales) {
  pthread_mutex_lock(&scales->mutex);
  scales->count = 0;
  pthread_mutex_unlock(&scales->mutex);
}

/* ---- the file ----------------------------------------------------------------------------------- */

/* The distance between levels is written where there are levels only. */
static bool read_line(const char* line, shapley_scale_t* scale) {
  char kind[16], end = 0;
  scale->level_unit = 0;
  int read = sscanf(line, "%15s %" SCNu32 " %" SCNu32 "%c", kind, &scale->unit, &scale->ranks, &end);
  if (read == 4 && end == ' ') read = sscanf(line, "%*s %*u %*u %" SCNu32 "%c", &scale->level_unit, &end) == 2 ? 4 : 0;
  if (read != 4 || end != '\n') return false;
  scale->strict = !strcmp(kind, "strict");
  return scale->strict || !strcmp(kind, "weighted");
}

static bool read_file(shapley_scales_t* scales, FILE* file) {
  char line[128];
  if (!fgets(line, sizeof(line), file) || strcmp(line, k_first_line)) return false;
  while (fgets(line, sizeof(line), file)) {
    shapley_scale_t scale;
    if (!read_line(line, &scale)) return false;
    shapley_scales_add(scales, &scale);
  }
  return !ferror(file);
}

bool shapley_scales_load(shapley_scales_t* scales, const char* path) {
  shapley_scales_forget(scales);
  FILE* file = fopen(path, "re");
  if (!file) return errno == ENOENT;
  bool whole = read_file(scales, file);
  fclose(file);
  if (whole) return true;
  shapley_scales_forget(scales);
  errno = EBADMSG;
  return false;
}

static bool write_file(const shapley_scales_t* scales, FILE* file) {
  bool written = fputs(k_first_line, file) >= 0;
  for (size_t i = 0; i < scales->count; i++) {
    const shapley_scale_t* scale = &scales->scale[i];
    written = fprintf(file, "%s %" PRIu32 " %" PRIu32, scale->strict ? "strict" : "weighted", scale->unit,
                      scale->ranks) > 0 &&
              written;
    if (scale->level_unit) written = fprintf(file, " %" PRIu32, scale->level_unit) > 0 && written;
    written = fputc('\n', file) != EOF && written;
  }
  return written && !fflush(file) && !fsync(fileno(file));
}

/* The thread that saves is the only one that changes the scales, so it reads them without the mutex. */
bool shapley_scales_save(shapley_scales_t* scales, const char* path) {
  if (!scales->count) return !unlink(path) || errno == ENOENT;
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
  bool written = write_file(scales, file);
  int fault = written ? 0 : errno;
  if (fclose(file) && !fault) fault = errno;
  if (!fault && rename(fresh, path)) fault = errno;
  if (!fault) return true;
  unlink(fresh);
  errno = fault;
  return false;
}

/* ---- what to do with site factors --------------------------------------------------------------- */

enum shapley_site_mode shapley_site_mode_of(bool act, bool written, bool told, bool acted, bool waited) {
  if (act) return SHAPLEY_SITE_RANK;
  return written && (told || acted || waited) ? SHAPLEY_SITE_CLEAR : SHAPLEY_SITE_LEAVE;
}
