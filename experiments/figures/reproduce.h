/* reproduce.h - what `lakestream reproduce` does to one database and one folder, apart from reading
 * its command line. */
#ifndef EXPERIMENTS_REPRODUCE_H
#define EXPERIMENTS_REPRODUCE_H

#include "experiments/figures/figure.h"

struct reproduce {
    struct results_db *db; /* borrowed */
    const char *db_path;   /* for messages */
    const char *folder;    /* where figures go; made by the caller */
    const char *documents; /* where SVGs are copied to; NULL: nowhere */
    const char *paper;     /* PAPER_REPRO.md; NULL: left alone */
    const struct reported *reported;
};

/* Draws one figure from what the database holds and rewrites its part of the paper's page; appends
 * its findings to `headlines`. `seeds`: what the whole figure has. Blocks. False: the diagnostic.
 */
MUST_USE bool reproduce_figure(const struct reproduce *reproduce, const struct figure *figure,
                               uint64_t seeds, FILE *headlines, struct diagnostic *diagnostic);

/* Rewrites the table of all reported numbers, if the database holds P1. */
MUST_USE bool reproduce_summary(const struct reproduce *reproduce, struct diagnostic *diagnostic);

#endif
