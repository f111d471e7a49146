/* Ranks and levels put into job records: which jobs are touched, what is written, and how a stale priority is noticed.
 * The client and the stock plugin are stand-ins here. */
#include "plugin/priority/ranking.h"

#include <stdlib.h>

#include "plugin/front.h"
#include "plugin/multifactor.h"
#include "plugin/priority/site_factor.h"
#include "tests/plugin/check.h"

const char plugin_type[] = "priority/shapley";

static shapley_order_t order = {.act = true, .strict = true, .ranks = 3, .generation = 1};
static uint32_t stock_calls;
static bool stock_away; /* as under site_factor/shapley */

shapley_order_t shapley_client_order(shapley_client_t* client) {
  (void)client;
  return order;
}

/* Organization "org0" is first, "org1" second, all others last. */
uint32_t shapley_client_rank(shapley_client_t* client, const shapley_job_traits_t* traits) {
  (void)client;
  if (!strcmp(traits->account, "org0")) return 0;
  return strcmp(traits->account, "org1") ? 2 : 1;
}

/* Job 77 has level 3, others none. */
static uint32_t level_lookups;
uint32_t shapley_client_level(shapley_client_t* client, uint32_t job_id) {
  (void)client;
  level_lookups++;
  return job_id == 77 ? 3 : 0;
}

uint32_t shapley_multifactor_set(job_record_t* job) {
  if (stock_away) return 0;
  stock_calls++;
  return 5000 + (job->site_factor - NICE_OFFSET);
}

typedef struct {
  job_record_t record;
  __typeof__(*((job_record_t*)0)->details) details;
  __typeof__(*((job_record_t*)0)->prio_factors) factors;
} made_t;

/* A pending job with weighted factors of 1300 and nice 50, ranked 0 so far. */
static void make(made_t* made) {
  memset(made, 0, sizeof(*made));
  made->factors.priority_age = 300;
  made->factors.priority_fs = 1000;
  made->factors.nice = NICE_OFFSET + 50;
  made->factors.priority_site = NICE_OFFSET;
  made->record.account = "org1";
  made->record.details = &made->details;
  made->record.prio_factors = &made->factors;
  made->record.site_factor = NICE_OFFSET;
  made->record.priority = 1250;
  made->record.job_state = JOB_PENDING;
}

static void set_weights(uint32_t age, char* tres) {
  slurm_conf.priority_weight_age = age;
  slurm_conf.priority_weight_fs = 2000;
  slurm_conf.priority_weight_tres = tres;
  shapley_ranking_read_weights();
}

static void test_step_exceeds_the_weights(void) {
  set_weights(1000, "cpu=500");
  shapley_ranking_t ranking = shapley_ranking_now(NULL);
  CHECK_EQ(ranking.steps.rank, 3500 + k_shapley_nice_headroom + 1);
  CHECK(!ranking.narrow.ranks);
  set_weights(2000000000, NULL);
  CHECK(shapley_ranking_now(NULL).narrow.ranks);
  order.strict = false; /* no step, so none too narrow */
  CHECK(!shapley_ranking_now(NULL).narrow.ranks);
  order.strict = true;
}

static void test_wanted_site_factor(void) {
  set_weights(1000, NULL);
  made_t made;
  make(&made);
  shapley_ranking_t ranking = shapley_ranking_now(NULL);
  CHECK_EQ(shapley_wanted_site_factor_of(&ranking, &made.record, SHAPLEY_NO_LABEL),
           NICE_OFFSET + k_shapley_nice_headroom + ranking.steps.rank);
  order = (shapley_order_t){.act = true, .strict = false, .weight = 800, .ranks = 3};
  ranking = shapley_ranking_now(NULL);
  CHECK_EQ(shapley_wanted_site_factor_of(&ranking, &made.record, SHAPLEY_NO_LABEL), NICE_OFFSET + 400);
  order = (shapley_order_t){.act = true, .strict = true, .ranks = 3};
}

static void test_labels(void) {
  set_weights(1000, NULL);
  made_t made;
  make(&made);
  made.record.job_id = 77;
  order.levels = true;
  shapley_ranking_t ranking = shapley_ranking_now(NULL);
  CHECK(ranking.steps.labels > 30000);
  uint32_t labels[] = {0, 1, 17, ranking.steps.labels - 1};
  for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
    made.record.site_factor = shapley_wanted_site_factor_of(&ranking, &made.record, labels[i]);
    CHECK_EQ(shapley_label_of(&ranking, &made.record), labels[i]);
    CHECK(made.record.site_factor > NICE_OFFSET); /* no overflow: Slurm adds it to the other factors */
  }
  made.record.site_factor++;
  CHECK_EQ(shapley_label_of(&ranking, &made.record), SHAPLEY_NO_LABEL); /* of no level */
  made.record.site_factor = NICE_OFFSET;
  CHECK_EQ(shapley_label_of(&ranking, &made.record), SHAPLEY_NO_LABEL); /* Slurm's default */
  /* Recognized when they are to be taken off. */
  shapley_site_formula_t formula = shapley_ranking_formula(&ranking);
  CHECK(shapley_site_formula_gives(&formula, shapley_site_of_label(&ranking.steps, 17, 3)));
  CHECK(!shapley_site_formula_gives(&formula, shapley_site_of_label(&ranking.steps, 17, 3) + 1));
  order = (shapley_order_t){.act = true, .strict = true, .ranks = 3};
}

static uint32_t wanted(const shapley_ranking_t* ranking, uint32_t job_id, char* account) {
  made_t made;
  make(&made);
  made.record.job_id = job_id;
  made.record.account = account;
  return shapley_wanted_site_factor_of(ranking, &made.record, SHAPLEY_NO_LABEL) - NICE_OFFSET;
}

static void test_levels_order_within_the_organization(void) {
  set_weights(1000, NULL); /* 3000 with fairshare */
  shapley_ranking_t ranking = shapley_ranking_now(NULL);
  level_lookups = 0;
  CHECK_EQ(wanted(&ranking, 77, "org1"), k_shapley_nice_headroom + 13001); /* no levels yet: as before */
  CHECK_EQ(wanted(&ranking, 77, "org1"), wanted(&ranking, 78, "org1"));
  CHECK_EQ(level_lookups, 0);

  order.levels = true;
  ranking = shapley_ranking_now(NULL);
  CHECK(!ranking.narrow.levels);
  CHECK_EQ(ranking.steps.level, 3002);
  CHECK_EQ(wanted(&ranking, 78, "org1"), k_shapley_nice_headroom + 13001 + 15 * 3002);
  CHECK_EQ(wanted(&ranking, 77, "org1"), wanted(&ranking, 78, "org1") + 3 * 3002);
  CHECK(wanted(&ranking, 77, "org1") < wanted(&ranking, 78, "org0"));
  shapley_site_formula_t formula = shapley_ranking_formula(&ranking);
  CHECK_EQ(formula.level_unit, 3002); /* or the values would not be taken off later */

  order = (shapley_order_t){.act = true, .strict = false, .weight = 800, .ranks = 3, .levels = true};
  ranking = shapley_ranking_now(NULL);
  CHECK_EQ(wanted(&ranking, 77, "org1"), 400 + 3 * 26);
  order.weight = 16; /* ranks are 8 apart */
  ranking = shapley_ranking_now(NULL);
  CHECK(ranking.narrow.levels);
  CHECK_EQ(wanted(&ranking, 77, "org1"), 8);
  shapley_narrow_t logged = {0};
  shapley_ranking_log_narrow(&ranking, &logged);
  CHECK(logged.levels && !logged.ranks);
  order = (shapley_order_t){.act = true, .strict = true, .ranks = 3};
}

static void test_who_is_left_alone(void) {
  made_t made;
  make(&made);
  CHECK(shapley_is_rankable(&made.record));
  made.record.priority = 0;
  CHECK(!shapley_is_rankable(&made.record));
  make(&made);
  made.record.direct_set_prio = 1;
  CHECK(!shapley_is_rankable(&made.record));
  make(&made);
  made.record.details = NULL;
  CHECK(!shapley_is_rankable(&made.record));
  const uint32_t states[] = {JOB_RUNNING, JOB_SUSPENDED, JOB_COMPLETE, JOB_PENDING | JOB_REVOKED,
                             JOB_PENDING | JOB_POWER_UP_NODE};
  for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
    make(&made);
    made.record.job_state = states[i];
    CHECK(!shapley_is_rankable(&made.record));
    CHECK(!shapley_set_site_factor(&made.record, NICE_OFFSET + 7));
    CHECK_EQ(made.record.priority, 1250);
  }
}

static void test_setting_adds_the_rank(void) {
  made_t made;
  make(&made);
  CHECK(shapley_set_site_factor(&made.record, NICE_OFFSET + 20000));
  CHECK_EQ(made.record.site_factor, NICE_OFFSET + 20000);
  CHECK_EQ(made.record.priority, 1300 + 20000 - 50);
  CHECK_EQ(made.factors.priority_site, NICE_OFFSET + 20000);          /* sprio shows it */
  CHECK(!shapley_set_site_factor(&made.record, NICE_OFFSET + 20000)); /* nothing left to change */
  CHECK(shapley_set_site_factor(&made.record, NICE_OFFSET));
  CHECK_EQ(made.record.priority, 1250);
  CHECK_EQ(stock_calls, 0);

  made.factors.nice = NICE_OFFSET + 5000; /* Slurm's floor */
  CHECK(shapley_set_site_factor(&made.record, NICE_OFFSET + 1));
  CHECK_EQ(made.record.priority, 1);

  double tres[] = {100.5, 200.25};
  make(&made);
  made.factors.priority_tres = tres;
  made.factors.tres_cnt = 2;
  CHECK(shapley_set_site_factor(&made.record, NICE_OFFSET));
  CHECK_EQ(made.record.priority, 1550);
}

static void test_the_stock_plugin_computes_what_is_not_stored(void) {
  made_t made;
  make(&made);
  made.record.prio_factors = NULL;
  stock_calls = 0;
  CHECK(shapley_set_site_factor(&made.record, NICE_OFFSET + 70));
  CHECK_EQ(made.record.priority, 5070);
  make(&made);
  memset(&made.factors, 0, sizeof(made.factors)); /* as it leaves them for a directly set priority */
  CHECK(shapley_set_site_factor(&made.record, NICE_OFFSET + 80));
  CHECK_EQ(made.record.priority, 5080);
  CHECK_EQ(stock_calls, 2);
}

enum { k_many_partitions = 40 };

/* As shapley_part_priorities finds them. */
static void give_part_priorities(job_record_t* record, uint32_t* priorities) {
#if SHAPLEY_SLURM_AT_LEAST(25, 5, 1) || (SHAPLEY_SLURM_AT_LEAST(24, 11, 7) && !SHAPLEY_SLURM_AT_LEAST(25, 5, 0))
  static __typeof__(*record->prio_mult) parts;
  parts.priority_array = priorities;
  record->prio_mult = &parts;
#elif SHAPLEY_SLURM_AT_LEAST(24, 5, 0)
  static __typeof__(*record->part_prio) parts;
  parts.priority_array = priorities;
  record->part_prio = &parts;
#else
  record->priority_array = priorities;
#endif
}

/* Where the stock plugin cannot be called, the rank is added to each partition's priority. */
static void test_several_partitions_without_the_stock_plugin(void) {
  made_t made;
  make(&made);
  char parts[3]; /* only their number counts */
  uint32_t* priorities = xcalloc(3, sizeof(*priorities));
  priorities[0] = 1250, priorities[1] = 1450, priorities[2] = 1;
  made.record.part_ptr_list = list_create(NULL);
  for (size_t i = 0; i < 3; i++) list_append(made.record.part_ptr_list, &parts[i]);
  give_part_priorities(&made.record, priorities);
  stock_away = true;
  CHECK(shapley_set_site_factor(&made.record, NICE_OFFSET + 20000));
  CHECK_EQ(made.record.priority, 21250);
  CHECK_EQ(priorities[0], 21250);
  CHECK_EQ(priorities[1], 21450);
  CHECK_EQ(priorities[2], 20001);
  CHECK(!shapley_set_site_factor(&made.record, NICE_OFFSET + 20000)); /* not added twice */
  CHECK_EQ(priorities[1], 21450);
  CHECK(shapley_set_site_factor(&made.record, NICE_OFFSET));
  CHECK_EQ(made.record.priority, 1250);
  CHECK_EQ(priorities[1], 1450);

  made.record.prio_factors = NULL; /* never computed: the site factor is set and Slurm adds it */
  CHECK(!shapley_set_site_factor(&made.record, NICE_OFFSET + 30));
  CHECK_EQ(made.record.site_factor, NICE_OFFSET + 30);
  CHECK_EQ(made.record.priority, 1250);
  stock_away = false;
  list_destroy(made.record.part_ptr_list);
  xfree(priorities);
}

/* A job's list of partitions was replaced by a longer one, and Slurm has not computed its priorities since. What lies
 * behind the array's end would be seen by valgrind and the address sanitizer; here the count says it. */
static void test_a_list_that_outgrew_its_priorities(void) {
  made_t made;
  make(&made);
  char parts[k_many_partitions]; /* only their number counts */
  uint32_t* priorities = xcalloc(2, sizeof(*priorities));
  priorities[0] = 1250, priorities[1] = 1450;
  made.record.part_ptr_list = list_create(NULL);
  for (size_t i = 0; i < k_many_partitions; i++) list_append(made.record.part_ptr_list, &parts[i]);
  give_part_priorities(&made.record, priorities);
  int count = 0;
  CHECK(shapley_part_priorities(&made.record, &count) == priorities);
  CHECK_EQ(count, 2);
  stock_away = true;
  CHECK(shapley_set_site_factor(&made.record, NICE_OFFSET + 20000));
  CHECK_EQ(priorities[0], 21250);
  CHECK_EQ(priorities[1], 21450);
  stock_away = false;
  list_destroy(made.record.part_ptr_list);
  xfree(priorities);
}

static void test_stale_priorities_are_noticed(void) {
  made_t made;
  make(&made);
  CHECK(shapley_priority_is_current(&made.record));
  made.record.priority = 1249; /* two ways of rounding */
  CHECK(shapley_priority_is_current(&made.record));
  made.record.priority = 1248;
  CHECK(!shapley_priority_is_current(&made.record));
  made.record.priority = 1250;
  made.record.site_factor = NICE_OFFSET + 100; /* ranked, then an older priority written back */
  CHECK(!shapley_priority_is_current(&made.record));
  made.record.prio_factors = NULL;
  CHECK(shapley_priority_is_current(&made.record));
}

/* Factors that no weight bounds (PriorityFlags=NO_NORMAL_*) widen the step once they are seen. */
static void test_factors_beyond_their_weights(void) {
  set_weights(1000, NULL);
  uint32_t narrow = shapley_ranking_now(NULL).steps.rank;
  made_t made;
  make(&made);
  made.factors.priority_fs = 100000;
  (void)shapley_priority_is_current(&made.record);
  shapley_ranking_t ranking = shapley_ranking_now(NULL);
  CHECK(ranking.steps.rank > narrow);
  CHECK(ranking.steps.rank > 100300 + k_shapley_nice_headroom);
}

int main(void) {
  test_step_exceeds_the_weights();
  test_wanted_site_factor();
  test_labels();
  test_levels_order_within_the_organization();
  test_who_is_left_alone();
  test_setting_adds_the_rank();
  test_the_stock_plugin_computes_what_is_not_stored();
  test_several_partitions_without_the_stock_plugin();
  test_a_list_that_outgrew_its_priorities();
  test_stale_priorities_are_noticed();
  test_factors_beyond_their_weights();
  return failures != 0;
}
