/* What the shared files ask of the plugin that they are linked into: priority_shapley.c or site_factor_shapley.c. */
#ifndef SHAPLEY_PLUGIN_NAME_H
#define SHAPLEY_PLUGIN_NAME_H

/* "priority/shapley" or "site_factor/shapley": how its lines in slurmctld's log begin. */
extern const char plugin_type[];

/* The line of slurm.conf that holds the plugin's options, and its text, which may be NULL. Config read lock, or a
 * moment when slurmctld does not reconfigure. */
extern const char shapley_parameters_line[];
const char* shapley_parameters(void);

#endif
