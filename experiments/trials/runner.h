/* runner.h - runs trials (arms x seeds) on all cores, writes each into the results database as it
 * ends.
 *
 * Worker threads run trials; only the calling thread touches the database and the terminal. The
 * rows do not depend on the number of workers (but for id, started, wall_s and the order). What the
 * database has already is skipped, so that an interrupted sweep goes on where it was.
 *
 * SIGINT and SIGTERM: no new trial starts, those in progress end (at once, if they poll
 * runner_interrupted) and are kept only if they ended whole; a second signal, half a second later
 * or more, ends the process with status 130. Either way no run is half-written. The signal flag is
 * the only global. */
#ifndef EXPERIMENTS_RUNNER_H
#define EXPERIMENTS_RUNNER_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base.h"
#include "experiments/results/results.h"
#include "experiments/results/run_results.h"

#define RUNNER_JOBS_MAX 1024
#define RUNNER_ERROR_MAX 512

/* One point of an experiment; all of its trials differ in the seed only. Borrowed. */
struct runner_arm {
    const char *name;
    const char *group;     /* "" allowed */
    const char *sweep_key; /* "" allowed */
    double sweep_value;    /* NAN: none */
    const char *store;
    const char *config;      /* effective config with origins */
    const char *config_hash; /* by results_config_hash */
    const void *context;     /* for the run function: shared by threads, so read-only */
};

struct trial {
    const struct runner_arm *arm;
    uint64_t seed;
};

/* Runs one trial, on any thread, with no state shared with other trials. Returns 0, or another
 * value with `error` (RUNNER_ERROR_MAX bytes) filled: what failed and what to do. After
 * runner_interrupted it may return any value; what it returns 0 for is kept. */
typedef int (*runner_function)(const struct trial *trial, struct run_results *results, char *error);

struct runner_options {
    const char *experiment;
    enum results_mode mode;
    const char *commit;  /* of the program */
    const char *command; /* that goes on with the sweep, for a shell */
    const char *repeat;  /* that repeats one run, up to its --arm, --set seed and --seeds */
    unsigned jobs;       /* worker threads; 0: one per core this process may use */
    struct results_db *db;
    runner_function run;
    FILE *progress; /* usually stderr; NULL: silent but for failures, which go to stderr */
};

struct runner_summary {
    size_t done;
    size_t skipped; /* the database had them */
    size_t failed;
    bool interrupted;
};

/* Blocks until all is done. Returns the exit status: 0 if all trials are in the database without a
 * violation, else 1 (a failed trial, a violation, a database error, an interruption), said on
 * `progress`. `summary` may be NULL. */
int runner_run(const struct runner_options *options, const struct trial *trials, size_t count,
               struct runner_summary *summary);

/* A signal asked to stop; long trials poll it. */
bool runner_interrupted(void);

#endif
