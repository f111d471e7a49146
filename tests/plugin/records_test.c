/* What the plugin reads in Slurm's records: states, times, nodes, organization, fingerprints. */

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

static void test_nodes_that_boot_do_not_count_yet(void) {
  made_t made;
  make(&made);
  run_on_two_nodes(&made);
  made.record.job_state = JOB_RUNNING | JOB_CONFIGURING | JOB_POWER_UP_NODE;
  shapley_job_t job = read_job(&made);
  CHECK_EQ(job.state, SHAPLEY_JOB_PENDING);
  CHECK_EQ(job.wait, SHAPLEY_WAIT_OTHER);
  CHECK_EQ(job.start_time, 0);
  made.record.job_state = JOB_RUNNING | JOB_CONFIGURING; /* a prolog runs: the processors are taken */
  CHECK_EQ(read_job(&made).state, SHAPLEY_JOB_RUNNING);
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

/* ---- nodes -------------------------------------------------------------------------------------- */

static void test_finished_jobs_are_read_by_name(void) {
  made_t made;
  make(&made);
  run_on_two_nodes(&made);
  made.record.job_state = JOB_COMPLETE;
  made.record.end_time = k_now - 1;
  bit_clear(made.resources.node_bitmap, 3); /* what a reconfigure may leave: another node's bit */
  bit_set(made.resources.node_bitmap, 0);
  shapley_job_t job = read_job(&made);
  CHECK_EQ(job.nodes_count, 2);
  CHECK_TEXT(job.nodes[0].node, "n2");
  CHECK_EQ(job.nodes[0].cpus, 5);
  CHECK_TEXT(job.nodes[1].node, "n4");

  made.resources.node_bitmap = NULL; /* what a restart leaves */
  CHECK_EQ(read_job(&made).nodes_count, 2);

  made.resources.nodes = "n[4,2]"; /* the table's order decides whose entry is whose, not the list's */
  job = read_job(&made);
  CHECK_TEXT(job.nodes[0].node, "n2");
  CHECK_EQ(job.nodes[0].cpus, 5);
  CHECK_EQ(job.nodes[0].memory, 5000);
  CHECK_TEXT(job.nodes[0].gres, "gpu:tesla:2(IDX:0-1)");
  CHECK_EQ(job.nodes[1].memory, 3000);

  made.resources.nhosts = 3; /* a list that does not fit the entries tells nothing */
  CHECK_EQ(read_job(&made).nodes_count, 0);
}

static void test_a_node_given_back_is_left_out(void) {
  made_t made;
  make(&made);
  run_on_two_nodes(&made);
  made.cpus[0] = 0;
  made.gres[1] = "gpu:1(IDX:0)";
  shapley_job_t job = read_job(&made);
  CHECK_EQ(job.nodes_count, 1);
  CHECK_TEXT(job.nodes[0].node, "n4");
  CHECK_EQ(job.nodes[0].cpus, 3);
  CHECK_EQ(job.nodes[0].memory, 3000);
  CHECK_TEXT(job.nodes[0].gres, "gpu:1(IDX:0)");
}

static void test_memory_that_is_not_told(void) {
  made_t made;
  make(&made);
  run_on_two_nodes(&made);
  made.memory[0] = NO_VAL64;
  CHECK_EQ(read_job(&made).nodes[0].memory, 0);
  made.resources.memory_allocated = NULL;
  CHECK_EQ(read_job(&made).nodes[1].memory, 0);
  CHECK_EQ(read_job(&made).nodes[1].cpus, 3);
}

/* Slurm counts the texts of its first GRES only, and leaves more of them than nodes after a resize. */
static void test_more_or_fewer_texts_of_gres_than_nodes(void) {
  made_t made;
  make(&made);
  run_on_two_nodes(&made);
  made.gres[1] = made.gres[2] = "gpu:4";
  made.record.gres_detail_cnt = 3;
  CHECK_EQ(read_job(&made).nodes_count, 2);
  CHECK_TEXT(read_job(&made).nodes[1].gres, "gpu:4");
  made.record.gres_detail_cnt = 1;
  CHECK_TEXT(read_job(&made).nodes[0].gres, "gpu:tesla:2(IDX:0-1)");
  CHECK(!read_job(&made).nodes[1].gres);
  made.record.gres_detail_str = NULL;
  CHECK(!read_job(&made).nodes[0].gres);
}

static void test_deleted_dynamic_nodes_leave_holes(void) {
  made_t made;
  make(&made);
  run_on_two_nodes(&made);
  node_record_t* deleted = node_record_table_ptr[1];
  node_record_table_ptr[1] = NULL;
  shapley_job_t job = read_job(&made);
  CHECK_EQ(job.nodes_count, 1);
  CHECK_EQ(job.nodes[0].cpus, 3);
  node_record_table_ptr[1] = deleted;
}

static void test_nodes_that_slurm_cannot_use(void) {
  node_record_t* record = node_record_table_ptr[0];
  const struct {
    uint32_t state;
    bool usable;
  } states[] = {
      {NODE_STATE_IDLE, true},
      {NODE_STATE_ALLOCATED, true},
      {NODE_STATE_MIXED | NODE_STATE_COMPLETING, true},
      {NODE_STATE_IDLE | NODE_STATE_NO_RESPOND, true},
      {NODE_STATE_IDLE | NODE_STATE_POWERED_DOWN, true},
      {NODE_STATE_DOWN, false},
      {NODE_STATE_UNKNOWN, false},
      {NODE_STATE_FUTURE, false},
      {NODE_STATE_IDLE | NODE_STATE_DRAIN, false},
      {NODE_STATE_ALLOCATED | NODE_STATE_DRAIN, false},
      {NODE_STATE_IDLE | NODE_STATE_FAIL, false},
  };
  for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
    record->node_state = states[i].state;
    shapley_records_pass_node(&records, 0, record);
    CHECK_EQ(handed.node.usable, states[i].usable);
  }
  record->node_state = NODE_STATE_IDLE;
  shapley_records_pass_node(&records, 0, record);
  uint64_t before = handed.fingerprint;
  CHECK_EQ(handed.node.cpus, 16);
  record->cpus_efctv = 14; /* two cores are set aside for the system */
  shapley_records_pass_node(&records, 0, record);
  CHECK(handed.fingerprint != before);
  CHECK_EQ(handed.node.cpus, 14);
}

static void test_what_nodes_have(void) {
  node_record_t* record = node_record_table_ptr[0];
  config_record_t config = {.gres = NULL};
  record->config_ptr = &config;
  record->real_memory = 16000;
  record->mem_spec_limit = 1000;
  shapley_records_pass_node(&records, 0, record);
  CHECK_EQ(handed.node.memory, 15000);
  CHECK(!handed.node.gres);
  uint64_t before = handed.fingerprint;
  record->mem_spec_limit = 17000;
  shapley_records_pass_node(&records, 0, record);
  CHECK_EQ(handed.node.memory, 0);
  CHECK(handed.fingerprint != before);
  before = handed.fingerprint;

  record->gres = "gpu:tesla:4,bandwidth:4K"; /* as written when the node registered */
  shapley_records_pass_node(&records, 0, record);
  CHECK_TEXT(handed.node.gres, "gpu:tesla:4,bandwidth:4K");
  CHECK(handed.fingerprint != before);
  config.gres = "gpu:tesla:4,bandwidth:no_consume:4K";
  shapley_records_pass_node(&records, 0, record);
  CHECK_TEXT(handed.node.gres, "gpu:tesla:4,bandwidth:no_consume:4K");
  record->config_ptr = NULL;
  record->gres = NULL;
  record->real_memory = record->mem_spec_limit = 0;
}

/* ---- requests ----------------------------------------------------------------------------------- */

static void test_requests(void) {
  made_t made;
  make(&made);
  slurm_conf.select_type_param = SHAPLEY_SELECT_CORE;
  shapley_job_t job = read_job(&made);
  CHECK_EQ(job.requested_nodes, 1); /* none was told */
  CHECK_EQ(job.requested_memory, 0);
  CHECK(!job.gres_request->per_node);
  CHECK_EQ(job.gres_request->tasks, 1);

  slurm_conf.select_type_param = SHAPLEY_SELECT_CORE | SHAPLEY_SELECT_MEMORY;
  made.details.min_nodes = 3;
  made.details.num_tasks = 12;
  made.record.tres_per_job = "gres:gpu:12";
  made.record.tres_per_node = "gres:gpu:4";
  made.record.tres_per_socket = "gres:gpu:2";
  made.record.tres_per_task = "gres:gpu:1";
  job = read_job(&made);
  CHECK_EQ(job.requested_nodes, 3);
  CHECK_EQ(job.requested_memory, 2000);
  CHECK_TEXT(job.gres_request->per_job, "gres:gpu:12");
  CHECK_TEXT(job.gres_request->per_node, "gres:gpu:4");
  CHECK_TEXT(job.gres_request->per_socket, "gres:gpu:2");
  CHECK_TEXT(job.gres_request->per_task, "gres:gpu:1");
  CHECK_EQ(job.gres_request->tasks, 12);

  run_on_two_nodes(&made); /* from now on its nodes tell */
  job = read_job(&made);
  CHECK_EQ(job.requested_nodes, 1);
  CHECK_EQ(job.requested_memory, 0);
  CHECK(!job.gres_request);
  CHECK_EQ(job.requested_cpus, 8);
  slurm_conf.select_type_param = 0;
}

static void test_a_partition_decides_whether_memory_is_allocated(void) {
  made_t made;
  make(&made);
  made.partition.cr_type = SHAPLEY_SELECT_CORE | SHAPLEY_SELECT_MEMORY;
  slurm_conf.select_type_param = SHAPLEY_SELECT_CORE;
  CHECK_EQ(read_job(&made).requested_memory, 2000);
  slurm_conf.select_type_param = SHAPLEY_SELECT_CORE | SHAPLEY_SELECT_MEMORY;
  made.partition.cr_type = SHAPLEY_SELECT_CORE;
  CHECK_EQ(read_job(&made).requested_memory, 0);
  slurm_conf.select_type_param = SHAPLEY_SELECT_MEMORY; /* without cores or sockets Slurm ignores the partition's */
  CHECK_EQ(read_job(&made).requested_memory, 2000);
  made.record.part_ptr = NULL;
  CHECK_EQ(read_job(&made).requested_memory, 2000);
  slurm_conf.select_type_param = 0;
}

static void test_exclusive(void) {
  made_t made;
  make(&made);
  CHECK(!read_job(&made).exclusive);
  made.details.whole_node = WHOLE_NODE_REQUIRED;
  CHECK(read_job(&made).exclusive);
  made.details.whole_node = WHOLE_NODE_USER;
  CHECK(!read_job(&made).exclusive);
  made.details.whole_node = WHOLE_NODE_MCS;
  CHECK(!read_job(&made).exclusive);
  made.partition.max_share = 0; /* OverSubscribe=EXCLUSIVE */
  CHECK(read_job(&made).exclusive);
  made.partition.max_share = 1;
  slurm_conf.select_type = "select/linear";
  CHECK(read_job(&made).exclusive);
  slurm_conf.select_type = "select/cons_tres";
  CHECK(!read_job(&made).exclusive);
  slurm_conf.select_type = NULL;
}

static void test_several_partitions_ask_for_the_least(void) {
  made_t made;
  make(&made);
  part_record_t shared = {.name = "shared", .max_share = 1}, whole = {.name = "whole", .max_share = 0};
  shared.cr_type = SHAPLEY_SELECT_CORE;
  slurm_conf.select_type_param = SHAPLEY_SELECT_CORE | SHAPLEY_SELECT_MEMORY;
  made.record.part_ptr_list = list_create(NULL);
  list_append(made.record.part_ptr_list, &whole);
  made.record.partition = "whole";
  made.record.part_ptr = &shared; /* tried last */
  CHECK(read_job(&made).exclusive);
  CHECK_EQ(read_job(&made).requested_memory, 2000);
  list_append(made.record.part_ptr_list, &shared);
  made.record.partition = "shared,whole";
  made.record.part_ptr = &whole;
  CHECK(!read_job(&made).exclusive);
  CHECK_EQ(read_job(&made).requested_memory, 0);
  list_destroy(made.record.part_ptr_list);
  slurm_conf.select_type_param = 0;
}

static void test_a_started_job_is_exclusive_as_it_was_allocated(void) {
  made_t made;
  make(&made);
  run_on_two_nodes(&made);
  made.details.whole_node = WHOLE_NODE_REQUIRED;
  made.partition.max_share = 0; /* since */
  CHECK(!read_job(&made).exclusive);
  made.resources.whole_node = WHOLE_NODE_REQUIRED;
  made.details.whole_node = 0;
  made.partition.max_share = 1;
  CHECK(read_job(&made).exclusive);
  made.record.job_state = JOB_COMPLETE;
  CHECK(read_job(&made).exclusive);
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
  test_nodes_that_boot_do_not_count_yet();
  test_resize_time_of_an_earlier_run_is_dropped();
  test_finished_jobs_are_read_by_name();
  test_a_node_given_back_is_left_out();
  test_memory_that_is_not_told();
  test_more_or_fewer_texts_of_gres_than_nodes();
  test_deleted_dynamic_nodes_leave_holes();
  test_nodes_that_slurm_cannot_use();
  test_what_nodes_have();
  test_requests();
  test_a_partition_decides_whether_memory_is_allocated();
  test_exclusive();
  test_several_partitions_ask_for_the_least();
  test_a_started_job_is_exclusive_as_it_was_allocated();
  test_account_tree();
  test_partition();
  test_fingerprints();
  test_bare_records();
  shapley_records_free(&records);
  return failures != 0;
}
