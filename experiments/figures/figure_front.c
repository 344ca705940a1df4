/* figure_front.c - see the header. */
#include "experiments/figures/figure_front.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    const struct front_point *a = left;
    const struct front_point *b = right;
    return (a->success.mean > b->success.mean) - (a->success.mean < b->success.mean);
}

void front_read(const struct figure_data *data, const struct contender *contender, int hour,
                struct front *front)
{
    *front = (struct front){.points = calloc(contender->arm_count, sizeof(*front->points))};
    assert(front->points != NULL);
    for (size_t i = 0; i < contender->arm_count; i++) {
        const struct figure_arm *arm = &data->arms[contender->arms[i]];
        struct front_point point = {.arm = arm,
                                    .age_s = figure_hour_mean(data, arm, "age_median_s", hour),
                                    .success = figure_hour_mean(data, arm, "success", hour)};
        if (isfinite(point.age_s.mean + point.success.mean))
            front->points[front->count++] = point;
    }
    qsort(front->points, front->count, sizeof(*front->points), compare);
    double freshest = INFINITY; /* of those with more success */
    for (size_t i = front->count; i-- > 0;) {
        front->points[i].beaten = front->points[i].age_s.mean >= freshest;
        freshest = fmin(freshest, front->points[i].age_s.mean);
    }
}

void front_deinit(struct front *front)
{
    free(front->points);
    *front = (struct front){0};
}

const struct figure_arm *front_nearest(const struct front *front, double success)
{
    const struct front_point *nearest = NULL;
    for (size_t i = 0; i < front->count; i++) {
        const struct front_point *point = &front->points[i];
        if (!point->beaten && (nearest == NULL || fabs(point->success.mean - success) <
                                                      fabs(nearest->success.mean - success)))
            nearest = point;
    }
    return nearest != NULL ? nearest->arm : NULL;
}
