#include "plugin/priority/waiting.h"

#include "plugin/priority/ranking.h"
#include "plugin/scan/fingerprint.h"
#include "plugin/scan/records.h"

enum { k_greatest_license_step = 1024, k_license_rooms = 16 };

/* For how many jobs there are licenses: of the first requests for licenses that a scan finds. */
static struct {
  size_t count;
  struct {
    uint64_t licenses;
    uint32_t room;
  } of[k_license_rooms];
} license_rooms;

/* Whether a reservation, active or to come, has licenses: then there are more for some jobs than for others. */
static bool licenses_are_reserved;

static int look_for_licenses(void* element, void* to) {
  const slurmctld_resv_t* reservation = element;
  bool* found = to;
  *found = *found || (reservation->license_list && list_count(reservation->license_list));
  return *found ? -1 : 0;
}

void shapley_waiting_begin(void) {
  license_rooms.count = 0;
  licenses_are_reserved = false;
  if (resv_list) list_for_each_ro(resv_list, look_for_licenses, &licenses_are_reserved);
}

/* ---- whether it could start --------------------------------------------------------------------- */

static uint32_t license_room(const job_record_t* record, time_t now) {
  uint32_t room = 0;
  uint32_t step = 1;
  for (; step <= k_greatest_license_step && shapley_has_licenses(record, room + step, now); step *= 2) room += step;
  while (step /= 2) {
    if (shapley_has_licenses(record, room + step, now)) room += step;
  }
  return room;
}

/* slurmctld's reason is as old as its last try to start the job, so its licenses are looked at where it asks for any.
 */
static void fill_licenses(const job_record_t* record, time_t now, shapley_waiting_t* waiting) {
  if (!record->license_list) return;
  waiting->licenses = shapley_mix_text(SHAPLEY_FINGERPRINT_START, record->licenses);
  if (licenses_are_reserved)
    waiting->licenses = shapley_mix_text(shapley_mix(waiting->licenses, waiting->time_limit_s), record->resv_name);
  waiting->licenses |= 1U;
  size_t i = 0;
  while (i < license_rooms.count && license_rooms.of[i].licenses != waiting->licenses) i++;
  if (i == k_license_rooms) {
    /* More would be too much under the locks. */
    waiting->license_room = shapley_has_licenses(record, 1, now) ? UINT32_MAX : 0;
    return;
  }
  if (i == license_rooms.count) {
    license_rooms.of[i].licenses = waiting->licenses;
    license_rooms.of[i].room = license_room(record, now);
    license_rooms.count++;
  }
  waiting->license_room = license_rooms.of[i].room;
}

/* The limit of its array, which tasks of any record share. */
static void fill_array(const job_record_t* record, shapley_waiting_t* waiting) {
  if (!record->array_job_id) return;
  const job_record_t* base = record->array_recs ? record : find_job_record(record->array_job_id);
  const job_array_struct_t* array = base ? base->array_recs : NULL;
  if (!array || !array->max_run_tasks) return;
  waiting->array = record->array_job_id;
  waiting->array_room = shapley_array_room(array);
}

/* The reason to wait was found when the scheduler tried the job last, if it has tried it: whether its partition is open
 * is looked at. Reasons that nodes were not available then may be over in the pass in which they are back. Of limits of
 * accounts and users it is not known; their jobs delay no others. */
static bool could_start(const job_record_t* record, time_t now, shapley_waiting_t* waiting) {
  if (IS_JOB_COMPLETING(record) || (record->details && record->details->begin_time > now)) return false;
  if (waiting->array && !waiting->array_room) return false;
  switch (record->state_reason) {
    case WAIT_ARRAY_TASK_LIMIT: /* there is room again, see above */
    case WAIT_NO_REASON:
    case WAIT_PRIORITY:
    case WAIT_RESOURCES:
    case WAIT_TIME: /* its time has come, see above */
    case WAIT_LICENSES:
    case WAIT_PART_DOWN:
    case WAIT_PART_INACTIVE:
      if (shapley_is_closed_out(record)) waiting->hindrance = SHAPLEY_HINDRANCE_NODES;
      break;
    case WAIT_NODE_NOT_AVAIL:
    case WAIT_RESERVATION:
      waiting->hindrance = SHAPLEY_HINDRANCE_NODES;
      break;
    default:
      if (!shapley_is_account_limit(record->state_reason)) return false;
      waiting->hindrance = SHAPLEY_HINDRANCE_LIMITS;
      return true;
  }
  if (record->het_job_id && waiting->hindrance == SHAPLEY_HINDRANCE_NONE) waiting->hindrance = SHAPLEY_HINDRANCE_PARTS;
  fill_licenses(record, now, waiting);
  if (waiting->licenses && !waiting->license_room) waiting->hindrance = SHAPLEY_HINDRANCE_LICENSES;
  return true;
}

/* ---- partitions --------------------------------------------------------------------------------- */

static int look_at_tier(void* element, void* to) {
  const part_record_t* partition = element;
  shapley_waiting_t* waiting = to;
  if (partition->priority_tier > waiting->tier) waiting->tier = partition->priority_tier;
  return 0;
}

/* part_ptr goes through all requested partitions of a waiting job, see job_traits.c. */
static void fill_tier(const job_record_t* record, shapley_waiting_t* waiting) {
  if (record->part_ptr_list)
    list_for_each_ro(record->part_ptr_list, look_at_tier, waiting);
  else if (record->part_ptr)
    look_at_tier(record->part_ptr, waiting);
}

/* ---- times -------------------------------------------------------------------------------------- */

/* As long as slurmctld plans a run of it (node_scheduler.c: select_nodes), in seconds; backfill takes the least time
 * that it asks for (backfill.c: _attempt_backfill). */
static uint32_t planned_time_s(const job_record_t* record) {
  const part_record_t* partition = record->part_ptr;
  uint32_t minutes = record->time_limit;
  if (minutes == NO_VAL && partition) minutes = partition->default_time;
  if (minutes == NO_VAL && partition) minutes = partition->max_time;
  if (record->time_min && record->time_min < minutes && shapley_backfills()) minutes = record->time_min;
  return minutes < UINT32_MAX / 60 ? minutes * 60 : UINT32_MAX;
}

/* ---- arrays ------------------------------------------------------------------------------------- */

/* Tasks that depend on others, are stored in a burst buffer or run on several clusters are split by Slurm itself, each
 * kind in its own way. */
static uint32_t splittable_tasks(const job_record_t* record) {
  bool depends = record->details && record->details->depend_list && list_count(record->details->depend_list);
  if (!shapley_is_array_rest(record) || !record->array_recs->task_id_bitmap || record->burst_buffer || depends ||
      record->fed_details)
    return 0;
  if (!shapley_split_is_safe(record)) return 0;
  uint32_t tasks = record->array_recs->task_cnt;
  return tasks > k_shapley_least_array_rest ? tasks - k_shapley_least_array_rest : 0;
}

/* Of equal priority the earlier one goes first; an array's record after its tasks. */
static uint64_t tie_of(const job_record_t* record) {
  uint64_t id = record->array_job_id ? record->array_job_id : record->job_id;
  uint32_t task = !record->array_job_id ? 0 : shapley_is_array_rest(record) ? UINT32_MAX : record->array_task_id;
  return id << 32 | task;
}

int64_t shapley_own_order(const job_record_t* record) {
  return (int64_t)record->priority - ((int64_t)record->site_factor - (int64_t)NICE_OFFSET);
}

void shapley_waiting_fill(const job_record_t* record, time_t now, shapley_waiting_t* waiting) {
  bool rest = shapley_is_array_rest(record);
  *waiting = (shapley_waiting_t){
      .job_id = record->job_id,
      .tasks = rest ? shapley_startable_tasks(record->array_recs) : 1,
      .own_order = shapley_own_order(record),
      .tie = tie_of(record),
      .label = SHAPLEY_NO_LABEL,
      .het_job = record->het_job_id,
      .splittable = splittable_tasks(record),
      .time_limit_s = planned_time_s(record),
  };
  fill_tier(record, waiting);
  fill_array(record, waiting);
  waiting->startable = could_start(record, now, waiting);
  if (!waiting->tasks) waiting->tasks = 1;
}
