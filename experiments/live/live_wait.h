/* live_wait.h - waiting for what another process is to write into the store: how long, how often to
 * look, and that a signal ends it. */
#ifndef EXPERIMENTS_LIVE_WAIT_H
#define EXPERIMENTS_LIVE_WAIT_H

#include "experiments/live/live_session.h"
#include "experiments/live/live_signals.h"

struct live_wait {
    struct live_session *session; /* borrowed */
    struct live_signals *signals; /* borrowed, open */
    int64_t begun_ns;
    int64_t patience_ns;
};

struct live_wait live_wait_begin(struct live_session *session, struct live_signals *signals,
                                 int64_t patience_ns);

enum live_waited {
    LIVE_WAIT_LOOK, /* again */
    LIVE_WAIT_OVER, /* no patience is left */
    LIVE_WAIT_ASKED,
};

/* Blocks from a fiftieth to half a second, an eighth of what was waited so far. */
MUST_USE enum live_waited live_wait_more(struct live_wait *wait);

#endif
