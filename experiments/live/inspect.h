/* inspect.h - reads a run prefix and fills an inspection. Only reads; blocks on the store. */
#ifndef EXPERIMENTS_INSPECT_H
#define EXPERIMENTS_INSPECT_H

#include <stdio.h>

#include "experiments/live/inspection.h"
#include "experiments/live/live_session.h"
#include "experiments/trials/progress.h"

struct inspect_options {
    bool deep;      /* read the TGBs, too */
    FILE *progress; /* NULL: silent */
};

/* False: the store could not be listed; `error` says why. What is wrong below the prefix is a
 * problem of the inspection, not an error. The inspection must be zeroed; deinit it either way. */
MUST_USE bool inspect_run(struct live_session *session, const struct inspect_options *options,
                          struct inspection *inspection, char error[STORE_ERROR_MAX]);

/* The line on a terminal: so many of so many. Elsewhere nothing. */
void inspect_progress(struct progress *progress, size_t done, size_t total);

#endif
