#include "plugin/configuration.h"

#include <stdatomic.h>
#include <string.h>

#include "plugin/plugin_name.h"
#include "plugin/slurm_compat.h"

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
