/* main.c - the command line: one row per verb. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "build_info.h"
#include "experiments/cli.h"
#include "experiments/results/query.h"
#include "experiments/verbs.h"

struct verb {
    const char *name;
    const char *operands;
    const char *help;
    int (*main)(int argc, char **argv);
};

static const struct verb verbs[] = {
    {"list", "[KIND]", "policies, profiles, experiments, figures, config keys", list_main},
    {"sim", "CONFIG", "simulate an experiment: all its arms and seeds", sim_main},
    {"live", "CONFIG", "run an experiment for real: processes, bytes and time", live_main},
    {"reproduce", "[FIGURE...]", "simulate and draw the figures, rewrite PAPER_REPRO.md",
     reproduce_main},
    {"calibrate", "STORE", "measure a store's latencies into a profile for the simulator",
     calibrate_main},
    {"validate", "", "hold the simulator against a public measurement of contention",
     validate_main},
    {"produce", "STORE [FILE...]", "commit synthetic batches, or files, to a run as one producer",
     produce_main},
    {"consume", "STORE", "read a run as the ranks of a training job: each its slice of every step",
     consume_main},
    {"digest", "FILE", "recompute what the ranks of consume must have been given", digest_main},
    {"gc", "STORE", "reclaim what no rank of a run needs any more: floor, versions, batches",
     gc_main},
    {"probe", "STORE", "try whether a store is fit for live runs: races, ranges, listings, keys",
     probe_main},
    {"inspect", "STORE", "show the chain of a run: versions, authors, offsets, problems",
     inspect_main},
    {"remove", "STORE", "delete a run: shows first what, and asks", remove_main},
    {"query", "", "read the results database", query_main},
    {"swarm", "", "break the protocol on purpose: random worlds with faults, under checkers",
     swarm_main},
    {"bench", "[NAME]", "measure the simulator, or the client of S3, beside yardsticks",
     bench_main},
};

#define MEMORY_KEPT (32 << 20)
#define VERB_COUNT (sizeof(verbs) / sizeof(verbs[0]))

static void print_usage(FILE *file)
{
    fprintf(file, "usage: lakestream VERB [ARGUMENTS]\n\n"
                  "How often should many producers, who never talk to each other, commit to one\n"
                  "manifest chain on an object store? Simulated and live, by the same code.\n\n");
    for (size_t i = 0; i < VERB_COUNT; i++)
        fprintf(file, "  %-10s %-15s %s\n", verbs[i].name, verbs[i].operands, verbs[i].help);
    fprintf(file, "\n`lakestream help VERB` tells more. `lakestream --version` names the build.\n");
}

/* NULL: there is none of that name. */
static const struct verb *find(const char *name)
{
    for (size_t i = 0; i < VERB_COUNT; i++)
        if (strcmp(name, verbs[i].name) == 0)
            return &verbs[i];
    return NULL;
}

/* `lakestream help [VERB]`. */
static int help(int argc, char **argv)
{
    if (argc == 0) {
        print_usage(stdout);
        return CLI_DONE;
    }
    const struct verb *verb = find(argv[0]);
    if (verb == NULL || argc > 1)
        return cli_error(CLI_USAGE, "help: '%s' is not a verb; `%s help` names them",
                         argv[verb == NULL ? 0 : 1], cli_program());
    char flag[] = "--help";
    char *arguments[] = {argv[0], flag, NULL};
    return verb->main(2, arguments);
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_usage(stdout);
        return CLI_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("lakestream %s (%s)\n", LAKESTREAM_COMMIT, LAKESTREAM_COMPILER);
        return CLI_DONE;
    }
    if (strcmp(argv[1], "help") == 0)
        return help(argc - 2, argv + 2);
    const struct verb *verb = find(argv[1]);
    if (verb != NULL)
        return verb->main(argc - 1, argv + 1);
    cli_error(CLI_USAGE, "unknown verb '%s'", argv[1]);
    print_usage(stderr);
    return CLI_USAGE;
}

/* Bodies come and go by the megabyte. The allocator's habit of giving their pages back each time,
 * to get them anew page by page, costs more than half of a GET of 256 KiB. At most MEMORY_KEPT
 * stays. Allocators of sanitizers refuse, and do not matter. */
static void keep_memory(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, MEMORY_KEPT);
    (void)mallopt(M_TRIM_THRESHOLD, MEMORY_KEPT);
}

/* A limit on the size of files is an error of the write that meets it, which is said with what to
 * do, instead of the end of the program. */
static void take_limits_as_errors(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    int failed = sigaction(SIGXFSZ, &ignore, NULL);
    assert(failed == 0);
}

/* What was printed is out, or the status says that it is not. */
int main(int argc, char **argv)
{
    keep_memory();
    take_limits_as_errors();
    int status = run(argc, argv);
    errno = 0;
    if ((fflush(stdout) == 0 && !ferror(stdout)) || status != CLI_DONE)
        return status;
    return cli_error(CLI_FAILED, "what was to be printed could not be written: %s%s",
                     errno != 0 ? strerror(errno) : "an earlier write failed",
                     errno == ENOSPC ? "; make space, or write elsewhere" : "");
}
