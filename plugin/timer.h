/* The plugin's own thread inside slurmctld: when to scan the records; after each scan priorities are written.
 *
 * Time, a hint (a submission, an end) and new ranks or levels wake it. It waits for slurmctld's locks; nobody waits for
 * it, except shapley_timer_stop.
 */
#ifndef SHAPLEY_TIMER_H
#define SHAPLEY_TIMER_H

#include "plugin/client/shapley_client.h"

/* Nothing where the thread runs already. What keeps it from starting is logged. */
void shapley_timer_start(shapley_client_t* client);
/* Stops the client's waits, too, and joins the thread, if it ran. The caller holds no slurmctld lock. */
void shapley_timer_stop(shapley_client_t* client);

#endif
