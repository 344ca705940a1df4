/* calibrate_workers.h - the clients of calibration as processes, as producers are in a live run: so
 * that what they and the store take of the machine's processors is what it will be there.
 *
 * All processes are forked at once, by a process with one thread and no store open, and measure
 * cell after cell. SIGINT and SIGTERM must be blocked before (live_signals.h): the parent alone
 * decides. A process whose parent dies ends by itself. */
#ifndef EXPERIMENTS_CALIBRATE_WORKERS_H
#define EXPERIMENTS_CALIBRATE_WORKERS_H

#include <sys/types.h>

#include "experiments/calibrate/calibrate_load.h"
#include "experiments/live/live_session.h"
#include "experiments/live/live_signals.h"

struct calibrate_worker {
    pid_t pid;
    int fd; /* -1: none */
};

struct calibrate_workers {
    const char *url;                            /* borrowed */
    const struct live_session_options *options; /* borrowed */
    struct calibrate_worker items[CALIBRATE_CLIENTS_MAX];
};

enum calibrate_outcome {
    CALIBRATE_MEASURED,
    CALIBRATE_FAILED,
    CALIBRATE_INTERRUPTED,
};

/* False: `error` says what the system refused; there is nothing to stop. */
MUST_USE bool calibrate_workers_start(struct calibrate_workers *workers,
                                      char error[CALIBRATE_ERROR_MAX]);
/* Measures one cell: blocks until all its clients are done, a signal came, or one failed. The
 * result is sorted; it is empty before. After anything but MEASURED only stop may follow. */
enum calibrate_outcome calibrate_workers_measure(struct calibrate_workers *workers,
                                                 const struct calibrate_cell *cell,
                                                 struct live_signals *signals,
                                                 struct calibrate_result *result,
                                                 char error[CALIBRATE_ERROR_MAX]);
/* Blocks until all processes are gone; kills those that hang in the store. */
void calibrate_workers_stop(struct calibrate_workers *workers);

#endif
