/* reclaim_actors.h - the reclaimers of a simulated run, processes that run core/reclaim.h round
 * after round, all alike. Running out of memory ends the program. */
#ifndef SIM_RECLAIM_ACTORS_H
#define SIM_RECLAIM_ACTORS_H

#include "core/reclaim_driver.h"
#include "sim/connection.h"

#define RECLAIM_ACTORS_MAX 64

struct reclaim_actors_options {
    uint32_t count; /* 0: none */
    int64_t first_ns;
    int64_t period_ns; /* > 0: between rounds, see core/reclaim_driver.h */
    double jitter;     /* 0..1 (core/reclaim_driver.h) */
    /* Its random stream is set by the run, from (seed, number). */
    struct reclaim_options reclaim;
};

/* Told what happened; every callback is required. */
struct reclaim_actors_observer {
    void *context;
    void (*request)(void *context, uint32_t reclaimer, enum store_verb verb,
                    enum store_outcome outcome, uint64_t bytes);
    /* A round ended; the report is valid during the call. */
    void (*round)(void *context, uint32_t reclaimer, const struct reclaim_report *report);
};

/* What a run lends them. */
struct reclaim_world {
    struct connection_world connection;
    uint32_t first_actor;                           /* number of the first with the store */
    const struct reclaim_actors_observer *observer; /* NULL: none */
};

struct reclaim_actors;

/* NULL if the options can be used, else what is wrong: one static line. */
MUST_USE const char *reclaim_actors_check(const struct reclaim_actors_options *options);
/* The options are borrowed. They start by themselves once the loop runs. */
struct reclaim_actors *reclaim_actors_open(const struct reclaim_actors_options *options,
                                           const struct reclaim_world *world);
void reclaim_actors_close(struct reclaim_actors *reclaimers);

#endif
