/* cli.c - flags on getopt_long, shared by the verbs. */
#include "experiments/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_info.h"
#include "experiments/config/units.h"

struct flag_row {
    enum cli_flag flag;
    const char *name;
    const char *argument; /* NULL: none */
    const char *help;
};

static const struct flag_row rows[] = {
    {CLI_SET, "set", "KEY=VALUE",
     "override a config key; repeat for several (keys: lakestream list keys)"},
    {CLI_SEEDS, "seeds", "N", "seeds for each arm, instead of the config's"},
    {CLI_ARM, "arm", "NAME", "only this arm, or this group of arms"},
    {CLI_DB, "db", "FILE", "results database (default " CLI_DATABASE_DEFAULT ")"},
    {CLI_JOBS, "jobs", "N", "worker threads (default: one per core)"},
    {CLI_JSON, "json", NULL, "print results as JSON"},
    {CLI_PRINT_CONFIG, "print-config", NULL,
     "print the effective config with the origin of each value, and stop"},
    {CLI_STORE, "store", "URL", "where to commit, instead of the config's live.store: file://DIR"},
    {CLI_RESUME, "resume", "URL", "go on with the chain of an earlier run, in that run's folder"},
    {CLI_MISSING, "missing", NULL, "only the runs that the database does not hold"},
    {CLI_VERSIONS, "versions", "N", "show the newest N versions (default 10)"},
    {CLI_DEEP, "deep", NULL, "read every TGB, too: checksums and payload"},
};

#define ROW_COUNT (sizeof rows / sizeof rows[0])
#define OPTION_BASE 256 /* getopt's values for rows[i] */

int cli_error(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "lakestream: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    return status;
}

static void print_help(const struct cli *cli)
{
    printf("%s\n\n", cli->usage);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (!(cli->flags & (unsigned)rows[i].flag))
            continue;
        char text[64];
        snprintf(text, sizeof text, "--%s%s%s", rows[i].name, rows[i].argument ? " " : "",
                 rows[i].argument ? rows[i].argument : "");
        printf("  %-18s %s\n", text, rows[i].help);
    }
    printf("  %-18s %s\n", "--help", "print this");
    printf("\nExit status: 0 done, 1 the run failed, 2 usage.\n");
}

static bool take_count(const char *name, const char *text, uint64_t max, uint64_t *count)
{
    struct diagnostic diagnostic;
    if (unit_parse_count(text, count, &diagnostic) && *count >= 1 && *count <= max)
        return true;
    cli_error(CLI_USAGE, "--%s %s: expected a number from 1 to %llu", name, text,
              (unsigned long long)max);
    return false;
}

static bool take_flag(struct cli *cli, const struct flag_row *row, const char *argument)
{
    uint64_t count = 0;
    switch (row->flag) {
    case CLI_SET:
        if (cli->set_count == CLI_SETS_MAX) {
            cli_error(CLI_USAGE, "more than %d times --set", CLI_SETS_MAX);
            return false;
        }
        cli->sets[cli->set_count++] = argument;
        return true;
    case CLI_SEEDS:
        return take_count(row->name, argument, 100000, &cli->seeds);
    case CLI_JOBS:
        if (!take_count(row->name, argument, 1024, &count))
            return false;
        cli->jobs = (unsigned)count;
        return true;
    case CLI_DB:
        cli->db = argument;
        return true;
    case CLI_ARM:
        cli->arm = argument;
        return true;
    case CLI_JSON:
        cli->json = true;
        return true;
    case CLI_PRINT_CONFIG:
        cli->print_config = true;
        return true;
    case CLI_STORE:
        cli->store = argument;
        return true;
    case CLI_RESUME:
        cli->resume = argument;
        return true;
    case CLI_MISSING:
        cli->missing = true;
        return true;
    case CLI_VERSIONS:
        return take_count(row->name, argument, UINT32_MAX, &cli->versions);
    case CLI_DEEP:
        cli->deep = true;
        return true;
    }
    return false;
}

static enum cli_parse refuse(const char *verb)
{
    cli_error(CLI_USAGE, "see lakestream %s --help", verb);
    return CLI_REFUSED;
}

enum cli_parse cli_parse(struct cli *cli, int argc, char **argv)
{
    struct option options[ROW_COUNT + 2] = {{0}};
    size_t count = 0;
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (cli->flags & (unsigned)rows[i].flag)
            options[count++] =
                (struct option){rows[i].name, rows[i].argument ? required_argument : no_argument,
                                NULL, (int)(OPTION_BASE + i)};
    options[count] = (struct option){"help", no_argument, NULL, 'h'};
    cli->db = cli->db ? cli->db : CLI_DATABASE_DEFAULT;
    optind = 1;
    opterr = 0;
    int chosen;
    while ((chosen = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (chosen == 'h') {
            print_help(cli);
            return CLI_HELPED;
        }
        if (chosen == '?' || chosen == ':') {
            cli_error(CLI_USAGE, chosen == ':' ? "%s needs a value" : "unknown flag %s",
                      argv[optind - 1]);
            return refuse(argv[0]);
        }
        if (!take_flag(cli, &rows[chosen - OPTION_BASE], optarg))
            return refuse(argv[0]);
    }
    cli->operands = argv + optind;
    cli->operand_count = argc - optind;
    if (cli->operand_count < cli->operands_min || cli->operand_count > cli->operands_max) {
        cli_error(CLI_USAGE,
                  cli->operand_count < cli->operands_min ? "%s: something is missing"
                                                         : "%s: too many arguments",
                  argv[0]);
        return refuse(argv[0]);
    }
    return CLI_PARSED;
}

bool cli_make_parent(const char *path)
{
    char folder[CONFIG_PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
            cli_error(CLI_FAILED,
                      "cannot make the folder %s for %s: %s; choose another place or change its "
                      "permissions",
                      folder, path, strerror(errno));
            return false;
        }
        *slash = '/';
    }
    return true;
}

void cli_data_path(const char *relative, char path[CONFIG_PATH_MAX])
{
    snprintf(path, CONFIG_PATH_MAX, "%s", relative);
    if (access(path, F_OK) != 0)
        snprintf(path, CONFIG_PATH_MAX, "%s/%s", LAKESTREAM_SHARE, relative);
}
