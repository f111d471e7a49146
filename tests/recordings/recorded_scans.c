#include "tests/recordings/recorded_scans.h"

#include <string.h>

/* The stand-in of made_record.h for the client gets other names: here the client itself is called. */
#define shapley_client_scan_job made_scan_job
#define shapley_client_scan_record made_scan_record
#define shapley_client_scan_node made_scan_node
#define shapley_client_scan_node_record made_scan_node_record
#include "tests/plugin/made_record.h"
#undef shapley_client_scan_job
#undef shapley_client_scan_record
#undef shapley_client_scan_node
#undef shapley_client_scan_node_record

/* slurmctld's own, weak in the plugin. */
int slurmctld_tres_cnt = 3;

enum { k_jobs = 9 };
static made_t made[k_jobs];
static part_record_t batch = {.name = "batch"}, gpu = {.name = "gpu"};
static void* partitions[] = {&batch, &gpu};

static void make_job(int index, char* account, char* name) {
  make(&made[index]);
  made[index].record.job_id = 100 + (uint32_t)index;
  made[index].record.account = account;
  made[index].record.name = name;
  made[index].record.user_id = 1000 + (uint32_t)index % 3;
}

static void make_jobs(void) {
  make_job(0, "physics", "waits");
  make_job(1, "physics", "runs");
  run_on_two_nodes(&made[1]);
  make_job(2, "biology", "is held");
  made[2].record.priority = 0;
  make_job(3, "biology", "array");
  made[3].record.array_job_id = made[3].record.job_id;
  made[3].record.array_recs = &made[3].array;
  made[3].array.task_cnt = 10;
  made[3].array.max_run_tasks = 4;
  make_job(4, "chemistry", "asks for nodes");
  made[4].details.req_nodes = "n[1-2]";
  made[4].details.exc_nodes = "n4";
  made[4].details.features = "gpu&ib";
  made[4].record.resv_name = "spring";
  make_job(5, "chemistry", "asks for resources");
  made[5].record.tres_per_node = "gres:gpu:2";
  made[5].details.min_nodes = 2;
  made[5].record.time_limit = 90;
  make_job(6, "chemistry", "is \xc3\xa4lter \"than\" others");
  made[6].record.wckey = "mouse";
  made[6].record.partition = "first,second";
  make_job(7, "guest", "was cancelled");
  made[7].record.job_state = JOB_CANCELLED;
  made[7].record.start_time = made[7].record.end_time = k_now - 5;
  make_job(8, "physics", "part");
  made[8].record.het_job_id = 107;
}

static void end(int index, uint32_t state, time_t when) {
  made[index].record.job_state = state;
  made[index].record.end_time = when;
}

/* What happens before scan `number`. */
static void happens(int number) {
  node_record_t* const* nodes = node_record_table_ptr;
  time_t now = k_now + number;
  switch (number) {
    case 0:
      make_node_table();
      make_jobs();
      break;
    case 1:
      run_on_two_nodes(&made[0]);
      made[0].record.start_time = now;
      made[2].record.priority = 5;
      nodes[2]->node_state = NODE_STATE_DOWN;
      break;
    case 2:
      made[1].record.job_state = JOB_SUSPENDED;
      made[1].record.suspend_time = now;
      made[1].record.pre_sus_time = 52;
      made[3].array.tot_run_tasks = 3;
      break;
    case 3:
      made[1].record.job_state = JOB_RUNNING;
      made[1].record.suspend_time = now;
      made[1].record.tot_sus_time = 1;
      end(0, JOB_COMPLETE | JOB_COMPLETING, now - 1);
      break;
    case 4:
      made[0].record.job_state = JOB_COMPLETE;
      made[1].record.job_state = JOB_PENDING | JOB_COMPLETING;
      made[1].record.restart_cnt = 1;
      made[1].record.end_time = now;
      nodes[2]->node_state = NODE_STATE_IDLE | NODE_STATE_DRAIN;
      break;
    case 5:
      nodes[0]->part_pptr = (void*)partitions;
      nodes[0]->part_cnt = 2;
      nodes[0]->features = "ib,gpu,knl";
      nodes[0]->features_act = "ib,gpu";
      made[4].record.account = "physics";
      break;
    case 6:
      made[7].record.job_id = 0; /* purged */
      made[5].details.begin_time = now + 3600;
      nodes[2]->node_state = NODE_STATE_IDLE;
      break;
    case 7:
      run_on_two_nodes(&made[8]);
      made[8].record.start_time = now;
      made[8].record.resize_time = now;
      end(6, JOB_NODE_FAIL, now);
      break;
    default:
      break;
  }
}

void shapley_recorded_scan(shapley_client_t* client, int number) {
  time_t now = k_now + number;
  happens(number);
  records.client = client;
  shapley_client_scan_begin(client, now);
  if (!shapley_records_begin(&records, now, (size_t)slurmctld_tres_cnt)) abort();
  for (int i = 0; i < node_record_count; i++)
    shapley_records_pass_node(&records, (uint32_t)i, node_record_table_ptr[i]);
  for (int i = 0; i < k_jobs; i++)
    if (made[i].record.job_id) (void)read_job(&made[i]);
  const shapley_privileged_user_t user = {.user_id = 1001, .is_operator = true};
  const shapley_privacy_t privacy = {.jobs = number >= 5, .users = &user, .users_count = number >= 5};
  shapley_client_scan_privacy(client, &privacy);
  shapley_client_scan_end(client, true);
}
