/* paper.h - PAPER_REPRO.md: its generated parts, each between two markers,
 * <!-- NAME:begin --> and <!-- NAME:end -->. What a person wrote around them is never touched. */
#ifndef EXPERIMENTS_PAPER_H
#define EXPERIMENTS_PAPER_H

#include <stdio.h>

#include "experiments/figures/figure_data.h"
#include "experiments/figures/paper_reported.h"

#define PAPER_FILE "PAPER_REPRO.md"

/* Replaces what stands between the markers. Blocks; the file is replaced whole or not at all, and
 * not touched if nothing changed. False: the diagnostic says what is missing or failed. */
MUST_USE bool paper_rewrite(const char *path, const char *name, const char *text,
                            struct diagnostic *diagnostic);

/* The table of all reported numbers: reported, simulated, live, verdict, assumptions. `data`: the
 * simulated runs of p1, maybe none. Live runs are looked up in its database. */
MUST_USE bool paper_summary(const struct figure_data *data, const struct reported *reported,
                            FILE *markdown, struct diagnostic *diagnostic);

#endif
