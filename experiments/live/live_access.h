/* live_access.h - from a config's live.* keys to how its store is opened. */
#ifndef EXPERIMENTS_LIVE_ACCESS_H
#define EXPERIMENTS_LIVE_ACCESS_H

#include "experiments/config/config.h"
#include "experiments/live/live_session.h"

/* To write. Texts are borrowed from the config. */
struct live_session_options live_access_of(const struct config *config);

#endif
