/* What a job asks for: how much of how many nodes one task of it will block. */
#ifndef SHAPLEY_REQUEST_H
#define SHAPLEY_REQUEST_H

#include "plugin/client/shapley_client.h"
#include "plugin/slurm_compat.h"

/* Fills requested_cpus, requested_nodes, requested_memory and exclusive of *job, whose state, times and partition are
 * filled already, and *gres with Slurm's own texts. `gres` becomes the job's gres_request unless it has started. Job
 * and partition lock. */
void shapley_request_fill(const job_record_t* record, shapley_gres_request_t* gres, shapley_job_t* job);

/* Processors that one task of a waiting job will hold: those that it asks for, or, where it gets its nodes whole, those
 * of so many nodes as its partition has them on average. At least 1. Job and partition lock. */
uint32_t shapley_request_processors(const job_record_t* record);

#endif
