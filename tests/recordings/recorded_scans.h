/* Scans of slurmctld's records, always the same. */
#ifndef SHAPLEY_RECORDED_SCANS_H
#define SHAPLEY_RECORDED_SCANS_H

#include "plugin/client/shapley_client.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { k_recorded_scans = 8 };

/* Makes the records of scan `number`, from 0 on, and passes them to the client. Each but the first one changes
 * something. */
void shapley_recorded_scan(shapley_client_t* client, int number);

#ifdef __cplusplus
}
#endif

#endif
