/* cli.h - what the verbs of the command line share: flags, --set, and how usage errors are said.
 *
 * Exit statuses: 0 done, 1 the run failed, 2 usage. */
#ifndef EXPERIMENTS_CLI_H
#define EXPERIMENTS_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "experiments/config/experiment.h"

#define CLI_DONE 0
#define CLI_FAILED 1
#define CLI_USAGE 2

#define CLI_SETS_MAX 256
#define CLI_DATABASE_DEFAULT "out/results.db"

/* Flags that a verb accepts, apart from --help: bits of a uint64_t, more than an enum holds. */
#define CLI_SET (UINT64_C(1) << 0)
#define CLI_SEEDS (UINT64_C(1) << 1)
#define CLI_DB (UINT64_C(1) << 2)
#define CLI_JSON (UINT64_C(1) << 3)
#define CLI_JOBS (UINT64_C(1) << 4)
#define CLI_PRINT_CONFIG (UINT64_C(1) << 5)
#define CLI_ARM (UINT64_C(1) << 6)
#define CLI_STORE (UINT64_C(1) << 7)
#define CLI_RESUME (UINT64_C(1) << 8)
#define CLI_MISSING (UINT64_C(1) << 9)
#define CLI_VERSIONS (UINT64_C(1) << 10)
#define CLI_DEEP (UINT64_C(1) << 11)
#define CLI_LIST (UINT64_C(1) << 12)
#define CLI_QUICK (UINT64_C(1) << 13)
#define CLI_NO_RUN (UINT64_C(1) << 14)
#define CLI_OUT (UINT64_C(1) << 15)
#define CLI_DOCS (UINT64_C(1) << 16)
#define CLI_PAPER (UINT64_C(1) << 17)
#define CLI_FIT (UINT64_C(1) << 18)
#define CLI_ENDPOINT (UINT64_C(1) << 19)
#define CLI_REGION (UINT64_C(1) << 20)
#define CLI_PROFILE (UINT64_C(1) << 21)
#define CLI_CA_FILE (UINT64_C(1) << 22)
#define CLI_STYLE (UINT64_C(1) << 23)
#define CLI_UNSIGNED (UINT64_C(1) << 24)
#define CLI_COUNT (UINT64_C(1) << 25)
#define CLI_BYTES (UINT64_C(1) << 26)
#define CLI_PRODUCER (UINT64_C(1) << 27)
#define CLI_POLICY (UINT64_C(1) << 28)
#define CLI_APPEND (UINT64_C(1) << 29)
#define CLI_YES (UINT64_C(1) << 30)
#define CLI_FORCE (UINT64_C(1) << 31)
#define CLI_ROUNDS (UINT64_C(1) << 32)
#define CLI_RANK (UINT64_C(1) << 33)
#define CLI_RANKS (UINT64_C(1) << 34)
#define CLI_TOKEN (UINT64_C(1) << 35)
#define CLI_CHECKPOINTS (UINT64_C(1) << 36)
#define CLI_CHECKPOINT_EVERY (UINT64_C(1) << 37)
#define CLI_STEPS (UINT64_C(1) << 38)
#define CLI_PREFETCH (UINT64_C(1) << 39)
#define CLI_ROLLBACK (UINT64_C(1) << 40)
#define CLI_STEP_TIME (UINT64_C(1) << 41)
#define CLI_LOG (UINT64_C(1) << 42)
#define CLI_FROM (UINT64_C(1) << 43)
#define CLI_ORDER (UINT64_C(1) << 44)
#define CLI_DRY_RUN (UINT64_C(1) << 45)
#define CLI_LOOP (UINT64_C(1) << 46)
#define CLI_GRACE (UINT64_C(1) << 47)
#define CLI_BEHIND (UINT64_C(1) << 48)
#define CLI_RETIRE_CONSUMER (UINT64_C(1) << 49)
#define CLI_RETIRE_PRODUCER (UINT64_C(1) << 50)
#define CLI_RETIRE (UINT64_C(1) << 51)

/* How an s3:// address is reached (cli_store.h). */
#define CLI_S3 (CLI_ENDPOINT | CLI_REGION | CLI_PROFILE | CLI_CA_FILE | CLI_STYLE | CLI_UNSIGNED)
#define CLI_ENDPOINTS_MAX 8

/* What a flag is to one verb, where the table's words do not say it. */
struct cli_help {
    uint64_t flag; /* of CLI_* */
    const char *argument;
    const char *help;
};

struct cli {
    /* What the verb is. */
    const char *usage;            /* printed by --help: "usage: ..." and what it does */
    uint64_t flags;               /* of CLI_* */
    const struct cli_help *helps; /* ended by {0}; NULL: none */
    const char *operand;          /* what the first operand is called; NULL: there need be none */
    int operands_min;
    int operands_max;

    /* What the user asked for. Texts are borrowed from argv. */
    const char *verb;
    uint64_t given; /* of CLI_* */
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
    uint64_t count;    /* 0: not asked for, as all of these */
    const char *bytes; /* of one batch; NULL: as the config says */
    const char *producer;
    const char *policy;
    bool append;
    bool yes;
    bool force;
    const char *rank; /* NULL, 0, NULL: not given (live_ranks.h) */
    uint64_t ranks;
    const char *token;
    uint64_t rounds; /* 0: not asked for, as all counts below */
    const char *checkpoints;
    uint64_t checkpoint_every;
    uint64_t steps;
    const char *prefetch;
    uint64_t rollback;
    const char *step_time;
    const char *log;
    uint64_t from;
    const char *order;
    bool dry_run;
    const char *loop;
    const char *grace;
    uint64_t behind; /* 0 is 0: its verb sets the default before it parses */
    const char *retire_consumer;
    const char *retire_producer;
    bool retire;
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
/* What was parsed, as the command that says it again, for a shell; without some flags,
 * of CLI_*. The caller frees it. */
char *cli_command(const struct cli *cli, uint64_t without);

/* "lakestream: " and the message, to stderr. Returns the status, to be returned on. */
__attribute__((format(printf, 2, 3))) int cli_error(int status, const char *format, ...);

#define CLI_FLAG_KEYS 7 /* flags that are config keys by another name: --store, --region ... */
#define CLI_FLAG_KEY_BYTES (CONFIG_PATH_MAX + 64)

/* "key=value" of --set, then of those flags, which win. Texts are borrowed from argv and from
 * this. */
struct cli_overrides {
    size_t count;
    const char *texts[CLI_SETS_MAX + CLI_FLAG_KEYS];
    char flags[CLI_FLAG_KEYS][CLI_FLAG_KEY_BYTES];
};

/* On failure the error was printed. */
MUST_USE bool cli_overrides(const struct cli *cli, struct cli_overrides *overrides);

/* Loads the experiment with --set, flags that are keys, --seeds and --arm applied. On failure the
 * error was printed. */
MUST_USE bool cli_load_experiment(const struct cli *cli, const char *path,
                                  struct experiment *experiment);

/* --print-config: the effective config of every arm. Returns the status. */
int cli_print_configs(const struct cli *cli, const struct experiment *experiment);

/* What `lakestream query` shows of the arms that the experiment has, and of no others that the
 * database holds, as the flags ask. Returns the status. */
int cli_show_arms(const struct cli *cli, const struct experiment *experiment);

/* Makes the folder that holds the file, and those above it. On failure the error was printed. */
MUST_USE bool cli_make_parent(const char *path);

/* True: CONFIG names no file here, but one that is shipped: the path below where `make install` put
 * configs, or, for a bare name, that file of configs/experiments or configs/live, here or there.
 * What is meant is said on stderr. */
MUST_USE bool cli_shipped_config(const char *text, char path[CONFIG_PATH_MAX]);

/* A path of the project's data (configs/..., plots/...): in the current folder if it is there, else
 * where `make install` put it. */
void cli_data_path(const char *relative, char path[CONFIG_PATH_MAX]);
/* The same of data that a verb cannot do without. In neither place: the error was printed, which
 * says where to run it. */
MUST_USE bool cli_data_find(const char *relative, char path[CONFIG_PATH_MAX]);

#endif
