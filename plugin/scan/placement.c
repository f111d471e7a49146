#include "plugin/scan/placement.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/scan/fingerprint.h"

/* ---- jobs --------------------------------------------------------------------------------------- */

/* While slurmctld tries a job in a magnetic reservation it writes that one's name into the record, and backfill yields
 * its locks meanwhile (job_scheduler.c: job_queue_rec_magnetic_resv). The job did not ask for it. */
static const char* requested_reservation(const job_record_t* record) {
  return record->bit_flags & JOB_MAGNETIC ? NULL : record->resv_name;
}

void shapley_placement_fill_job(const job_record_t* record, shapley_job_t* job) {
  job->reservation = requested_reservation(record);
  if (!record->details) return;
  job->required_nodes = record->details->req_nodes;
  job->excluded_nodes = record->details->exc_nodes;
  job->features = record->details->features;
}

uint64_t shapley_placement_mix_job(uint64_t hash, const shapley_job_t* job) {
  const char* const texts[] = {job->required_nodes, job->excluded_nodes, job->features, job->reservation};
  for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
    hash = shapley_mix_text_up_to(hash, texts[i], k_shapley_max_placement_text);
  return hash;
}

/* ---- reservations ------------------------------------------------------------------------------- */

/* Whether it keeps other jobs off all of its nodes while it is active. With a reservation of cores (CoreCnt=) they may
 * use the rest of each node. */
static bool holds_its_nodes(const slurmctld_resv_t* reservation) {
  return reservation->name && reservation->node_bitmap && (reservation->ctld_flags & RESV_CTLD_FULL_NODE);
}

static bool holds_some_cores(const slurmctld_resv_t* reservation) {
  return reservation->name && reservation->node_bitmap && reservation->core_bitmap &&
         !(reservation->ctld_flags & RESV_CTLD_FULL_NODE);
}

/* A floating one stays ahead of the clock, because its start_time is a distance: it is always to come. Time limits are
 * minutes, so its begin may be a whole one, up to which the same jobs may run; a node then changes once in a minute. */
static time_t begin_of(const slurmctld_resv_t* reservation, time_t now) {
  if (!(reservation->flags & RESERVE_FLAG_TIME_FLOAT)) return reservation->start_time;
  return (now + reservation->start_time + 59) / 60 * 60;
}

typedef struct {
  shapley_placement_t* placement;
  time_t now;
} search_t;

/* In its place by begin; the last one goes if there is no room. */
static void add_coming(shapley_placement_t* placement, const slurmctld_resv_t* reservation, time_t begin) {
  size_t count = placement->coming_count, i = count;
  if (count < k_shapley_max_coming_reservations)
    placement->coming_count++;
  else if (placement->coming[--i].begin <= begin)
    return;
  for (; i > 0 && placement->coming[i - 1].begin > begin; i--) placement->coming[i] = placement->coming[i - 1];
  placement->coming[i].reservation = reservation;
  placement->coming[i].begin = begin;
}

static int add_reservation(void* element, void* to) {
  const slurmctld_resv_t* reservation = element;
  search_t* search = to;
  shapley_placement_t* placement = search->placement;
  if (search->now >= reservation->end_time) return 0;
  time_t begin = begin_of(reservation, search->now);
  if (holds_some_cores(reservation) && begin <= search->now && placement->of_cores_count < k_shapley_max_node_limits)
    placement->of_cores[placement->of_cores_count++] = reservation;
  if (!holds_its_nodes(reservation)) return 0;
  if (begin > search->now || (reservation->flags & RESERVE_FLAG_TIME_FLOAT))
    add_coming(placement, reservation, begin);
  else if (placement->active_count < k_shapley_max_node_names)
    placement->active[placement->active_count++] = reservation;
  return 0;
}

/* resv_list has no lock of its own. Whatever changes it or one of its records holds slurmctld's job or node WRITE lock
 * (proc_req.c: _slurm_rpc_resv_create and so on; controller.c: set_node_maint_mode, job_resv_check; reservation.c:
 * validate_all_reservations; the schedulers), so the job and node READ locks of a scan together keep it as it is. */
void shapley_placement_begin(shapley_placement_t* placement, time_t now) {
  search_t search = {.placement = placement, .now = now};
  placement->active_count = placement->of_cores_count = placement->coming_count = 0;
  if (resv_list) list_for_each_ro(resv_list, add_reservation, &search);
}

/* A bitmap may be shorter than the table for a moment after a node was added. */
static bool has_node(const slurmctld_resv_t* reservation, uint32_t index) {
  return (bitoff_t)index < bit_size(reservation->node_bitmap) && bit_test(reservation->node_bitmap, index);
}

/* slurmctld marks the nodes of active reservations (set_node_maint_mode, every 5 s), so most nodes need no look at the
 * bitmaps. */
static size_t reservations_of(shapley_placement_t* placement, uint32_t index, const node_record_t* record) {
  size_t count = 0;
  if (!(record->node_state & (NODE_STATE_RES | NODE_STATE_MAINT))) return 0;
  for (size_t i = 0; i < placement->active_count; i++) {
    if (has_node(placement->active[i], index)) placement->reservations[count++] = placement->active[i]->name;
  }
  return count;
}

static int64_t reserved_from(const shapley_placement_t* placement, uint32_t index) {
  for (size_t i = 0; i < placement->coming_count; i++)
    if (has_node(placement->coming[i].reservation, index)) return placement->coming[i].begin;
  return 0;
}

/* Of the node's CPUs; its cores follow those of the nodes before it in a bitmap of all. */
static uint32_t reserved_cpus(const slurmctld_resv_t* reservation, uint32_t index, const node_record_t* record) {
  int first = (int)cr_get_coremap_offset(index), end = first + record->tot_cores;
  if (end > bit_size(reservation->core_bitmap)) return 0;
  return (uint32_t)bit_set_count_range(reservation->core_bitmap, first, end) * (record->tpc ? record->tpc : 1);
}

/* ---- nodes -------------------------------------------------------------------------------------- */

static size_t partitions_of(shapley_placement_t* placement, const node_record_t* record) {
  size_t count = 0;
  for (size_t i = 0; record->part_pptr && i < record->part_cnt && count < k_shapley_max_node_names; i++) {
    const part_record_t* partition = record->part_pptr[i];
    if (partition && partition->name) placement->partitions[count++] = partition->name;
  }
  return count;
}

static bool is_limited(const part_record_t* partition) {
  return partition && partition->name && partition->max_cpus_per_node < NO_VAL;
}

static bool has_limited_partition(const node_record_t* record) {
  for (size_t i = 0; record->part_pptr && i < record->part_cnt; i++)
    if (is_limited(record->part_pptr[i])) return true;
  return false;
}

static size_t limits_of(shapley_placement_t* placement, uint32_t index, const node_record_t* record) {
  size_t count = 0;
  for (size_t i = 0; i < placement->of_cores_count; i++) {
    if (!has_node(placement->of_cores[i], index)) continue;
    placement->limits[count++] = (shapley_node_limit_t){.name = placement->of_cores[i]->name,
                                                        .is_reservation = true,
                                                        .cpus = reserved_cpus(placement->of_cores[i], index, record)};
  }
  if (!has_limited_partition(record)) return count;
  for (size_t i = 0; i < record->part_cnt && count < k_shapley_max_node_limits; i++) {
    const part_record_t* partition = record->part_pptr[i];
    if (!partition || !partition->name) continue;
    placement->limits[count++] = (shapley_node_limit_t){
        .name = partition->name, .cpus = is_limited(partition) ? partition->max_cpus_per_node : UINT32_MAX};
  }
  return count;
}

void shapley_placement_fill_node(shapley_placement_t* placement, uint32_t index, const node_record_t* record,
                                 shapley_node_t* node) {
  node->partitions = placement->partitions;
  node->partitions_count = partitions_of(placement, record);
  node->features = shapley_active_features(record);
  node->reservations = placement->reservations;
  node->reservations_count = reservations_of(placement, index, record);
  node->reserved_from = reserved_from(placement, index);
  node->limits = placement->limits;
  node->limits_count = limits_of(placement, index, record);
}

static uint64_t mix_names(uint64_t hash, const char* const* names, size_t count) {
  hash = shapley_mix(hash, count);
  for (size_t i = 0; i < count; i++) hash = shapley_mix_text_up_to(hash, names[i], k_shapley_max_placement_text);
  return hash;
}

uint64_t shapley_placement_mix_node(uint64_t hash, const shapley_node_t* node) {
  hash = mix_names(hash, node->partitions, node->partitions_count);
  hash = shapley_mix_text_up_to(hash, node->features, k_shapley_max_features_text);
  hash = mix_names(hash, node->reservations, node->reservations_count);
  for (size_t i = 0; i < node->limits_count; i++) {
    hash = shapley_mix_text_up_to(hash, node->limits[i].name, k_shapley_max_placement_text);
    hash = shapley_mix(hash, (uint64_t)node->limits[i].cpus << 1 | node->limits[i].is_reservation);
  }
  return shapley_mix(hash, (uint64_t)node->reserved_from);
}

struct shapley_named_node {
  char* name;
  uint32_t index; /* in slurmctld's node table */
};

static bool reserve(shapley_allocation_t* allocation, size_t nodes) {
  if (nodes <= allocation->capacity) return true;
  shapley_node_holding_t* list = realloc(allocation->nodes, nodes * sizeof(*list));
  if (list) allocation->nodes = list;
  struct shapley_named_node* named = realloc(allocation->named, nodes * sizeof(*named));
  if (named) allocation->named = named;
  if (!list || !named) return false;
  allocation->capacity = nodes;
  return true;
}

static void forget(shapley_allocation_t* allocation) {
  for (size_t i = 0; i < allocation->named_count; i++) free(allocation->named[i].name);
  allocation->named_count = 0;
  allocation->count = 0;
}

void shapley_allocation_free(shapley_allocation_t* allocation) {
  forget(allocation);
  free(allocation->nodes);
  free(allocation->named);
  memset(allocation, 0, sizeof(*allocation));
}

/* Slurm has an array for it even where memory is not allocated; it then holds zeros. */
static uint64_t memory_of(const job_resources_t* resources, size_t entry) {
  uint64_t memory = resources->memory_allocated ? resources->memory_allocated[entry] : 0;
  return shapley_is_count(memory) ? memory : 0;
}

/* The texts follow the entries of job_resrcs (gres_ctld.c: gres_ctld_job_build_details); after a resize there may be
 * more of them, empty ones. */
static const char* gres_of(const job_record_t* job, size_t entry) {
  return job->gres_detail_str && entry < job->gres_detail_cnt ? job->gres_detail_str[entry] : NULL;
}

/* A job that gave a node back in a resize keeps an entry of 0 processors for it. */
static void add(shapley_allocation_t* allocation, const char* name, const job_record_t* job, size_t entry) {
  const job_resources_t* resources = job->job_resrcs;
  if (!resources->cpus[entry]) return;
  allocation->nodes[allocation->count++] = (shapley_node_holding_t){
      .node = name, .cpus = resources->cpus[entry], .memory = memory_of(resources, entry), .gres = gres_of(job, entry)};
}

/* While a job holds nodes slurmctld keeps its bitmap up to date; cpus has one entry for each set bit. */
static void read_bitmap(shapley_allocation_t* allocation, const job_record_t* job) {
  const job_resources_t* resources = job->job_resrcs;
  bitstr_t* bitmap = resources->node_bitmap;
  int first = (int)bit_ffs(bitmap), last = (int)bit_fls(bitmap);
  size_t entry = 0;
  for (int i = first; i >= 0 && i <= last && i < node_record_count; i++) {
    if (!bit_test(bitmap, i)) continue;
    const node_record_t* node = node_record_table_ptr[i];
    if (entry == resources->nhosts) return;
    if (node && node->name) add(allocation, node->name, job, entry);
    entry++;
  }
}

static int by_index(const void* a, const void* b) {
  uint32_t left = ((const struct shapley_named_node*)a)->index, right = ((const struct shapley_named_node*)b)->index;
  return left < right ? -1 : left > right;
}

/* Of a finished job slurmctld keeps the list of names only: its bitmap is not rebuilt after a restart or a reconfigure,
 * and may then name other nodes. The entries of job_resrcs follow the node table's order, the list its own, so names
 * are sorted by table index, unless a node is gone from the configuration: then the list's order is the best guess. */
static void read_names(shapley_allocation_t* allocation, const job_record_t* job) {
  const job_resources_t* resources = job->job_resrcs;
  __typeof__(hostlist_create(NULL)) hosts = hostlist_create(resources->nodes);
  if (!hosts) return;
  bool all_known = true;
  char* name;
  while (allocation->named_count < resources->nhosts && (name = hostlist_shift(hosts))) {
    const node_record_t* node = find_node_record2(name);
    all_known = all_known && node;
    allocation->named[allocation->named_count++] =
        (struct shapley_named_node){.name = name, .index = node ? node->index : 0};
  }
  hostlist_destroy(hosts);
  if (allocation->named_count != resources->nhosts) return;
  if (all_known) qsort(allocation->named, allocation->named_count, sizeof(*allocation->named), by_index);
  for (size_t i = 0; i < allocation->named_count; i++) add(allocation, allocation->named[i].name, job, i);
}

void shapley_allocation_read(shapley_allocation_t* allocation, const job_record_t* job) {
  const job_resources_t* resources = job->job_resrcs;
  forget(allocation);
  if (!resources || !resources->cpus || !reserve(allocation, resources->nhosts)) return;
  if (IS_JOB_FINISHED(job) || !resources->node_bitmap) {
    if (resources->nodes) read_names(allocation, job);
  } else {
    read_bitmap(allocation, job);
  }
}

/* Slurm's own texts represent the lists: that of the nodes' names, and gres_used, which is written whenever the texts
 * of the nodes are. Nodes that were given back show in the sums. */
uint64_t shapley_allocation_hash(uint64_t hash, const job_record_t* job) {
  const job_resources_t* resources = job->job_resrcs;
  if (!resources) return hash;
  hash = shapley_mix_text(hash, resources->nodes);
  hash = shapley_mix(shapley_mix(hash, resources->ncpus), job->total_cpus);
  for (uint32_t i = 0; resources->memory_allocated && i < resources->nhosts; i++)
    hash = shapley_mix(hash, resources->memory_allocated[i]);
  return shapley_mix(shapley_mix_text(hash, job->gres_used), job->gres_detail_cnt);
}
