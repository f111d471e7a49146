/* The only file that includes Slurm's headers, and the only one that asks which release they are from.
 *
 * Slurm has no stable interface for priority plugins: structures, signatures and header folders change between
 * releases, sometimes between maintenance releases. Everything that differs between the releases below is handled here,
 * so that the other files read as if there were one Slurm. docs/internals/plugin.md lists the points.
 */
#ifndef SHAPLEY_SLURM_COMPAT_H
#define SHAPLEY_SLURM_COMPAT_H

/* The releases that this header was compiled against, oldest first. cmake/SlurmRelease.cmake reads the line and refuses
 * to configure for any other. What else was tried with which: docs/operating/versions.md. */
#define SHAPLEY_SLURM_RELEASES "22.05 23.02 23.11 24.05 24.11 25.05 25.11 26.05"

/* The order matters: config.h decides what the others declare, and slurm_xlator.h renames libslurm's functions to their
 * exported names, so it must precede every other header of Slurm's src/. */
/* clang-format off */
#include "config.h"
#include "slurm/slurm.h"
#include "slurm/slurm_errno.h"
#include "slurm/slurm_version.h"
#include "src/common/slurm_xlator.h"

#include "src/common/assoc_mgr.h"
#include "src/common/bitstring.h"
#include "src/common/hostlist.h"
#include "src/common/job_resources.h"
#include "src/common/list.h"
#include "src/common/log.h"
#include "src/common/node_conf.h"
#include "src/common/plugin.h"
#include "src/common/read_config.h"
#include "src/common/run_in_daemon.h"
#include "src/common/slurm_protocol_defs.h"
#include "src/common/xmalloc.h"
#include "src/slurmctld/licenses.h"
#include "src/slurmctld/locks.h"
#include "src/slurmctld/slurmctld.h"
#if __has_include("src/common/job_state_reason.h")
#include "src/common/job_state_reason.h"
#define SHAPLEY_HAS_JOB_STATE_REASON
#endif
/* clang-format on */

#define SHAPLEY_SLURM_AT_LEAST(major, minor, micro) (SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(major, minor, micro))

/* These live in slurmctld's executable. Weak, because sshare loads the plugin too, where they do not exist: the plugin
 * is linked with -z now, so a strong reference would make loading fail there, and a weak one is simply null. init()
 * checks shapley_in_slurmctld() once; nothing else touches them before. */
#pragma weak avail_node_bitmap
#pragma weak find_job_record
#pragma weak job_array_split
#pragma weak job_list
#pragma weak last_job_update
#pragma weak last_node_update
#pragma weak license_copy
#pragma weak license_job_test
#pragma weak lock_slurmctld
#pragma weak part_list
#pragma weak queue_job_scheduler
#pragma weak resv_list
#pragma weak slurmctld_diag_stats
#pragma weak slurmctld_tres_cnt
#pragma weak unlock_slurmctld
#if SHAPLEY_SLURM_AT_LEAST(26, 5, 0) /* job_state_set is a macro that calls it */
#pragma weak slurm_job_state_set
#elif SHAPLEY_SLURM_AT_LEAST(23, 11, 5)
#pragma weak job_state_set
#endif

/* These are in Slurm's library, but not in that of every release. Weak, because Slurm's loader must get as far as its
 * own message about a plugin of another release; "undefined symbol" would not explain the cause. */
#if !SHAPLEY_SLURM_AT_LEAST(25, 5, 0)
#pragma weak slurm_running_in_slurmctld
#endif
#ifdef SHAPLEY_HAS_JOB_STATE_REASON
#pragma weak slurm_job_state_reason_string
#else
#pragma weak slurm_job_reason_string
#endif

/* The name of the first symbol that this slurmctld lacks, or NULL: a refusal at start is better than a failure at the
 * first call. */
static inline const char* shapley_missing_symbol(void) {
  const struct {
    const char* name;
    const void* address;
  } needed[] = {
    {"avail_node_bitmap", &avail_node_bitmap},
    {"find_job_record", (const void*)(uintptr_t)find_job_record},
    {"job_array_split", (const void*)(uintptr_t)job_array_split},
    {"job_list", &job_list},
    {"last_job_update", &last_job_update},
    {"last_node_update", &last_node_update},
    {"license_copy", (const void*)(uintptr_t)license_copy},
    {"license_job_test", (const void*)(uintptr_t)license_job_test},
    {"lock_slurmctld", (const void*)(uintptr_t)lock_slurmctld},
    {"part_list", &part_list},
    {"queue_job_scheduler", (const void*)(uintptr_t)queue_job_scheduler},
    {"resv_list", &resv_list},
    {"slurmctld_diag_stats", &slurmctld_diag_stats},
    {"slurmctld_tres_cnt", &slurmctld_tres_cnt},
    {"unlock_slurmctld", (const void*)(uintptr_t)unlock_slurmctld},
#if SHAPLEY_SLURM_AT_LEAST(26, 5, 0)
    {"slurm_job_state_set", (const void*)(uintptr_t)slurm_job_state_set},
#elif SHAPLEY_SLURM_AT_LEAST(23, 11, 5)
    {"job_state_set", (const void*)(uintptr_t)job_state_set},
#endif
#if !SHAPLEY_SLURM_AT_LEAST(25, 5, 0)
    {"running_in_slurmctld", (const void*)(uintptr_t)running_in_slurmctld},
#endif
#ifdef SHAPLEY_HAS_JOB_STATE_REASON
    {"job_state_reason_string", (const void*)(uintptr_t)job_state_reason_string},
#else
    {"job_reason_string", (const void*)(uintptr_t)job_reason_string},
#endif
  };
  for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
    if (!needed[i].address) return needed[i].name;
  return NULL;
}

/* If the function is missing the result is true, so that init() reports what is missing. */
static inline bool shapley_in_slurmctld(void) {
#if SHAPLEY_SLURM_AT_LEAST(25, 5, 0)
  return run_in_daemon(IS_SLURMCTLD);
#else
  return !running_in_slurmctld || running_in_slurmctld();
#endif
}

/* 22.05 knows `List` only; list_t exists from 23.02 on and is the only name later. */
#if SHAPLEY_SLURM_AT_LEAST(23, 2, 0)
typedef list_t* shapley_list_t;
#else
typedef List shapley_list_t;
#endif

/* ---- the functions of a priority plugin --------------------------------------------------------- */

/* Parameters and forwarded arguments of priority_p_get_priority_factors_list. */
#if SHAPLEY_SLURM_AT_LEAST(24, 5, 0)
#define SHAPLEY_FACTORS_PARAMETERS uid_t uid
#define SHAPLEY_FACTORS_ARGUMENTS uid
#else
#define SHAPLEY_FACTORS_PARAMETERS priority_factors_request_msg_t *request, uid_t uid
#define SHAPLEY_FACTORS_ARGUMENTS request, uid
#endif

/* What slurmctld resolves in a priority plugin, and we in priority/multifactor; the order is that of the names below.
 */
typedef struct {
  uint32_t (*set)(uint32_t last_prio, job_record_t* job_ptr);
  void (*reconfig)(bool assoc_clear);
  void (*set_assoc_usage)(slurmdb_assoc_rec_t* assoc);
  shapley_list_t (*get_priority_factors_list)(SHAPLEY_FACTORS_PARAMETERS);
  void (*job_end)(job_record_t* job_ptr);
#if !SHAPLEY_SLURM_AT_LEAST(25, 11, 0)
  double (*calc_fs_factor)(long double usage_efctv, long double shares_norm);
#endif
#if SHAPLEY_SLURM_AT_LEAST(23, 2, 0)
  uint32_t (*recover)(uint32_t prio_boost);
#endif
#if SHAPLEY_SLURM_AT_LEAST(23, 11, 6)
  int (*thread_start)(void);
#endif
} shapley_stock_ops_t;

enum { k_shapley_stock_ops = sizeof(shapley_stock_ops_t) / sizeof(void*) };

static inline const char* const* shapley_stock_names(void) {
  static const char* const names[] = {
    "priority_p_set",
    "priority_p_reconfig",
    "priority_p_set_assoc_usage",
    "priority_p_get_priority_factors_list",
    "priority_p_job_end",
#if !SHAPLEY_SLURM_AT_LEAST(25, 11, 0)
    "priority_p_calc_fs_factor",
#endif
#if SHAPLEY_SLURM_AT_LEAST(23, 2, 0)
    "priority_p_recover",
#endif
#if SHAPLEY_SLURM_AT_LEAST(23, 11, 6)
    "priority_p_thread_start",
#endif
  };
  _Static_assert(sizeof(names) / sizeof(names[0]) == k_shapley_stock_ops, "one name for each function");
  return names;
}

static inline double shapley_stock_calc_fs_factor(const shapley_stock_ops_t* stock, long double usage,
                                                  long double shares) {
#if SHAPLEY_SLURM_AT_LEAST(25, 11, 0)
  (void)stock, (void)usage, (void)shares;
  return 0.0;
#else
  return stock->calc_fs_factor(usage, shares);
#endif
}

static inline uint32_t shapley_stock_recover(const shapley_stock_ops_t* stock, uint32_t prio_boost) {
#if SHAPLEY_SLURM_AT_LEAST(23, 2, 0)
  return stock->recover(prio_boost);
#else
  (void)stock;
  return prio_boost;
#endif
}

static inline void shapley_stock_thread_start(const shapley_stock_ops_t* stock) {
#if SHAPLEY_SLURM_AT_LEAST(23, 11, 6)
  (void)stock->thread_start();
#else
  (void)stock;
#endif
}

/* Whether slurmctld calls priority_p_thread_start. Where it does not, our thread starts at the end of init(). */
#if SHAPLEY_SLURM_AT_LEAST(23, 11, 6)
#define SHAPLEY_SLURM_STARTS_THREADS true
#else
#define SHAPLEY_SLURM_STARTS_THREADS false
#endif

/* ---- configuration ------------------------------------------------------------------------------ */

/* True when a PrioritySiteFactorPlugin other than ours is configured. 22.05 calls its absence "site_factor/none", later
 * releases use NULL. */
static inline bool shapley_foreign_site_factor_plugin(void) {
  const char* name = slurm_conf.site_factor_plugin;
  return name && name[0] && xstrcasecmp(name, "none") && xstrcasecmp(name, "site_factor/none") &&
         xstrcasecmp(name, "site_factor/shapley");
}

/* select/linear gives whole nodes only. */
static inline bool shapley_whole_nodes_only(void) {
  return !xstrcmp(slurm_conf.select_type, "select/linear");
}

/* sched/builtin starts nothing out of turn. */
static inline bool shapley_backfills(void) {
  return !xstrcmp(slurm_conf.schedtype, "sched/backfill");
}

/* Flags of SelectTypeParameters. */
#if SHAPLEY_SLURM_AT_LEAST(25, 11, 0)
enum {
  SHAPLEY_SELECT_CORE = SELECT_CORE,
  SHAPLEY_SELECT_SOCKET = SELECT_SOCKET,
  SHAPLEY_SELECT_MEMORY = SELECT_MEMORY,
  SHAPLEY_SELECT_ONE_TASK_PER_CORE = SELECT_ONE_TASK_PER_CORE
};
#else
enum {
  SHAPLEY_SELECT_CORE = CR_CORE,
  SHAPLEY_SELECT_SOCKET = CR_SOCKET,
  SHAPLEY_SELECT_MEMORY = CR_MEMORY,
  SHAPLEY_SELECT_ONE_TASK_PER_CORE = CR_ONE_TASK_PER_CORE
};
#endif

/* Whether jobs of this partition (NULL: of none in particular) are allocated memory: as the select plugins' own
 * _setup_cr_type() has it. */
static inline bool shapley_memory_is_allocated(const part_record_t* partition) {
  uint32_t type = slurm_conf.select_type_param;
  if (partition && partition->cr_type && (type & (SHAPLEY_SELECT_CORE | SHAPLEY_SELECT_SOCKET)))
    type = partition->cr_type;
  return type & SHAPLEY_SELECT_MEMORY;
}

/* ---- counts ------------------------------------------------------------------------------------- */

/* Zero, and the markers NO_CONSUME_VAL64, NO_VAL64 and INFINITE64 at the top of the range, are no counts. */
static inline bool shapley_is_count(uint64_t count) {
  return count && count < NO_CONSUME_VAL64;
}

/* ---- node records ------------------------------------------------------------------------------- */

/* The CPUs that select/cons_tres gives to one job together (its node_data: cpu_alloc_size): of a core or of a socket,
 * as SelectTypeParameters has it for all partitions. */
static inline uint32_t shapley_allocation_unit(const node_record_t* node) {
  uint32_t core = node->tpc ? node->tpc : 1;
  if (slurm_conf.select_type_param & SHAPLEY_SELECT_SOCKET) return node->cores ? core * node->cores : core;
  return slurm_conf.select_type_param & SHAPLEY_SELECT_CORE ? core : 1;
}

/* The node's active features, separated by commas; NULL: none. In 22.05 all that are available are active while none is
 * named (read_config.c: build_feature_list_ne). */
static inline const char* shapley_active_features(const node_record_t* node) {
#if SHAPLEY_SLURM_AT_LEAST(23, 2, 0)
  return node->features_act;
#else
  return node->features_act ? node->features_act : node->features;
#endif
}

/* ---- job records -------------------------------------------------------------------------------- */

/* Of whole_node in a job's details and resources: does it get its nodes whole (--exclusive: WHOLE_NODE_REQUIRED), or
 * for its user alone (--exclusive=user: WHOLE_NODE_USER)? From 24.05 on these are bits, and more than one may be set;
 * before, 3 is --exclusive=mcs. */
static inline bool shapley_is_whole_node(uint8_t whole_node, uint8_t kind) {
#if SHAPLEY_SLURM_AT_LEAST(24, 5, 0)
  return whole_node & kind;
#else
  return whole_node == kind;
#endif
}

/* From 24.11 to 25.05 both records may share one array of priorities if a job has several QOS and one partition. */
static inline bool shapley_split_is_safe(const job_record_t* rest) {
#if SHAPLEY_SLURM_AT_LEAST(24, 11, 0) && !SHAPLEY_SLURM_AT_LEAST(25, 11, 0)
  return !rest->qos_list || rest->part_ptr_list;
#else
  (void)rest;
  return true;
#endif
}

/* Gives the next task of an array a record of its own, which is `rest` from then on; the other tasks get another
 * record. As slurmctld does it for burst buffers (job_scheduler.c: build_job_queue): the new record waits, too. `rest`
 * is the array's record with `task`, one of its tasks, and has two others at least. Job write lock, no iteration of
 * job_list. NULL: it was not possible. */
static inline job_record_t* shapley_split_array(job_record_t* rest, uint32_t task) {
  rest->array_task_id = task;
#if SHAPLEY_SLURM_AT_LEAST(24, 11, 0)
  job_record_t* others = job_array_split(rest, true);
#else
  job_record_t* others = job_array_split(rest);
#endif
  if (!others) {
    rest->array_task_id = NO_VAL;
    return NULL;
  }
#if SHAPLEY_SLURM_AT_LEAST(23, 11, 5)
  job_state_set(others, JOB_PENDING);
#else
  others->job_state = JOB_PENDING;
#endif
  others->start_time = 0;
  return others;
}

static inline int shapley_multiply_license(void* element, void* by) {
  ((licenses_t*)element)->total *= *(const uint32_t*)by;
  return 0;
}

/* Whether there are licenses now for so many jobs that ask for the same. It takes the licenses' own lock. */
static inline bool shapley_has_licenses(const job_record_t* job, uint32_t jobs, time_t now) {
  job_record_t all = *job;
  all.license_list = license_copy(job->license_list);
  list_for_each(all.license_list, shapley_multiply_license, &jobs);
  bool has = license_job_test(&all, now, true) == SLURM_SUCCESS;
  FREE_NULL_LIST(all.license_list);
  return has;
}

/* Slurm's name of a reason to wait, such as "Resources". */
static inline const char* shapley_reason_name(uint32_t reason) {
#ifdef SHAPLEY_HAS_JOB_STATE_REASON
  return job_state_reason_string(reason);
#else
  return job_reason_string(reason);
#endif
}

/* One priority for each partition (and from 24.11 on each QOS) of a job that asked for several. Sets count to 0 when
 * there is no such array. The caller holds the job lock. The array may be older than the lists: a reconfigure makes the
 * list of partitions again (read_config.c), an update of a job's QOS the list of those (job_mgr.c), and the array stays
 * as it is until Slurm computes priorities. So there are never more entries than Slurm allocated. */
static inline uint32_t* shapley_part_priorities(const job_record_t* job, int* count) {
  int parts = job->part_ptr_list ? list_count(job->part_ptr_list) : 0;
#if SHAPLEY_SLURM_AT_LEAST(24, 11, 0)
  int qos = job->qos_list ? list_count(job->qos_list) : 0;
  if (qos) parts = (parts ? parts : 1) * qos;
#endif
#if SHAPLEY_SLURM_AT_LEAST(25, 5, 1) || (SHAPLEY_SLURM_AT_LEAST(24, 11, 7) && !SHAPLEY_SLURM_AT_LEAST(25, 5, 0))
  uint32_t* priorities = job->prio_mult ? job->prio_mult->priority_array : NULL;
#elif SHAPLEY_SLURM_AT_LEAST(24, 5, 0)
  uint32_t* priorities = job->part_prio ? job->part_prio->priority_array : NULL;
#else
  uint32_t* priorities = job->priority_array;
#endif
  int allocated = priorities ? (int)(xsize(priorities) / sizeof(*priorities)) : 0;
  *count = parts < allocated ? parts : allocated;
  return priorities;
}

#endif
