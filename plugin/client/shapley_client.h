/* The plugin's Slurm-free half, as a C interface for the C shim.
 *
 * Conventions: every function is safe to call with the client in any state and from any thread unless said otherwise;
 * none throws, aborts or does I/O, and none waits for the network: only the client's own thread touches socket and
 * spool. Strings passed in are copied before the call returns. Times are seconds since the epoch, 0: not set.
 *
 * A scan is one thread's: scan_begin, then scan_node / scan_job for every record (these run under slurmctld's read
 * locks and only hash, compare and, where something changed, copy), then scan_end after the locks are released.
 */
#ifndef SHAPLEY_CLIENT_H
#define SHAPLEY_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shapley_client shapley_client_t;

enum shapley_log_level { SHAPLEY_LOG_ERROR, SHAPLEY_LOG_INFO, SHAPLEY_LOG_DEBUG };

typedef struct {
  const char* socket_path; /* shapleyd's Unix socket */
  const char* spool_path;  /* file in StateSaveLocation; unacknowledged observations survive a restart there */
  const char* cluster;
  const char* slurm_version;
  const char* program;  /* "priority/shapley 1.0.0" */
  uint32_t interval_ms; /* longest time between two scans */
  uint32_t min_job_age_s;
  int64_t state_saved_at; /* slurmctld saved its jobs last, before this instance; 0: not known */
  size_t spool_max_bytes; /* bound on memory and file together; beyond it a fresh snapshot replaces the backlog */
  void (*log)(enum shapley_log_level level, const char* text); /* one line without newline; any thread */
} shapley_client_options_t;

/* Starts the socket thread. NULL if that is impossible (reason logged). */
shapley_client_t* shapley_client_create(const shapley_client_options_t* options);
/* Stops and joins within a second, spools what is not acknowledged, frees. NULL is allowed. */
void shapley_client_destroy(shapley_client_t* client);

/* ---- scanning ---------------------------------------------------------------------------------------------------- */

enum shapley_job_state { SHAPLEY_JOB_PENDING, SHAPLEY_JOB_RUNNING, SHAPLEY_JOB_SUSPENDED, SHAPLEY_JOB_ENDED };

/* Same order as protocol::WaitReason. */
enum shapley_wait_reason {
  SHAPLEY_WAIT_STARTABLE,
  SHAPLEY_WAIT_HELD,
  SHAPLEY_WAIT_DEPENDENCY,
  SHAPLEY_WAIT_BEGIN_TIME,
  SHAPLEY_WAIT_ARRAY_LIMIT,
  SHAPLEY_WAIT_ACCOUNT_LIMIT,
  SHAPLEY_WAIT_NICE,
  SHAPLEY_WAIT_OTHER
};

typedef struct {
  const char* node;
  uint32_t cpus;
  uint64_t memory;  /* MiB */
  const char* gres; /* Slurm's text, such as "gpu:tesla:2(IDX:0-1)" */
} shapley_node_holding_t;
typedef struct {
  const char* name;
  uint64_t count;
} shapley_tres_t;
/* Slurm's texts about the generic resources that a waiting job asks for, such as "gres:gpu:2". */
typedef struct {
  const char *per_job, *per_node, *per_socket, *per_task;
  uint32_t tasks; /* for per_task, at least 1 */
} shapley_gres_request_t;

enum { k_shapley_max_depends_on = 256 };
/* Bounds, in characters, of texts about the nodes that a job may use, and of each distinguishing name. */
enum { k_shapley_max_placement_text = 1024 };
/* Bounds of a node's partitions or reservations, and of its features' text. */
enum { k_shapley_max_node_names = 256, k_shapley_max_features_text = 4096 };

/* Members of a job that are passed on unchanged: this list declares, hashes (scan/records.c) and copies them
 * (client/scan/records.cpp). A new one is filled in scan/records.c, and added to protocol::JobUpdate and its list. */
#define SHAPLEY_JOB_NUMBERS(MEMBER)  \
  MEMBER(uint32_t, job_id)           \
  MEMBER(uint32_t, array_job_id)     \
  MEMBER(int64_t, array_task_id)     \
  MEMBER(uint32_t, pending_tasks)    \
  MEMBER(uint32_t, het_job_id)       \
  MEMBER(uint32_t, restart_count)    \
  MEMBER(bool, completing)           \
  MEMBER(uint32_t, user_id)          \
  MEMBER(uint32_t, group_id)         \
  MEMBER(int64_t, submit_time)       \
  MEMBER(int64_t, eligible_time)     \
  MEMBER(int64_t, start_time)        \
  MEMBER(int64_t, end_time)          \
  MEMBER(int64_t, suspend_time)      \
  MEMBER(int64_t, pre_suspend_run_s) \
  MEMBER(int64_t, total_suspended_s) \
  MEMBER(int64_t, resize_time)       \
  MEMBER(uint32_t, requested_cpus)   \
  MEMBER(uint32_t, time_limit_s)     \
  MEMBER(uint32_t, requested_nodes)  \
  MEMBER(uint64_t, requested_memory) \
  MEMBER(bool, exclusive)
#define SHAPLEY_JOB_TEXTS(MEMBER) MEMBER(account) MEMBER(qos) MEMBER(name) MEMBER(wckey)

#define SHAPLEY_DECLARE_NUMBER(type, member) type member;
#define SHAPLEY_DECLARE_TEXT(member) const char* member;

/* Mirrors protocol::JobUpdate member by member; see common/protocol/messages.hpp for meaning and units. NULL strings
 * count as empty. */
typedef struct {
  SHAPLEY_JOB_NUMBERS(SHAPLEY_DECLARE_NUMBER)
  SHAPLEY_JOB_TEXTS(SHAPLEY_DECLARE_TEXT)
  enum shapley_job_state state;
  enum shapley_wait_reason wait;
  const char *slurm_state, *partition;
  const char* const* account_ancestors;
  size_t account_ancestors_count;
  const shapley_node_holding_t* nodes;
  size_t nodes_count;
  const shapley_tres_t* tres;
  size_t tres_count;
  const uint32_t* depends_on;
  size_t depends_on_count;                                              /* at most k_shapley_max_depends_on */
  const shapley_gres_request_t* gres_request;                           /* NULL: it has started */
  const char *required_nodes, *excluded_nodes, *features, *reservation; /* longer ones are cut */
  /* What a waiting job needs of one node, at least; its generic resources are in gres_request. Not passed on. */
  uint32_t node_cpus;
  uint64_t node_memory; /* MiB */
  bool one_user;        /* its nodes must be, or are, its user's alone meanwhile. Not passed on */
} shapley_job_t;

/* Of a node's CPUs, what jobs of one partition or of one reservation of cores may hold together. */
typedef struct {
  const char* name;
  bool is_reservation; /* its cores are for its jobs alone */
  uint32_t cpus;       /* UINT32_MAX: all of them */
} shapley_node_limit_t;
/* Bounds of a node's limits. */
enum { k_shapley_max_node_limits = 64 };

typedef struct {
  const char* name;
  uint32_t cpus;
  bool usable;
  const shapley_tres_t* tres;
  size_t tres_count;
  uint64_t memory;
  const char* gres; /* Slurm's text, such as "gpu:tesla:4" */
  /* In any order. */
  const char* const* partitions;
  size_t partitions_count; /* at most k_shapley_max_node_names */
  const char* features;    /* Slurm's text: the active ones, separated by commas */
  const char* const* reservations;
  size_t reservations_count; /* at most k_shapley_max_node_names */
  uint32_t allocation_unit;  /* CPUs */
  int64_t reserved_from;     /* when the next of its reservations begins, of those to come; 0: none. Not passed on */
  bool starts_no_jobs;       /* though it is usable: it powers down, does not answer, or is to boot. Not passed on */
  /* If one of its partitions has a limit, all of them; and active reservations of some of its cores. Not passed on. */
  const shapley_node_limit_t* limits;
  size_t limits_count; /* at most k_shapley_max_node_limits */
} shapley_node_t;

void shapley_client_scan_begin(shapley_client_t* client, int64_t now);
/* Begins a scan of nodes and of what has started or ended, and nothing else; scan_end is called with `complete` false.
 * False: a whole scan is due (a new connection wants all records), and none was begun. */
bool shapley_client_scan_begin_runs(shapley_client_t* client, int64_t now, int64_t now_ms);
/* A quick hash covers the few fields of a waiting job that change when slurmctld does something with it; 0: none. True
 * when it equals the one that scan_job got last, and the whole record was read in one of the last
 * k_shapley_quick_hashes_in_a_row scans: nothing more to do, the job is marked as seen. False: call scan_job. */
enum { k_shapley_quick_hashes_in_a_row = 7 };
bool shapley_client_scan_quick_hash(shapley_client_t* client, uint32_t job_id, uint64_t quick_hash);
/* True when this job is new or its fingerprint (the shim's hash over every field that matters) differs from the last
 * scan's: the shim then fills a shapley_job_t and passes it to scan_record. False: nothing more to do, the job is
 * marked as seen. */
bool shapley_client_scan_job(shapley_client_t* client, uint32_t job_id, uint64_t fingerprint, uint64_t quick_hash);
void shapley_client_scan_record(shapley_client_t* client, const shapley_job_t* job);
/* The same for nodes, keyed by index in slurmctld's table plus a hash of the name inside the fingerprint. */
bool shapley_client_scan_node(shapley_client_t* client, uint32_t index, uint64_t fingerprint);
void shapley_client_scan_node_record(shapley_client_t* client, uint32_t index, const shapley_node_t* node);
/* A partition in which nothing may start now. The names of a scan take the place of those of the one before. */
void shapley_client_scan_closed_partition(shapley_client_t* client, const char* name);
/* Mirrors protocol::Privacy. */
enum { k_shapley_max_privileged_users = 4096, k_shapley_max_coordinated_accounts = 65536 };
typedef struct {
  uint32_t user_id;
  bool is_operator;
  const char* const* accounts;
  size_t accounts_count;
} shapley_privileged_user_t;
typedef struct {
  bool jobs, usage;
  const shapley_privileged_user_t* users; /* in any order; of one that comes twice all is joined */
  size_t users_count;                     /* at most k_shapley_max_privileged_users */
} shapley_privacy_t;
/* Called within a whole scan, whenever it was read. It is copied; a difference from the last time is passed on. */
void shapley_client_scan_privacy(shapley_client_t* client, const shapley_privacy_t* privacy);
/* Call without locks. `complete` false: the scan was cut short, so absent jobs are not reported as gone. Queues the
 * changes. */
void shapley_client_scan_end(shapley_client_t* client, bool complete);

/* ---- ranks and levels --------------------------------------------------------------------------- */

typedef struct {
  bool act;            /* false: leave every priority alone (observe mode, no ranks yet, or ranks gone stale) */
  bool observe;        /* shapleyd itself said so: mode observe. Never together with act */
  bool strict;         /* order: strict | weighted */
  uint32_t weight;     /* order weighted: site factor of the first rank */
  uint32_t ranks;      /* number of ranked organizations */
  bool levels;         /* shapleyd has given jobs levels: they need room between the ranks. Stays true */
  uint64_t generation; /* changes whenever any job's site factor may have changed */
  uint64_t sorting;    /* changes whenever a job's organization may have changed */
} shapley_order_t;

/* A consistent copy; lock-free or a mutex that the socket thread never holds while it waits. */
shapley_order_t shapley_client_order(shapley_client_t* client);

typedef struct {
  const char* account;
  const char* const* account_ancestors;
  size_t account_ancestors_count;
  const char *partition, *qos; /* partition: of a pending job all that it asks for, separated by commas */
  uint32_t user_id, group_id;
} shapley_job_traits_t;

/* Rank position of the job's organization, 0 first; of several that it may run for, by its requested partitions, the
 * worst. An organization without a rank (guests without jobs, unknown) comes last: ranks-1 or, with no ranks, 0. No
 * system call, no allocation; at most a microsecond for a hundred rules and a partition. */
uint32_t shapley_client_rank(shapley_client_t* client, const shapley_job_traits_t* traits);

/* The job's organization, as a number whose meaning stays as long as order.sorting does; of several the one with the
 * worst rank. */
uint32_t shapley_client_organization(shapley_client_t* client, const shapley_job_traits_t* traits);

/* Jobs of one organization are ordered by level, 0 (not listed) to this. */
enum { k_shapley_max_level = 15 };
/* The job's level. No system call, no allocation; one lookup in a hash table. */
uint32_t shapley_client_level(shapley_client_t* client, uint32_t job_id);

/* ---- places ------------------------------------------------------------------------------------- */

/* The order in which one scheduling pass serves the jobs (plugin/client/places): within a whole scan every rankable job
 * that waits and every job that holds processors is passed, between begin and decide; these are the scanning thread's
 * and run under slurmctld's read locks, except decide. */

/* The value for a job without a label of the present range. */
#define SHAPLEY_NO_LABEL UINT32_MAX

/* What keeps a job from starting that could start otherwise: it counts only before jobs with the same or a greater one.
 */
enum shapley_hindrance {
  SHAPLEY_HINDRANCE_NONE,
  SHAPLEY_HINDRANCE_PARTS, /* it is a part of a heterogeneous job: all of them start together, and by backfill only */
  SHAPLEY_HINDRANCE_NODES, /* its partition is down, or its nodes are reserved or away */
  SHAPLEY_HINDRANCE_LICENSES, /* others use them */
  /* Its account, user or QOS had reached a limit when slurmctld tried it last, which may be over: it has its turn, at
   * which slurmctld tries it again. */
  SHAPLEY_HINDRANCE_LIMITS
};

typedef struct {
  uint32_t job_id;
  uint32_t organization; /* shapley_client_organization */
  uint32_t tasks;        /* of an array's record; else 1 */
  uint32_t tier;         /* of its partition: Slurm serves the greatest first, whatever the priorities */
  int64_t own_order;     /* its priority without the site factor: Slurm's own order, greatest first */
  uint64_t tie;          /* of equal order the least goes first */
  uint32_t level;
  uint32_t label; /* that it has, or SHAPLEY_NO_LABEL */
  bool startable; /* it could start if everything were free */
  enum shapley_hindrance hindrance;
  uint32_t het_job;    /* the heterogeneous job that it is a part of; 0: of none */
  uint32_t splittable; /* so many tasks of an array's record may get records of their own */
  /* Its array, of which only so many more tasks may run, in whatever records they wait; 0: it has no such limit. */
  uint32_t array, array_room;
  /* A number of the licenses that a task asks for, and for how many such tasks there are enough; 0: it asks for none.
   */
  uint64_t licenses;
  uint32_t license_room;
  uint32_t
      time_limit_s; /* as long as a run of it may last, so that it fits before a reservation; UINT32_MAX: any time */
} shapley_waiting_t;

typedef struct {
  uint32_t job_id, label;
} shapley_place_t;
/* The first `tasks` tasks of an array's record get records of their own, with these labels, in the tasks' order; what
 * is left in the record gets `rest_label`. */
typedef struct {
  uint32_t job_id, tasks;
  const uint32_t* labels;
  uint32_t rest_label;
} shapley_array_split_t;

/* `labels`: how many there are room for. `reach`: processors that could start at once if everything were free. */
void shapley_client_places_begin(shapley_client_t* client, uint32_t labels, int64_t reach, int64_t now_ms);
void shapley_client_place(shapley_client_t* client, const shapley_waiting_t* waiting);
/* For a job that equals its state in an earlier scan, except for its order, level and label. False: pass it whole. */
bool shapley_client_place_again(shapley_client_t* client, uint32_t job_id, int64_t own_order, uint32_t level,
                                uint32_t label);
/* A job that holds processors, since `age_s` seconds; in scans of runs, too. */
void shapley_client_hold(shapley_client_t* client, uint32_t job_id, uint32_t organization, int64_t age_s);

typedef struct {
  const shapley_place_t* labels; /* the jobs that get another label */
  size_t labels_count;
  const shapley_array_split_t* splits; /* to be made before the labels are written */
  size_t splits_count;
  size_t in_line;   /* jobs with a place */
  size_t looked_at; /* of them, from the first on: their order is right by now */
  uint64_t events;  /* starts and ends since the whole scan before */
  bool cut;         /* there were not labels enough for all places */
} shapley_decisions_t;

/* Call without locks, after a scan of either kind. `complete` false: nothing is decided after a whole scan. After a
 * scan of runs the jobs that waited at the last whole scan and have not started get other places, if something started
 * or ended. Valid until the next begin. */
shapley_decisions_t shapley_client_places_decide(shapley_client_t* client, bool complete);
/* Whether places should be looked at again because nothing has started or ended for a while. */
bool shapley_client_places_due(shapley_client_t* client, int64_t now_ms);

/* ---- the scanning thread's wake-up -------------------------------------------------------------- */

/* Something happened (priority_p_set, job_end): scan soon. Only sets a flag: no system call. */
void shapley_client_hint(shapley_client_t* client);

enum shapley_wake { SHAPLEY_WAKE_TICK, SHAPLEY_WAKE_HINT, SHAPLEY_WAKE_RANKS, SHAPLEY_WAKE_STOP };
/* Sleeps until the interval is over, a hint came, ranks changed or stop was requested. */
enum shapley_wake shapley_client_wait(shapley_client_t* client, uint32_t timeout_ms);
void shapley_client_stop(shapley_client_t* client);

#ifdef __cplusplus
}
#endif

#endif
