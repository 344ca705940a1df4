/* paper_reported.h - the numbers that the paper reports, from configs/reported.tsv. */
#ifndef EXPERIMENTS_PAPER_REPORTED_H
#define EXPERIMENTS_PAPER_REPORTED_H

#include <stdbool.h>

#include "core/base.h"
#include "experiments/config/diagnostic.h"

#define REPORTED_MAX 32
#define REPORTED_TEXT_MAX 128

struct reported_row {
    char id[8];                   /* "P1" */
    char name[32];                /* of the quantity; a metric's name where there is one */
    char value[32];               /* as written; "-": no number */
    char unit[16];                /* "-": none */
    char text[REPORTED_TEXT_MAX]; /* what it is about */
};

struct reported {
    size_t count;
    struct reported_row rows[REPORTED_MAX];
};

/* Blocks. False: the diagnostic says path:line and what is wrong. */
MUST_USE bool reported_read(const char *path, struct reported *reported,
                            struct diagnostic *diagnostic);
/* NULL: no such row. */
const struct reported_row *reported_find(const struct reported *reported, const char *id,
                                         const char *name);
/* The value in its row's unit; NAN if there is no such row or it is no number. */
double reported_number(const struct reported *reported, const char *id, const char *name);

#endif
