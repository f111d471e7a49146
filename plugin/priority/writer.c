#include "plugin/priority/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/front.h"
#include "plugin/priority/ranking.h"
#include "plugin/priority/site_factor.h"
#include "plugin/priority/waiting.h"
#include "plugin/scan/records.h"
#include "plugin/threads.h"

enum {
  /* One hold of the job write lock ends at the first reading of the clock after this; 64 jobs take about 0.1 ms. A
   * fifth of the 10 ms that a hold may last, because the kernel may interrupt it. */
  k_max_hold_us = 2000,
  k_jobs_between_clock_readings = 64,
  /* The pause between two holds: others can have the lock four fifths of the time. */
  k_pause_ms = 8,
  /* Ranks that slurmctld recovered with its jobs hold this long without a message from shapleyd. */
  k_recovered_ranks_timeout_ms = 300 * 1000,
};

static struct {
  shapley_client_t* client;
  int64_t opened_ms;
  shapley_ranking_t ranking; /* of the scan */
  enum shapley_site_mode mode;
  shapley_order_t written;        /* the order of the last writing that was not cut short */
  bool acted;                     /* ranks have been written in this life of the plugin */
  shapley_narrow_t narrow_logged; /* said since the configuration was read */
  bool narrow_places_logged;      /* likewise */
  shapley_place_t* noted;         /* with the label that the job should have; none: the one that it has */
  size_t noted_count, noted_capacity;
  time_t scan_at; /* wall clock */
  bool places;    /* the scan passes jobs for places */
  char history_path[4096];
} writer;

/* The formulas of the site factors that jobs may have. Separate from the above, because callbacks read it. */
static shapley_site_history_t history = SHAPLEY_SITE_HISTORY_NONE;

/* ---- the history on disk ------------------------------------------------------------------------ */

static void load_history(void) {
  if (!shapley_site_history_load(&history, writer.history_path))
    error("%s: %s: cannot read: %s; ranks that jobs carry from before the restart are not recognized", plugin_type,
          writer.history_path, strerror(errno));
}

static void save_history(void) {
  if (!shapley_site_history_save(&history, writer.history_path))
    error("%s: %s: cannot write: %s; ranks cannot be distinguished from a site's own site factors after a restart",
          plugin_type, writer.history_path, strerror(errno));
}

/* Saves the formula before the first job gets a value of it. No lock is held. */
static void remember_formula(void) {
  shapley_site_formula_t formula = shapley_ranking_formula(&writer.ranking);
  if (shapley_site_history_has(&history, &formula)) return;
  shapley_site_history_add(&history, &formula);
  save_history();
}

/* Called after a scan found no job with a rank: equal values that are set from now on are the site's own. */
static void clear_history(void) {
  shapley_site_history_clear(&history);
  save_history();
  info("%s: no job carries a rank any more", plugin_type);
}

/* ---- start and end ------------------------------------------------------------------------------ */

void shapley_writer_open(shapley_client_t* client) {
  writer.client = client;
  writer.opened_ms = monotonic_ms();
  snprintf(writer.history_path, sizeof(writer.history_path), "%s/shapley.scales", slurm_conf.state_save_location);
  shapley_ranking_read_weights();
  load_history();
}

void shapley_writer_close(void) {
  free(writer.noted);
  memset(&writer, 0, sizeof(writer));
}

/* ---- noting, under a scan's read locks ----------------------------------------------------------- */

static enum shapley_site_mode choose_mode(void) {
  const shapley_order_t* order = &writer.ranking.order;
  bool timed_out = monotonic_ms() - writer.opened_ms >= k_recovered_ranks_timeout_ms;
  return shapley_site_mode_of(order->act, shapley_site_history_any(&history), order->observe, writer.acted, timed_out);
}

bool shapley_writer_begin(bool reconfigured) {
  shapley_ranking_t ranking_before = writer.ranking;
  enum shapley_site_mode mode_before = writer.mode;
  writer.noted_count = 0;
  if (reconfigured) {
    shapley_ranking_read_weights();
    writer.narrow_logged = (shapley_narrow_t){0};
    writer.narrow_places_logged = false;
  }
  writer.ranking = shapley_ranking_now(writer.client);
  writer.mode = choose_mode();
  /* While values are being removed, each scan must find all that are left. */
  return writer.mode == mode_before && writer.mode != SHAPLEY_SITE_CLEAR &&
         shapley_ranking_same(&writer.ranking, &ranking_before);
}

/* Only a value of ours is removed; a site's own site factor stays. Ended jobs count, too: they may be requeued. */
static bool is_ranked_by_us(const job_record_t* record) {
  return record->site_factor > NICE_OFFSET &&
         shapley_site_history_recognizes(&history, record->site_factor - NICE_OFFSET);
}

static bool needs_writing(const job_record_t* record, const shapley_job_traits_t* traits) {
  switch (writer.mode) {
    case SHAPLEY_SITE_RANK:
      return shapley_is_rankable(record) &&
             (record->site_factor != shapley_wanted_site_factor(&writer.ranking, record->job_id, traits,
                                                                shapley_label_of(&writer.ranking, record)) ||
              !shapley_priority_is_current(record));
    case SHAPLEY_SITE_CLEAR:
      return is_ranked_by_us(record);
    default:
      return false;
  }
}

/* Without memory, a job that is not noted is found again by the next scan. */
static void note(uint32_t job_id, uint32_t label) {
  if (writer.noted_count == writer.noted_capacity) {
    size_t capacity = writer.noted_capacity ? writer.noted_capacity * 2 : 1024;
    shapley_place_t* grown = realloc(writer.noted, capacity * sizeof(*grown));
    if (!grown) return;
    writer.noted = grown;
    writer.noted_capacity = capacity;
  }
  writer.noted[writer.noted_count++] = (shapley_place_t){job_id, label};
}

/* The length of a line that serves so many processors: somewhat more than could start at once, so that the following
 * jobs have places already. */
static int64_t reach_of(int64_t processors) {
  return processors ? processors + processors / 8 + 16 : 0;
}

void shapley_writer_begin_jobs(time_t now, int64_t processors) {
  writer.scan_at = now;
  shapley_waiting_begin();
  writer.places = writer.mode == SHAPLEY_SITE_RANK && writer.ranking.order.strict;
  if (!writer.places) return;
  shapley_client_places_begin(writer.client, writer.ranking.steps.labels, reach_of(processors), monotonic_ms());
}

static uint32_t level_of(uint32_t job_id) {
  return writer.ranking.steps.level ? shapley_client_level(writer.client, job_id) : 0;
}

static void pass_run(const job_record_t* record, const shapley_job_traits_t* traits) {
  uint32_t organization = shapley_client_organization(writer.client, traits);
  shapley_client_hold(writer.client, record->job_id, organization, (int64_t)(time(NULL) - record->start_time));
}

bool shapley_writer_pass(const job_record_t* record, const shapley_job_traits_t* traits) {
  if (writer.places && IS_JOB_RUNNING(record)) pass_run(record, traits);
  if (writer.places && shapley_is_rankable(record)) {
    shapley_waiting_t waiting;
    shapley_waiting_fill(record, writer.scan_at, &waiting);
    waiting.organization = shapley_client_organization(writer.client, traits);
    waiting.level = level_of(record->job_id);
    waiting.label = shapley_label_of(&writer.ranking, record);
    shapley_client_place(writer.client, &waiting);
  }
  if (!needs_writing(record, traits)) return false;
  note(record->job_id, SHAPLEY_NO_LABEL);
  return true;
}

bool shapley_writer_pass_again(const job_record_t* record) {
  if (!writer.places || !shapley_is_rankable(record)) return true;
  uint32_t label = shapley_label_of(&writer.ranking, record), level = level_of(record->job_id);
  if (label == SHAPLEY_NO_LABEL ||
      record->site_factor != NICE_OFFSET + shapley_site_of_label(&writer.ranking.steps, label, level))
    return false;
  return shapley_client_place_again(writer.client, record->job_id, shapley_own_order(record), level, label);
}

void shapley_writer_pass_run(const job_record_t* record, const shapley_job_traits_t* traits) {
  if (writer.places && IS_JOB_RUNNING(record)) pass_run(record, traits);
}

size_t shapley_writer_noted(void) {
  return writer.noted_count;
}

/* ---- deciding, after a scan, no lock held ---------------------------------------------------------- */

static void log_narrow_places(const shapley_decisions_t* decisions) {
  if (!decisions->cut || writer.narrow_places_logged) return;
  writer.narrow_places_logged = true;
  info(
      "%s: the PriorityWeight* values leave room for %u places, of which %zu are taken: what waits behind them is "
      "served by the rank of its organization; lower the weights",
      plugin_type, writer.ranking.steps.labels, decisions->in_line);
}

static shapley_decisions_t decide(bool complete) {
  if (!writer.places) return (shapley_decisions_t){0};
  shapley_decisions_t decisions = shapley_client_places_decide(writer.client, complete);
  for (size_t i = 0; i < decisions.labels_count; i++) note(decisions.labels[i].job_id, decisions.labels[i].label);
  log_narrow_places(&decisions);
  return decisions;
}

/* ---- writing, under the job write lock ---------------------------------------------------------- */

/* The job may have changed since it was noted: everything is checked again. */
static bool write_one(const shapley_place_t* place) {
  job_record_t* record = find_job_record(place->job_id);
  if (!record) return false;
  if (writer.mode == SHAPLEY_SITE_CLEAR) return is_ranked_by_us(record) && shapley_set_site_factor(record, NICE_OFFSET);
  if (!shapley_is_rankable(record)) return false;
  uint32_t label = place->label != SHAPLEY_NO_LABEL ? place->label : shapley_label_of(&writer.ranking, record);
  uint32_t wanted = shapley_wanted_site_factor_of(&writer.ranking, record, label);
  if (record->site_factor == wanted && shapley_priority_is_current(record)) return false;
  return shapley_set_site_factor(record, wanted);
}

/* One hold of the write lock. Returns the number of priorities that changed. */
static size_t write_some(size_t* next, int64_t* longest_hold_us) {
  slurmctld_lock_t locks = {.job = WRITE_LOCK, .node = READ_LOCK, .part = READ_LOCK};
  size_t changed = 0, done = 0;
  lock_slurmctld(locks);
  int64_t locked_us = monotonic_us();
  while (*next < writer.noted_count) {
    changed += write_one(&writer.noted[(*next)++]);
    if (++done % k_jobs_between_clock_readings == 0 && monotonic_us() - locked_us >= k_max_hold_us) break;
  }
  if (changed) last_job_update = time(NULL);
  int64_t held_us = monotonic_us() - locked_us;
  unlock_slurmctld(locks);
  debug2("%s: held the job lock for writing for %" PRId64 " us", plugin_type, held_us);
  if (held_us > *longest_hold_us) *longest_hold_us = held_us;
  return changed;
}

static void give_label(job_record_t* record, uint32_t label) {
  (void)shapley_set_site_factor(record, shapley_wanted_site_factor_of(&writer.ranking, record, label));
}

/* The tasks of one array are in line like jobs, but Slurm tries those without records of their own together, one after
 * the other. So each gets its record and its label in one hold of the lock, and so does what is left of the array. */
static size_t split_one(const shapley_array_split_t* split) {
  job_record_t* rest = find_job_record(split->job_id);
  size_t done = 0;
  while (done < split->tasks && rest && shapley_is_rankable(rest)) {
    const job_array_struct_t* array = rest->array_recs;
    if (!array || rest->array_task_id != NO_VAL || !array->task_id_bitmap ||
        array->task_cnt <= k_shapley_least_array_rest)
      break;
    int64_t task = bit_ffs(array->task_id_bitmap);
    if (task < 0) break;
    job_record_t* split_off = rest;
    rest = shapley_split_array(rest, (uint32_t)task);
    if (rest) give_label(split_off, split->labels[done++]);
  }
  if (rest && shapley_is_rankable(rest)) give_label(rest, split->rest_label);
  return done;
}

static bool split_arrays(const shapley_decisions_t* decisions, const atomic_bool* stopping) {
  slurmctld_lock_t locks = {
      .conf = READ_LOCK, .job = WRITE_LOCK, .node = READ_LOCK, .part = READ_LOCK, .fed = READ_LOCK};
  size_t done = 0;
  for (size_t next = 0; next < decisions->splits_count;) {
    if (next) sleep_ms(k_pause_ms);
    if (atomic_load(stopping)) return false;
    lock_slurmctld(locks);
    int64_t locked_us = monotonic_us();
    do done += split_one(&decisions->splits[next++]);
    while (next < decisions->splits_count && monotonic_us() - locked_us < k_max_hold_us);
    if (done) last_job_update = time(NULL);
    int64_t held_us = monotonic_us() - locked_us;
    unlock_slurmctld(locks);
    debug2("%s: held the job lock for splitting arrays for %" PRId64 " us", plugin_type, held_us);
  }
  if (done) {
    shapley_client_hint(writer.client);
    queue_job_scheduler();
  }
  return true;
}

/* False when it was cut short because the plugin ends. */
static bool write_all(const atomic_bool* stopping, void (*meanwhile)(void)) {
  size_t changed = 0;
  int64_t longest_hold_us = 0;
  for (size_t next = 0; next < writer.noted_count;) {
    if (next) {
      sleep_ms(k_pause_ms);
      if (meanwhile) meanwhile();
    }
    if (atomic_load(stopping)) return false;
    changed += write_some(&next, &longest_hold_us);
  }
  if (changed) {
    debug("%s: %zu priorities set, longest hold %" PRId64 " us", plugin_type, changed, longest_hold_us);
    queue_job_scheduler();
  }
  return true;
}

void shapley_writer_write(bool complete, const atomic_bool* stopping, void (*meanwhile)(void)) {
  shapley_ranking_log_narrow(&writer.ranking, &writer.narrow_logged);
  if (writer.mode == SHAPLEY_SITE_RANK) remember_formula();
  shapley_decisions_t decisions = decide(complete);
  if (decisions.events || writer.noted_count || decisions.looked_at == decisions.in_line)
    debug("%s: %" PRIu64
          " starts and ends; the first %zu of %zu places looked at, %zu priorities to write, %zu arrays to split",
          plugin_type, decisions.events, decisions.looked_at, decisions.in_line, writer.noted_count,
          decisions.splits_count);
  if (!split_arrays(&decisions, stopping) || !write_all(stopping, meanwhile)) return;
  writer.written = writer.ranking.order;
  writer.acted = writer.acted || writer.mode == SHAPLEY_SITE_RANK;
  if (writer.mode == SHAPLEY_SITE_CLEAR && complete && !writer.noted_count) clear_history();
}

/* The formula is still that of the last whole scan: if it has changed, that scan is due. */
void shapley_writer_write_places(const atomic_bool* stopping) {
  if (!writer.places) return;
  writer.noted_count = 0;
  shapley_decisions_t decisions = decide(true);
  if (writer.noted_count)
    debug("%s: %" PRIu64 " starts and ends; %zu priorities to write at once", plugin_type, decisions.events,
          writer.noted_count);
  (void)write_all(stopping, NULL);
}

bool shapley_writer_is_due(void) {
  shapley_order_t now = shapley_client_order(writer.client);
  return now.generation != writer.written.generation || now.act != writer.written.act ||
         (writer.places && shapley_client_places_due(writer.client, monotonic_ms()));
}

/* ---- one job, in a callback --------------------------------------------------------------------- */

void shapley_writer_rank(job_record_t* job) {
  if (!IS_JOB_PENDING(job) || IS_JOB_REVOKED(job) || (job->direct_set_prio && job->priority)) return;
  shapley_ranking_t ranking = shapley_ranking_now(writer.client);
  /* A formula that is not on disk yet is left to the timer's thread, because this caller must not wait. */
  shapley_site_formula_t formula = shapley_ranking_formula(&ranking);
  if (ranking.order.act && shapley_site_history_has(&history, &formula))
    job->site_factor = shapley_wanted_site_factor_of(&ranking, job, shapley_label_of(&ranking, job));
}
