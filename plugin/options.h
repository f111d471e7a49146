/* The plugin's own options, read from slurm.conf's PriorityParameters or PrioritySiteFactorParameters. Slurm-free. */
#ifndef SHAPLEY_OPTIONS_H
#define SHAPLEY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  char socket_path[108];    /* shapleyd's Unix socket; the size is the kernel's limit */
  uint32_t interval_ms;     /* longest time between two scans of the job list, 100 to 60000 */
  uint64_t spool_max_bytes; /* bound on what is kept for an absent shapleyd, memory and file together */
} shapley_options_t;

/* Reads "key=value,key=value" into *options, defaults first; NULL and "" give the defaults. On a fault *options is not
 * changed, `fault` gets one sentence that names the key, what is wrong and what is allowed, and the result is false.
 * Values cannot contain commas: slurm.conf has one string. */
bool shapley_options_parse(const char* text, shapley_options_t* options, char* fault, size_t fault_size);

#endif
