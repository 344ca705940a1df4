/* runner_report.h - what a sweep's runs are expected to take, and what is told when it is over. */
#ifndef EXPERIMENTS_RUNNER_REPORT_H
#define EXPERIMENTS_RUNNER_REPORT_H

#include "experiments/trials/runner.h"

/* How long one arm's runs take. Zero-initialised knows nothing. */
struct runner_estimate {
    const struct runner_arm *arm;
    bool asked;    /* past_s was read */
    double past_s; /* mean of what the database has; 0: nothing */
    double sum_s;  /* of this sweep */
    size_t count;
};

/* Index of the arm's estimate, added at the end if there is none; the array has room. */
size_t runner_estimate_find(struct runner_estimate *estimates, size_t *count,
                            const struct runner_arm *arm);
void runner_estimate_add(struct runner_estimate *estimate, double wall_s);
/* The arm's mean in this sweep, else in the database, else the mean of all arms; negative: unknown.
 */
double runner_expected_s(const struct runner_estimate *estimates, size_t count, size_t index);

struct runner_failure {
    const struct trial *trial;
    char *text; /* owned */
};

struct runner_report {
    const struct runner_options *options;
    struct runner_summary summary;
    size_t total;
    double wall_s;
    char database[RESULTS_MESSAGE_MAX]; /* why the sweep could not go on; empty: it could */
    struct runner_failure *failures;    /* owned */
    size_t failure_count;
    size_t failure_capacity;
};

void runner_report_failure(struct runner_report *report, const struct trial *trial,
                           const char *text);
/* Returns the exit status. */
int runner_report_print(struct runner_report *report);
void runner_report_deinit(struct runner_report *report);

#endif
