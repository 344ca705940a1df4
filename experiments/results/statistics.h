/* statistics.h - means with their confidence, equivalence, fairness; on GSL.
 *
 * Values are borrowed and finite. Nothing fails: what cannot be known is NAN, never 0 - with one
 * value there is a mean but no interval and no test. */
#ifndef EXPERIMENTS_STATISTICS_H
#define EXPERIMENTS_STATISTICS_H

#include <stdbool.h>

#include "core/base.h"

/* A mean with its 95 % confidence interval, mean -+ half_width, by Student's t. */
struct statistics_mean {
    size_t count;
    double mean;       /* NAN if count is 0 */
    double half_width; /* NAN if count is below 2 */
};

struct statistics_mean statistics_mean(const double *values, size_t count);

/* Two one-sided t tests (TOST) on the mean of paired differences. `equivalent` needs the whole 95 %
 * interval inside (-margin, margin): stricter than TOST at 5 %, which looks at the 90 % interval.
 * `p` is the larger of the two one-sided p values. */
struct statistics_equivalence {
    struct statistics_mean difference; /* mean of a[i] - b[i] */
    double low;                        /* the 95 % interval; NAN if count is below 2 */
    double high;
    double p;        /* NAN if count is below 2 */
    bool equivalent; /* false if count is below 2 */
};

struct statistics_equivalence statistics_equivalence(const double *a, const double *b, size_t count,
                                                     double margin);

/* Jain's index, (sum x)^2 / (n sum x^2): 1 = equal shares, 1/n = one has all. NAN if all are 0. */
double statistics_jain(const double *values, size_t count);

#endif
