/* options_rows.h - for the files that hold rows of the options table: units of their bounds, and
 * the rows that stand in files of their own. */
#ifndef EXPERIMENTS_OPTIONS_ROWS_H
#define EXPERIMENTS_OPTIONS_ROWS_H

#include <stddef.h>

#include "experiments/config/options.h"

#define FIELD(path) offsetof(struct config, path)
#define SECONDS(count) ((count)*1e9)
#define HOUR SECONDS(3600.0)
#define KIB 1024.0
#define MIB (1024.0 * KIB)
#define GIB (1024.0 * MIB)

struct option_rows {
    const struct option *rows;
    size_t count;
};

/* ranks.* and reclaim.*: who reads a simulated run, and what is deleted of it. */
struct option_rows option_rows_of_ranks(void);

#endif
