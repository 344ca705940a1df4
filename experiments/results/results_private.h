/* results_private.h - the handle, for results.c and results_write.c. */
#ifndef EXPERIMENTS_RESULTS_PRIVATE_H
#define EXPERIMENTS_RESULTS_PRIVATE_H

#include <sqlite3.h>

#include "experiments/results/results.h"

struct results_db {
    sqlite3 *sqlite;
    char *path; /* owned */
};

#endif
