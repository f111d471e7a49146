#include "plugin/scanner.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugin/client/shapley_client.h"
#include "plugin/clock.h"
#include "plugin/front.h"
#include "plugin/gate.h"
#include "plugin/job_traits.h"
#include "plugin/ranking.h"
#include "plugin/records.h"
#include "plugin/scales.h"

enum {
  /* While jobs change, look this often: a requeued run's exact end is in its record only until its nodes are clean. */
  k_busy_interval_ms = 100,
  /* Two looks are at least this far apart, however many hints come in. */
  k_gap_min_ms = 50,
  /* Rest at least this many times as long as the last look held the locks: 2 % of a core and of the locks. Where the
   * interval asks for more the interval wins, up to the 20 % of the second factor. */
  k_rest_factor = 50,
  k_rest_factor_min = 4,
  /* Look this often though nothing seems to have changed: backfill may write a stale priority without a time stamp. */
  k_look_at_least_ms = 5000,
  /* One hold of the job write lock ends at the first look at the clock after this; 64 jobs take about 0.1 ms. Half of
   * the 10 ms that a hold may last: the kernel may take the processor away in its midst. */
  k_write_hold_max_us = 5000,
  k_write_pause_ms = 20,
  k_jobs_between_clock_looks = 64,
  /* From so many records on a glance at most waiting jobs must do: a look at 10,000 takes 15 ms, and edits of waiting
   * jobs are seen at once there. */
  k_glance_from_records = 20000,
  /* Ranks that slurmctld recovered with its jobs hold this long without word from shapleyd. */
  k_recovered_ranks_hold_ms = 300 * 1000,
};

/* The thread's own state. */
typedef struct {
  shapley_client_t* client;
  shapley_options_t options;
  shapley_records_t records;
  shapley_ranking_t ranking;
  enum shapley_site_mode mode;
  bool glances;                   /* the current look may pass over waiting jobs that look as they did */
  size_t passed_over;             /* so many of them in the last look */
  bool acted;                     /* ranks have been applied in this life of the plugin */
  shapley_narrow_t narrow_logged; /* said since the configuration was read */
  int64_t started_ms;
  int64_t looked_ms;       /* monotonic, end of the last look; 0: none yet */
  int64_t held_us;         /* how long it held the locks */
  time_t looked_at;        /* wall clock, start of the last look */
  time_t now;              /* wall clock of the current look */
  time_t next_eligible;    /* earliest begin time still to come, 0: none; no time stamp tells when it passes */
  shapley_order_t applied; /* the order that the last look applied */
  char scales_path[4096];
  bool looked_at_all; /* the last look saw every record */
  uint32_t* rewrites; /* ids of jobs whose site factor or priority is to be written */
  size_t rewrites_count, rewrites_capacity;
} scanner_t;

static scanner_t scanner;
/* The scales of the ranks that jobs may carry. Apart from the scanner: callbacks read it. */
static shapley_scales_t scales = SHAPLEY_SCALES_NONE;
static pthread_t thread;
static bool thread_runs;
static atomic_bool stopping;
static atomic_bool reload_wanted;

/* Open while callbacks may use `scanner.client`. */
static shapley_gate_t gate;

static int64_t max_of(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static int64_t min_of(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static void client_log(enum shapley_log_level level, const char* text) {
  if (level == SHAPLEY_LOG_ERROR)
    error("%s: %s", plugin_type, text);
  else if (level == SHAPLEY_LOG_INFO)
    info("%s: %s", plugin_type, text);
  else
    debug("%s: %s", plugin_type, text);
}

/* ---- configuration ------------------------------------------------------------------------------ */

static void warn_about_min_job_age(const shapley_options_t* options) {
  if ((uint64_t)slurm_conf.min_job_age * 1000 >= 4 * (uint64_t)options->interval_ms) return;
  error(
      "%s: MinJobAge is %u s, shorter than four scan intervals of %u ms: runs may be forgotten unseen; "
      "raise MinJobAge (Slurm's default is 300) or lower interval= in %s",
      plugin_type, slurm_conf.min_job_age, options->interval_ms, shapley_parameters_line);
}

/* After a reconfigure, under the config read lock. */
static void reload(void) {
  shapley_options_t options;
  char fault[256];
  shapley_ranking_read_weights();
  scanner.narrow_logged = (shapley_narrow_t){0};
  if (slurm_conf.priority_flags & PRIORITY_FLAGS_INCR_ONLY)
    error("%s: PriorityFlags=INCREASE_ONLY keeps jobs from losing rank; remove it from slurm.conf", plugin_type);
  if (!strcmp(plugin_type, "priority/shapley") && shapley_foreign_site_factor_plugin())
    error("%s: PrioritySiteFactorPlugin overwrites ranks at the next restart; remove it from slurm.conf", plugin_type);
  if (!shapley_options_parse(shapley_parameters(), &options, fault, sizeof(fault))) {
    error("%s: %s: %s; the options in effect stay", plugin_type, shapley_parameters_line, fault);
    return;
  }
  if (strcmp(options.socket_path, scanner.options.socket_path) ||
      options.spool_max_bytes != scanner.options.spool_max_bytes)
    info("%s: socket= and spool_max= take effect when slurmctld restarts", plugin_type);
  scanner.options.interval_ms = options.interval_ms;
  warn_about_min_job_age(&options);
}

/* ---- looking ------------------------------------------------------------------------------------ */

static enum shapley_site_mode choose_mode(void) {
  bool waited = monotonic_ms() - scanner.started_ms >= k_recovered_ranks_hold_ms;
  return shapley_site_mode_of(scanner.ranking.order.act, shapley_scales_any(&scales), scanner.ranking.order.observe,
                              scanner.acted, waited);
}

/* Whether the job carries a rank of ours. Only such a value is taken off; a site's own site factor stays. An ended job
 * counts too: it may be requeued. */
static bool is_ranked_by_us(const job_record_t* record) {
  return record->site_factor > NICE_OFFSET && shapley_scales_recognize(&scales, record->site_factor - NICE_OFFSET);
}

/* Right after the record's summary, whose traits it uses. */
static bool needs_rewrite(const job_record_t* record) {
  switch (scanner.mode) {
    case SHAPLEY_SITE_RANK:
      return shapley_is_rankable(record) &&
             (record->site_factor !=
                  shapley_wanted_site_factor(&scanner.ranking, record->job_id, &scanner.records.traits.traits) ||
              !shapley_priority_is_current(record));
    case SHAPLEY_SITE_CLEAR:
      return is_ranked_by_us(record);
    default:
      return false;
  }
}

/* Out of memory: what does not fit is found again by the next look. */
static void note_rewrite(uint32_t job_id) {
  if (scanner.rewrites_count == scanner.rewrites_capacity) {
    size_t capacity = scanner.rewrites_capacity ? scanner.rewrites_capacity * 2 : 1024;
    uint32_t* grown = realloc(scanner.rewrites, capacity * sizeof(*grown));
    if (!grown) return;
    scanner.rewrites = grown;
    scanner.rewrites_capacity = capacity;
  }
  scanner.rewrites[scanner.rewrites_count++] = job_id;
}

static int look_at_job(void* element, void* unused) {
  (void)unused;
  const job_record_t* record = element;
  uint64_t glance = shapley_job_glance(record);
  if (scanner.glances && shapley_client_scan_glance(scanner.client, record->job_id, glance)) {
    scanner.passed_over++;
    return 0;
  }

  shapley_job_t job;
  uint64_t fingerprint = shapley_job_summary(&scanner.records, record, scanner.now, &job);
  bool rewrites = needs_rewrite(record);
  if (rewrites || !shapley_glance_suffices(record, &job)) glance = 0;
  if (shapley_client_scan_job(scanner.client, record->job_id, fingerprint, glance)) {
    shapley_job_lists(&scanner.records, record, &job);
    shapley_client_scan_record(scanner.client, &job);
  }
  if (job.wait == SHAPLEY_WAIT_BEGIN_TIME && (!scanner.next_eligible || job.eligible_time < scanner.next_eligible))
    scanner.next_eligible = job.eligible_time;
  if (rewrites) note_rewrite(record->job_id);
  return 0;
}

/* Deleted dynamic nodes leave empty slots in the table. */
static void look_at_nodes(void) {
  for (int i = 0; i < node_record_count; i++) {
    const node_record_t* record = node_record_table_ptr[i];
    if (!record || !record->name) continue;
    shapley_node_t node;
    if (!shapley_client_scan_node(scanner.client, (uint32_t)i, shapley_node_summary(record, &node))) continue;
    shapley_node_lists(&scanner.records, record, &node);
    shapley_client_scan_node_record(scanner.client, (uint32_t)i, &node);
  }
}

/* Priorities that were right under another order must be judged anew; so must values that are to be taken off. */
static bool glances_will_do(const shapley_ranking_t* before, enum shapley_site_mode mode_before) {
  return list_count(job_list) >= k_glance_from_records && scanner.mode == mode_before &&
         scanner.mode != SHAPLEY_SITE_CLEAR && shapley_ranking_same(&scanner.ranking, before);
}

/* Under the locks of look(). False when the records could not all be read. */
static bool look_at_everything(void) {
  size_t tres = slurmctld_tres_cnt > 0 ? (size_t)slurmctld_tres_cnt : 0;
  if (!job_list || !shapley_records_reserve(&scanner.records, tres)) return false;
  look_at_nodes();
  list_for_each_ro(job_list, look_at_job, NULL);
  return true;
}

static void look(void) {
  slurmctld_lock_t locks = {.conf = READ_LOCK, .job = READ_LOCK, .node = READ_LOCK, .part = READ_LOCK};
  assoc_mgr_lock_t assoc_locks = {.assoc = READ_LOCK, .qos = READ_LOCK, .tres = READ_LOCK};

  scanner.rewrites_count = 0;
  scanner.passed_over = 0;
  scanner.next_eligible = 0;
  lock_slurmctld(locks);
  int64_t locked_us = monotonic_us();
  scanner.now = time(NULL);
  if (atomic_exchange(&reload_wanted, false)) reload();
  shapley_ranking_t ranking_before = scanner.ranking;
  enum shapley_site_mode mode_before = scanner.mode;
  scanner.ranking = shapley_ranking_now(scanner.client);
  scanner.mode = choose_mode();
  scanner.glances = job_list && glances_will_do(&ranking_before, mode_before);
  assoc_mgr_lock(&assoc_locks);
  shapley_client_scan_begin(scanner.client, scanner.now);
  scanner.looked_at_all = look_at_everything();
  assoc_mgr_unlock(&assoc_locks);
  unlock_slurmctld(locks);

  scanner.held_us = monotonic_us() - locked_us;
  scanner.looked_ms = monotonic_ms();
  scanner.looked_at = scanner.now;
  shapley_client_scan_end(scanner.client, scanner.looked_at_all);
}

/* ---- writing ------------------------------------------------------------------------------------ */

/* The job may have changed since it was noted: everything is judged again. */
static bool rewrite(uint32_t job_id) {
  job_record_t* record = find_job_record(job_id);
  if (!record) return false;
  if (scanner.mode == SHAPLEY_SITE_CLEAR)
    return is_ranked_by_us(record) && shapley_set_site_factor(record, NICE_OFFSET);
  if (!shapley_is_rankable(record)) return false;
  uint32_t wanted = shapley_wanted_site_factor_of(&scanner.ranking, record);
  if (record->site_factor == wanted && shapley_priority_is_current(record)) return false;
  return shapley_set_site_factor(record, wanted);
}

/* One hold of the write lock. Returns the number of priorities that changed. */
static size_t rewrite_some(size_t* next, int64_t* longest_hold_us) {
  slurmctld_lock_t locks = {.job = WRITE_LOCK, .node = READ_LOCK, .part = READ_LOCK};
  size_t changed = 0, done = 0;
  lock_slurmctld(locks);
  int64_t locked_us = monotonic_us();
  while (*next < scanner.rewrites_count) {
    changed += rewrite(scanner.rewrites[(*next)++]);
    if (++done % k_jobs_between_clock_looks == 0 && monotonic_us() - locked_us >= k_write_hold_max_us) break;
  }
  if (changed) last_job_update = time(NULL);
  int64_t held_us = monotonic_us() - locked_us;
  unlock_slurmctld(locks);
  debug2("%s: held the job lock for writing for %" PRId64 " us", plugin_type, held_us);
  *longest_hold_us = max_of(*longest_hold_us, held_us);
  return changed;
}

/* False when it was cut short by the end. */
static bool rewrite_all(void) {
  size_t changed = 0;
  int64_t longest_hold_us = 0;
  for (size_t next = 0; next < scanner.rewrites_count;) {
    if (next) sleep_ms(k_write_pause_ms); /* others have the lock four fifths of the time */
    if (atomic_load(&stopping)) return false;
    changed += rewrite_some(&next, &longest_hold_us);
  }
  if (changed) {
    debug("%s: %zu priorities set, longest hold %" PRId64 " us", plugin_type, changed, longest_hold_us);
    queue_job_scheduler();
  }
  return true;
}

static void save_scales(void) {
  if (!shapley_scales_save(&scales, scanner.scales_path))
    error("%s: %s: cannot write: %s; ranks cannot be told from a site's own site factors after a restart", plugin_type,
          scanner.scales_path, strerror(errno));
}

static void load_scales(void) {
  if (!shapley_scales_load(&scales, scanner.scales_path))
    error("%s: %s: cannot read: %s; ranks that jobs carry from before the restart are not recognized", plugin_type,
          scanner.scales_path, strerror(errno));
}

/* On disk before the first job gets a value of the scale. No lock is held. */
static void remember_scale(void) {
  shapley_scale_t scale = shapley_ranking_scale(&scanner.ranking);
  if (shapley_scales_know(&scales, &scale)) return;
  shapley_scales_add(&scales, &scale);
  save_scales();
}

/* A look found no job that carries a rank: what is set from now on to such a value is the site's own. */
static void forget_scales(void) {
  shapley_scales_forget(&scales);
  save_scales();
  info("%s: no job carries a rank any more", plugin_type);
}

static void look_and_write(void) {
  look();
  debug2("%s: looked at the jobs in %" PRId64 " us; %zu passed over, %zu to write", plugin_type, scanner.held_us,
         scanner.passed_over, scanner.rewrites_count);
  shapley_ranking_log_narrow(&scanner.ranking, &scanner.narrow_logged);
  if (scanner.mode == SHAPLEY_SITE_RANK) remember_scale();
  if (!rewrite_all()) return;
  scanner.applied = scanner.ranking.order;
  scanner.acted = scanner.acted || scanner.mode == SHAPLEY_SITE_RANK;
  if (scanner.mode == SHAPLEY_SITE_CLEAR && scanner.looked_at_all && !scanner.rewrites_count) forget_scales();
}

/* ---- when to look ------------------------------------------------------------------------------- */

static bool order_changed(void) {
  shapley_order_t now = shapley_client_order(scanner.client);
  return now.generation != scanner.applied.generation || now.act != scanner.applied.act;
}

/* slurmctld's time stamp of the last change, read without its lock: a late value costs one interval. A function of its
 * own, because the thread sanitizer is told of it by name. */
static __attribute__((noinline)) time_t unlocked_stamp(const time_t* stamp) {
  return *(const volatile time_t*)stamp;
}

/* Nothing can have changed when slurmctld's time stamps are older than the last look. They count seconds, so a change
 * in the very second of the last look may be one that it missed. */
static bool is_anything_new(void) {
  int64_t since_ms = monotonic_ms() - scanner.looked_ms;
  return !scanner.looked_ms || since_ms >= k_look_at_least_ms ||
         unlocked_stamp(&last_job_update) >= scanner.looked_at ||
         unlocked_stamp(&last_node_update) >= scanner.looked_at ||
         (scanner.next_eligible && time(NULL) >= scanner.next_eligible) || atomic_load(&reload_wanted) ||
         order_changed();
}

/* How long to leave the locks alone after a look. */
static int64_t gap_ms(void) {
  int64_t gap = max_of(k_gap_min_ms, k_rest_factor * scanner.held_us / 1000);
  gap = min_of(gap, scanner.options.interval_ms);
  return max_of(gap, k_rest_factor_min * scanner.held_us / 1000);
}

/* How long the next look must still wait, 0: not at all. */
static int64_t rest_ms(void) {
  return scanner.looked_ms ? max_of(0, scanner.looked_ms + gap_ms() - monotonic_ms()) : 0;
}

/* How long to sleep unless something happens. */
static int64_t sleep_time_ms(void) {
  bool busy = unlocked_stamp(&last_job_update) + 1 >= time(NULL);
  int64_t interval = scanner.options.interval_ms;
  return max_of(busy ? min_of(k_busy_interval_ms, interval) : interval, gap_ms());
}

static void* run(void* unused) {
  (void)unused;
  pthread_setname_np(pthread_self(), "shapley-scan");
  bool wanted = true;
  while (!atomic_load(&stopping)) {
    int64_t rest = rest_ms();
    if (wanted && !rest) {
      look_and_write();
      wanted = false;
    }
    switch (shapley_client_wait(scanner.client, (uint32_t)(wanted ? max_of(rest, 1) : sleep_time_ms()))) {
      case SHAPLEY_WAKE_STOP:
        return NULL;
      case SHAPLEY_WAKE_TICK:
        wanted = wanted || is_anything_new();
        break;
      default:
        wanted = true;
    }
  }
  return NULL;
}

/* ---- life --------------------------------------------------------------------------------------- */

/* New threads inherit the mask: slurmctld's signals are for its own signal thread. */
static void block_signals(sigset_t* before) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, before);
}

static shapley_client_t* create_client(const shapley_options_t* options) {
  char spool_path[4096], program[64];
  snprintf(program, sizeof(program), "%s %s", plugin_type, SHAPLEY_VERSION);
  snprintf(spool_path, sizeof(spool_path), "%s/shapley.spool", slurm_conf.state_save_location);
  shapley_client_options_t client_options = {
      .socket_path = options->socket_path,
      .spool_path = spool_path,
      .cluster = slurm_conf.cluster_name,
      .slurm_version = SLURM_VERSION_STRING,
      .program = program,
      .interval_ms = options->interval_ms,
      .min_job_age_s = slurm_conf.min_job_age,
      .spool_max_bytes = options->spool_max_bytes,
      .log = client_log,
  };
  sigset_t before;
  block_signals(&before);
  shapley_client_t* client = shapley_client_create(&client_options);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return client;
}

bool shapley_scanner_open(const shapley_options_t* options) {
  atomic_store(&stopping, false);
  atomic_store(&reload_wanted, false);
  shapley_ranking_read_weights();
  warn_about_min_job_age(options);
  shapley_client_t* client = create_client(options);
  if (!client) {
    error("%s: no client for shapleyd; jobs keep plain multifactor order", plugin_type);
    return false;
  }
  scanner = (scanner_t){.client = client, .options = *options, .started_ms = monotonic_ms()};
  snprintf(scanner.scales_path, sizeof(scanner.scales_path), "%s/shapley.scales", slurm_conf.state_save_location);
  load_scales();
  shapley_gate_open(&gate);
  return true;
}

void shapley_scanner_start(void) {
  if (!scanner.client || thread_runs) return;
  sigset_t before;
  block_signals(&before);
  int fault = pthread_create(&thread, NULL, run, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  thread_runs = fault == 0;
  if (fault) error("%s: no scanning thread: %s; jobs keep plain multifactor order", plugin_type, slurm_strerror(fault));
}

void shapley_scanner_stop(void) {
  shapley_client_t* client = scanner.client;
  if (!client) return;
  atomic_store(&stopping, true);
  shapley_client_stop(client);
  if (thread_runs) pthread_join(thread, NULL);
  thread_runs = false;
  shapley_gate_close(&gate);
  shapley_client_destroy(client);
  shapley_records_free(&scanner.records);
  free(scanner.rewrites);
  scanner = (scanner_t){0};
}

/* ---- callbacks of slurmctld's threads ----------------------------------------------------------- */

void shapley_scanner_rank(job_record_t* job) {
  if (!shapley_gate_enter(&gate)) return;
  if (IS_JOB_PENDING(job) && !IS_JOB_REVOKED(job) && !(job->direct_set_prio && job->priority)) {
    shapley_ranking_t ranking = shapley_ranking_now(scanner.client);
    /* A scale that is not on disk yet waits for the thread: this caller must not. */
    shapley_scale_t scale = shapley_ranking_scale(&ranking);
    if (ranking.order.act && shapley_scales_know(&scales, &scale))
      job->site_factor = shapley_wanted_site_factor_of(&ranking, job);
  }
  shapley_client_hint(scanner.client);
  shapley_gate_leave(&gate);
}

void shapley_scanner_hint(void) {
  if (!shapley_gate_enter(&gate)) return;
  shapley_client_hint(scanner.client);
  shapley_gate_leave(&gate);
}

void shapley_scanner_reload(void) {
  atomic_store(&reload_wanted, true);
  shapley_scanner_hint();
}
