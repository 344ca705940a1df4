/* live_signals.h - SIGINT and SIGTERM as a descriptor, for a process that forks and polls: blocked
 * while open (children inherit that, and ask for them in their own loop). */
#ifndef EXPERIMENTS_LIVE_SIGNALS_H
#define EXPERIMENTS_LIVE_SIGNALS_H

#include <signal.h>

#include "core/base.h"

/* Signals that come within this are one: timeout(1) and shells send to a process and its group. */
#define LIVE_SIGNALS_BURST_NS (500 * NS_PER_MS)

struct live_signals {
    int fd;
    uint32_t count; /* taken so far, bursts as one */
    int64_t last_ns;
    sigset_t before;
};

void live_signals_open(struct live_signals *signals);
/* Takes what has come; never blocks. Returns how many came in all. */
uint32_t live_signals_take(struct live_signals *signals);
/* Signals have their usual effect again, those that came meanwhile too. */
void live_signals_close(struct live_signals *signals);

#endif
