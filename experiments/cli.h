/* cli.h - what the verbs of the command line share: flags, --set, and how usage errors are said.
 *
 * Exit statuses: 0 done, 1 the run failed, 2 usage. */
#ifndef EXPERIMENTS_CLI_H
#define EXPERIMENTS_CLI_H

#include <stdbool.h>
#include <stdio.h>

#include "experiments/config/experiment.h"

#define CLI_DONE 0
#define CLI_FAILED 1
#define CLI_USAGE 2

#define CLI_SETS_MAX 256
#define CLI_DATABASE_DEFAULT "out/results.db"

/* Flags that a verb accepts, apart from --help. */
enum cli_flag {
    CLI_SET = 1 << 0,
    CLI_SEEDS = 1 << 1,
    CLI_DB = 1 << 2,
    CLI_JSON = 1 << 3,
    CLI_JOBS = 1 << 4,
    CLI_PRINT_CONFIG = 1 << 5,
    CLI_ARM = 1 << 6,
    CLI_STORE = 1 << 7,
    CLI_RESUME = 1 << 8,
    CLI_MISSING = 1 << 9,
    CLI_VERSIONS = 1 << 10,
    CLI_DEEP = 1 << 11,
    CLI_LIST = 1 << 12,
    CLI_QUICK = 1 << 13,
    CLI_NO_RUN = 1 << 14,
    CLI_OUT = 1 << 15,
    CLI_DOCS = 1 << 16,
    CLI_PAPER = 1 << 17,
    CLI_FIT = 1 << 18,
    CLI_ENDPOINT = 1 << 19,
    CLI_REGION = 1 << 20,
    CLI_PROFILE = 1 << 21,
    CLI_CA_FILE = 1 << 22,
    CLI_STYLE = 1 << 23,
    CLI_UNSIGNED = 1 << 24,
};

/* How an s3:// address is reached (cli_store.h). */
#define CLI_S3 (CLI_ENDPOINT | CLI_REGION | CLI_PROFILE | CLI_CA_FILE | CLI_STYLE | CLI_UNSIGNED)
#define CLI_ENDPOINTS_MAX 8

struct cli {
    /* What the verb is. */
    const char *usage;   /* printed by --help: "usage: ..." and what it does */
    unsigned flags;      /* of enum cli_flag */
    const char *operand; /* what the first operand is called; NULL: there need be none */
    int operands_min;
    int operands_max;

    /* What the user asked for. Texts are borrowed from argv. */
    const char *verb;
    unsigned given; /* of enum cli_flag */
    const char *sets[CLI_SETS_MAX];
    size_t set_count;
    uint64_t seeds; /* 0: as the config says */
    const char *db;
    const char *arm; /* NULL: all */
    uint64_t jobs;   /* 0: one per core */
    bool json;
    bool print_config;
    const char *store;  /* NULL: as the config says */
    const char *resume; /* NULL: a new run */
    bool missing;
    uint64_t versions; /* 0: not asked for */
    bool deep;
    bool list;
    bool quick;
    bool no_run;
    const char *out;
    bool docs;
    const char *paper; /* NULL: not named */
    bool fit;
    const char *endpoints[CLI_ENDPOINTS_MAX];
    size_t endpoint_count;
    const char *region; /* NULL, as all of these: from the environment or the profile */
    const char *profile;
    const char *ca_file;
    const char *style;
    bool unsigned_payload;
    char **operands;
    int operand_count;

    int status; /* to exit with, where cli_parse says so */
};

/* Reads argv into the parsed part; the verb's part, and defaults, are set by the caller. False:
 * exit with cli->status, because --help was printed or an error was. */
MUST_USE bool cli_parse(struct cli *cli, int argc, char **argv);

/* The program as the user typed it. */
const char *cli_program(void);
/* A text as one word for a POSIX shell; plain where nothing needs quoting. */
void cli_print_quoted(FILE *stream, const char *text);
/* What was parsed, as the command that says it again, for a shell; without some flags, of enum
 * cli_flag. The caller frees it. */
char *cli_command(const struct cli *cli, unsigned without);

/* "lakestream: " and the message, to stderr. Returns the status, to be returned on. */
__attribute__((format(printf, 2, 3))) int cli_error(int status, const char *format, ...);

/* Loads the experiment with --set, --store, --seeds and --arm applied. On failure the error was
 * printed. */
MUST_USE bool cli_load_experiment(const struct cli *cli, const char *path,
                                  struct experiment *experiment);

/* --print-config: the effective config of every arm. Returns the status. */
int cli_print_configs(const struct cli *cli, const struct experiment *experiment);

/* What `lakestream query` shows of the experiment, as the flags ask. Returns the status. */
int cli_show_results(const struct cli *cli, const char *experiment);

/* Makes the folder that holds the file, and those above it. On failure the error was printed. */
MUST_USE bool cli_make_parent(const char *path);

/* True: CONFIG names no file here, but one that is shipped: the path below where `make install` put
 * configs, or, for a bare name, that file of configs/experiments or configs/live, here or there.
 * What is meant is said on stderr. */
MUST_USE bool cli_shipped_config(const char *text, char path[CONFIG_PATH_MAX]);

/* A path of the project's data (configs/..., plots/...): in the current folder if it is there, else
 * where `make install` put it. */
void cli_data_path(const char *relative, char path[CONFIG_PATH_MAX]);

#endif
