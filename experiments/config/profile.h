/* profile.h - the measured latencies, limits and prices of one store, in a file of their own:
 * configs/profiles/<name>.yaml with keys store.* and price.* only. */
#ifndef EXPERIMENTS_PROFILE_H
#define EXPERIMENTS_PROFILE_H

#include <stdbool.h>

#include "experiments/config/config.h"

/* Finds the file that `store.profile` of the config means. A name is looked for in ../profiles
 * beside the experiment, in configs/profiles, and where the program was installed; a text with a
 * slash or ending in .yaml is a path, relative to the file that it stands in. False: the diagnostic
 * says where it was set, and which profiles there are. */
MUST_USE bool profile_find(const struct config *config, const char *experiment_path,
                           char path[CONFIG_PATH_MAX], struct diagnostic *diagnostic);

/* Sets what the file holds. `path` is borrowed by the config's origins. Blocks on reading. */
MUST_USE bool profile_load(const char *path, struct config *config, struct diagnostic *diagnostic);

#endif
