/* reproduce.h - what `lakestream reproduce` does to one database and one folder, apart from reading
 * its command line. */
#ifndef EXPERIMENTS_REPRODUCE_H
#define EXPERIMENTS_REPRODUCE_H

#include "experiments/figures/reproduce_plan.h"

struct reproduce {
    struct results_db *db; /* borrowed */
    const char *db_path;   /* for messages */
    const char *folder;    /* where figures go; made by the caller */
    const char *documents; /* where SVGs are copied to; NULL: nowhere */
    const char *paper;     /* PAPER_REPRO.md; NULL: left alone */
    const struct reported *reported;
    const struct cli *cli; /* what was asked for */
};

/* A figure that was drawn. */
struct reproduced {
    const struct figure *figure;
    size_t missing; /* of the runs that the plan wants */
    char *section;  /* owned: its part of the paper's page; NULL: none to be written */
};

/* Draws the plan's figure from the runs that it wants and appends its findings to `headlines`; runs
 * that are missing are said on stderr. Blocks. False: the diagnostic, nothing to free. */
MUST_USE bool reproduce_figure(const struct reproduce *reproduce, const struct reproduce_plan *plan,
                               FILE *headlines, struct reproduced *drawn,
                               struct diagnostic *diagnostic);
void reproduced_deinit(struct reproduced *drawn);

/* Copies whole figures to the documents and writes their parts of the paper's page, after all were
 * drawn; and the table of all reported numbers, if the database holds P1 as it is shipped. Blocks.
 * False: the diagnostic. */
MUST_USE bool reproduce_publish(const struct reproduce *reproduce, const struct reproduced *drawn,
                                size_t count, struct diagnostic *diagnostic);

#endif
