/* live_gate.h - what a live sweep must pass before it starts: what it is expected to ask of its
 * store is said and held against the caps, and the store is tried by the brief probe. */
#ifndef EXPERIMENTS_LIVE_GATE_H
#define EXPERIMENTS_LIVE_GATE_H

#include <stdio.h>

#include "experiments/live/live_cost.h"
#include "experiments/live/live_marker.h"

#define LIVE_GATE_TEXT_MAX (CONFIG_PATH_MAX + LIVE_MARKER_TEXT_MAX)

/* All borrowed. */
struct live_gate_options {
    const struct experiment *experiment;
    const uint64_t *runs; /* to come, of each arm */
    struct live_cap cap;
    const char *resume; /* the run's URL, whose store was tried when it began; NULL: a new one */
};

/* Blocks: some seconds to simulate, and requests to each store. On anything but OPEN_OK `error`
 * says what was refused, where, and what to do. */
MUST_USE enum open_result live_gate_pass(const struct live_gate_options *options, FILE *messages,
                                         char error[LIVE_GATE_TEXT_MAX]);

#endif
