#include "tests/plugin/host/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef __typeof__(*((job_record_t*)0)->details) details_t;

/* Slurm's record first, so that a pointer to one is a pointer to the other. All of it is one piece of heap that is
 * freed when the job is purged: who reads it without the lock is caught. */
typedef struct {
  job_record_t record;
  details_t details;
  job_resources_t resources;
  uint64_t requested[k_host_tres], allocated[k_host_tres];
  uint16_t cpus[k_host_nodes];
  uint64_t memory[k_host_nodes];
  char* gres[k_host_nodes];
  char gres_text[32];
  uint32_t held_nodes; /* bit i: node "n<i + 1>", whatever its place in the table */
  char account[32], name[32], partition[32], nodes[128], asked_nodes[32];
  host_truth_t truth;
} host_job_t;

static const char* const k_accounts[] = {"astro", "bio", "chem"};

static node_record_t* nodes[k_host_nodes];
static char node_names[k_host_nodes][8];
static part_record_t* partitions[2];
static slurmdb_assoc_rec_t associations[1 + k_host_organizations];
static char* tres_names[k_host_tres] = {"cpu", "mem", "gres/gpu"};

void host_fail(const char* what) {
  fprintf(stderr, "host: %s\n", what);
  abort();
}

static void* allocate(size_t bytes) {
  void* memory = calloc(1, bytes);
  if (!memory) host_fail("out of memory");
  return memory;
}

static char* copy_of(const char* text) {
  char* copy = strdup(text);
  if (!copy) host_fail("out of memory");
  return copy;
}

static host_job_t* job_of(job_record_t* record) {
  return (host_job_t*)record;
}

/* ---- tables ------------------------------------------------------------------------------------- */

/* Node "n<number>" at this place of the table. */
static void make_node(uint32_t place, uint32_t number) {
  node_record_t* node = allocate(sizeof(*node));
  snprintf(node_names[number], sizeof(node_names[number]), "n%u", number + 1);
  node->name = copy_of(node_names[number]);
  node->index = place;
  node->cpus = node->cpus_efctv = k_host_node_cpus;
  node->node_state = NODE_STATE_IDLE;
  node->features = copy_of("ib,gpu,knl");
  node->features_act = copy_of("ib,gpu");
  node->part_pptr = allocate(2 * sizeof(*node->part_pptr));
  nodes[place] = node;
}

static void free_node(node_record_t* node) {
  free(node->name);
  free(node->features);
  free(node->features_act);
  free(node->part_pptr);
  free(node);
}

static void free_tables(void) {
  for (size_t i = 0; i < k_host_nodes; i++) {
    if (nodes[i]) free_node(nodes[i]);
    nodes[i] = NULL;
  }
  for (size_t i = 0; i < 2; i++) {
    if (partitions[i]) free(partitions[i]->name);
    free(partitions[i]);
    partitions[i] = NULL;
  }
}

/* One association an account, below that of the university. */
static void make_associations(void) {
  for (size_t i = 0; i <= k_host_organizations; i++) {
    free(associations[i].acct);
    associations[i].acct = copy_of(i ? k_accounts[i - 1] : "university");
    if (associations[i].usage) continue;
    associations[i].usage = slurmdb_create_assoc_usage(k_host_tres);
    associations[i].usage->parent_assoc_ptr = i ? &associations[0] : NULL;
  }
}

static void free_coordinated(void* element) {
  slurmdb_coord_rec_t* coordinated = element;
  free(coordinated->name);
  free(coordinated);
}

static void free_user(void* element) {
  slurmdb_user_rec_t* user = element;
  list_destroy(user->coord_accts);
  free(user);
}

/* The one who coordinates the first organization, in memory of its own each time, as slurmctld takes its users over
 * from slurmdbd again. */
static void make_users(void) {
  if (assoc_mgr_user_list) list_destroy(assoc_mgr_user_list);
  assoc_mgr_user_list = list_create(free_user);
  slurmdb_coord_rec_t* coordinated = allocate(sizeof(*coordinated));
  coordinated->name = copy_of(k_accounts[0]);
  slurmdb_user_rec_t* user = allocate(sizeof(*user));
  user->uid = k_host_coordinator;
  user->coord_accts = list_create(free_coordinated);
  list_append(user->coord_accts, coordinated);
  list_append(assoc_mgr_user_list, user);
}

void host_tables_make(uint64_t random) {
  free_tables();
  for (uint32_t place = 0; place < k_host_nodes; place++)
    make_node(place, (place + (uint32_t)(random % k_host_nodes)) % k_host_nodes);
  node_record_table_ptr = nodes;
  node_record_count = k_host_nodes;
  rehash_node(); /* names are looked up in it */
  static const char* const names[] = {"main", "long"};
  for (size_t i = 0; i < 2; i++) {
    partitions[i] = allocate(sizeof(part_record_t));
    partitions[i]->name = copy_of(names[i]);
    partitions[i]->state_up = PARTITION_UP;
    partitions[i]->priority_job_factor = 1;
    partitions[i]->norm_priority = 1;
    for (size_t place = 0; place < k_host_nodes; place++)
      nodes[place]->part_pptr[nodes[place]->part_cnt++] = partitions[i];
  }
  assoc_mgr_tres_name_array = tres_names;
  last_node_update = time(NULL);
}

void host_tables_free(void) {
  free_tables();
  node_record_count = 0;
  rehash_node();
  for (size_t i = 0; i <= k_host_organizations; i++) {
    free(associations[i].acct);
    associations[i].acct = NULL;
    slurmdb_destroy_assoc_usage(associations[i].usage);
    associations[i].usage = NULL;
  }
  assoc_mgr_tres_name_array = NULL;
  list_destroy(assoc_mgr_user_list);
  assoc_mgr_user_list = NULL;
}

part_record_t* host_find_partition(const char* name) {
  for (size_t i = 0; i < 2; i++)
    if (partitions[i] && !strcmp(partitions[i]->name, name)) return partitions[i];
  return NULL;
}

void host_associations_move(void) {
  make_associations();
  make_users();
}

void host_node_flip(uint64_t random) {
  node_record_t* node = nodes[random % k_host_nodes];
  uint32_t flags = node->node_state & NODE_STATE_FLAGS;
  node->node_state = flags | (IS_NODE_DOWN(node) ? NODE_STATE_IDLE : NODE_STATE_DOWN);
  last_node_update = time(NULL);
}

/* ---- the reservation ---------------------------------------------------------------------------- */

static bool is_for_reservation(const char* node) {
  return node[1] <= '4';
}

void host_reservation_free(void* element) {
  slurmctld_resv_t* reservation = element;
  bit_free(reservation->node_bitmap);
  free(reservation->name);
  free(reservation);
}

void host_reservation_follow_tables(void) {
  slurmctld_resv_t* reservation = list_peek(resv_list);
  for (int place = 0; place < k_host_nodes; place++) {
    bool holds = reservation && is_for_reservation(nodes[place]->name);
    nodes[place]->node_state &= ~(uint32_t)NODE_STATE_RES;
    if (holds) nodes[place]->node_state |= NODE_STATE_RES;
    if (holds)
      bit_set(reservation->node_bitmap, place);
    else if (reservation)
      bit_clear(reservation->node_bitmap, place);
  }
  last_node_update = time(NULL);
}

void host_reservation_flip(void) {
  if (list_count(resv_list)) {
    list_flush(resv_list);
  } else {
    slurmctld_resv_t* reservation = allocate(sizeof(*reservation));
    reservation->name = copy_of("works");
    reservation->ctld_flags = RESV_CTLD_FULL_NODE;
    reservation->end_time = time(NULL) + 100000;
    reservation->node_bitmap = bit_alloc(k_host_nodes);
    list_append(resv_list, reservation);
  }
  host_reservation_follow_tables();
}

bool host_reservation_holds(const char* node) {
  return list_count(resv_list) && is_for_reservation(node);
}

/* ---- jobs --------------------------------------------------------------------------------------- */

static void set_requests(host_job_t* job, uint64_t random) {
  job->requested[0] = 1 + random % 8;
  job->requested[1] = 100;
  job->details.min_cpus = (uint32_t)job->requested[0];
  job->details.max_cpus = NO_VAL;
  job->details.min_nodes = 1;
  job->details.nice = NICE_OFFSET;
  job->details.submit_time = time(NULL);
  job->details.begin_time = time(NULL);
}

job_record_t* host_job_make(uint32_t job_id, uint64_t random) {
  host_job_t* job = allocate(sizeof(*job));
  size_t organization = random % k_host_organizations;
  set_requests(job, random / 16);
  snprintf(job->account, sizeof(job->account), "%s", k_accounts[organization]);
  snprintf(job->name, sizeof(job->name), "job-%u", job_id);
  snprintf(job->partition, sizeof(job->partition), "%s", random / 256 % 2 ? "main" : "long");
  job_record_t* record = &job->record;
  record->job_id = job_id;
  record->array_task_id = NO_VAL;
  record->details = &job->details;
  record->account = job->account;
  record->name = job->name;
  record->partition = job->partition;
  record->part_ptr = host_find_partition(job->partition);
  record->assoc_ptr = &associations[1 + organization];
  record->tres_req_cnt = job->requested;
  record->job_state = JOB_PENDING;
  record->site_factor = NICE_OFFSET;
  record->user_id = 1000 + (uint32_t)organization;
  record->group_id = 100;
  snprintf(job->asked_nodes, sizeof(job->asked_nodes), "n[1-%u]", 2 + job_id % k_host_placements);
  job->details.req_nodes = job->details.features = job->details.exc_nodes = record->resv_name = job->asked_nodes;
  job->truth = (host_truth_t){.job_id = job_id, .state = HOST_PENDING};
  return record;
}

static void give_nodes_back(host_job_t* job) {
  if (job->resources.node_bitmap) bit_free(job->resources.node_bitmap);
  job->resources.node_bitmap = NULL;
}

void host_job_free(job_record_t* record) {
  host_job_t* job = job_of(record);
  give_nodes_back(job);
  if (record->prio_factors) {
    xfree(record->prio_factors->tres_weights);
    xfree(record->prio_factors->priority_tres);
    xfree(record->prio_factors);
  }
  free(job);
}

/* Bitmap and processors in the table's order, names in that of their numbers, as Slurm writes them. */
static void place(host_job_t* job) {
  uint32_t each = (uint32_t)job->requested[0], entry = 0;
  size_t length = 0;
  give_nodes_back(job);
  job->resources.node_bitmap = bit_alloc(k_host_nodes);
  for (uint32_t index = 0; index < k_host_nodes; index++) {
    uint32_t number = (uint32_t)atoi(nodes[index]->name + 1) - 1;
    if (!(job->held_nodes >> number & 1)) continue;
    bit_set(job->resources.node_bitmap, index);
    job->memory[entry] = (uint64_t)k_host_cpu_memory * each;
    job->gres[entry] = job->gres_text;
    job->cpus[entry++] = (uint16_t)each;
  }
  for (uint32_t number = 0; number < k_host_nodes; number++)
    if (job->held_nodes >> number & 1)
      length +=
          (size_t)snprintf(job->nodes + length, sizeof(job->nodes) - length, "%sn%u", length ? "," : "", number + 1);
  job->resources.nodes = job->nodes;
  job->resources.cpus = job->cpus;
  job->resources.memory_allocated = job->memory;
  snprintf(job->gres_text, sizeof(job->gres_text), "gpu:%u(IDX:0-%u)", each, each - 1);
  job->record.gres_detail_str = job->gres;
  job->record.gres_detail_cnt = entry;
  job->resources.nhosts = entry;
  job->resources.ncpus = entry * each;
}

void host_job_start(job_record_t* record, uint64_t random) {
  host_job_t* job = job_of(record);
  job->held_nodes = 1U << random % k_host_nodes | 1U << random / 8 % k_host_nodes;
  place(job);
  job->allocated[0] = job->resources.ncpus;
  record->job_resrcs = &job->resources;
  record->nodes = job->nodes;
  record->node_bitmap = job->resources.node_bitmap;
  record->tres_alloc_cnt = job->allocated;
  record->total_cpus = job->resources.ncpus;
  record->job_state = JOB_RUNNING;
  record->start_time = time(NULL);
  record->end_time = record->start_time + 600; /* expected */
  record->suspend_time = 0;
  record->pre_sus_time = record->tot_sus_time = 0;
  job->truth.state = HOST_RUNNING;
  job->truth.start = record->start_time;
  job->truth.end = 0;
  job->truth.cpus = job->resources.ncpus;
}

void host_job_end(job_record_t* record, uint32_t state) {
  host_job_t* job = job_of(record);
  bool ran = job->truth.state != HOST_PENDING;
  record->end_time = record->time_last_active = time(NULL);
  if (!ran) record->start_time = record->end_time; /* as Slurm does for a job cancelled while it waits */
  record->job_state = ran ? state | JOB_COMPLETING : state;
  job->truth.state = HOST_ENDED;
  job->truth.end = record->end_time;
  if (!ran) job->truth.start = 0;
}

void host_job_requeue(job_record_t* record) {
  host_job_t* job = job_of(record);
  record->end_time = record->time_last_active = time(NULL);
  record->job_state = JOB_PENDING | JOB_COMPLETING;
  record->restart_cnt++;
  job->details.submit_time = time(NULL);
  job->truth = (host_truth_t){.job_id = record->job_id, .state = HOST_PENDING};
}

void host_job_clean(job_record_t* record) {
  host_job_t* job = job_of(record);
  if (!IS_JOB_COMPLETING(record)) return;
  record->job_state &= ~(uint32_t)JOB_COMPLETING;
  record->node_bitmap = NULL;
  give_nodes_back(job);
  if (!IS_JOB_PENDING(record)) return;
  record->job_resrcs = NULL;
  record->nodes = NULL;
  record->start_time = record->end_time = 0;
}

void host_job_suspend_or_resume(job_record_t* record) {
  host_job_t* job = job_of(record);
  time_t now = time(NULL);
  if (IS_JOB_RUNNING(record)) {
    record->pre_sus_time += now - (record->suspend_time ? record->suspend_time : record->start_time);
    record->job_state = JOB_SUSPENDED;
    job->truth.state = HOST_SUSPENDED;
  } else if (IS_JOB_SUSPENDED(record)) {
    record->tot_sus_time += now - record->suspend_time;
    record->job_state = JOB_RUNNING;
    job->truth.state = HOST_RUNNING;
  } else {
    return;
  }
  record->suspend_time = now;
}

void host_job_follow_tables(job_record_t* record) {
  host_job_t* job = job_of(record);
  record->part_ptr = host_find_partition(job->partition);
  if (!job->resources.node_bitmap) return; /* of a finished job only the names stay */
  place(job);
  record->node_bitmap = job->resources.node_bitmap;
}

size_t host_job_organization(const job_record_t* record) {
  size_t organization = 0;
  while (strcmp(k_accounts[organization], record->account)) organization++;
  return organization;
}

host_truth_t host_job_truth(const job_record_t* record) {
  return ((const host_job_t*)record)->truth;
}
