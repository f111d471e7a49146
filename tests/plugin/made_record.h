/* Job records made by hand as slurmctld leaves them (22.05's job_mgr.c), for the tests of plugin/scan,
 * and a stand-in for the client that keeps what it is handed. */
#ifndef SHAPLEY_MADE_RECORD_H
#define SHAPLEY_MADE_RECORD_H

#include "plugin/scan/records.h"

enum { k_now = 1000000 };

static shapley_records_t records;

/* slurmctld's own, weak in the plugin: none but where a test makes it. */
__typeof__(resv_list) resv_list;
__typeof__(avail_node_bitmap) avail_node_bitmap;

/* A batch job that waits since 100 s, eligible at once. Tests change what they are about. */
typedef struct {
  job_record_t record;
  __typeof__(*((job_record_t*)0)->details) details;
  job_array_struct_t array;
  job_resources_t resources;
  uint64_t requested[3], allocated[3];
  uint16_t cpus[4];
  uint64_t memory[4];
  char* gres[4];
  part_record_t partition;
} made_t;

static inline void make(made_t* made) {
  memset(made, 0, sizeof(*made));
  made->details.submit_time = k_now - 100;
  made->details.begin_time = k_now - 100;
  made->requested[0] = 8;
  made->requested[1] = 2000;
  made->allocated[0] = 8;
  made->partition.name = "main";
  made->partition.state_up = PARTITION_UP;
  made->partition.max_share = 1; /* OverSubscribe=NO */
  made->record.job_id = 7;
  made->record.array_task_id = NO_VAL;
  made->record.details = &made->details;
  made->record.account = "bob";
  made->record.partition = "main";
  made->record.name = "job";
  made->record.part_ptr = &made->partition;
  made->record.priority = 1;
  made->record.tres_req_cnt = made->requested;
  made->record.job_state = JOB_PENDING;
  made->record.user_id = 1000;
  made->record.group_id = 100;
}

/* Gives it processors on n2 and n4, whose table indices are 1 and 3. */
static inline void run_on_two_nodes(made_t* made) {
  made->record.job_state = JOB_RUNNING;
  made->record.start_time = k_now - 50;
  made->record.end_time = k_now + 500; /* expected */
  made->record.tres_alloc_cnt = made->allocated;
  made->record.job_resrcs = &made->resources;
  made->record.nodes = "n[2,4]";
  made->resources.nodes = "n[2,4]";
  made->resources.nhosts = 2;
  made->resources.ncpus = 8;
  made->resources.cpus = made->cpus;
  made->cpus[0] = 5;
  made->cpus[1] = 3;
  made->resources.memory_allocated = made->memory;
  made->memory[0] = 5000;
  made->memory[1] = 3000;
  made->record.gres_detail_str = made->gres;
  made->record.gres_detail_cnt = 2;
  made->gres[0] = "gpu:tesla:2(IDX:0-1)";
  made->record.gres_used = "gpu:tesla:2";
  static bitstr_t* bitmap;
  if (!bitmap) bitmap = bit_alloc(node_record_count);
  bit_clear_all(bitmap);
  made->resources.node_bitmap = bitmap;
  bit_set(made->resources.node_bitmap, 1);
  bit_set(made->resources.node_bitmap, 3);
}

static inline void make_node_table(void) {
  static node_record_t nodes[4];
  static node_record_t* table[4];
  static char* tres_names[] = {"cpu", "mem", "gres/gpu"};
  static char* names[] = {"n1", "n2", "n3", "n4"};
  for (uint32_t i = 0; i < 4; i++) {
    nodes[i] = (node_record_t){.name = names[i], .index = i, .cpus = 16, .node_state = NODE_STATE_IDLE};
    table[i] = &nodes[i];
  }
  node_record_table_ptr = table;
  node_record_count = 4;
  assoc_mgr_tres_name_array = tres_names;
  rehash_node(); /* names are looked up in it */
}

/* ---- the client: everything is new to it -------------------------------------------------------- */

static struct {
  uint64_t fingerprint, quick_hash;
  shapley_job_t job;
  shapley_node_t node;
} handed;

bool shapley_client_scan_job(shapley_client_t* client, uint32_t job_id, uint64_t fingerprint, uint64_t quick_hash) {
  (void)client, (void)job_id;
  handed.fingerprint = fingerprint;
  handed.quick_hash = quick_hash;
  return true;
}

void shapley_client_scan_record(shapley_client_t* client, const shapley_job_t* job) {
  (void)client;
  handed.job = *job;
}

bool shapley_client_scan_node(shapley_client_t* client, uint32_t index, uint64_t fingerprint) {
  (void)client, (void)index;
  handed.fingerprint = fingerprint;
  return true;
}

void shapley_client_scan_node_record(shapley_client_t* client, uint32_t index, const shapley_node_t* node) {
  (void)client, (void)index;
  handed.node = *node;
}

/* ---- what the client is handed ------------------------------------------------------------------ */

/* Valid until the next call. */
static inline shapley_job_t read_job(const made_t* made) {
  static shapley_job_traits_buffer_t traits;
  shapley_job_traits_fill(&made->record, &traits);
  shapley_records_pass_job(&records, &made->record, &traits.traits, 1);
  return handed.job;
}

static inline uint64_t fingerprint(const made_t* made) {
  (void)read_job(made);
  return handed.fingerprint;
}

#endif
