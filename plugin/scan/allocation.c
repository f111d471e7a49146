#include "plugin/scan/allocation.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/scan/fingerprint.h"

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

/* Slurm's own texts stand for the lists: that of the nodes' names, and gres_used, which is written whenever the texts
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
