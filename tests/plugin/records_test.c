/* What the plugin reads in Slurm's records of jobs: states, times, organization, fingerprints. */

#include "tests/plugin/check.h"
#include "tests/plugin/made_record.h"

/* slurmctld's own, weak in the plugin. */
int slurmctld_tres_cnt = 3;

/* ---- states and times --------------------------------------------------------------------------- */

static void test_pending(void) {
  made_t made;
  make(&made);
  made.record.start_time = k_now + 60; /* the scheduler's guess */
  shapley_job_t job = read_job(&made);
  CHECK_EQ(job.state, SHAPLEY_JOB_PENDING);
  CHECK_EQ(job.wait, SHAPLEY_WAIT_STARTABLE);
  CHECK_TEXT(job.slurm_state, "PENDING");
  CHECK_EQ(job.start_time, 0);
  CHECK_EQ(job.end_time, 0);
  CHECK_EQ(job.requested_cpus, 8);
  CHECK_EQ(job.pending_tasks, 1);
  CHECK_EQ(job.array_task_id, -1);
  CHECK_EQ(job.nodes_count, 0);
  CHECK_EQ(job.tres_count, 2);
  CHECK_TEXT(job.tres[1].name, "mem");
  CHECK_EQ(job.tres[1].count, 2000);
}

static void test_running(void) {
  made_t made;
  make(&made);
  run_on_two_nodes(&made);
  shapley_job_t job = read_job(&made);
  CHECK_EQ(job.state, SHAPLEY_JOB_RUNNING);
  CHECK_EQ(job.start_time, k_now - 50);
  CHECK_EQ(job.end_time, 0);
  CHECK_EQ(job.nodes_count, 2);
  CHECK_TEXT(job.nodes[0].node, "n2");
  CHECK_EQ(job.nodes[0].cpus, 5);
  CHECK_TEXT(job.nodes[1].node, "n4");
  CHECK_EQ(job.nodes[1].cpus, 3);
  CHECK_EQ(job.nodes[0].memory, 5000);
  CHECK_EQ(job.nodes[1].memory, 3000);
  CHECK_TEXT(job.nodes[0].gres, "gpu:tesla:2(IDX:0-1)");
  CHECK(!job.nodes[1].gres);
  CHECK_EQ(job.tres_count, 1);
  CHECK_EQ(job.tres[0].count, 8);
}

static void test_suspended(void) {
  made_t made;
  make(&made);
  run_on_two_nodes(&made);
  made.record.job_state = JOB_SUSPENDED;
  made.record.suspend_time = k_now - 10;
  made.record.pre_sus_time = 40;
  shapley_job_t job = read_job(&made);
  CHECK_EQ(job.state, SHAPLEY_JOB_SUSPENDED);
  CHECK_EQ(job.suspend_time, k_now - 10);
  CHECK_EQ(job.pre_suspend_run_s, 40);
  CHECK_EQ(job.end_time, 0);
}

static void test_ended(void) {
  made_t made;
  make(&made);
  run_on_two_nodes(&made);
  made.record.job_state = JOB_TIMEOUT | JOB_COMPLETING;
  made.record.end_time = k_now - 1;
  shapley_job_t job = read_job(&made);
  CHECK_EQ(job.state, SHAPLEY_JOB_ENDED);
  CHECK(job.completing);
  CHECK_TEXT(job.slurm_state, "TIMEOUT");
  CHECK_EQ(job.end_time, k_now - 1);
  CHECK_EQ(job.nodes_count, 2);
}

static void test_cancelled_while_pending_never_ran(void) {
  made_t made;
  make(&made);
  made.record.job_state = JOB_CANCELLED;
  made.record.start_time = made.record.end_time = k_now - 5;
  shapley_job_t job = read_job(&made);
  CHECK_EQ(job.state, SHAPLEY_JOB_ENDED);
  CHECK_EQ(job.start_time, 0);
  CHECK_EQ(job.end_time, k_now - 5);
}

static void test_requeued_and_still_completing(void) {
  made_t made;
  make(&made);
  run_on_two_nodes(&made);
  made.record.job_state = JOB_PENDING | JOB_COMPLETING;
  made.record.restart_cnt = 1;
  made.record.end_time = k_now - 2;
  shapley_job_t job = read_job(&made);
  CHECK_EQ(job.state, SHAPLEY_JOB_PENDING);
  CHECK(job.completing);
  CHECK_EQ(job.wait, SHAPLEY_WAIT_OTHER);
  CHECK_EQ(job.start_time, k_now - 50);
  CHECK_EQ(job.end_time, k_now - 2);
  CHECK_EQ(job.nodes_count, 2);
}

static void test_requeued_and_not_wiped(void) {
  made_t made;
  make(&made);
  made.record.restart_cnt = 1;
  made.details.submit_time = k_now - 100; /* of the submission before the run */
  made.record.start_time = k_now - 50;
  made.record.end_time = made.record.time_last_active = k_now - 3; /* set by the requeue */
  shapley_job_t job = read_job(&made);
  CHECK_EQ(job.start_time, 0);
  CHECK_EQ(job.end_time, k_now - 3);
  made.record.restart_cnt = 0; /* an estimate of the scheduler's */
  CHECK_EQ(read_job(&made).end_time, 0);
}

static void test_requeued_and_wiped(void) {
  made_t made;
  make(&made);
  made.record.restart_cnt = 1;
  made.details.submit_time = k_now - 1; /* set by the wipe */
  made.details.begin_time = k_now + 120;
  made.record.time_last_active = k_now - 3; /* set by the requeue */
  shapley_job_t job = read_job(&made);
  CHECK_EQ(job.wait, SHAPLEY_WAIT_BEGIN_TIME);
  CHECK_EQ(job.start_time, 0);
  CHECK_EQ(job.end_time, k_now - 3);

  made.record.time_last_active = k_now; /* slurmctld restarted in between */
  CHECK_EQ(read_job(&made).end_time, 0);
  made.record.restart_cnt = 0; /* never ran: the time of its submission */
  made.record.time_last_active = k_now - 100;
  CHECK_EQ(read_job(&made).end_time, 0);
}

static void test_nodes_that_boot_are_taken(void) {
  made_t made;
  make(&made);
  run_on_two_nodes(&made);
  /* Powered-up nodes boot, or a prolog runs. */
  const uint32_t flags[] = {JOB_CONFIGURING | JOB_POWER_UP_NODE, JOB_CONFIGURING};
  for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
    made.record.job_state = JOB_RUNNING | flags[i];
    shapley_job_t job = read_job(&made);
    CHECK_EQ(job.state, SHAPLEY_JOB_RUNNING);
    CHECK_EQ(job.start_time, made.record.start_time);
    CHECK_EQ(job.end_time, 0);
    CHECK_EQ(job.nodes_count, 2);
  }
}

static void test_resize_time_of_an_earlier_run_is_dropped(void) {
  made_t made;
  make(&made);
  run_on_two_nodes(&made);
  made.record.resize_time = k_now - 80;
  CHECK_EQ(read_job(&made).resize_time, 0);
  made.record.resize_time = k_now - 20;
  CHECK_EQ(read_job(&made).resize_time, k_now - 20);
}

/* ---- organization ------------------------------------------------------------------------------- */

static void test_account_tree(void) {
  slurmdb_assoc_usage_t usage[3] = {0};
  slurmdb_assoc_rec_t root = {.acct = "root"}, physics = {.acct = "physics"}, bob = {.acct = "bob"},
                      user = {.acct = "bob"};
  usage[0].parent_assoc_ptr = &bob;
  usage[1].parent_assoc_ptr = &physics;
  usage[2].parent_assoc_ptr = &root;
  user.usage = &usage[0];
  bob.usage = &usage[1];
  physics.usage = &usage[2];
  slurmdb_qos_rec_t qos = {.name = "normal"};

  made_t made;
  make(&made);
  uint64_t without = fingerprint(&made);
  CHECK_EQ(read_job(&made).account_ancestors_count, 0);
  made.record.assoc_ptr = &user;
  made.record.qos_ptr = &qos;
  shapley_job_t job = read_job(&made);
  CHECK_TEXT(job.qos, "normal");
  CHECK_EQ(job.account_ancestors_count, 2);
  CHECK_TEXT(job.account_ancestors[0], "physics");
  CHECK_TEXT(job.account_ancestors[1], "root");
  CHECK(fingerprint(&made) != without);

  usage[2].parent_assoc_ptr = &physics; /* a loop, which a healthy tree never has, must end */
  CHECK_EQ(read_job(&made).account_ancestors_count, 1);
  usage[2].parent_assoc_ptr = &bob; /* and a longer one */
  CHECK(read_job(&made).account_ancestors_count <= k_shapley_max_ancestors);
}

static void test_partition(void) {
  made_t made;
  make(&made);
  made.record.partition = "first,second";
  made.partition.name = "second"; /* tried last */
  CHECK_TEXT(read_job(&made).partition, "first,second");
  made.record.part_ptr = NULL;
  CHECK_TEXT(read_job(&made).partition, "first,second");
  made.record.part_ptr = &made.partition;
  made.record.job_state = JOB_PENDING | JOB_COMPLETING; /* the requeue of a run is under way */
  CHECK_TEXT(read_job(&made).partition, "second");
  run_on_two_nodes(&made);
  CHECK_TEXT(read_job(&made).partition, "second");
}

/* ---- fingerprints ------------------------------------------------------------------------------- */

static void test_fingerprints(void) {
  made_t made;
  make(&made);
  uint64_t pending = fingerprint(&made);
  made.record.start_time = k_now + 60; /* a guess */
  made.record.total_cpus = 16;         /* an estimate */
  made.record.priority = 99;
  made.record.time_last_active = k_now;
  CHECK(fingerprint(&made) == pending);
  made.record.name = "another";
  CHECK(fingerprint(&made) != pending);
  made.record.name = "job";
  made.details.min_nodes = 2;
  CHECK(fingerprint(&made) != pending);
  made.details.min_nodes = 1;
  CHECK(fingerprint(&made) == pending);
  made.details.whole_node = WHOLE_NODE_REQUIRED;
  CHECK(fingerprint(&made) != pending);
  made.details.whole_node = 0;
  char** const texts[] = {&made.record.tres_per_job, &made.record.tres_per_node, &made.record.tres_per_socket,
                          &made.record.tres_per_task};
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
    *texts[i] = "gres:gpu:2";
    CHECK(fingerprint(&made) != pending);
    *texts[i] = NULL;
  }
  made.details.num_tasks = 2;
  CHECK(fingerprint(&made) != pending);

  run_on_two_nodes(&made);
  uint64_t running = fingerprint(&made);
  made.record.end_time = k_now + 999; /* a new time limit */
  CHECK(fingerprint(&made) == running);
  made.resources.ncpus = 3;
  CHECK(fingerprint(&made) != running);
  made.resources.ncpus = 8;
  made.resources.nodes = "n[2-3]";
  CHECK(fingerprint(&made) != running);
  made.resources.nodes = "n[2,4]";
  made.allocated[2] = 1;
  CHECK(fingerprint(&made) != running);
  made.allocated[2] = 0;
  CHECK(fingerprint(&made) == running);
  made.memory[1] = 3001;
  CHECK(fingerprint(&made) != running);
  made.memory[1] = 3000;
  made.record.gres_used = "gpu:tesla:3";
  CHECK(fingerprint(&made) != running);
  made.record.gres_used = "gpu:tesla:2";
  made.record.gres_detail_cnt = 1;
  CHECK(fingerprint(&made) != running);
  made.record.gres_detail_cnt = 2;
  made.resources.whole_node = WHOLE_NODE_REQUIRED;
  CHECK(fingerprint(&made) != running);
}

static void test_bare_records(void) {
  made_t made;
  memset(&made, 0, sizeof(made));
  made.record.array_task_id = NO_VAL;
  const uint32_t states[] = {JOB_PENDING, JOB_RUNNING, JOB_SUSPENDED, JOB_COMPLETE, JOB_PENDING | JOB_COMPLETING};
  for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
    made.record.job_state = states[i];
    made.record.start_time = k_now - 1;
    made.record.restart_cnt = 1;
    shapley_job_t job = read_job(&made);
    CHECK_EQ(job.nodes_count, 0);
    CHECK_EQ(job.tres_count, 0);
  }
}

int main(void) {
  make_node_table();
  CHECK(shapley_records_begin(&records, k_now, (size_t)slurmctld_tres_cnt));
  test_pending();
  test_running();
  test_suspended();
  test_ended();
  test_cancelled_while_pending_never_ran();
  test_requeued_and_still_completing();
  test_requeued_and_not_wiped();
  test_requeued_and_wiped();
  test_nodes_that_boot_are_taken();
  test_resize_time_of_an_earlier_run_is_dropped();
  test_account_tree();
  test_partition();
  test_fingerprints();
  test_bare_records();
  shapley_records_free(&records);
  return failures != 0;
}
