/* simulate.h - runs the arms and seeds of an experiment in the simulator, into the results
 * database. */
#ifndef EXPERIMENTS_SIMULATE_H
#define EXPERIMENTS_SIMULATE_H

#include <stdio.h>

#include "experiments/config/experiment.h"
#include "experiments/results/results.h"
#include "experiments/results/run_results.h"
#include "sim/simulation.h"

struct simulate_options {
    struct results_db *db; /* borrowed, open for writing */
    unsigned jobs;         /* 0: one per core */
    uint64_t seeds;        /* for each arm; 0: as its config says */
    FILE *progress;        /* NULL: silent */
    const char *command;   /* that does all of it, and one run of it: as in runner.h */
    const char *repeat;
};

/* Blocks until all trials are in the database; those that are there already are not run again.
 * Returns the exit status; errors were said. */
int simulate_experiment(const struct experiment *experiment,
                        const struct simulate_options *options);

/* One run of one config. 0, or 1 with `error` (RUNNER_ERROR_MAX bytes) filled. */
int simulate_once(const struct config *config, uint64_t seed, struct run_results *results,
                  char *error);

/* What the simulator is asked for; the observer is left to the caller. */
void simulate_options_of(const struct config *config, uint64_t seed,
                         struct simulation_options *options);

#endif
