/* gc_run.h - rounds of reclamation (core/reclaim.h) on a session. */
#ifndef EXPERIMENTS_GC_RUN_H
#define EXPERIMENTS_GC_RUN_H

#include "core/reclaim.h"
#include "experiments/live/live_session.h"

struct gc_options {
    struct reclaim_options reclaim; /* without its stream, which is drawn */
    int64_t period_ns;              /* 0: one round */
    /* Told of every round; both are valid during the call. */
    void (*round)(void *context, const struct reclaim_report *report, const char *error);
    void *context;
};

/* Blocks until the only round ended; with a period, until SIGINT or SIGTERM, or a round that the
 * store refused for good. Returns how the last round ended. */
enum reclaim_end gc_run(struct live_session *session, const struct gc_options *options);

#endif
