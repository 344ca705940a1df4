/* calibrate_report.h - what calibration found: as a profile in YAML that `store.profile` reads, and
 * as JSON. */
#ifndef EXPERIMENTS_CALIBRATE_REPORT_H
#define EXPERIMENTS_CALIBRATE_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "experiments/calibrate/calibrate_fit.h"
#include "experiments/trials/progress.h"

#define CALIBRATE_MACHINE_MAX 256

struct calibrate_report {
    const char *store; /* as it was given; borrowed */
    enum calibrate_effort effort;
    char started[PROGRESS_TEXT_MAX];
    double wall_s;
    char machine[CALIBRATE_MACHINE_MAX];
    struct calibrate_plan plan;
    struct calibrate_result measured[CALIBRATE_CELLS_MAX]; /* owned */
    struct config config;
    struct calibrate_fit fit; /* owned */
};

/* Processor, cores and kernel of the machine that the clients run on; no name of it. */
void calibrate_machine_text(char text[CALIBRATE_MACHINE_MAX]);
void calibrate_report_yaml(const struct calibrate_report *report, FILE *file);
/* The caller owns the reference. */
json_t *calibrate_report_json(const struct calibrate_report *report);
/* One or two lines for a person: how far predictions are from what was measured. */
void calibrate_report_headline(const struct calibrate_report *report, FILE *file);
void calibrate_report_deinit(struct calibrate_report *report);

#endif
