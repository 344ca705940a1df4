/* arm_record.h - how an arm is written down with its results: names, effective config, hash. The
 * same for simulated and live runs. */
#ifndef EXPERIMENTS_ARM_RECORD_H
#define EXPERIMENTS_ARM_RECORD_H

#include "experiments/config/experiment.h"
#include "experiments/results/results.h"
#include "experiments/trials/runner.h"

struct arm_record {
    struct runner_arm arm; /* its texts are borrowed from here and from the struct arm */
    char *config;          /* effective config with origins, owned */
    char hash[RESULTS_HASH_MAX];
};

/* The arm is borrowed and must outlive the record, which must not move. Context is the arm's
 * config. */
void arm_record_init(struct arm_record *record, const struct arm *arm);
void arm_record_deinit(struct arm_record *record);

#endif
