#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>

#include "plugin/front.h"
#include "plugin/priority/writer.h"
#include "plugin/scan/scan.h"
#include "plugin/slurm/slurm_compat.h"
#include "plugin/threads.h"

enum {
  /* While jobs change, scan this often: a requeued run's exact end is in its record only until its nodes are clean. */
  k_look_ms = 100,
  /* slurmctld's counters of starts and ends are looked at this often, because neither gives a hint. A run that ends
   * keeps its nodes until its epilog is over: a scan in that time gives the jobs that wait their places before the
   * scheduling pass that the end makes possible. */
  k_glance_ms = 5,
  /* Two scans are at least this far apart, however many hints come in. */
  k_min_gap_ms = 10,
  /* Rest at least this many times as long as the last scan held the locks: 5 % of a core and of the locks. Where the
   * interval asks for more the interval wins, up to the 20 % of the second factor. */
  k_rest_factor = 20,
  k_rest_factor_min = 4,
  /* A scan of runs is short; the next one waits so many times its processor time: 5 % of a core. On a busy machine it
   * holds the locks for longer than that, and news must not wait for the difference twenty times: 20 % of the locks at
   * most. */
  k_runs_rest_factor = 20,
  k_runs_rest_factor_min = 4,
  /* What has started and ended is looked for by itself before a whole scan that will take about so long. */
  k_long_scan_us = 10 * 1000,
  /* Scan this often though nothing seems to have changed: backfill may write a stale priority without a time stamp. */
  k_scan_at_least_ms = 5000,
};

static shapley_client_t* client;
static shapley_scan_t scan;
/* Before the last scan. */
static struct {
  uint64_t starts_and_ends;
  time_t job_stamp, node_stamp;
} seen;
static int64_t looked_ms; /* when the time stamps were looked at last */
static pthread_t thread;
static bool thread_runs;
static atomic_bool stopping;

static int64_t max_of(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static int64_t min_of(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* ---- when to scan ------------------------------------------------------------------------------- */

/* slurmctld's time stamp of the last change, read without its lock: a late value costs one interval. A function of its
 * own, because the thread sanitizer's list of exceptions names it. */
static __attribute__((noinline)) time_t unlocked_stamp(const time_t* stamp) {
  return *(const volatile time_t*)stamp;
}

/* Nothing can have changed when slurmctld's time stamps are older than the last scan. They count seconds, so the last
 * scan may have missed a change of its own second. */
static bool is_anything_new(void) {
  return !scan.ended_ms || monotonic_ms() - scan.ended_ms >= k_scan_at_least_ms ||
         unlocked_stamp(&last_job_update) >= scan.started_at || unlocked_stamp(&last_node_update) >= scan.started_at ||
         (scan.next_eligible && time(NULL) >= scan.next_eligible) || shapley_configuration_is_expired() ||
         shapley_writer_is_due();
}

/* Starts, and ends of all kinds, as slurmctld counts them for sdiag; read without its lock, and reset at midnight. */
static __attribute__((noinline)) uint64_t unlocked_count(void) {
  const volatile diag_stats_t* counters = &slurmctld_diag_stats;
  return (uint64_t)counters->jobs_started + counters->jobs_completed + counters->jobs_canceled + counters->jobs_failed;
}

static void note_seen(void) {
  seen.starts_and_ends = unlocked_count();
  seen.job_stamp = unlocked_stamp(&last_job_update);
  seen.node_stamp = unlocked_stamp(&last_node_update);
}

/* What a glance shows: a start, an end, or the first change of a second. */
static bool is_anything_seen(void) {
  return unlocked_count() != seen.starts_and_ends || unlocked_stamp(&last_job_update) != seen.job_stamp ||
         unlocked_stamp(&last_node_update) != seen.node_stamp;
}

static bool is_look_due(void) {
  int64_t now = monotonic_ms();
  if (now - looked_ms < min_of(k_look_ms, shapley_configuration_interval_ms())) return false;
  looked_ms = now;
  return true;
}

/* How long to leave the locks alone after a scan. */
static int64_t gap_ms(void) {
  int64_t gap = max_of(k_min_gap_ms, k_rest_factor * scan.held_us / 1000);
  gap = min_of(gap, shapley_configuration_interval_ms());
  return max_of(gap, k_rest_factor_min * scan.held_us / 1000);
}

/* How long the next scan must still wait, 0: not at all. */
static int64_t rest_ms(void) {
  return scan.ended_ms ? max_of(0, scan.ended_ms + gap_ms() - monotonic_ms()) : 0;
}

/* The same for the next scan of runs; the whole scan sees them, too. */
static int64_t runs_rest_ms(void) {
  int64_t gap = max_of(k_runs_rest_factor * scan.runs_used_us, k_runs_rest_factor_min * scan.runs_held_us) / 1000;
  gap = max_of(gap, k_min_gap_ms);
  return max_of(0, max_of(scan.ended_ms, scan.runs_ended_ms) + gap - monotonic_ms());
}

static bool may_runs_be_new(void) {
  time_t since = scan.runs_started_at > scan.started_at ? scan.runs_started_at : scan.started_at;
  return unlocked_stamp(&last_job_update) >= since || unlocked_stamp(&last_node_update) >= since;
}

/* How long to sleep where a scan is wanted and must rest. */
static int64_t pause_ms(void) {
  int64_t runs_rest = scan.complete ? max_of(runs_rest_ms(), k_min_gap_ms) : INT64_MAX;
  return max_of(min_of(rest_ms(), runs_rest), 1);
}

/* ---- the thread --------------------------------------------------------------------------------- */

/* A whole scan must rest for longer than the next start should wait for what has ended since. */
static bool scan_runs(void) {
  if (!scan.complete || runs_rest_ms() || !may_runs_be_new()) return false;
  shapley_scan_runs(&scan);
  debug2("%s: scanned the runs in %" PRId64 " us", plugin_type, scan.runs_held_us);
  return true;
}

/* While many priorities are written. */
static void scan_runs_when_due(void) {
  (void)scan_runs();
}

/* Before a whole scan, while it must still rest, or will take long. */
static void scan_runs_and_write(void) {
  if (!rest_ms() && scan.held_us < k_long_scan_us) return;
  if (scan_runs()) shapley_writer_write_places(&stopping);
}

static void scan_and_write(void) {
  note_seen();
  shapley_scan_run(&scan);
  debug2("%s: scanned the jobs in %" PRId64 " us; %zu skipped, %zu to write", plugin_type, scan.held_us, scan.skipped,
         shapley_writer_noted());
  shapley_writer_write(scan.complete, &stopping, scan_runs_when_due);
}

static void* run(void* unused) {
  (void)unused;
  pthread_setname_np(pthread_self(), "shapley-scan");
  bool wanted = true;
  while (!atomic_load(&stopping)) {
    if (wanted) scan_runs_and_write();
    if (wanted && !rest_ms()) {
      scan_and_write();
      wanted = false;
    }
    switch (shapley_client_wait(client, (uint32_t)(wanted ? pause_ms() : k_glance_ms))) {
      case SHAPLEY_WAKE_STOP:
        return NULL;
      case SHAPLEY_WAKE_TICK:
        wanted = wanted || is_anything_seen() || (is_look_due() && is_anything_new());
        break;
      default:
        wanted = true;
    }
  }
  return NULL;
}

void shapley_timer_start(shapley_client_t* of) {
  if (thread_runs) return;
  client = of;
  scan = (shapley_scan_t){.records.client = of};
  atomic_store(&stopping, false);
  sigset_t before;
  shapley_block_signals(&before);
  int fault = pthread_create(&thread, NULL, run, NULL);
  shapley_restore_signals(&before);
  thread_runs = fault == 0;
  if (fault) error("%s: no scanning thread: %s; jobs keep plain multifactor order", plugin_type, slurm_strerror(fault));
}

void shapley_timer_stop(shapley_client_t* of) {
  atomic_store(&stopping, true);
  shapley_client_stop(of);
  if (thread_runs) pthread_join(thread, NULL);
  thread_runs = false;
  shapley_scan_free(&scan);
}
