/* live_follow.h - a live sweep as the ranks other than 0 see it: they do what rank 0 says. */
#ifndef EXPERIMENTS_LIVE_FOLLOW_H
#define EXPERIMENTS_LIVE_FOLLOW_H

#include "experiments/cli.h"
#include "experiments/live/live_ranks.h"

/* Runs this rank's producers in every run that rank 0 calls, until there is none left or one
 * failed. Prints what a person must know. Returns the exit status. */
int live_follow(const struct cli *cli, const struct experiment *experiment,
                const struct live_ranks *ranks);

#endif
