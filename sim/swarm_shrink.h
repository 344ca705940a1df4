/* swarm_shrink.h - makes a failing world smaller: fewer producers, fewer kinds of faults, shorter.
 *
 * Greedy: each step tightens one limit and is kept if the world still fails, in whichever way. */
#ifndef SIM_SWARM_SHRINK_H
#define SIM_SWARM_SHRINK_H

#include <stdbool.h>

#include "sim/swarm_config.h"

/* The limits must fail; `fails` runs a world and tells whether it does. Returns the smallest that
 * were found; `runs` counts those it took. */
struct swarm_limits swarm_shrink(const struct swarm_limits *failing,
                                 bool (*fails)(void *context, const struct swarm_limits *limits),
                                 void *context, uint32_t *runs);

/* "--producers 2 --faults late,pause ...", without what is at its default. */
void swarm_limits_text(const struct swarm_limits *limits, char *text, size_t text_bytes);

#endif
