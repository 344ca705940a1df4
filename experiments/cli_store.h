/* cli_store.h - how the flags and the config say that a store is to be reached. */
#ifndef EXPERIMENTS_CLI_STORE_H
#define EXPERIMENTS_CLI_STORE_H

#include "backend/s3_store.h"
#include "experiments/cli.h"

/* Texts are borrowed from argv. `endpoint` chooses among several --endpoint; 0 where there is none.
 * False: --style is not one; the error was printed. */
MUST_USE bool cli_s3_options(const struct cli *cli, size_t endpoint, struct s3_options *options);

#endif
