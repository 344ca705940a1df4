/* storage_bound.h - the closed form of what a run stores at most: what follows from the period of
 * checkpoints, how many are kept, the rate of production, the lags, and the length of the run. */
#ifndef EXPERIMENTS_STORAGE_BOUND_H
#define EXPERIMENTS_STORAGE_BOUND_H

#include "core/base.h"

struct storage_bound {
    double steps;         /* made in the whole run */
    double steps_per_s;   /* made */
    double every;         /* steps between checkpoints; 0: none */
    double kept;          /* checkpoints */
    double reclaim_lag_s; /* from a checkpoint to the deletion of what it lets go */
    double behind_steps;  /* made, and not given to the slowest rank */
};

/* The most steps that are stored at once.
 *
 * Ours. The slowest rank's checkpoint j is at step j P + 1, once it has been given j P steps; the
 * first, j = 0, is of the step where it begins. With k checkpoints kept the oldest is number
 * max(0, j - k + 1), so that nothing may go before the k-th. Until checkpoint j + 1 has its effect,
 * reclaim_lag_s later, what was made since the oldest kept one is stored: (j + 1) P less its steps,
 * and the two lags on top. The last interval is cut by the end of the run. */
double storage_bound_steps(const struct storage_bound *bound);

/* The period, in steps, at which so many are stored at most, in a run so long that more checkpoints
 * are made than are kept. */
double storage_bound_period(const struct storage_bound *bound, double stored_steps);

#endif
