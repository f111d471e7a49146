#include "plugin/front.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "plugin/client/shapley_client.h"
#include "plugin/priority/writer.h"
#include "plugin/slurm/slurm_compat.h"
#include "plugin/threads.h"

static shapley_client_t* client;
/* Open while callbacks may use the client and the writer. */
static shapley_gate_t gate;

static void client_log(enum shapley_log_level level, const char* text) {
  if (level == SHAPLEY_LOG_ERROR)
    error("%s: %s", plugin_type, text);
  else if (level == SHAPLEY_LOG_INFO)
    info("%s: %s", plugin_type, text);
  else
    debug("%s: %s", plugin_type, text);
}

/* When slurmctld saved its jobs last; before it loads a plugin at its start, that was in its former life. */
static int64_t state_saved_at(void) {
  char path[4096];
  struct stat saved;
  snprintf(path, sizeof(path), "%s/job_state", slurm_conf.state_save_location);
  return stat(path, &saved) == 0 ? (int64_t)saved.st_mtime : 0;
}

static shapley_client_t* create_client(const shapley_options_t* options) {
  char spool_path[4096], program[64];
  snprintf(program, sizeof(program), "%s %s", plugin_type, SHAPLEY_VERSION);
  snprintf(spool_path, sizeof(spool_path), "%s/shapley.spool", slurm_conf.state_save_location);
  shapley_client_options_t client_options = {
      .socket_path = options->socket_path,
      .spool_path = spool_path,
      .cluster = slurm_conf.cluster_name,
      .slurm_version = SLURM_VERSION_STRING,
      .program = program,
      .interval_ms = options->interval_ms,
      .min_job_age_s = slurm_conf.min_job_age,
      .state_saved_at = state_saved_at(),
      .spool_max_bytes = options->spool_max_bytes,
      .log = client_log,
  };
  sigset_t before;
  shapley_block_signals(&before);
  shapley_client_t* created = shapley_client_create(&client_options);
  shapley_restore_signals(&before);
  return created;
}

/* ---- start and end ------------------------------------------------------------------------------ */

bool shapley_front_open(const shapley_options_t* options) {
  shapley_configuration_open(options);
  client = create_client(options);
  if (!client) {
    error("%s: no client for shapleyd; jobs keep plain multifactor order", plugin_type);
    return false;
  }
  shapley_writer_open(client);
  shapley_gate_open(&gate);
  return true;
}

void shapley_front_start(void) {
  if (client) shapley_timer_start(client);
}

void shapley_front_stop(void) {
  if (!client) return;
  shapley_timer_stop(client);
  shapley_gate_close(&gate);
  shapley_client_destroy(client);
  shapley_writer_close();
  client = NULL;
}

/* ---- callbacks ---------------------------------------------------------------------------------- */

void shapley_front_rank(job_record_t* job) {
  if (!shapley_gate_enter(&gate)) return;
  shapley_writer_rank(job);
  shapley_client_hint(client);
  shapley_gate_leave(&gate);
}

void shapley_front_hint(void) {
  if (!shapley_gate_enter(&gate)) return;
  shapley_client_hint(client);
  shapley_gate_leave(&gate);
}

void shapley_front_reload(void) {
  shapley_configuration_expire();
  shapley_front_hint();
}

/* ---- the options in effect ----------------------------------------------------------------------- */

static shapley_options_t in_effect;
static atomic_bool expired;

static void warn_about_min_job_age(const shapley_options_t* options) {
  if ((uint64_t)slurm_conf.min_job_age * 1000 >= 4 * (uint64_t)options->interval_ms) return;
  error(
      "%s: MinJobAge is %u s, shorter than four scan intervals of %u ms: runs may be forgotten unseen; "
      "raise MinJobAge (Slurm's default is 300) or lower interval= in %s",
      plugin_type, slurm_conf.min_job_age, options->interval_ms, shapley_parameters_line);
}

void shapley_configuration_open(const shapley_options_t* options) {
  in_effect = *options;
  atomic_store(&expired, false);
  warn_about_min_job_age(options);
}

void shapley_configuration_expire(void) {
  atomic_store(&expired, true);
}

bool shapley_configuration_is_expired(void) {
  return atomic_load(&expired);
}

/* What init() refuses is only logged here: slurmctld runs. */
static void read_anew(void) {
  shapley_options_t options;
  char fault[256];
  if (slurm_conf.priority_flags & PRIORITY_FLAGS_INCR_ONLY)
    error("%s: PriorityFlags=INCREASE_ONLY keeps jobs from losing rank; remove it from slurm.conf", plugin_type);
  if (!strcmp(plugin_type, "priority/shapley") && shapley_foreign_site_factor_plugin())
    error("%s: PrioritySiteFactorPlugin overwrites ranks at the next restart; remove it from slurm.conf", plugin_type);
  if (!shapley_options_parse(shapley_parameters(), &options, fault, sizeof(fault))) {
    error("%s: %s: %s; the options in effect stay", plugin_type, shapley_parameters_line, fault);
    return;
  }
  if (strcmp(options.socket_path, in_effect.socket_path) != 0 || options.spool_max_bytes != in_effect.spool_max_bytes)
    info("%s: socket= and spool_max= take effect when slurmctld restarts", plugin_type);
  in_effect.interval_ms = options.interval_ms;
  warn_about_min_job_age(&options);
}

bool shapley_configuration_refresh(void) {
  if (!atomic_exchange(&expired, false)) return false;
  read_anew();
  return true;
}

uint32_t shapley_configuration_interval_ms(void) {
  return in_effect.interval_ms;
}
