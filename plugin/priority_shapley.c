/* priority/shapley: the symbols that slurmctld resolves, and nothing else.
 *
 * Every callback is passed on to the stock priority/multifactor plugin, which is loaded underneath; the rank of a job's
 * organization enters as its site factor. See docs/internals/plugin.md for threads and locks.
 */
#include "plugin/front.h"
#include "plugin/multifactor.h"
#include "plugin/options.h"
#include "plugin/slurm/slurm_compat.h"

#define EXPORTED __attribute__((visibility("default")))

/* Slurm's loader compares plugin_version with slurmctld's own, to the micro number. */
EXPORTED extern const char plugin_name[];
EXPORTED extern const char plugin_type[];
EXPORTED extern const uint32_t plugin_version;
const char plugin_name[] = "Shapley-fair priority plugin";
const char plugin_type[] = "priority/shapley";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

EXPORTED int init(void);
EXPORTED int fini(void);
EXPORTED uint32_t priority_p_set(uint32_t last_prio, job_record_t* job_ptr);
EXPORTED void priority_p_reconfig(bool assoc_clear);
EXPORTED void priority_p_set_assoc_usage(slurmdb_assoc_rec_t* assoc);
EXPORTED double priority_p_calc_fs_factor(long double usage_efctv, long double shares_norm);
EXPORTED shapley_list_t priority_p_get_priority_factors_list(SHAPLEY_FACTORS_PARAMETERS);
EXPORTED void priority_p_job_end(job_record_t* job_ptr);
EXPORTED uint32_t priority_p_recover(uint32_t prio_boost);
EXPORTED int priority_p_thread_start(void);

const char shapley_parameters_line[] = "PriorityParameters";

const char* shapley_parameters(void) {
  return slurm_conf.priority_params;
}

/* Logs in slurmctld's log why the plugin cannot work here. */
static bool refuse_configuration(shapley_options_t* options) {
  char fault[256];
  const char* missing = shapley_missing_symbol();
  if (missing) {
    error("priority/shapley: this slurmctld has no symbol %s; build the plugin against its own source", missing);
  } else if (shapley_foreign_site_factor_plugin()) {
    error("priority/shapley: PrioritySiteFactorPlugin=%s would overwrite the ranks; remove it from slurm.conf",
          slurm_conf.site_factor_plugin);
  } else if (slurm_conf.priority_flags & PRIORITY_FLAGS_INCR_ONLY) {
    error("priority/shapley: PriorityFlags=INCREASE_ONLY would keep jobs from losing rank; remove it from slurm.conf");
  } else if (!shapley_options_parse(shapley_parameters(), options, fault, sizeof(fault))) {
    error("priority/shapley: %s: %s", shapley_parameters_line, fault);
  } else {
    return false;
  }
  return true;
}

int init(void) {
  /* sshare and other clients load the plugin for the stock arithmetic alone. */
  if (!shapley_in_slurmctld()) return shapley_multifactor_load() ? SLURM_SUCCESS : SLURM_ERROR;

  shapley_options_t options;
  if (refuse_configuration(&options)) return SLURM_ERROR;
  if (!shapley_multifactor_load()) return SLURM_ERROR;
  if (shapley_front_open(&options)) {
    info("priority/shapley: version %s over priority/multifactor, shapleyd at %s", SHAPLEY_VERSION,
         options.socket_path);
    if (!SHAPLEY_SLURM_STARTS_THREADS) shapley_front_start();
  }
  return SLURM_SUCCESS;
}

/* Returns int because Slurm declares it so up to 25.05; the loader has never used the value. */
int fini(void) {
  shapley_front_stop();
  shapley_multifactor_unload();
  return SLURM_SUCCESS;
}

uint32_t priority_p_set(uint32_t last_prio, job_record_t* job_ptr) {
  (void)last_prio; /* the stock plugin ignores it too */
  shapley_front_rank(job_ptr);
  uint32_t priority = shapley_multifactor_set(job_ptr);
  return priority ? priority : job_ptr->priority;
}

void priority_p_reconfig(bool assoc_clear) {
  shapley_multifactor_reconfig(assoc_clear);
  shapley_front_reload();
}

void priority_p_set_assoc_usage(slurmdb_assoc_rec_t* assoc) {
  shapley_multifactor_set_assoc_usage(assoc);
}

double priority_p_calc_fs_factor(long double usage_efctv, long double shares_norm) {
  return shapley_multifactor_calc_fs_factor(usage_efctv, shares_norm);
}

shapley_list_t priority_p_get_priority_factors_list(SHAPLEY_FACTORS_PARAMETERS) {
  return shapley_multifactor_get_factors(SHAPLEY_FACTORS_ARGUMENTS);
}

void priority_p_job_end(job_record_t* job_ptr) {
  shapley_multifactor_job_end(job_ptr);
  shapley_front_hint();
}

uint32_t priority_p_recover(uint32_t prio_boost) {
  return shapley_multifactor_recover(prio_boost);
}

int priority_p_thread_start(void) {
  shapley_multifactor_thread_start();
  shapley_front_start();
  return SLURM_SUCCESS;
}
