/* live_lead.h - a live sweep as rank 0 leads it: the other ranks (live_follow.h) are told of every
 * run, and when it is over. Does nothing where this process is alone. */
#ifndef EXPERIMENTS_LIVE_LEAD_H
#define EXPERIMENTS_LIVE_LEAD_H

#include "experiments/live/live_meeting.h"

struct live_lead {
    const struct live_ranks *ranks; /* borrowed */
    struct live_meeting meeting;
    struct live_group group; /* of the latest run */
};

/* All are borrowed; the signals must be open whenever a run is called. */
struct live_lead live_lead_make(const struct experiment *experiment, const struct live_ranks *ranks,
                                struct live_signals *signals);
/* Tells of the run that comes. *group is then for live_run: NULL where this process is alone. The
 * url and the arm are borrowed until the run is over. Returns the exit status; an error was
 * printed. */
MUST_USE int live_lead_call(struct live_lead *lead, const struct arm *arm, uint64_t seed,
                            const char *url, struct live_group **group);
/* Tells that no run is left, or that there was an error. */
void live_lead_end(struct live_lead *lead, int status);

#endif
