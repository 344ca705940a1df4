/* storage_bound.c - see storage_bound.h. */
#include "experiments/figures/storage_bound.h"

#include <math.h>

/* Steps below the oldest of the checkpoints that are kept once `count` have been made after that of
 * the beginning. */
static double let_go(const struct storage_bound *bound, double count)
{
    return bound->every * fmax(0, count - bound->kept + 1);
}

double storage_bound_steps(const struct storage_bound *bound)
{
    assert(bound->steps > 0 && bound->kept >= 1);
    if (bound->every <= 0)
        return bound->steps;
    double lag = bound->reclaim_lag_s * bound->steps_per_s + bound->behind_steps;
    double most = 0;
    for (double count = 0; count * bound->every <= bound->steps; count++) {
        double made = fmin((count + 1) * bound->every + lag, bound->steps);
        most = fmax(most, made - let_go(bound, count));
    }
    return most;
}

double storage_bound_period(const struct storage_bound *bound, double stored_steps)
{
    assert(bound->kept >= 1);
    double lag = bound->reclaim_lag_s * bound->steps_per_s + bound->behind_steps;
    return (stored_steps - lag) / bound->kept;
}
