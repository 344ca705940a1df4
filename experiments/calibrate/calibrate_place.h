/* calibrate_place.h - the prefix that calibration works below, and how it is emptied again. */
#ifndef EXPERIMENTS_CALIBRATE_PLACE_H
#define EXPERIMENTS_CALIBRATE_PLACE_H

#include "experiments/calibrate/calibrate_load.h"
#include "experiments/live/live_place.h"
#include "experiments/live/live_signals.h"

/* All that a request of the cleaning may take, where a store in use is given a minute. */
#define CALIBRATE_CLEAN_NS (15 * NS_PER_S)
/* As many signals, those from before the cleaning included, end it. */
#define CALIBRATE_CLEAN_SIGNALS 2

/* <store>/calibrate-<16 random hex digits>; nothing is made yet. False: the address is too long. */
MUST_USE bool calibrate_place_choose(const char *store, char url[LIVE_URL_MAX]);
/* Deletes every object below the prefix, and the folders of a directory. Blocks. *deleted counts
 * them. `signals` are open, and taken. False: `error` says why something may be left. */
MUST_USE bool calibrate_place_clean(const char *url, const struct live_session_options *options,
                                    struct live_signals *signals, uint64_t *deleted,
                                    char error[CALIBRATE_ERROR_MAX]);

#endif
