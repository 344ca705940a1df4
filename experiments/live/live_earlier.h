/* live_earlier.h - the runs in the database that a live sweep replaces. A simulated run is the same
 * when it is run again; what was measured in real time is gone then, so it is said before and
 * after. */
#ifndef EXPERIMENTS_LIVE_EARLIER_H
#define EXPERIMENTS_LIVE_EARLIER_H

#include "experiments/cli.h"
#include "experiments/results/results.h"

#define LIVE_STARTED_MAX 64 /* bytes, with the final NUL */

struct live_earlier {
    size_t count;
    char first[LIVE_STARTED_MAX]; /* when the earliest and the latest of them started */
    char last[LIVE_STARTED_MAX];
};

/* Adds the run that results_write of `run` would replace, if there is one, whatever its checkers
 * found. Zero-initialised is none. Blocks on the disk. */
MUST_USE enum results_error live_earlier_add(struct results_db *db, const struct results_run *run,
                                             struct live_earlier *earlier,
                                             char message[RESULTS_MESSAGE_MAX]);

/* To stderr, if there are any: that they will be replaced by some of so many runs, and how to keep
 * them. */
void live_earlier_warn(const struct live_earlier *earlier, const struct cli *cli, size_t runs);
/* ... that this run has replaced the one. */
void live_earlier_tell(const struct live_earlier *earlier, const struct cli *cli,
                       const struct results_run *run);

#endif
