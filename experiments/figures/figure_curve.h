/* figure_curve.h - success against age along a swept constant, and the age at which a given success
 * is had: by interpolation between neighbouring points, with its uncertainty. */
#ifndef EXPERIMENTS_FIGURE_CURVE_H
#define EXPERIMENTS_FIGURE_CURVE_H

#include "experiments/figures/figure_data.h"

/* The arms of one group, in the order of their swept values, in one hour; over the seeds that all
 * of its arms have. */
struct curve {
    size_t point_count;
    size_t seed_count;
    int64_t *seeds;  /* owned */
    double *success; /* owned: [point * seed_count + seed] */
    double *age_s;   /* owned: the same */
};

/* `first`: the group's first arm; its arms are neighbours. Deinit it by curve_deinit. */
void curve_read(const struct figure_data *data, size_t first, int hour, struct curve *curve);
void curve_deinit(struct curve *curve);

/* One past the last arm of the group that starts at `first`. */
size_t curve_group_end(const struct figure_data *data, size_t first);

/* An estimate of log(value) with its 95 % interval, as value, low and high. NAN: not known. */
struct curve_estimate {
    double value;
    double low;
    double high;
};

/* The median age at which the curve's mean has this success: linear in log(age) between the two
 * points around it; the freshest where there are several; NAN where the curve does not reach it.
 * The interval is a jackknife over seeds with Student's t; NAN with fewer than two seeds, or where
 * the curve without one of the seeds does not reach it. */
struct curve_estimate curve_age_at(const struct curve *curve, double success);
/* The ratio of the ages of two curves at this success, over the seeds of both. */
struct curve_estimate curve_age_ratio(const struct curve *curve, const struct curve *against,
                                      double success);

#endif
