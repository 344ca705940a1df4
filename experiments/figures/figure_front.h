/* figure_front.h - a contender's settings in one hour, and which of them are its frontier: those
 * that no other of its settings beats in both success and age. */
#ifndef EXPERIMENTS_FIGURE_FRONT_H
#define EXPERIMENTS_FIGURE_FRONT_H

#include "experiments/figures/figure_contender.h"

struct front_point {
    const struct figure_arm *arm; /* borrowed from the data */
    struct statistics_mean age_s; /* median age */
    struct statistics_mean success;
    bool beaten; /* by another one, in both */
};

/* By rising success; those without a value are left out. */
struct front {
    size_t count;
    struct front_point *points; /* owned */
};

/* Deinit it by front_deinit. */
void front_read(const struct figure_data *data, const struct contender *contender, int hour,
                struct front *front);
void front_deinit(struct front *front);
/* The unbeaten setting whose success is nearest to this; NULL: there is none. */
const struct figure_arm *front_nearest(const struct front *front, double success);

#endif
