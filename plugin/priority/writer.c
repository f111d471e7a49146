#include "plugin/priority/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/front.h"
#include "plugin/priority/ranking.h"
#include "plugin/priority/site_factor.h"
#include "plugin/scan/fingerprint.h"
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

enum { k_most_licensed = 1024, k_license_rooms = 16 };

/* For how many of the requests for licenses that were seen last there is room, in one scan. */
static struct {
  size_t next;
  struct {
    uint64_t licenses;
    uint32_t room;
  } of[k_license_rooms];
} license_rooms;

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

void shapley_writer_begin_jobs(time_t now, int64_t processors) {
  writer.scan_at = now;
  memset(&license_rooms, 0, sizeof(license_rooms));
  writer.places = writer.mode == SHAPLEY_SITE_RANK && writer.ranking.order.strict;
  if (!writer.places) return;
  shapley_client_places_begin(writer.client, writer.ranking.steps.labels, shapley_reach(processors), monotonic_ms());
}

static uint32_t level_of(uint32_t job_id) {
  return writer.ranking.steps.level ? shapley_client_level(writer.client, job_id) : 0;
}

static void pass_run(const job_record_t* record, const shapley_job_traits_t* traits) {
  shapley_client_hold(writer.client, record->job_id, shapley_client_organization(writer.client, traits));
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
      "served "
      "by the rank of its organization; lower the weights",
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
    unlock_slurmctld(locks);
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

/* ---- whether it could start --------------------------------------------------------------------- */

static uint32_t license_room(const job_record_t* record, time_t now) {
  uint32_t room = 0;
  uint32_t step = 1;
  while (room + step <= k_most_licensed && shapley_has_licenses(record, room + step, now)) room += step, step *= 2;
  for (; step; step /= 2) {
    if (room + step <= k_most_licensed && shapley_has_licenses(record, room + step, now)) room += step;
  }
  return room;
}

/* slurmctld's reason is as old as its last try to start the job, so its licenses are looked at where it asks for any.
 */
static void fill_licenses(const job_record_t* record, time_t now, shapley_waiting_t* waiting) {
  if (!record->license_list) return;
  waiting->licenses = shapley_mix_text(SHAPLEY_FINGERPRINT_START, record->licenses) | 1U;
  for (size_t i = 0; i < k_license_rooms; i++) {
    if (license_rooms.of[i].licenses != waiting->licenses) continue;
    waiting->license_room = license_rooms.of[i].room;
    return;
  }
  waiting->license_room = license_room(record, now);
  size_t at = license_rooms.next++ % k_license_rooms;
  license_rooms.of[at].licenses = waiting->licenses;
  license_rooms.of[at].room = waiting->license_room;
}

/* The limit of its array, which tasks of any record share. */
static void fill_array(const job_record_t* record, shapley_waiting_t* waiting) {
  if (!record->array_job_id) return;
  const job_record_t* base = record->array_recs ? record : find_job_record(record->array_job_id);
  const job_array_struct_t* array = base ? base->array_recs : NULL;
  if (!array || !array->max_run_tasks) return;
  waiting->array = record->array_job_id;
  if (array->tot_run_tasks < array->max_run_tasks) waiting->array_room = array->max_run_tasks - array->tot_run_tasks;
}

/* The reason to wait was found when the scheduler tried the job last. Reasons that nodes were not available then may be
 * over in the pass in which they are back. Of limits of accounts and users it is not known; their jobs delay no others.
 */
static bool could_start(const job_record_t* record, time_t now, shapley_waiting_t* waiting) {
  if (IS_JOB_COMPLETING(record) || (record->details && record->details->begin_time > now)) return false;
  if (waiting->array && !waiting->array_room) return false;
  switch (record->state_reason) {
    case WAIT_ARRAY_TASK_LIMIT: /* there is room again, see above */
    case WAIT_NO_REASON:
    case WAIT_PRIORITY:
    case WAIT_RESOURCES:
    case WAIT_TIME: /* its time has come, see above */
    case WAIT_LICENSES:
      break;
    case WAIT_PART_DOWN:
    case WAIT_PART_INACTIVE:
    case WAIT_NODE_NOT_AVAIL:
    case WAIT_RESERVATION:
      waiting->hindrance = SHAPLEY_HINDRANCE_NODES;
      break;
    default:
      if (!shapley_is_account_limit(record->state_reason)) return false;
      waiting->hindrance = SHAPLEY_HINDRANCE_LIMITS;
      return true;
  }
  if (waiting->licenses && !waiting->license_room) waiting->hindrance = SHAPLEY_HINDRANCE_LICENSES;
  return true;
}

/* ---- partitions --------------------------------------------------------------------------------- */

static int look_at_tier(void* element, void* to) {
  const part_record_t* partition = element;
  shapley_waiting_t* waiting = to;
  if (partition->priority_tier > waiting->tier) waiting->tier = partition->priority_tier;
  return 0;
}

/* part_ptr goes through all requested partitions of a waiting job, see job_traits.c. */
static void fill_tier(const job_record_t* record, shapley_waiting_t* waiting) {
  if (record->part_ptr_list)
    list_for_each_ro(record->part_ptr_list, look_at_tier, waiting);
  else if (record->part_ptr)
    look_at_tier(record->part_ptr, waiting);
}

/* ---- arrays ------------------------------------------------------------------------------------- */

/* Tasks that depend on others, are stored in a burst buffer or run on several clusters are split by Slurm itself, each
 * kind in its own way. */
static uint32_t splittable_tasks(const job_record_t* record) {
  bool depends = record->details && record->details->depend_list && list_count(record->details->depend_list);
  if (!shapley_is_array_rest(record) || !record->array_recs->task_id_bitmap || record->burst_buffer || depends ||
      record->fed_details)
    return 0;
  if (!shapley_split_is_safe(record)) return 0;
  uint32_t tasks = record->array_recs->task_cnt;
  return tasks > k_shapley_least_array_rest ? tasks - k_shapley_least_array_rest : 0;
}

/* Of equal priority the earlier one goes first; an array's record after its tasks. */
static uint64_t tie_of(const job_record_t* record) {
  uint64_t id = record->array_job_id ? record->array_job_id : record->job_id;
  uint32_t task = !record->array_job_id ? 0 : shapley_is_array_rest(record) ? UINT32_MAX : record->array_task_id;
  return id << 32 | task;
}

int64_t shapley_own_order(const job_record_t* record) {
  return (int64_t)record->priority - ((int64_t)record->site_factor - (int64_t)NICE_OFFSET);
}

void shapley_waiting_fill(const job_record_t* record, time_t now, shapley_waiting_t* waiting) {
  bool rest = shapley_is_array_rest(record);
  *waiting = (shapley_waiting_t){
      .job_id = record->job_id,
      .tasks = rest ? shapley_startable_tasks(record->array_recs) : 1,
      .own_order = shapley_own_order(record),
      .tie = tie_of(record),
      .label = SHAPLEY_NO_LABEL,
      .splittable = splittable_tasks(record),
  };
  fill_tier(record, waiting);
  fill_array(record, waiting);
  fill_licenses(record, now, waiting);
  waiting->startable = could_start(record, now, waiting);
  if (!waiting->tasks) waiting->tasks = 1;
}
