/* cli_config.h - a config from flags alone, for verbs that read no file. */
#ifndef EXPERIMENTS_CLI_CONFIG_H
#define EXPERIMENTS_CLI_CONFIG_H

#include "experiments/cli.h"

/* One "key=value". False: the error was printed. */
MUST_USE bool cli_config_set(struct config *config, enum origin_kind kind, const char *text);
/* The defaults, then the verb's own ("key=value", `count` of them), then --set and the flags that
 * are keys. Not checked as a whole. False: the error was printed. */
MUST_USE bool cli_config_fill(const struct cli *cli, const char *const *defaults, size_t count,
                              struct config *config);

#endif
