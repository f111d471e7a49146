#include "plugin/scan/placement.h"

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

/* Whether it keeps other jobs off all of its nodes now. Of a reservation of cores (CoreCnt=) they may use the rest of
 * each node; a floating one stays ahead of the clock, its start_time is a distance. */
static bool holds_its_nodes(const slurmctld_resv_t* reservation, time_t now) {
  return reservation->name && reservation->node_bitmap && (reservation->ctld_flags & RESV_CTLD_FULL_NODE) &&
         !(reservation->flags & RESERVE_FLAG_TIME_FLOAT) && reservation->start_time <= now &&
         now < reservation->end_time;
}

typedef struct {
  shapley_placement_t* placement;
  time_t now;
} search_t;

static int add_if_active(void* element, void* to) {
  const slurmctld_resv_t* reservation = element;
  search_t* search = to;
  shapley_placement_t* placement = search->placement;
  if (holds_its_nodes(reservation, search->now)) placement->active[placement->active_count++] = reservation;
  return placement->active_count < k_shapley_max_node_names ? 0 : -1;
}

/* resv_list has no lock of its own. Whatever changes it or one of its records holds slurmctld's job or node WRITE lock
 * (proc_req.c: _slurm_rpc_resv_create and so on; controller.c: set_node_maint_mode, job_resv_check; reservation.c:
 * validate_all_reservations; the schedulers), so the job and node READ locks of a scan together keep it as it is. */
void shapley_placement_begin(shapley_placement_t* placement, time_t now) {
  search_t search = {.placement = placement, .now = now};
  placement->active_count = 0;
  if (resv_list) list_for_each_ro(resv_list, add_if_active, &search);
}

/* slurmctld marks the nodes of active reservations (set_node_maint_mode, every 5 s), so most nodes need no look at the
 * bitmaps. A bitmap may be shorter than the table for a moment after a node was added. */
static size_t reservations_of(shapley_placement_t* placement, uint32_t index, const node_record_t* record) {
  size_t count = 0;
  if (!(record->node_state & (NODE_STATE_RES | NODE_STATE_MAINT))) return 0;
  for (size_t i = 0; i < placement->active_count; i++) {
    const slurmctld_resv_t* reservation = placement->active[i];
    if ((bitoff_t)index < bit_size(reservation->node_bitmap) && bit_test(reservation->node_bitmap, index))
      placement->reservations[count++] = reservation->name;
  }
  return count;
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

void shapley_placement_fill_node(shapley_placement_t* placement, uint32_t index, const node_record_t* record,
                                 shapley_node_t* node) {
  node->partitions = placement->partitions;
  node->partitions_count = partitions_of(placement, record);
  node->features = shapley_active_features(record);
  node->reservations = placement->reservations;
  node->reservations_count = reservations_of(placement, index, record);
}

static uint64_t mix_names(uint64_t hash, const char* const* names, size_t count) {
  hash = shapley_mix(hash, count);
  for (size_t i = 0; i < count; i++) hash = shapley_mix_text_up_to(hash, names[i], k_shapley_max_placement_text);
  return hash;
}

uint64_t shapley_placement_mix_node(uint64_t hash, const shapley_node_t* node) {
  hash = mix_names(hash, node->partitions, node->partitions_count);
  hash = shapley_mix_text_up_to(hash, node->features, k_shapley_max_features_text);
  return mix_names(hash, node->reservations, node->reservations_count);
}
