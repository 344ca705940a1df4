/* query_differences.h - in which settings the arms of one experiment differ, beyond policy and
 * sweep: means of such arms stand in one table and cannot be compared. */
#ifndef EXPERIMENTS_QUERY_DIFFERENCES_H
#define EXPERIMENTS_QUERY_DIFFERENCES_H

#include <stdbool.h>

#include "experiments/results/results.h"

struct query_differences;

/* Reads the configs of the view current_run, of experiments that match the pattern (NULL: all).
 * Blocks on the disk. NULL: what the database's last error says. */
struct query_differences *query_differences_open(struct results_db *db, const char *experiment);
void query_differences_close(struct query_differences *differences); /* NULL is allowed */

struct query_arm {
    const char *experiment;
    const char *mode;
    const char *arm;
};

/* "workload.tgb=8MiB, run.bin=1min": the arm's values that not more than half of the experiment's
 * arms have, of keys that are neither the policy's nor swept by the arm. NULL: there are none. The
 * caller frees it. */
char *query_differences_of(const struct query_differences *differences,
                           const struct query_arm *arm);

#endif
