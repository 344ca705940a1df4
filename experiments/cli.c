/* cli.c - flags on getopt_long, shared by the verbs. */
#include "experiments/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build_info.h"
#include "experiments/config/units.h"

enum flag_kind {
    FLAG_TOGGLE,   /* bool */
    FLAG_TEXT,     /* const char * */
    FLAG_COUNT,    /* uint64_t, from min to max */
    FLAG_SET,      /* appended to cli->sets */
    FLAG_ENDPOINT, /* appended to cli->endpoints */
};

struct flag_row {
    uint64_t flag; /* of CLI_* */
    const char *name;
    const char *argument; /* NULL: none */
    const char *help;
    enum flag_kind kind;
    uint64_t min;
    uint64_t max;
    size_t offset; /* into struct cli */
};

#define TOGGLE(field) FLAG_TOGGLE, 0, 0, offsetof(struct cli, field)
#define TEXT(field) FLAG_TEXT, 0, 0, offsetof(struct cli, field)
/* From 1: a field that is 0 was not given. Where 0 has a meaning, the verb sets the default. */
#define COUNT(field, max) FLAG_COUNT, 1, max, offsetof(struct cli, field)
#define COUNT_FROM_0(field, max) FLAG_COUNT, 0, max, offsetof(struct cli, field)

/* clang-format off */
static const struct flag_row rows[] = {
    {CLI_SET, "set", "KEY=VALUE",
     "override a config key; repeat for several (keys: lakestream list keys)", FLAG_SET, 0, 0, 0},
    {CLI_SEEDS, "seeds", "N", "seeds for each arm, instead of the config's",
     COUNT(seeds, CONFIG_SEEDS_MAX)},
    {CLI_ARM, "arm", "NAME", "only this arm, or this group of arms", TEXT(arm)},
    {CLI_DB, "db", "FILE", "results database (default " CLI_DATABASE_DEFAULT ")", TEXT(db)},
    {CLI_JOBS, "jobs", "N", "worker threads (default: one per core)", COUNT(jobs, 1024)},
    {CLI_JSON, "json", NULL, "print results as JSON", TOGGLE(json)},
    {CLI_PRINT_CONFIG, "print-config", NULL,
     "print the effective config with the origin of each value, and stop", TOGGLE(print_config)},
    {CLI_STORE, "store", "URL",
     "where to commit, instead of the config's live.store: file://DIR", TEXT(store)},
    {CLI_RESUME, "resume", "URL",
     "go on with the chain of an earlier run, in that run's folder", TEXT(resume)},
    {CLI_MISSING, "missing", NULL,
     "only the runs that the database does not hold", TOGGLE(missing)},
    {CLI_VERSIONS, "versions", "N",
     "show the newest N versions (default 10)", COUNT(versions, UINT32_MAX)},
    {CLI_DEEP, "deep", NULL, "read every TGB, too: checksums and payload", TOGGLE(deep)},
    {CLI_LIST, "list", NULL, "the figures", TOGGLE(list)},
    {CLI_QUICK, "quick", NULL,
     "three seeds; captions say so; PAPER_REPRO.md is left alone", TOGGLE(quick)},
    {CLI_NO_RUN, "no-run", NULL, "only draw what the database holds", TOGGLE(no_run)},
    {CLI_OUT, "out", "FOLDER", "where figures go (default out/figures)", TEXT(out)},
    {CLI_DOCS, "docs", NULL, "copy the SVGs to docs/figures, too (for README.md)", TOGGLE(docs)},
    {CLI_PAPER, "paper", "FILE",
     "the page whose tables are rewritten (default PAPER_REPRO.md, if it is here)", TEXT(paper)},
    {CLI_ENDPOINT, "endpoint", "URL",
     "where an s3:// store answers: http://127.0.0.1:9000 (default: AWS_ENDPOINT_URL, else AWS)",
     FLAG_ENDPOINT, 0, 0, 0},
    {CLI_REGION, "region", "NAME", "of an s3:// store (default: AWS_REGION, else us-east-1)",
     TEXT(region)},
    {CLI_PROFILE, "profile", "NAME", "of the shared credentials file (default: AWS_PROFILE)",
     TEXT(profile)},
    {CLI_CA_FILE, "ca-file", "FILE", "certificates to trust over https, PEM", TEXT(ca_file)},
    {CLI_STYLE, "style", "NAME", "of s3:// requests: auto, path or virtual", TEXT(style)},
    {CLI_UNSIGNED, "unsigned-payload", NULL, "do not hash bodies sent over https",
     TOGGLE(unsigned_payload)},
    {CLI_COUNT, "count", "N", "batches to make (default 1)", COUNT(count, 1000000000)},
    {CLI_BYTES, "bytes", "SIZE", "of one batch: 64KiB (default: workload.tgb)", TEXT(bytes)},
    {CLI_PRODUCER, "producer", "ID", "whose stream it is: a number (default 0)", TEXT(producer)},
    {CLI_POLICY, "policy", "NAME", "when to try to commit (policies: lakestream list policies)",
     TEXT(policy)},
    {CLI_APPEND, "append", NULL, "put the files behind all that this producer has committed",
     TOGGLE(append)},
    {CLI_YES, "yes", NULL, "do it without asking", TOGGLE(yes)},
    {CLI_ROUNDS, "rounds", "N", "how many rounds, instead of the default", COUNT(rounds, 10000)},
    {CLI_FORCE, "force", NULL, "also where it is refused", TOGGLE(force)},
    {CLI_RANK, "rank", "N",
     "which of several processes on one run this is, from 0 (default: as srun or mpirun say)",
     TEXT(rank)},
    {CLI_RANKS, "ranks", "N", "how many processes there are", COUNT(ranks, 4096)},
    {CLI_TOKEN, "token", "WORD",
     "by which they find each other: the same for all, new for every start (srun: not needed)",
     TEXT(token)},
    {CLI_CHECKPOINTS, "checkpoints", "FOLDER",
     "keep each rank's checkpoints there, and go on from them (default: none are kept)",
     TEXT(checkpoints)},
    {CLI_CHECKPOINT_EVERY, "checkpoint-every", "N", "steps between checkpoints (default 100)",
     COUNT(checkpoint_every, UINT32_MAX)},
    {CLI_STEPS, "steps", "N", "stop after so many steps (default: until stopped)",
     COUNT(steps, UNIT_COUNT_MAX)},
    {CLI_PREFETCH, "prefetch", "SIZE",
     "slices fetched ahead by one rank, in all (default 256MiB)", TEXT(prefetch)},
    {CLI_ROLLBACK, "rollback", "STEP",
     "go back to the newest checkpoint kept at or below this step; newer ones are dropped",
     COUNT(rollback, UNIT_COUNT_MAX)},
    {CLI_STEP_TIME, "step-time", "TIME", "what a training step takes: 250ms (default 0s)",
     TEXT(step_time)},
    {CLI_LOG, "log", "FOLDER", "add a line for every step to FOLDER/rank-<rank>.log", TEXT(log)},
    {CLI_FROM, "from", "STEP",
     "where to start without a checkpoint (default: the first step that is still kept)",
     COUNT(from, UNIT_COUNT_MAX)},
    {CLI_ORDER, "order", "FILE",
     "fetch nothing: add a line to FILE for every step of the committed order", TEXT(order)},
    {CLI_RETIRE, "retire", NULL,
     "at the end, retire the ranks: the job is over, and nothing is kept for it", TOGGLE(retire)},
    {CLI_DRY_RUN, "dry-run", NULL, "write and delete nothing: say what a round would delete",
     TOGGLE(dry_run)},
    {CLI_LOOP, "loop", "TIME", "a round every so often, until stopped: 30s (default: one round)",
     TEXT(loop)},
    {CLI_GRACE, "grace", "TIME", "leave batches that are younger (default 60s)", TEXT(grace)},
    {CLI_BEHIND, "behind", "N", "keep so many versions below the newest (default 4)",
     COUNT_FROM_0(behind, UINT32_MAX)},
    {CLI_RETIRE_CONSUMER, "retire-consumer", "RANK",
     "end a rank that will not come back: it holds nothing any more", TEXT(retire_consumer)},
    {CLI_RETIRE_PRODUCER, "retire-producer", "ID",
     "end a producer that will not come back: what it did not commit can go",
     TEXT(retire_producer)},
    {CLI_FIT, "fit", NULL, "fit the contended model and print its parameters; writes nothing",
     TOGGLE(fit)},
};
/* clang-format on */

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))
#define FLAG_TEXT_MAX 64
#define OPTION_BASE 256 /* getopt's values for rows[i] */

const char *cli_program(void)
{
    return program_invocation_name;
}

void cli_print_quoted(FILE *stream, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./:,@%";
    if (text[0] != '\0' && text[strspn(text, plain)] == '\0') {
        fputs(text, stream);
        return;
    }
    fputc('\'', stream);
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs("'\\''", stream);
        else
            fputc(*text, stream);
    fputc('\'', stream);
}

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

/* In the verb's own words, where it has some. */
static struct cli_help help_of(const struct cli *cli, const struct flag_row *row)
{
    for (const struct cli_help *own = cli->helps; own != NULL && own->flag != 0; own++)
        if (own->flag == row->flag)
            return *own;
    return (struct cli_help){row->flag, row->argument, row->help};
}

/* "--name ARGUMENT" */
static int flag_text(const struct flag_row *row, const struct cli_help *help,
                     char text[FLAG_TEXT_MAX])
{
    bool bare = help->argument == NULL;
    return snprintf(text, FLAG_TEXT_MAX, "--%s%s%s", row->name, bare ? "" : " ",
                    bare ? "" : help->argument);
}

static void print_help(const struct cli *cli)
{
    char text[FLAG_TEXT_MAX];
    int width = 0;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        struct cli_help help = help_of(cli, &rows[i]);
        int chars = flag_text(&rows[i], &help, text);
        width = (cli->flags & rows[i].flag) != 0 && chars > width ? chars : width;
    }
    width = width > 6 ? width : 6; /* --help */
    printf("%s\n\n", cli->usage);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if ((cli->flags & rows[i].flag) == 0)
            continue;
        struct cli_help help = help_of(cli, &rows[i]);
        flag_text(&rows[i], &help, text);
        printf("  %-*s  %s\n", width, text, help.help);
    }
    printf("  %-*s  %s\n", width, "--help", "print this");
    printf("\nExit status: 0 done, 1 the run failed, 2 usage.\n");
}

/* A usage error, and where to read on. Returns false. */
__attribute__((format(printf, 2, 3))) static bool refuse(struct cli *cli, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    cli->status = cli_error(CLI_USAGE, "%s; see %s %s --help", text, cli_program(), cli->verb);
    return false;
}

static bool take_count(struct cli *cli, const struct flag_row *row, const char *text,
                       uint64_t *count)
{
    struct diagnostic diagnostic;
    uint64_t number;
    if (!unit_parse_count(text, &number, &diagnostic) || number < row->min || number > row->max)
        return refuse(cli, "--%s %s: expected a number from %llu to %llu", row->name, text,
                      (unsigned long long)row->min, (unsigned long long)row->max);
    *count = number;
    return true;
}

static bool take_flag(struct cli *cli, const struct flag_row *row, const char *argument)
{
    void *field = (char *)cli + row->offset;
    if (row->kind != FLAG_SET && row->kind != FLAG_ENDPOINT && (cli->given & row->flag) != 0)
        return refuse(cli, "--%s is given twice; give it once", row->name);
    /* A shell's variable that is not set is no wish for the default. */
    if (argument != NULL && argument[0] == '\0')
        return refuse(cli, "--%s is given an empty value; give one, or leave the flag out",
                      row->name);
    cli->given |= row->flag;
    switch (row->kind) {
    case FLAG_TOGGLE:
        *(bool *)field = true;
        return true;
    case FLAG_TEXT:
        *(const char **)field = argument;
        return true;
    case FLAG_COUNT:
        return take_count(cli, row, argument, field);
    case FLAG_ENDPOINT:
        if (cli->endpoint_count == CLI_ENDPOINTS_MAX)
            return refuse(cli, "more than %d times --endpoint", CLI_ENDPOINTS_MAX);
        cli->endpoints[cli->endpoint_count++] = argument;
        return true;
    case FLAG_SET:
        break;
    }
    if (cli->set_count == CLI_SETS_MAX)
        return refuse(cli, "more than %d times --set", CLI_SETS_MAX);
    cli->sets[cli->set_count++] = argument;
    return true;
}

static void fill_options(const struct cli *cli, struct option *options)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if ((cli->flags & rows[i].flag) != 0)
            *options++ = (struct option){rows[i].name,
                                         rows[i].argument != NULL ? required_argument : no_argument,
                                         NULL, (int)(OPTION_BASE + i)};
    *options = (struct option){"help", no_argument, NULL, 'h'};
}

/* A file's name that looks like a flag, as one that does not. */
static void print_operand(FILE *stream, const char *text)
{
    fprintf(stream, " %s", text[0] == '-' ? "./" : "");
    cli_print_quoted(stream, text);
}

static void print_flag(FILE *stream, const struct cli *cli, const struct flag_row *row)
{
    const void *field = (const char *)cli + row->offset;
    switch (row->kind) {
    case FLAG_TOGGLE:
        fprintf(stream, " --%s", row->name);
        break;
    case FLAG_TEXT:
        fprintf(stream, " --%s ", row->name);
        cli_print_quoted(stream, *(const char *const *)field);
        break;
    case FLAG_COUNT:
        fprintf(stream, " --%s %llu", row->name, (unsigned long long)*(const uint64_t *)field);
        break;
    case FLAG_SET:
        for (size_t i = 0; i < cli->set_count; i++) {
            fprintf(stream, " --%s ", row->name);
            cli_print_quoted(stream, cli->sets[i]);
        }
        break;
    case FLAG_ENDPOINT:
        for (size_t i = 0; i < cli->endpoint_count; i++) {
            fprintf(stream, " --%s ", row->name);
            cli_print_quoted(stream, cli->endpoints[i]);
        }
        break;
    }
}

char *cli_command(const struct cli *cli, uint64_t without)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert(stream != NULL);
    cli_print_quoted(stream, cli_program());
    fprintf(stream, " %s", cli->verb);
    for (int i = 0; i < cli->operand_count; i++)
        print_operand(stream, cli->operands[i]);
    for (size_t i = 0; i < ROW_COUNT; i++)
        if ((cli->given & ~without & rows[i].flag) != 0)
            print_flag(stream, cli, &rows[i]);
    fclose(stream);
    return text;
}

bool cli_parse(struct cli *cli, int argc, char **argv)
{
    struct option options[ROW_COUNT + 2] = {{0}};
    fill_options(cli, options);
    cli->db = cli->db != NULL ? cli->db : CLI_DATABASE_DEFAULT;
    cli->verb = argv[0];
    optind = 1;
    opterr = 0;
    int chosen;
    while ((chosen = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (chosen == 'h') {
            print_help(cli);
            cli->status = CLI_DONE;
            return false;
        }
        if (chosen == ':')
            return refuse(cli, "%s needs a value", argv[optind - 1]);
        if (chosen == '?')
            return refuse(cli, "unknown flag %s", argv[optind - 1]);
        if (!take_flag(cli, &rows[chosen - OPTION_BASE], optarg))
            return false;
    }
    cli->operands = argv + optind;
    cli->operand_count = argc - optind;
    if (cli->operand_count < cli->operands_min)
        return refuse(cli, "%s: %s is missing", cli->verb, cli->operand);
    if (cli->operand_count > cli->operands_max)
        return refuse(cli, "%s: too many arguments: %s", cli->verb,
                      cli->operands[cli->operands_max]);
    return true;
}

bool cli_make_parent(const char *path)
{
    char folder[CONFIG_PATH_MAX];
    snprintf(folder, sizeof(folder), "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
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

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

static bool is_bare(const char *text)
{
    return text[0] != '\0' && text[0] != '.' && strchr(text, '/') == NULL;
}

/* In one folder of configs; `ending` is "" or ".yaml". */
static bool find_in(const char *folder, const char *name, const char *ending,
                    char path[CONFIG_PATH_MAX])
{
    char relative[CONFIG_PATH_MAX];
    int chars = snprintf(relative, sizeof(relative), "%s%s%s", folder, name, ending);
    if (chars >= CONFIG_PATH_MAX)
        return false;
    cli_data_path(relative, path);
    return is_file(path);
}

bool cli_shipped_config(const char *text, char path[CONFIG_PATH_MAX])
{
    size_t length = strlen(text);
    bool yaml = length > 5 && strcmp(text + length - 5, ".yaml") == 0;
    const char *ending = yaml ? "" : ".yaml";
    bool found =
        !is_file(text) && (is_bare(text) ? find_in("configs/experiments/", text, ending, path) ||
                                               find_in("configs/live/", text, ending, path)
                                         : text[0] != '/' && find_in("", text, "", path));
    if (found)
        fprintf(stderr, "lakestream: %s is %s\n", text, path);
    return found;
}

void cli_data_path(const char *relative, char path[CONFIG_PATH_MAX])
{
    snprintf(path, CONFIG_PATH_MAX, "%s", relative);
    if (access(path, F_OK) != 0)
        snprintf(path, CONFIG_PATH_MAX, "%s/%s", LAKESTREAM_SHARE, relative);
}

bool cli_data_find(const char *relative, char path[CONFIG_PATH_MAX])
{
    cli_data_path(relative, path);
    if (access(path, F_OK) == 0)
        return true;
    cli_error(CLI_FAILED,
              "%s is neither in this folder nor in %s; run in the project's folder, or run make "
              "install there",
              relative, LAKESTREAM_SHARE);
    return false;
}
