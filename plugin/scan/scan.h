/* One scan: every node and job record is compared with the scan before, under one hold of slurmctld's read locks.
 * Changes are passed to the client, and the jobs whose priority has to be written are noted by the writer.
 *
 * If many jobs wait that takes long. Then starts and ends, which can change ranks and places, are looked for in
 * between: a scan of runs only glances at the state of waiting jobs (and of jobs whose end the last whole scan saw),
 * and notes nothing for the writer.
 *
 * Used by the timer's thread only. No I/O happens under a lock.
 */
#ifndef SHAPLEY_SCAN_H
#define SHAPLEY_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "plugin/scan/privacy.h"
#include "plugin/scan/records.h"

typedef struct {
  shapley_records_t records; /* its client is set by the owner */
  shapley_job_traits_buffer_t traits;
  shapley_privacy_reader_t privacy;
  bool quick; /* this scan may skip waiting jobs by their quick hash */
  /* Results of the last scan. */
  bool complete;        /* it read every record */
  size_t skipped;       /* waiting jobs that were skipped */
  int64_t processors;   /* of all nodes together */
  int64_t held_us;      /* how long it held the locks */
  int64_t ended_ms;     /* monotonic; 0: no scan yet */
  time_t started_at;    /* wall clock */
  time_t complete_at;   /* wall clock when the last scan began that read every record; 0: none yet */
  int64_t runs_held_us; /* of the last scan of runs: how long it held the locks, */
  int64_t runs_used_us; /* and the processor time that it used meanwhile */
  int64_t runs_ended_ms;
  time_t runs_started_at;
  time_t next_eligible; /* earliest begin time still to come, 0: none. No time stamp of slurmctld says when it passes */
} shapley_scan_t;

/* Takes and releases the locks; the caller holds none. Begins and ends the client's scan and the writer's notes. */
void shapley_scan_run(shapley_scan_t* scan);
/* The same for nodes and for jobs that run, or that started or ended since the last whole scan. */
void shapley_scan_runs(shapley_scan_t* scan);
void shapley_scan_free(shapley_scan_t* scan);

#endif
