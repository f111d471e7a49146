/* The plugin's options in effect, and slurm.conf's lines that concern it, read again after a reconfigure. */
#ifndef SHAPLEY_CONFIGURATION_H
#define SHAPLEY_CONFIGURATION_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/options.h"

/* These options are in effect. Reads slurm_conf: config read lock, or a moment when slurmctld does not reconfigure. */
void shapley_configuration_open(const shapley_options_t* options);

/* slurm.conf was read anew. Any thread, any lock: only sets a flag. */
void shapley_configuration_expire(void);
bool shapley_configuration_is_expired(void);

/* Reads again what expired; true when something had. Only `interval` changes; a fault is logged, and the options in
 * effect stay. The timer's thread, under the config read lock. */
bool shapley_configuration_refresh(void);

/* Longest time between two scans. The timer's thread. */
uint32_t shapley_configuration_interval_ms(void);

#endif
