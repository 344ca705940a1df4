/* recorder_config.h - a recorder for a run of a config: the same for sim and live. */
#ifndef EXPERIMENTS_RECORDER_CONFIG_H
#define EXPERIMENTS_RECORDER_CONFIG_H

#include "experiments/config/config.h"
#include "experiments/trials/recorder.h"

/* Freed by recorder_close. */
struct recorder *recorder_of(const struct config *config, int64_t start_ns);

#endif
