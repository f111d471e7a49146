#include "plugin/scan/allocation.h"

#include <stdlib.h>
#include <string.h>

struct shapley_named_node {
  char* name;
  uint32_t index; /* in slurmctld's node table */
};

static bool reserve(shapley_allocation_t* allocation, size_t nodes) {
  if (nodes <= allocation->capacity) return true;
  shapley_node_cpus_t* list = realloc(allocation->nodes, nodes * sizeof(*list));
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

/* A job that gave a node back in a resize keeps an entry of 0 processors for it. */
static void add(shapley_allocation_t* allocation, const char* name, uint32_t cpus) {
  if (cpus) allocation->nodes[allocation->count++] = (shapley_node_cpus_t){.node = name, .cpus = cpus};
}

/* While a job holds nodes slurmctld keeps its bitmap up to date; cpus has one entry for each set bit. */
static void read_bitmap(shapley_allocation_t* allocation, const job_resources_t* resources) {
  bitstr_t* bitmap = resources->node_bitmap;
  int first = (int)bit_ffs(bitmap), last = (int)bit_fls(bitmap);
  size_t entry = 0;
  for (int i = first; i >= 0 && i <= last && i < node_record_count; i++) {
    if (!bit_test(bitmap, i)) continue;
    const node_record_t* node = node_record_table_ptr[i];
    if (entry == resources->nhosts) return;
    uint32_t cpus = resources->cpus[entry++];
    if (node && node->name) add(allocation, node->name, cpus);
  }
}

static int by_index(const void* a, const void* b) {
  uint32_t left = ((const struct shapley_named_node*)a)->index, right = ((const struct shapley_named_node*)b)->index;
  return left < right ? -1 : left > right;
}

/* Of a finished job slurmctld keeps the list of names only: its bitmap is not rebuilt after a restart or a reconfigure,
 * and may then name other nodes. The entries of cpus follow the node table's order, the list its own, so names are
 * sorted by table index, unless a node is gone from the configuration: then the list's order is the best guess. */
static void read_names(shapley_allocation_t* allocation, const job_resources_t* resources) {
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
  for (size_t i = 0; i < allocation->named_count; i++) add(allocation, allocation->named[i].name, resources->cpus[i]);
}

void shapley_allocation_read(shapley_allocation_t* allocation, const job_record_t* job) {
  const job_resources_t* resources = job->job_resrcs;
  forget(allocation);
  if (!resources || !resources->cpus || !reserve(allocation, resources->nhosts)) return;
  if (IS_JOB_FINISHED(job) || !resources->node_bitmap) {
    if (resources->nodes) read_names(allocation, resources);
  } else {
    read_bitmap(allocation, resources);
  }
}
