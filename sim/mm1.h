/* mm1.h - the M/M/1 queue on the virtual loop, beside its closed form: a check of the event queue,
 * the loop and the random streams together. Rates are per second of virtual time, waits in seconds.
 */
#ifndef SIM_MM1_H
#define SIM_MM1_H

#include "core/base.h"

#define MM1_BATCHES 40

struct mm1_options {
    double arrivals_per_s;
    double services_per_s; /* above arrivals_per_s */
    uint64_t seed;
    uint64_t customers; /* at least 2 * MM1_BATCHES; a tenth is left out as warm-up */
};

struct mm1_result {
    double wait_s;          /* mean time in the queue, without the service */
    double wait_half_width; /* of its 95 % confidence interval, by batch means */
    double wait_exact_s;    /* rho / (mu - lambda) */
    uint64_t handled;       /* events */
};

void mm1_run(const struct mm1_options *options, struct mm1_result *result);

#endif
