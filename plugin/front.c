#include "plugin/front.h"

#include <stdio.h>
#include <sys/stat.h>

#include "plugin/client/shapley_client.h"
#include "plugin/configuration.h"
#include "plugin/gate.h"
#include "plugin/plugin_name.h"
#include "plugin/priority/writer.h"
#include "plugin/signals.h"
#include "plugin/timer.h"

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

/* When slurmctld saved its jobs last: before it loads a plugin at its start, that was in its life before. */
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
