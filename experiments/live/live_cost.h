/* live_cost.h - what live runs ask of their store: requests, bytes and dollars, expected before
 * they start and counted while they go on, and the caps that both are held against.
 *
 * What is counted comes a quarter of a second late, and without what an s3:// store was sent again:
 * a run stops a little above its cap.
 *
 * Dollars are requests times price.*: no storage, no traffic between regions. file:// is free. */
#ifndef EXPERIMENTS_LIVE_COST_H
#define EXPERIMENTS_LIVE_COST_H

#include <stdbool.h>

#include "experiments/config/experiment.h"

#define LIVE_COST_TEXT_MAX 512

struct live_cost {
    uint64_t requests[STORE_VERB_COUNT];
    uint64_t up_bytes;
    uint64_t down_bytes;
    double dollars;
};

/* Of a sweep, over all of its runs and ranks. */
struct live_cap {
    double dollars;
    uint64_t bytes; /* up and down together */
    uint64_t requests;
};

/* The lowest of all arms. */
struct live_cap live_cap_of(const struct experiment *experiment);

/* Dollars for the requests to the store at `url`. */
double live_cost_dollars(const struct config *config, const char *url,
                         const uint64_t requests[STORE_VERB_COUNT]);
/* `times` times the part. */
void live_cost_add(struct live_cost *sum, const struct live_cost *part, uint64_t times);
uint64_t live_cost_requests(const struct live_cost *cost);

/* The rule of caps where several ranks run: each of them holds the cap as the user gave it, never a
 * part of it, against what all ranks are taken to have asked for. That is `before`, which is
 * already of all ranks, and `ranks` times this rank's own part in the run that goes on: the others
 * are taken to ask for as much. */
struct live_cost live_cost_of_ranks(const struct live_cost *before, const struct live_cost *own,
                                    uint32_t ranks);

/* How an estimate came about. */
enum live_estimate {
    LIVE_ESTIMATE_WHOLE,   /* the whole run was simulated */
    LIVE_ESTIMATE_SCALED,  /* its start was, and the rest follows from that */
    LIVE_ESTIMATE_UNKNOWN, /* the simulator cannot run it: the error says why */
};

/* One run, by the simulator: on store.*, or, for file://, on a store that answers in 2 ms. Blocks,
 * seconds at most. Where only the start is simulated, what grows with the manifest is taken to grow
 * with the square of the time, which is too much for policies that slow down. */
enum live_estimate live_cost_estimate(const struct config *config, const char *url, uint64_t seed,
                                      struct live_cost *cost, char error[LIVE_COST_TEXT_MAX]);

/* The first cap that the cost passes, as "12.3 dollars are more than live.cap_dollars (5)"; false:
 * none. */
bool live_cost_exceeds(const struct live_cost *cost, const struct live_cap *cap,
                       char text[LIVE_COST_TEXT_MAX]);
/* "1234 requests (12 get, 34 put ...), 1.2 GB up, 3.4 GB down, 0.01 dollars". */
void live_cost_print(const struct live_cost *cost, char text[LIVE_COST_TEXT_MAX]);

#endif
