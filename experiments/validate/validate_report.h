/* validate_report.h - what validation found, as Markdown, JSON, and points for the figure. */
#ifndef EXPERIMENTS_VALIDATE_REPORT_H
#define EXPERIMENTS_VALIDATE_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "experiments/validate/validate_run.h"

#define VALIDATE_ROWS_MAX (VALIDATE_MODEL_COUNT * MEASURED_ROWS_MAX)
#define VALIDATE_STORES_MAX 8

struct validate_report {
    size_t seeds;
    uint64_t first_seed;
    struct measured measured;
    size_t store_count;
    const char *stores[VALIDATE_STORES_MAX]; /* borrowed from `measured`, in its order */
    struct config configs[VALIDATE_MODEL_COUNT][VALIDATE_STORES_MAX];
    size_t count; /* rows: by model, then store, then in the measurement's order */
    struct validate_row rows[VALIDATE_ROWS_MAX];
};

/* The tables for PAPER_REPRO.md and for the file beside the figure. */
void validate_report_markdown(const struct validate_report *report, FILE *file);
/* One line for each model and store. */
void validate_report_headline(const struct validate_report *report, FILE *file);
/* The caller owns the reference. */
json_t *validate_report_json(const struct validate_report *report);
/* Blocks of points, store by store: the measurement, then each model; and the script's variables.
 */
void validate_report_plot(const struct validate_report *report, FILE *points, FILE *variables);

#endif
