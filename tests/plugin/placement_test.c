/* What the plugin reads about the nodes that a job may use: its own requests, and the partitions, features and
 * reservations of nodes. */
#include "tests/plugin/check.h"
#include "tests/plugin/made_record.h"

/* slurmctld's own, weak in the plugin. */
int slurmctld_tres_cnt = 3;

/* As slurmctld counts them: four cores on each node. */
uint32_t cr_get_coremap_offset(uint32_t node) {
  return 4 * node;
}

/* ---- jobs --------------------------------------------------------------------------------------- */

static void test_what_a_job_asks_for(void) {
  made_t made;
  make(&made);
  shapley_job_t job = read_job(&made);
  CHECK(!job.required_nodes && !job.excluded_nodes && !job.features && !job.reservation);

  char** const texts[] = {&made.details.req_nodes, &made.details.exc_nodes, &made.details.features,
                          &made.record.resv_name};
  uint64_t asks_for_nothing = fingerprint(&made), before[4];
  for (size_t i = 0; i < 4; i++) {
    *texts[i] = "a";
    before[i] = fingerprint(&made);
    CHECK(before[i] != asks_for_nothing);
    for (size_t earlier = 0; earlier < i; earlier++)
      CHECK(before[i] != before[earlier]); /* each in a place of its own */
    *texts[i] = NULL;
  }
  CHECK(fingerprint(&made) == asks_for_nothing);

  made.details.req_nodes = "n[1-2]";
  made.details.exc_nodes = "n4";
  made.details.features = "gpu&(ib|opa)";
  made.details.prefer = "new"; /* a wish */
  made.record.resv_name = "spring,summer";
  job = read_job(&made);
  CHECK_TEXT(job.required_nodes, "n[1-2]");
  CHECK_TEXT(job.excluded_nodes, "n4");
  CHECK_TEXT(job.features, "gpu&(ib|opa)");
  CHECK_TEXT(job.reservation, "spring,summer");

  run_on_two_nodes(&made); /* it may have started before a scan saw it wait */
  job = read_job(&made);
  CHECK_TEXT(job.required_nodes, "n[1-2]");
  CHECK_TEXT(job.excluded_nodes, "n4");
  CHECK_TEXT(job.features, "gpu&(ib|opa)");
  CHECK_TEXT(job.reservation, "spring,summer");
}

static void test_a_job_without_details(void) {
  made_t made;
  make(&made);
  made.record.details = NULL;
  made.record.resv_name = "spring";
  shapley_job_t job = read_job(&made);
  CHECK(!job.required_nodes && !job.excluded_nodes && !job.features);
  CHECK_TEXT(job.reservation, "spring");
}

/* slurmctld names the reservation itself while it tries the job there, and takes the name away afterwards. */
static void test_a_magnetic_reservation_is_no_request(void) {
  made_t made;
  make(&made);
  uint64_t before = fingerprint(&made);
  made.record.resv_name = "magnet";
  made.record.bit_flags |= JOB_MAGNETIC;
  CHECK(!read_job(&made).reservation);
  CHECK(fingerprint(&made) == before);
  made.record.bit_flags = 0;
  CHECK_TEXT(read_job(&made).reservation, "magnet");
}

static void test_what_is_cut_does_not_count(void) {
  static char text[k_shapley_max_placement_text + 2];
  memset(text, 'n', sizeof(text) - 1);
  made_t made;
  make(&made);
  made.details.req_nodes = text;
  uint64_t before = fingerprint(&made);
  text[k_shapley_max_placement_text] = 'x';
  CHECK(fingerprint(&made) == before);
  text[k_shapley_max_placement_text - 1] = 'x';
  CHECK(fingerprint(&made) != before);
}

/* ---- nodes -------------------------------------------------------------------------------------- */

static shapley_node_t read_node(uint32_t index) {
  shapley_records_pass_node(&records, index, node_record_table_ptr[index]);
  return handed.node;
}

static uint64_t node_fingerprint(uint32_t index) {
  (void)read_node(index);
  return handed.fingerprint;
}

static void test_partitions(void) {
  node_record_t* record = node_record_table_ptr[0];
  CHECK_EQ(read_node(0).partitions_count, 0);
  uint64_t before = node_fingerprint(0);
  part_record_t batch = {.name = "batch"}, gpu = {.name = "gpu"}, nameless = {.name = NULL};
  void* partitions[k_shapley_max_node_names + 9] = {&gpu, NULL, &nameless, &batch};
  record->part_pptr = partitions;
  CHECK(node_fingerprint(0) == before); /* the count decides */
  record->part_cnt = 4;
  shapley_node_t node = read_node(0);
  CHECK_EQ(node.partitions_count, 2);
  CHECK_TEXT(node.partitions[0], "gpu"); /* the client sorts */
  CHECK_TEXT(node.partitions[1], "batch");
  CHECK(node_fingerprint(0) != before);
  before = node_fingerprint(0);
  batch.name = "bulk";
  CHECK(node_fingerprint(0) != before);

  for (size_t i = 0; i < sizeof(partitions) / sizeof(partitions[0]); i++) partitions[i] = &gpu;
  record->part_cnt = sizeof(partitions) / sizeof(partitions[0]);
  CHECK_EQ(read_node(0).partitions_count, k_shapley_max_node_names);
  record->part_pptr = NULL;
  CHECK_EQ(read_node(0).partitions_count, 0);
  record->part_cnt = 0;
}

static void test_features(void) {
  node_record_t* record = node_record_table_ptr[0];
  CHECK(!read_node(0).features);
  uint64_t before = node_fingerprint(0);
  record->features = "ib,gpu,knl";
#if SHAPLEY_SLURM_AT_LEAST(23, 2, 0)
  CHECK(!read_node(0).features);
  CHECK(node_fingerprint(0) == before);
#else
  CHECK_TEXT(read_node(0).features, "ib,gpu,knl"); /* all are active while none is named */
  CHECK(node_fingerprint(0) != before);
#endif
  before = node_fingerprint(0);
  record->features_act = "ib,gpu";
  CHECK_TEXT(read_node(0).features, "ib,gpu");
  CHECK(node_fingerprint(0) != before);
  record->features_act = ""; /* named: none */
  CHECK_TEXT(read_node(0).features, "");
  record->features = record->features_act = NULL;
}

/* ---- reservations ------------------------------------------------------------------------------- */

/* Of n1 and n3, active since a minute. */
static slurmctld_resv_t reservation(char* name) {
  slurmctld_resv_t made = {.name = name, .ctld_flags = RESV_CTLD_FULL_NODE};
  made.start_time = k_now - 60;
  made.end_time = k_now + 60;
  made.node_bitmap = bit_alloc(node_record_count);
  bit_set(made.node_bitmap, 0);
  bit_set(made.node_bitmap, 2);
  return made;
}

static void mark_nodes(uint32_t flag) {
  for (int i = 0; i < node_record_count; i++) node_record_table_ptr[i]->node_state = NODE_STATE_IDLE | flag;
}

/* The node's reservations, as a scan at this time has them. */
static size_t reservations_at(time_t now, uint32_t node) {
  CHECK(shapley_records_begin(&records, now, (size_t)slurmctld_tres_cnt));
  return read_node(node).reservations_count;
}

static void test_active_reservations(void) {
  CHECK_EQ(reservations_at(k_now, 0), 0); /* before slurmctld has made its list */
  uint64_t unreserved = node_fingerprint(0);
  slurmctld_resv_t spring = reservation("spring"), works = reservation("works");
  bit_clear(works.node_bitmap, 2);
  works.flags = RESERVE_FLAG_MAINT;
  resv_list = list_create(NULL);
  list_append(resv_list, &spring);
  list_append(resv_list, &works);

  CHECK_EQ(reservations_at(k_now, 0), 0); /* not marked yet */
  CHECK(node_fingerprint(0) == unreserved);
  mark_nodes(NODE_STATE_RES);
  CHECK_EQ(reservations_at(k_now, 0), 2);
  CHECK_TEXT(handed.node.reservations[0], "spring");
  CHECK_TEXT(handed.node.reservations[1], "works");
  CHECK(handed.fingerprint != unreserved);
  CHECK_EQ(reservations_at(k_now, 1), 0);
  CHECK_EQ(reservations_at(k_now, 2), 1);
  uint64_t before = handed.fingerprint;
  spring.name = "summer";
  CHECK(node_fingerprint(2) != before);
  mark_nodes(NODE_STATE_MAINT);
  CHECK_EQ(reservations_at(k_now, 2), 1);
  mark_nodes(NODE_STATE_RES);

  CHECK_EQ(reservations_at(spring.start_time, 2), 1);
  CHECK_EQ(reservations_at(spring.start_time - 1, 2), 0);
  CHECK_EQ(reservations_at(spring.end_time - 1, 2), 1);
  CHECK_EQ(reservations_at(spring.end_time, 2), 0);
  bit_free(works.node_bitmap);
  bit_free(spring.node_bitmap);
  FREE_NULL_LIST(resv_list);
  mark_nodes(0);
}

static int64_t reserved_from_at(time_t now, uint32_t node) {
  CHECK(shapley_records_begin(&records, now, (size_t)slurmctld_tres_cnt));
  return read_node(node).reserved_from;
}

/* The next one of a node counts, of whatever order slurmctld has them in, and of many the nearest. */
static void test_reservations_to_come(void) {
  static slurmctld_resv_t many[k_shapley_max_coming_reservations + 9];
  CHECK_EQ(reserved_from_at(k_now, 0), 0);
  uint64_t unreserved = handed.fingerprint;
  slurmctld_resv_t spring = reservation("spring"), works = reservation("works");
  bit_clear(works.node_bitmap, 2);
  spring.start_time = k_now + 50;
  works.start_time = k_now + 20;
  works.end_time = k_now + 30;
  resv_list = list_create(NULL);
  list_append(resv_list, &spring);
  list_append(resv_list, &works);
  CHECK_EQ(reserved_from_at(k_now, 0), k_now + 20);
  CHECK(handed.fingerprint != unreserved);
  CHECK_EQ(reserved_from_at(k_now, 1), 0);
  CHECK_EQ(reserved_from_at(k_now, 2), k_now + 50);
  CHECK_EQ(reserved_from_at(k_now + 20, 0), k_now + 50); /* the other one is active now */
  works.flags = RESERVE_FLAG_TIME_FLOAT;
  works.start_time = 600;
  works.end_time = k_now + 10000;
  CHECK_EQ(reserved_from_at(k_now, 0), k_now + 50);
  spring.end_time = k_now;
  CHECK_EQ(reserved_from_at(k_now, 0), (k_now + 600 + 59) / 60 * 60);
  CHECK_EQ(reserved_from_at(k_now + 3600, 0), (k_now + 4200 + 59) / 60 * 60);
  spring.end_time = k_now + 1000;
  for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
    many[i] = spring;
    many[i].start_time = k_now + 49 - (time_t)i;
    list_append(resv_list, &many[i]);
  }
  CHECK_EQ(reserved_from_at(k_now, 2), k_now + 49 - (int64_t)(sizeof(many) / sizeof(many[0])) + 1);
  bit_free(works.node_bitmap);
  bit_free(spring.node_bitmap);
  FREE_NULL_LIST(resv_list);
}

static void test_reservations_that_keep_no_job_off(void) {
  slurmctld_resv_t spring = reservation("spring");
  resv_list = list_create(NULL);
  list_append(resv_list, &spring);
  mark_nodes(NODE_STATE_RES);
  CHECK_EQ(reservations_at(k_now, 0), 1);
  spring.ctld_flags = 0; /* some cores of each node */
  CHECK_EQ(reservations_at(k_now, 0), 0);
  spring.ctld_flags = RESV_CTLD_FULL_NODE;
  spring.start_time = 3600;
  spring.flags = RESERVE_FLAG_TIME_FLOAT; /* an hour ahead of the clock at any time */
  CHECK_EQ(reservations_at(k_now, 0), 0);
  spring.flags = 0;
  CHECK_EQ(reservations_at(k_now, 0), 1);
  spring.name = NULL;
  CHECK_EQ(reservations_at(k_now, 0), 0);
  spring.name = "spring";
  bitstr_t* nodes = spring.node_bitmap;
  spring.node_bitmap = NULL; /* licenses only */
  CHECK_EQ(reservations_at(k_now, 0), 0);
  spring.node_bitmap = bit_copy(nodes); /* as from before two nodes were added; what lies beyond it is no answer */
  bit_realloc(spring.node_bitmap, 2);
  CHECK_EQ(reservations_at(k_now, 0), 1);
  CHECK_EQ(reservations_at(k_now, 2), 0);
  bit_free(spring.node_bitmap);
  bit_free(nodes);
  FREE_NULL_LIST(resv_list);
  mark_nodes(0);
}

static void test_hundreds_of_reservations_are_cut(void) {
  static slurmctld_resv_t many[k_shapley_max_node_names + 9];
  slurmctld_resv_t spring = reservation("spring");
  resv_list = list_create(NULL);
  for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
    many[i] = spring;
    list_append(resv_list, &many[i]);
  }
  mark_nodes(NODE_STATE_RES);
  CHECK_EQ(reservations_at(k_now, 0), k_shapley_max_node_names);
  CHECK_EQ(reservations_at(k_now, 0), k_shapley_max_node_names); /* each scan begins from zero */
  bit_free(spring.node_bitmap);
  FREE_NULL_LIST(resv_list);
  mark_nodes(0);
}

/* ---- limits ------------------------------------------------------------------------------------- */

static void test_partitions_with_a_limit(void) {
  node_record_t* record = node_record_table_ptr[0];
  part_record_t batch = {.name = "batch", .max_cpus_per_node = INFINITE}, gpu = batch;
  gpu.name = "gpu";
  void* partitions[] = {&gpu, NULL, &batch};
  record->part_pptr = partitions;
  record->part_cnt = 3;
  CHECK_EQ(read_node(0).limits_count, 0);
  uint64_t before = node_fingerprint(0);
  gpu.max_cpus_per_node = 8;
  shapley_node_t node = read_node(0);
  CHECK(node_fingerprint(0) != before);
  CHECK_EQ(node.limits_count, 2);
  CHECK_TEXT(node.limits[0].name, "gpu");
  CHECK_EQ(node.limits[0].cpus, 8);
  CHECK(!node.limits[0].is_reservation);
  CHECK_TEXT(node.limits[1].name, "batch");
  CHECK_EQ(node.limits[1].cpus, UINT32_MAX);
  record->part_pptr = NULL;
  record->part_cnt = 0;
}

/* Three cores of n1 and one of n3, of two threads each. */
static void test_reservations_of_cores(void) {
  slurmctld_resv_t spring = reservation("spring");
  spring.ctld_flags = 0;
  spring.core_bitmap = bit_alloc(16);
  const int cores[] = {0, 1, 3, 8};
  for (size_t i = 0; i < 4; i++) bit_set(spring.core_bitmap, cores[i]);
  for (int i = 0; i < node_record_count; i++)
    node_record_table_ptr[i]->tot_cores = 4, node_record_table_ptr[i]->tpc = 2;
  resv_list = list_create(NULL);
  list_append(resv_list, &spring);
  CHECK_EQ(reservations_at(k_now, 0), 0);
  CHECK_EQ(handed.node.limits_count, 1);
  CHECK_TEXT(handed.node.limits[0].name, "spring");
  CHECK(handed.node.limits[0].is_reservation);
  CHECK_EQ(handed.node.limits[0].cpus, 6);
  CHECK_EQ(read_node(1).limits_count, 0);
  CHECK_EQ(read_node(2).limits[0].cpus, 2);
  CHECK_EQ(reservations_at(spring.start_time - 1, 0), 0);
  CHECK_EQ(handed.node.limits_count, 0);
  bit_free(spring.core_bitmap);
  bit_free(spring.node_bitmap);
  FREE_NULL_LIST(resv_list);
  for (int i = 0; i < node_record_count; i++) node_record_table_ptr[i]->tot_cores = node_record_table_ptr[i]->tpc = 0;
}

int main(void) {
  make_node_table();
  CHECK(shapley_records_begin(&records, k_now, (size_t)slurmctld_tres_cnt));
  test_what_a_job_asks_for();
  test_a_job_without_details();
  test_a_magnetic_reservation_is_no_request();
  test_what_is_cut_does_not_count();
  test_partitions();
  test_features();
  test_active_reservations();
  test_reservations_to_come();
  test_reservations_that_keep_no_job_off();
  test_hundreds_of_reservations_are_cut();
  test_partitions_with_a_limit();
  test_reservations_of_cores();
  shapley_records_free(&records);
  return failures != 0;
}
