/* quantiles.h - an empirical distribution of a factor, written "0:0.6 0.5:1 0.99:2.8 1:4" in a
 * config: p:factor, p from 0 to 1. Nothing allocates. */
#ifndef EXPERIMENTS_QUANTILES_H
#define EXPERIMENTS_QUANTILES_H

#include <stdbool.h>

#include "core/base.h"
#include "experiments/config/diagnostic.h"

#define QUANTILES_MAX 32
#define QUANTILES_TEXT_MAX 2048 /* bytes of a printed table, with the NUL */

/* An empirical distribution of a factor: linear in p between the points. Points rise in p from 0 to
 * 1; factors never fall and are above 0. */
struct quantile_table {
    uint32_t count; /* 0: none given; otherwise at least 2 */
    double p[QUANTILES_MAX];
    double factor[QUANTILES_MAX];
};

/* False: the table is unchanged, and the diagnostic says what was found and what is expected. */
MUST_USE bool quantile_table_parse(const char *text, struct quantile_table *table,
                                   struct diagnostic *diagnostic);
/* Reads back to the same table. */
void quantile_table_print(const struct quantile_table *table, char text[QUANTILES_TEXT_MAX]);

#endif
