/* What PrivateData hides of users' jobs and usage, and the users from which it hides nothing: as slurmctld itself
 * decides for squeue (job_mgr.c, _hide_job_user_rec and validate_operator), from the association manager's list of
 * users.
 *
 * Only reads, under the locks of a scan and, where shapley_privacy_begin() says so, the association manager's of users.
 */
#ifndef SHAPLEY_PRIVACY_H
#define SHAPLEY_PRIVACY_H

#include <stdbool.h>
#include <stdint.h>

#include "plugin/client/shapley_client.h"
#include "plugin/slurm/slurm_compat.h"

/* All zero: new. One thread's. */
typedef struct {
  bool due;        /* of this scan: it is read */
  int64_t read_ms; /* monotonic, when it was read last; 0: not yet */
  uint16_t flags;  /* PrivateData as it was then */
  /* Room for what is passed on, kept between scans; NULL as long as nothing is private. */
  shapley_privileged_user_t* users;
  const char** accounts;
} shapley_privacy_reader_t;

/* Call it before the association manager is locked: it returns whether its users must be locked for reading. They are
 * read when something is private, once in some seconds, because a site may have tens of thousands of them. */
bool shapley_privacy_begin(shapley_privacy_reader_t* reader, int64_t now_ms);

/* Passes it to the client, if shapley_privacy_begin() found that it is due. */
void shapley_privacy_pass(shapley_privacy_reader_t* reader, shapley_client_t* client);

void shapley_privacy_free(shapley_privacy_reader_t* reader);

#endif
