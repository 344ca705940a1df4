/* whole_run.h - whole runs for tests: the calibrated s3-standard store, and what stays the same. */
#ifndef TESTS_SIM_WHOLE_RUN_H
#define TESTS_SIM_WHOLE_RUN_H

#include "sim/simulation.h"
#include "tests/harness.h"

#define MIB 1048576.0
#define RATE 13.5e6 /* bytes a second and producer */

struct simulation_options whole_run_options(const char *policy, uint32_t producers,
                                            int64_t seconds);
/* Eight producers under dac, and so many ranks. */
struct simulation_options whole_run_ranks(uint32_t ranks, int64_t seconds);
/* Four ranks, and so many reclaimers. */
struct simulation_options whole_run_reclaimed(uint32_t reclaimers, int64_t seconds);

/* Runs, and fails with the text of the first violation. */
struct simulation_result whole_run(const struct simulation_options *options);

#endif
