/* figure_curve.h - success against age along swept constants, and the age at which a given success
 * is had: by interpolation between neighbouring points, with its uncertainty. */
#ifndef EXPERIMENTS_FIGURE_CURVE_H
#define EXPERIMENTS_FIGURE_CURVE_H

#include "experiments/figures/figure_contender.h"

/* A contender's arms in one hour, line by line in the order of their swept values; over the seeds
 * that all of them have. */
struct curve {
    size_t point_count;
    size_t line_count;
    size_t *lines; /* owned: number of each point's line */
    size_t seed_count;
    int64_t *seeds;  /* owned */
    double *success; /* owned: [point * seed_count + seed] */
    double *age_s;   /* owned: the same */
};

/* Deinit it by curve_deinit. */
void curve_read(const struct figure_data *data, const struct contender *contender, int hour,
                struct curve *curve);
void curve_deinit(struct curve *curve);

/* One past the last arm of the group that starts at `first`. */
size_t curve_group_end(const struct figure_data *data, size_t first);

/* An estimate of log(value) with its 95 % interval, as value, low and high. NAN: not known. */
struct curve_estimate {
    double value;
    double low;
    double high;
    size_t point; /* of curve_age_at: the first of the two points that it lies between */
};

/* The median age at which the curve's mean has this success or more: linear in log(age) between
 * the two points of a line around it, or that of a point with more; the freshest; NAN where no
 * point has so much.
 * The interval is a jackknife over seeds with Student's t; NAN with fewer than two seeds, or where
 * the curve without one of the seeds does not reach it. */
struct curve_estimate curve_age_at(const struct curve *curve, double success);
/* The ratio of the ages of two curves at this success, over the seeds of both. That a curve's
 * freshest line was chosen makes it look fresh: its side of the interval is at 1 - 0.025 / lines
 * (Bonferroni), `high` for the first curve, `low` for the second. */
struct curve_estimate curve_age_ratio(const struct curve *curve, const struct curve *against,
                                      double success);

#endif
