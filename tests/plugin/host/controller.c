#include "tests/plugin/host/controller.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/plugin/host/records.h"

#if __has_include("src/interfaces/priority.h")
#include "src/interfaces/priority.h"
#else
#include "src/common/slurm_priority.h"
#endif

/* ---- symbols of slurmctld's executable ---------------------------------------------------------- */

int slurmctld_tres_cnt = k_host_tres;
time_t last_job_update;
uint32_t cluster_cpus = k_host_nodes * k_host_node_cpus; /* the stock plugin sees by it that it is in slurmctld */
__typeof__(job_list) job_list;
__typeof__(part_list) part_list;
__typeof__(resv_list) resv_list;
__typeof__(avail_node_bitmap) avail_node_bitmap;
diag_stats_t slurmctld_diag_stats;
#if SHAPLEY_SLURM_AT_LEAST(25, 5, 0)
uint32_t slurm_daemon = IS_SLURMCTLD; /* before, log_init's name says which daemon this is */
#endif

static job_record_t* by_id[k_max_host_jobs];
static atomic_uint next_id = 1;
static atomic_ullong started;

job_record_t* find_job_record(uint32_t job_id) {
  return job_id < k_max_host_jobs ? by_id[job_id] : NULL;
}

void queue_job_scheduler(void) {}

/* No job here asks for licenses. */
int license_job_test(job_record_t* job, time_t when, bool reboot) {
  (void)job, (void)when, (void)reboot;
  return SLURM_SUCCESS;
}

__typeof__(license_copy(NULL)) license_copy(__typeof__(license_copy(NULL)) licenses) {
  return licenses;
}

/* No array is split here: slurmctld's own code, which does it, is not in this program. As when memory is short. */
#if SHAPLEY_SLURM_AT_LEAST(24, 11, 0)
job_record_t* job_array_split(job_record_t* job, bool list_add) {
  (void)job, (void)list_add;
  return NULL;
}
#else
job_record_t* job_array_split(job_record_t* job) {
  (void)job;
  return NULL;
}
#endif
#if SHAPLEY_SLURM_AT_LEAST(26, 5, 0)
void slurm_job_state_set(job_record_t* job, uint32_t state, const char* caller) {
  (void)caller;
  job->job_state = state;
}
#elif SHAPLEY_SLURM_AT_LEAST(23, 11, 5)
void job_state_set(job_record_t* job, uint32_t state) {
  job->job_state = state;
}
#endif

/* What the stock plugin calls: who may see which job, and the billing of a run, are not what this is about. */
part_record_t* find_part_record(char* name) {
  return host_find_partition(name);
}
bool validate_operator(uid_t user) {
  (void)user;
  return true;
}
double calc_job_billable_tres(job_record_t* job, time_t start_time, bool locked) {
  (void)job, (void)start_time, (void)locked;
  return 0;
}

/* ---- opening and closing ------------------------------------------------------------------------ */

static void forget_job(void* element) {
  job_record_t* job = element;
  by_id[job->job_id] = NULL;
  host_job_free(job);
}

void host_open(const char* slurm_conf_path, const char* log_path) {
  log_options_t quiet = LOG_OPTS_INITIALIZER;
  quiet.stderr_level = LOG_LEVEL_QUIET;
  quiet.logfile_level = LOG_LEVEL_DEBUG;
  log_init("slurmctld", quiet, 0, (char*)(uintptr_t)log_path);
  slurm_conf_init(slurm_conf_path);
  job_list = list_create(forget_job);
  resv_list = list_create(host_reservation_free);
  host_tables_make(0);
  host_associations_move();
}

void host_log_scans(void) {
  log_options_t detailed = LOG_OPTS_INITIALIZER;
  detailed.stderr_level = LOG_LEVEL_QUIET;
  detailed.logfile_level = LOG_LEVEL_DEBUG2;
  log_alter(detailed, 0, NULL);
}

void host_close(void) {
  host_purge_everything();
  list_destroy(job_list);
  job_list = NULL;
  list_destroy(resv_list);
  resv_list = NULL;
  host_tables_free();
  slurm_conf_destroy();
  log_fini();
}

void host_load_plugin(void) {
  if (priority_g_init() != SLURM_SUCCESS) host_fail("the plugin does not load; see the log");
#if SHAPLEY_SLURM_AT_LEAST(23, 11, 6)
  priority_g_thread_start();
#endif
}

void host_unload_plugin(void) {
  if (priority_g_fini() != SLURM_SUCCESS) host_fail("the plugin does not unload");
}

/* ---- acts --------------------------------------------------------------------------------------- */

/* What _slurm_rpc_submit_batch_job and the scheduler take. */
static const slurmctld_lock_t k_change = {
    .conf = READ_LOCK, .job = WRITE_LOCK, .node = WRITE_LOCK, .part = READ_LOCK, .fed = READ_LOCK};
static const slurmctld_lock_t k_read = {.conf = READ_LOCK, .job = READ_LOCK, .node = READ_LOCK, .part = READ_LOCK};
static const slurmctld_lock_t k_reconfigure = {
    .conf = WRITE_LOCK, .job = WRITE_LOCK, .node = WRITE_LOCK, .part = WRITE_LOCK};

static void submit(uint64_t random) {
  uint32_t id = atomic_fetch_add(&next_id, 1);
  if (id >= k_max_host_jobs) host_fail("more jobs than the host has room for");
  job_record_t* job = host_job_make(id, random);
  job->priority = priority_g_set(1, job);
  by_id[id] = job;
  list_append(job_list, job);
}

static void start(job_record_t* job, uint64_t random) {
  if (!IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job) || !job->priority) return;
  host_job_start(job, random);
  atomic_fetch_add(&started, 1);
}

/* Slurm calls priority_p_job_end under the same locks, before the record's nodes are given back. */
static void end(job_record_t* job, uint32_t state) {
  if (IS_JOB_FINISHED(job) || (IS_JOB_PENDING(job) && IS_JOB_COMPLETING(job))) return;
  if (!IS_JOB_PENDING(job)) priority_g_job_end(job);
  host_job_end(job, state);
}

static void requeue(job_record_t* job) {
  if (!IS_JOB_RUNNING(job)) return;
  priority_g_job_end(job);
  host_job_requeue(job);
  job->priority = priority_g_set(1, job);
}

static void hold_or_release(job_record_t* job) {
  if (!IS_JOB_PENDING(job)) return;
  job->priority = job->priority ? 0 : priority_g_set(1, job);
}

static int is_old(void* element, void* unused) {
  (void)unused;
  const job_record_t* job = element;
  return IS_JOB_FINISHED(job) && !IS_JOB_COMPLETING(job) && job->end_time + k_host_min_job_age_s < time(NULL);
}

static void sprio(void) {
#if SHAPLEY_SLURM_AT_LEAST(24, 5, 0)
  shapley_list_t factors = priority_g_get_priority_factors_list(0);
#else
  priority_factors_request_msg_t request = {0};
  shapley_list_t factors = priority_g_get_priority_factors_list(&request, 0);
#endif
  if (factors) list_destroy(factors);
}

static void list_jobs(void) {
  lock_slurmctld(k_read);
  (void)list_count(job_list);
  unlock_slurmctld(k_read);
}

/* Which act, of twelve; starts and ends are the most frequent. */
static void act_on(job_record_t* job, uint64_t random) {
  uint64_t act = random % 12;
  if (act < 4)
    start(job, random >> 8);
  else if (act < 6)
    end(job, IS_JOB_PENDING(job) ? JOB_CANCELLED : JOB_COMPLETE);
  else if (act == 6)
    end(job, JOB_CANCELLED);
  else if (act == 7)
    requeue(job);
  else if (act == 8)
    hold_or_release(job);
  else if (act == 9)
    host_job_suspend_or_resume(job);
  else
    host_job_clean(job);
}

/* One of the last few hundred jobs, so that each sees several acts. */
static job_record_t* recent_job(uint64_t random) {
  uint32_t newest = atomic_load(&next_id), span = newest < 400 ? newest : 400;
  return find_job_record(newest - 1 - (uint32_t)(random % span));
}

static void change_something(uint64_t kind, uint64_t random) {
  lock_slurmctld(k_change);
  if (kind < 16) {
    submit(random);
  } else if (kind == 16) {
    list_delete_all(job_list, is_old, NULL);
  } else if (kind == 17) {
    host_node_flip(random);
  } else if (kind == 18) {
    host_reservation_flip();
  } else {
    job_record_t* job = recent_job(random);
    if (job) act_on(job, random >> 16);
  }
  last_job_update = time(NULL);
  unlock_slurmctld(k_change);
}

void host_submit(uint64_t random) {
  change_something(0, random);
}

void host_act(uint64_t random) {
  uint64_t kind = random % 64, rest = random >> 6;
  if (kind == 0)
    sprio();
  else if (kind < 4)
    list_jobs();
  else
    change_something(kind, rest);
}

static int follow_tables(void* element, void* unused) {
  (void)unused;
  host_job_follow_tables(element);
  return 0;
}

void host_reconfigure(uint64_t random) {
  lock_slurmctld(k_reconfigure);
  host_tables_make(random);
  host_reservation_follow_tables();
  list_for_each(job_list, follow_tables, NULL);
  last_job_update = time(NULL);
  unlock_slurmctld(k_reconfigure);
  priority_g_reconfig(true);
}

void host_refresh_associations(void) {
  assoc_mgr_lock_t locks = {.assoc = WRITE_LOCK, .qos = WRITE_LOCK, .user = WRITE_LOCK};
  assoc_mgr_lock(&locks);
  host_associations_move();
  assoc_mgr_unlock(&locks);
}

/* A symbol of a plugin that is mapped. Ours stays so after it was unloaded (-z nodelete), which makes a late call safe.
 */
static void* plugin_symbol(const char* file, const char* name) {
  void* plugin = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
  if (!plugin) host_fail("the plugin is not mapped any more");
  void* symbol = dlsym(plugin, name);
  dlclose(plugin);
  if (!symbol) host_fail("the plugin has no such symbol");
  return symbol;
}

void host_late_call(void) {
  uint32_t (*set)(uint32_t, job_record_t*);
  void (*job_end)(job_record_t*);
  *(void**)&set = plugin_symbol(SHAPLEY_PLUGIN_FILE, "priority_p_set");
  *(void**)&job_end = plugin_symbol(SHAPLEY_PLUGIN_FILE, "priority_p_job_end");
  lock_slurmctld(k_change);
  job_record_t* job = host_job_make(0, 0);
  job->priority = 1;
  job->priority = set(1, job);
  if (!job->priority) host_fail("a late priority_p_set took the job's priority away");
  job_end(job);
  host_job_free(job);
  unlock_slurmctld(k_change);
}

/* ---- single calls ------------------------------------------------------------------------------- */

typedef uint32_t (*set_t)(uint32_t, job_record_t*);

static set_t shapley_set, multifactor_set;
static job_record_t* set_jobs[k_host_organizations];

bool host_set_ranks_a_job(void) {
  lock_slurmctld(k_change);
  job_record_t* job = host_job_make(0, 1);
  priority_g_set(1, job);
  bool ranked = job->site_factor != NICE_OFFSET;
  host_job_free(job);
  unlock_slurmctld(k_change);
  return ranked;
}

void host_set_prepare(void) {
  *(void**)&shapley_set = plugin_symbol(SHAPLEY_PLUGIN_FILE, "priority_p_set");
  *(void**)&multifactor_set = plugin_symbol(SLURM_PLUGIN_FOLDER "/priority_multifactor.so", "priority_p_set");
  lock_slurmctld(k_change);
  for (uint64_t i = 0; i < k_host_organizations; i++) set_jobs[i] = host_job_make(0, i);
}

static void set_times(set_t set, unsigned times) {
  for (unsigned i = 0; i < times; i++) {
    job_record_t* job = set_jobs[i % k_host_organizations];
    job->priority = set(1, job);
  }
}

void host_set_shapley(unsigned times) {
  set_times(shapley_set, times);
}

void host_set_multifactor(unsigned times) {
  set_times(multifactor_set, times);
}

void host_set_done(void) {
  for (size_t i = 0; i < k_host_organizations; i++) host_job_free(set_jobs[i]);
  unlock_slurmctld(k_change);
}

/* ---- the end ------------------------------------------------------------------------------------ */

static int is_any(void* element, void* unused) {
  (void)unused;
  (void)element;
  return 1;
}

void host_purge_everything(void) {
  lock_slurmctld(k_change);
  list_delete_all(job_list, is_any, NULL);
  last_job_update = time(NULL);
  atomic_store(&next_id, 1); /* how many jobs the load submits depends on the machine; the ids never run out */
  unlock_slurmctld(k_change);
}

/* ---- what is true ------------------------------------------------------------------------------- */

typedef struct {
  host_truth_t* jobs;
  size_t count, capacity;
} truths_t;

static void visit_jobs(ListForF visit, void* to) {
  lock_slurmctld(k_read);
  list_for_each(job_list, visit, to);
  unlock_slurmctld(k_read);
}

static int add_truth(void* element, void* to) {
  truths_t* truths = to;
  if (truths->count < truths->capacity) truths->jobs[truths->count++] = host_job_truth(element);
  return 0;
}

size_t host_truth(host_truth_t* jobs, size_t capacity) {
  truths_t truths = {.jobs = jobs, .capacity = capacity};
  visit_jobs(add_truth, &truths);
  return truths.count;
}

bool host_is_reserved(const char* node) {
  lock_slurmctld(k_read);
  bool reserved = host_reservation_holds(node);
  unlock_slurmctld(k_read);
  return reserved;
}

typedef struct {
  const char* const* order;
  size_t organizations;
  uint32_t lowest[k_host_organizations], highest[k_host_organizations];
} spans_t;

/* A job whose run before a requeue still completes could not start, and is not in line. */
static bool could_start(const job_record_t* job) {
  return IS_JOB_PENDING(job) && !IS_JOB_COMPLETING(job) && job->priority;
}

static int add_to_spans(void* element, void* to) {
  spans_t* spans = to;
  const job_record_t* job = element;
  if (!could_start(job)) return 0;
  for (size_t i = 0; i < spans->organizations; i++) {
    if (strcmp(job->account, spans->order[i])) continue;
    if (job->priority < spans->lowest[i]) spans->lowest[i] = job->priority;
    if (job->priority > spans->highest[i]) spans->highest[i] = job->priority;
  }
  return 0;
}

bool host_priorities_follow(const char* const* order, size_t organizations) {
  spans_t spans = {.order = order, .organizations = organizations};
  memset(spans.lowest, 0xff, sizeof(spans.lowest));
  visit_jobs(add_to_spans, &spans);
  for (size_t above = 0; above < organizations; above++)
    for (size_t below = above + 1; below < organizations; below++)
      if (spans.lowest[above] <= spans.highest[below]) return false;
  return true;
}

typedef struct {
  host_waiting_t* jobs;
  size_t count, capacity;
} waitings_t;

static int add_waiting(void* element, void* to) {
  waitings_t* waitings = to;
  const job_record_t* job = element;
  if (!IS_JOB_PENDING(job) || IS_JOB_COMPLETING(job) || !job->priority || waitings->count == waitings->capacity)
    return 0;
  waitings->jobs[waitings->count++] =
      (host_waiting_t){.job_id = job->job_id,
                       .priority = job->priority,
                       .organization = host_job_organization(job),
                       .nodes = job->job_id % k_host_placements * 2 + (job->partition[0] == 'm')};
  return 0;
}

size_t host_waiting(host_waiting_t* jobs, size_t capacity) {
  waitings_t waitings = {.jobs = jobs, .capacity = capacity};
  visit_jobs(add_waiting, &waitings);
  return waitings.count;
}

uint64_t host_submitted(void) {
  return atomic_load(&next_id) - 1;
}

uint64_t host_started(void) {
  return atomic_load(&started);
}
