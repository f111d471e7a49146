/* What the plugin reads in Slurm's records of nodes, of what jobs hold on them and of what jobs ask for. */

#include "tests/plugin/check.h"
#include "tests/plugin/made_record.h"

/* slurmctld's own, weak in the plugin. */
int slurmctld_tres_cnt = 3;

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

  made.resources.nhosts = 3; /* a list that does not fit the entries says nothing */
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

static void test_memory_that_is_not_given(void) {
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

static void test_cpus_that_slurm_allocates_together(void) {
  node_record_t* record = node_record_table_ptr[0];
  const struct {
    uint16_t type, cores, threads;
    uint32_t unit;
  } cases[] = {
      {0, 4, 2, 1}, /* CR_CPU */
      {SHAPLEY_SELECT_CORE, 4, 2, 2},
      {SHAPLEY_SELECT_CORE | SHAPLEY_SELECT_MEMORY, 4, 2, 2},
      {SHAPLEY_SELECT_CORE, 4, 1, 1},
      {SHAPLEY_SELECT_SOCKET, 4, 2, 8},
      {SHAPLEY_SELECT_CORE, 0, 0, 1}, /* a node that has not registered */
      {SHAPLEY_SELECT_SOCKET, 0, 0, 1},
  };
  uint64_t before = 0;
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    slurm_conf.select_type_param = cases[i].type;
    record->cores = cases[i].cores;
    record->tpc = cases[i].threads;
    shapley_records_pass_node(&records, 0, record);
    CHECK_EQ(handed.node.allocation_unit, cases[i].unit);
    if (i == 1) CHECK(handed.fingerprint != before);
    before = handed.fingerprint;
  }
  slurm_conf.select_type_param = 0;
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

static uint64_t billing_of_node(node_record_t* record) {
  shapley_records_pass_node(&records, record->index, record);
  CHECK_EQ(handed.node.tres_count, 3);
  CHECK_TEXT(handed.node.tres[2].name, "billing");
  return handed.node.tres[2].count;
}

/* slurmctld leaves partitions without weights out of a node's billing, and bills a job in one its CPUs. */
static void test_a_node_is_billed_its_cpus_where_a_partition_bills_them(void) {
  char *with_billing[] = {"cpu", "mem", "billing"}, **names = assoc_mgr_tres_name_array;
  assoc_mgr_tres_name_array = with_billing;
  node_record_t* record = node_record_table_ptr[1];
  uint64_t counts[] = {16, 16000, 4};
  double weights[] = {.25};
  part_record_t cheap = {.name = "cheap", .billing_weights = weights}, batch = {.name = "batch"};
  void* partitions[] = {&cheap, NULL, &batch};
  record->tres_cnt = counts;
  CHECK_EQ(billing_of_node(record), 4); /* in no partition */
  record->part_pptr = partitions;
  record->part_cnt = 2;
  CHECK_EQ(billing_of_node(record), 4);
  record->part_cnt = 3;
  CHECK_EQ(billing_of_node(record), 16);
  uint64_t before = handed.fingerprint;
  batch.billing_weights = weights;
  CHECK_EQ(billing_of_node(record), 4);
  CHECK(handed.fingerprint != before);
  batch.billing_weights = NULL;
  counts[2] = 40; /* a dear partition */
  CHECK_EQ(billing_of_node(record), 40);
  record->part_cnt = 0;
  record->part_pptr = NULL;
  record->tres_cnt = NULL;
  assoc_mgr_tres_name_array = names;
}

/* ---- requests ----------------------------------------------------------------------------------- */

static void test_requests(void) {
  made_t made;
  make(&made);
  slurm_conf.select_type_param = SHAPLEY_SELECT_CORE;
  shapley_job_t job = read_job(&made);
  CHECK_EQ(job.requested_nodes, 1); /* none was given */
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
  CHECK_EQ(job.node_cpus, 1);

  /* What it needs of one node: all CPUs of a task, of so many tasks, of so few nodes. */
  made.details.cpus_per_task = 2;
  made.details.ntasks_per_node = NO_VAL16;
  CHECK_EQ(read_job(&made).node_cpus, 2);
  made.details.ntasks_per_node = 2;
  CHECK_EQ(read_job(&made).node_cpus, 4);
  made.details.pn_min_cpus = 5;
  CHECK_EQ(read_job(&made).node_cpus, 5);
  made.details.max_nodes = 1;
  job = read_job(&made);
  CHECK_EQ(job.node_cpus, job.requested_cpus);
  made.details.pn_min_memory = 700;
  CHECK_EQ(read_job(&made).node_memory, 700);
  made.details.pn_min_memory = 0; /* all of a node's */
  job = read_job(&made);
  CHECK_EQ(job.node_memory, job.requested_memory / job.requested_nodes);
  made.record.mem_per_tres = "gres:gpu:100";
  CHECK_EQ(read_job(&made).node_memory, 0);
  made.record.mem_per_tres = NULL;
  made.details.max_nodes = 0;
  made.details.pn_min_memory = 100 | MEM_PER_CPU;
  CHECK_EQ(read_job(&made).node_memory, 500);

  run_on_two_nodes(&made); /* from now on its nodes count */
  job = read_job(&made);
  CHECK_EQ(job.requested_nodes, 1);
  CHECK_EQ(job.requested_memory, 0);
  CHECK(!job.gres_request);
  CHECK_EQ(job.requested_cpus, 8);
  CHECK_EQ(job.node_cpus, 0);
  CHECK_EQ(job.node_memory, 0);
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

static void test_nodes_of_one_user(void) {
  made_t made;
  make(&made);
  CHECK(!read_job(&made).one_user);
  uint64_t before = handed.fingerprint;
  made.details.whole_node = WHOLE_NODE_USER;
  CHECK(read_job(&made).one_user);
  CHECK(handed.fingerprint != before);
  made.details.whole_node = WHOLE_NODE_REQUIRED;
  CHECK(!read_job(&made).one_user);
  made.details.whole_node = 0;
  made.partition.flags = PART_FLAG_EXCLUSIVE_USER;
  CHECK(read_job(&made).one_user);
  run_on_two_nodes(&made);
  CHECK(read_job(&made).one_user);
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

int main(void) {
  make_node_table();
  CHECK(shapley_records_begin(&records, k_now, (size_t)slurmctld_tres_cnt));
  test_finished_jobs_are_read_by_name();
  test_a_node_given_back_is_left_out();
  test_memory_that_is_not_given();
  test_more_or_fewer_texts_of_gres_than_nodes();
  test_deleted_dynamic_nodes_leave_holes();
  test_nodes_that_slurm_cannot_use();
  test_cpus_that_slurm_allocates_together();
  test_what_nodes_have();
  test_a_node_is_billed_its_cpus_where_a_partition_bills_them();
  test_requests();
  test_a_partition_decides_whether_memory_is_allocated();
  test_exclusive();
  test_nodes_of_one_user();
  test_several_partitions_ask_for_the_least();
  test_a_started_job_is_exclusive_as_it_was_allocated();
  shapley_records_free(&records);
  return failures != 0;
}
