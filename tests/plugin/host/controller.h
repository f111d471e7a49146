/* A process that imitates slurmctld for the plugin: its symbols, its locks (Slurm's own locks.c), its job, node,
 * partition and association records, and the ways in which its threads change them. For running the real plugin under
 * sanitizers.
 *
 * Every function here that changes or reads records takes the locks that slurmctld takes for the same purpose, and may
 * be called from any thread, unless said otherwise. Times are seconds since the epoch. Faults end the process with a
 * line.
 */
#ifndef SHAPLEY_HOST_CONTROLLER_H
#define SHAPLEY_HOST_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Jobs of equal number modulo this ask for the same nodes. */
enum { k_host_placements = 5 };

enum { k_host_organizations = 3 };
/* The user who coordinates the first one's account, astro. */
enum { k_host_coordinator = 4242 };

/* Reads slurm.conf and makes nodes, partitions and associations; no job yet. Slurm's log goes to the file. Once a
 * process. */
void host_open(const char* slurm_conf, const char* log_path);
/* From now on the log has a line for each scan, too. */
void host_log_scans(void);
/* Frees everything that host_open and the jobs hold. The plugin is unloaded. */
void host_close(void);

/* As slurmctld does at start and end: Slurm's own loader, then init() or fini(). No other thread is in a host_
 * function. */
void host_load_plugin(void);
void host_unload_plugin(void);

/* ---- what slurmctld's threads do ---------------------------------------------------------------- */

/* One random act of an RPC or scheduler thread on a random job: submit, start, end, cancel, requeue, suspend, resume,
 * hold, release, clean nodes, purge, set down a node, sprio. `random` decides which. */
void host_act(uint64_t random);
/* A submission. */
void host_submit(uint64_t random);
/* `scontrol reconfigure` as in 22.05: node and partition tables are built again, in another order, under all write
 * locks; then the plugin's callback, under none. */
void host_reconfigure(uint64_t random);
/* The association manager's thread: account names move in memory under its write lock. */
void host_refresh_associations(void);
/* An RPC that is still on its way through priority_p_set and priority_p_job_end while the plugin comes and goes: by the
 * plugin's own symbols, past Slurm's wrappers, which would load it again. A job of its own, on no list. */
void host_late_call(void);
/* All jobs end and leave the list; ids begin again. The plugin is unloaded. */
void host_purge_everything(void);

/* ---- single calls ------------------------------------------------------------------------------- */

/* Whether priority_p_set gives a job a rank by now: the plugin has ranks and rules. */
bool host_set_ranks_a_job(void);
/* For timing: takes the job write lock, as a caller of priority_p_set holds it, and makes a job. Until host_set_done.
 */
void host_set_prepare(void);
/* priority_p_set of our plugin, or of the stock plugin underneath, so many times for that job, of three organizations
 * in turn. */
void host_set_shapley(unsigned times);
void host_set_multifactor(unsigned times);
void host_set_done(void);

/* ---- what is true ------------------------------------------------------------------------------- */

/* The host's own account of a job, kept beside Slurm's record and never read from it. */
enum host_state { HOST_PENDING, HOST_RUNNING, HOST_SUSPENDED, HOST_ENDED };
enum { k_host_cpu_memory = 100 }; /* MiB */
typedef struct {
  uint32_t job_id;
  enum host_state state;
  int64_t start, end; /* 0: not yet; of a waiting job: 0 */
  uint32_t cpus;      /* held, each with k_host_cpu_memory and one GPU; 0 for a job that never ran */
} host_truth_t;

/* All jobs on the list, up to `capacity`; the number of them. */
size_t host_truth(host_truth_t* jobs, size_t capacity);
/* Whether the reservation "works" holds this node now. Every node is in partitions "main" and "long" and has features
 * "ib" and "gpu". */
bool host_is_reserved(const char* node);
/* Whether the priority of every job of organization order[i] that could start is above those of order[i + 1]. */
bool host_priorities_follow(const char* const* order, size_t organizations);
/* A waiting job as Slurm's record has it. */
typedef struct {
  uint32_t job_id, priority;
  size_t organization; /* place of its account among astro, bio, chem */
  uint32_t nodes;      /* equal: it asks for the same nodes and partition */
} host_waiting_t;
/* All jobs that could start, up to `capacity`; the number of them: not the held ones, nor those whose run before a
 * requeue still completes. */
size_t host_waiting(host_waiting_t* jobs, size_t capacity);
/* Jobs submitted since the last purge of everything; jobs that started so far. */
uint64_t host_submitted(void);
uint64_t host_started(void);

#ifdef __cplusplus
}
#endif

#endif
