/* What the plugin reads in the record of a job that waits: why it waits, what it depends on, how long it may run. */
#include "plugin/scan/records.h"
#include "tests/plugin/check.h"
#include "tests/plugin/made_record.h"

/* slurmctld's own, weak in the plugin. */
int slurmctld_tres_cnt = 3;

/* ---- why it waits ------------------------------------------------------------------------------- */

static void test_wait_reasons(void) {
  const struct {
    uint32_t reason;
    enum shapley_wait_reason wait;
  } reasons[] = {
      {WAIT_NO_REASON, SHAPLEY_WAIT_STARTABLE},
      {WAIT_PRIORITY, SHAPLEY_WAIT_STARTABLE},
      {WAIT_RESOURCES, SHAPLEY_WAIT_STARTABLE},
      {WAIT_TIME, SHAPLEY_WAIT_STARTABLE}, /* its begin time is past */
      {WAIT_DEPENDENCY, SHAPLEY_WAIT_DEPENDENCY},
      {WAIT_DEP_INVALID, SHAPLEY_WAIT_DEPENDENCY},
      {WAIT_ARRAY_TASK_LIMIT, SHAPLEY_WAIT_ARRAY_LIMIT},
      {WAIT_ASSOC_JOB_LIMIT, SHAPLEY_WAIT_ACCOUNT_LIMIT},
      {WAIT_ASSOC_GRP_CPU, SHAPLEY_WAIT_ACCOUNT_LIMIT},
      {WAIT_ASSOC_MAX_GRES_PER_JOB, SHAPLEY_WAIT_ACCOUNT_LIMIT},
      {WAIT_QOS_MAX_CPU_PER_USER, SHAPLEY_WAIT_ACCOUNT_LIMIT},
      {WAIT_QOS_MIN_BILLING, SHAPLEY_WAIT_ACCOUNT_LIMIT},
      {WAIT_QOS_MAX_CPU_PER_ACCT, SHAPLEY_WAIT_ACCOUNT_LIMIT},
      {WAIT_QOS, SHAPLEY_WAIT_ACCOUNT_LIMIT},
      {WAIT_ACCOUNT, SHAPLEY_WAIT_ACCOUNT_LIMIT},
      {WAIT_ACCOUNT_POLICY, SHAPLEY_WAIT_ACCOUNT_LIMIT},
      {WAIT_PART_DOWN, SHAPLEY_WAIT_OTHER},
      {WAIT_PART_INACTIVE, SHAPLEY_WAIT_OTHER},
      {WAIT_RESERVATION, SHAPLEY_WAIT_OTHER},
      {WAIT_NODE_NOT_AVAIL, SHAPLEY_WAIT_OTHER},
      {WAIT_LICENSES, SHAPLEY_WAIT_OTHER},
      {FAIL_ACCOUNT, SHAPLEY_WAIT_OTHER},
  };
  made_t made;
  make(&made);
  for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
    made.record.state_reason = reasons[i].reason;
    shapley_job_t job = read_job(&made);
    if (job.wait != reasons[i].wait) fprintf(stderr, "reason %s:\n", shapley_reason_name(reasons[i].reason));
    CHECK_EQ(job.wait, reasons[i].wait);
  }
  made.record.state_reason = WAIT_RESOURCES;
  made.details.begin_time = k_now + 1;
  CHECK_EQ(read_job(&made).wait, SHAPLEY_WAIT_BEGIN_TIME);
  made.record.priority = 0; /* held goes before all of them */
  CHECK_EQ(read_job(&made).wait, SHAPLEY_WAIT_HELD);
  /* A nice value that orders its organization's own jobs, one more, and the largest that sbatch takes. */
  make(&made);
  made.details.nice = NICE_OFFSET + 10000;
  CHECK_EQ(read_job(&made).wait, SHAPLEY_WAIT_STARTABLE);
  const uint32_t beyond[] = {10001, 2147483645};
  for (size_t i = 0; i < 2; i++) {
    made.details.nice = NICE_OFFSET + beyond[i];
    CHECK_EQ(read_job(&made).wait, SHAPLEY_WAIT_NICE);
  }
  made.record.priority = 0;
  CHECK_EQ(read_job(&made).wait, SHAPLEY_WAIT_HELD);
  make(&made);
  made.record.job_state = JOB_PENDING | JOB_REVOKED; /* elsewhere in a federation */
  CHECK_EQ(read_job(&made).wait, SHAPLEY_WAIT_HELD);
}

static void test_array_rest(void) {
  made_t made;
  make(&made);
  made.record.array_job_id = made.record.job_id;
  made.record.array_recs = &made.array;
  made.array.task_cnt = 10;
  CHECK_EQ(read_job(&made).pending_tasks, 10);
  made.array.max_run_tasks = 4;
  CHECK_EQ(read_job(&made).pending_tasks, 4);
  made.array.tot_run_tasks = 3;
  shapley_job_t job = read_job(&made);
  CHECK_EQ(job.pending_tasks, 1);
  CHECK_EQ(job.wait, SHAPLEY_WAIT_STARTABLE);
  CHECK_EQ(job.array_task_id, -1);
  made.array.tot_run_tasks = 4;
  CHECK_EQ(read_job(&made).wait, SHAPLEY_WAIT_ARRAY_LIMIT);
  made.array.tot_run_tasks = 2; /* room again; the reason is older than that */
  made.record.state_reason = WAIT_ARRAY_TASK_LIMIT;
  job = read_job(&made);
  CHECK_EQ(job.wait, SHAPLEY_WAIT_STARTABLE);
  CHECK_EQ(job.pending_tasks, 2);
  made.details.begin_time = 0; /* the scheduler has not looked at it yet */
  CHECK_EQ(read_job(&made).wait, SHAPLEY_WAIT_OTHER);
  made.record.array_task_id = 9; /* the last task keeps the counters and is a job like others */
  job = read_job(&made);
  CHECK_EQ(job.array_task_id, 9);
  CHECK_EQ(job.pending_tasks, 1);
  CHECK_EQ(job.wait, SHAPLEY_WAIT_OTHER); /* nor at a task that was split off before */
  made.record.state_reason = WAIT_PRIORITY;
  made.details.begin_time = 1000;
  job = read_job(&made);
  CHECK_EQ(job.wait, SHAPLEY_WAIT_STARTABLE);
  CHECK_EQ(job.eligible_time, 1000);
}

/* ---- what it depends on, and how long it may run ------------------------------------------------- */

static void depend_on(made_t* made, depend_spec_t* specs, const uint32_t* ids, size_t count) {
  made->details.depend_list = list_create(NULL);
  for (size_t i = 0; i < count; i++) {
    specs[i] =
        (depend_spec_t){.job_id = ids[i], .depend_type = ids[i] ? SLURM_DEPEND_AFTER_OK : SLURM_DEPEND_SINGLETON};
    list_append(made->details.depend_list, &specs[i]);
  }
}

static void test_dependencies(void) {
  made_t made;
  depend_spec_t specs[5];
  make(&made);
  CHECK_EQ(read_job(&made).depends_on_count, 0);
  uint64_t free = fingerprint(&made);
  depend_on(&made, specs, (const uint32_t[]){9, 0, 4, 9, 300}, 5); /* 0: a singleton names no job */
  shapley_job_t job = read_job(&made);
  CHECK_EQ(job.depends_on_count, 3);
  CHECK_EQ(job.depends_on[0], 4);
  CHECK_EQ(job.depends_on[1], 9);
  CHECK_EQ(job.depends_on[2], 300);
  uint64_t dependent = fingerprint(&made);
  CHECK(dependent != free);
  specs[4].job_id = 301;
  CHECK(fingerprint(&made) != dependent);
  list_flush(made.details.depend_list); /* as Slurm does when all is fulfilled */
  CHECK_EQ(read_job(&made).depends_on_count, 0);
  CHECK(fingerprint(&made) == free);
  list_destroy(made.details.depend_list);
}

static void test_a_list_of_thousands_is_cut(void) {
  static depend_spec_t specs[3000];
  static uint32_t ids[3000];
  made_t made;
  make(&made);
  for (uint32_t i = 0; i < 3000; i++) ids[i] = 5000 - i;
  depend_on(&made, specs, ids, 3000);
  shapley_job_t job = read_job(&made);
  CHECK_EQ(job.depends_on_count, k_shapley_max_depends_on);
  CHECK_EQ(job.depends_on[k_shapley_max_depends_on - 1], 5000); /* the first entries of Slurm's list, sorted */
  CHECK_EQ(job.depends_on[0], 5000 - (k_shapley_max_depends_on - 1));
  list_destroy(made.details.depend_list);
}

static void test_time_limit(void) {
  made_t made;
  make(&made);
  uint64_t unlimited = fingerprint(&made);
  made.record.time_limit = 90;
  CHECK_EQ(read_job(&made).time_limit_s, 5400);
  CHECK(fingerprint(&made) != unlimited);
  const uint32_t none[] = {0, NO_VAL, INFINITE, UINT32_MAX / 60 + 1};
  for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
    made.record.time_limit = none[i];
    CHECK_EQ(read_job(&made).time_limit_s, 0);
    CHECK(fingerprint(&made) == unlimited);
  }
  made.record.time_limit = UINT32_MAX / 60;
  CHECK_EQ(read_job(&made).time_limit_s, UINT32_MAX / 60 * 60);
}

/* ---- the quick hash ----------------------------------------------------------------------------- */

static uint64_t quick_hash_with(uint32_t state, uint32_t priority, uint32_t reason, uint32_t site_factor,
                                uint16_t restarts) {
  made_t made;
  make(&made);
  made.record.job_state = state;
  made.record.priority = priority;
  made.record.state_reason = reason;
  made.record.site_factor = site_factor;
  made.record.restart_cnt = restarts;
  return shapley_quick_hash(&made.record);
}

static void test_the_quick_hash_shows_what_slurmctld_does(void) {
  uint64_t waits = quick_hash_with(JOB_PENDING, 5, WAIT_PRIORITY, 7, 0);
  CHECK(waits != 0);
  CHECK(waits == quick_hash_with(JOB_PENDING, 5, WAIT_PRIORITY, 7, 0));
  const uint64_t others[] = {
      quick_hash_with(JOB_PENDING | JOB_COMPLETING, 5, WAIT_PRIORITY, 7, 0),
      quick_hash_with(JOB_PENDING, 0, WAIT_PRIORITY, 7, 0),
      quick_hash_with(JOB_PENDING, 6, WAIT_PRIORITY, 7, 0),
      quick_hash_with(JOB_PENDING, 5, WAIT_RESOURCES, 7, 0),
      quick_hash_with(JOB_PENDING, 5, WAIT_PRIORITY, 8, 0),
      quick_hash_with(JOB_PENDING, 5, WAIT_PRIORITY, 7, 1),
  };
  for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) CHECK(others[i] != waits);
  CHECK(quick_hash_with(JOB_RUNNING, 5, WAIT_PRIORITY, 7, 0) == 0);
  CHECK(quick_hash_with(JOB_CANCELLED, 5, WAIT_PRIORITY, 7, 0) == 0);
}

/* A partition that goes down changes no record of its jobs until the scheduler tries them. */
static void test_partitions_that_start_no_jobs(void) {
  made_t made;
  part_record_t drained = {.name = "drained", .state_up = PARTITION_DRAIN};
  make(&made);
  uint64_t open = shapley_quick_hash(&made.record);
  CHECK(!shapley_is_closed_out(&made.record));
  made.partition.state_up = PARTITION_INACTIVE;
  CHECK(shapley_is_closed_out(&made.record));
  made.partition.state_up = PARTITION_DOWN;
  CHECK(shapley_is_closed_out(&made.record));
  CHECK(shapley_quick_hash(&made.record) != open);
  made.record.part_ptr_list = list_create(NULL);
  list_append(made.record.part_ptr_list, &made.partition);
  CHECK(shapley_is_closed_out(&made.record));
  list_append(made.record.part_ptr_list, &drained); /* it takes no more jobs, and starts those that it has */
  CHECK(!shapley_is_closed_out(&made.record));
  CHECK(shapley_quick_hash(&made.record) == open);
  list_destroy(made.record.part_ptr_list);
  made.record.part_ptr_list = NULL;
  made.record.part_ptr = NULL; /* its partition was deleted */
  CHECK(!shapley_is_closed_out(&made.record));
}

/* Whether the quick hash was handed to the client with the job. */
static bool suffices(const made_t* made) {
  (void)read_job(made);
  return handed.quick_hash != 0;
}

/* The earliest begin time to come is kept, because no time stamp of slurmctld says when it passes. */
static void test_the_earliest_begin_time_is_kept(void) {
  made_t made;
  CHECK(shapley_records_begin(&records, k_now, (size_t)slurmctld_tres_cnt));
  make(&made);
  (void)read_job(&made); /* eligible since long */
  CHECK_EQ(records.next_eligible, 0);
  for (int later = 30; later > 0; later -= 10) {
    made.details.begin_time = k_now + later;
    (void)read_job(&made);
    CHECK_EQ(records.next_eligible, k_now + later);
  }
  made.details.begin_time = k_now + 20;
  (void)read_job(&made);
  CHECK_EQ(records.next_eligible, k_now + 10);
  CHECK(shapley_records_begin(&records, k_now, (size_t)slurmctld_tres_cnt));
  CHECK_EQ(records.next_eligible, 0);
}

static void test_when_the_quick_hash_suffices(void) {
  made_t made;
  make(&made);
  CHECK(suffices(&made));
  made.details.begin_time = k_now + 1; /* passes by the clock */
  CHECK(!suffices(&made));
  make(&made);
  made.record.array_recs = &made.array; /* has counters of its own */
  CHECK(!suffices(&made));
  make(&made);
  made.record.job_state = JOB_PENDING | JOB_COMPLETING; /* its run is still ending */
  CHECK(!suffices(&made));
  make(&made);
  run_on_two_nodes(&made);
  CHECK(!suffices(&made));
}

int main(void) {
  make_node_table();
  CHECK(shapley_records_begin(&records, k_now, (size_t)slurmctld_tres_cnt));
  test_wait_reasons();
  test_array_rest();
  test_dependencies();
  test_a_list_of_thousands_is_cut();
  test_time_limit();
  test_the_quick_hash_shows_what_slurmctld_does();
  test_partitions_that_start_no_jobs();
  test_when_the_quick_hash_suffices();
  test_the_earliest_begin_time_is_kept();
  shapley_records_free(&records);
  return failures != 0;
}
