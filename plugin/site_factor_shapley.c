/* site_factor/shapley: for sites that keep PriorityType=priority/multifactor. The symbols that multifactor resolves.
 *
 * multifactor asks for a job's site factor when it is submitted, updated or released (with the job write lock), and
 * once in each PriorityCalcPeriod before it computes all priorities again (job write, node and part read lock; in 22.05
 * only with slurmdbd). Between these the timer's thread writes site factors and priorities itself, as under
 * priority/shapley.
 *
 * That thread must never call into multifactor or Slurm's own site_factor_g_*: while slurmctld ends it holds their
 * mutexes and waits in our fini() for the thread.
 */
#include "plugin/front.h"
#include "plugin/multifactor.h"
#include "plugin/options.h"
#include "plugin/slurm/slurm_compat.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED extern const char plugin_name[];
EXPORTED extern const char plugin_type[];
EXPORTED extern const uint32_t plugin_version;
const char plugin_name[] = "Shapley-fair site factor plugin";
const char plugin_type[] = "site_factor/shapley";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

EXPORTED int init(void);
EXPORTED int fini(void);
EXPORTED void site_factor_p_reconfig(void);
EXPORTED void site_factor_p_set(job_record_t* job_ptr);
EXPORTED void site_factor_p_update(void);

const char shapley_parameters_line[] = "PrioritySiteFactorParameters";

const char* shapley_parameters(void) {
  return slurm_conf.site_factor_params;
}

/* multifactor computes priorities, not we: see the head of this file. */
uint32_t shapley_multifactor_set(job_record_t* job) {
  (void)job;
  return 0;
}

/* A site factor plugin that cannot start is tried again at every job by multifactor, so it says why and ends
 * slurmctld's start, as priority/shapley does. */
static void refuse_configuration(shapley_options_t* options) {
  char fault[256];
  const char* missing = shapley_missing_symbol();
  if (missing)
    fatal("%s: this slurmctld has no symbol %s; build the plugin against its own source", plugin_type, missing);
  if (slurm_conf.priority_flags & PRIORITY_FLAGS_INCR_ONLY)
    fatal("%s: PriorityFlags=INCREASE_ONLY would keep jobs from losing rank; remove it from slurm.conf", plugin_type);
  if (!shapley_options_parse(shapley_parameters(), options, fault, sizeof(fault)))
    fatal("%s: %s: %s", plugin_type, shapley_parameters_line, fault);
}

/* The first caller may hold slurmctld's locks (up to 22.05 even multifactor's own thread): nothing here waits for
 * one. */
int init(void) {
  if (!shapley_in_slurmctld()) return SLURM_SUCCESS;
  if (!xstrcasecmp(slurm_conf.priority_type, "priority/shapley")) {
    info("%s: PriorityType=priority/shapley does the same and more: stepping aside; remove PrioritySiteFactorPlugin",
         plugin_type);
    return SLURM_SUCCESS;
  }
  shapley_options_t options;
  refuse_configuration(&options);
  if (shapley_front_open(&options)) {
    info("%s: version %s under %s, shapleyd at %s", plugin_type, SHAPLEY_VERSION, slurm_conf.priority_type,
         options.socket_path);
    shapley_front_start();
  }
  return SLURM_SUCCESS;
}

int fini(void) {
  shapley_front_stop();
  return SLURM_SUCCESS;
}

void site_factor_p_reconfig(void) {
  shapley_front_reload();
}

void site_factor_p_set(job_record_t* job_ptr) {
  shapley_front_rank(job_ptr);
}

/* Site factors are right already, or will be after the next scan; this comes once a minute at most. */
void site_factor_p_update(void) {
  shapley_front_hint();
}
