/* reproduce_verb.c - `lakestream reproduce`: runs what the database lacks, draws, and says what was
 * found and where it lies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cli.h"
#include "experiments/figures/figure_plot.h"
#include "experiments/figures/paper.h"
#include "experiments/figures/reproduce.h"
#include "experiments/trials/simulate.h"
#include "experiments/verbs.h"

#define QUICK_SEEDS 3
#define FOLDER_DEFAULT "out/figures"
#define DOCUMENTS "docs/figures"
#define ARGUMENTS_MAX 1024

static const char usage[] =
    "usage: lakestream reproduce [FIGURE...] [flags]\n\n"
    "Simulates what the database lacks of each figure (all of them if none is named), draws it\n"
    "as SVG and PNG with a table beside it, and rewrites the tables of " PAPER_FILE ".\n\n"
    "  --list         the figures\n"
    "  --quick        three seeds; captions say so; " PAPER_FILE " is left alone\n"
    "  --no-run       only draw what the database holds\n"
    "  --out FOLDER   where figures go (default " FOLDER_DEFAULT ")\n"
    "  --docs         copy the SVGs to " DOCUMENTS ", too (for README.md)\n"
    "  --paper FILE   the page whose tables are rewritten (default " PAPER_FILE ", where it is in\n"
    "                 the current folder and neither --set, --seeds nor --quick is given)\n";

struct request {
    struct cli cli;
    const char *folder;
    const char *paper; /* NULL: not named */
    bool quick;
    bool no_run;
    bool list;
    bool documents;
};

/* The flags of this verb alone; the others are left for cli_parse. */
enum own_flag {
    NOT_OWN,
    OWN,
    OWN_WITH_VALUE,
};

static enum own_flag own_flag(struct request *request, const char *flag, const char *value)
{
    if (strcmp(flag, "--quick") == 0)
        request->quick = true;
    else if (strcmp(flag, "--no-run") == 0)
        request->no_run = true;
    else if (strcmp(flag, "--list") == 0)
        request->list = true;
    else if (strcmp(flag, "--docs") == 0)
        request->documents = true;
    else if (strcmp(flag, "--out") == 0)
        return request->folder = value, OWN_WITH_VALUE;
    else if (strcmp(flag, "--paper") == 0)
        return request->paper = value, OWN_WITH_VALUE;
    else
        return NOT_OWN;
    return OWN;
}

static enum cli_parse parse(struct request *request, int argc, char **argv)
{
    static char *rest[ARGUMENTS_MAX];
    int count = 0;
    for (int i = 0; i < argc && count + 1 < ARGUMENTS_MAX; i++) {
        enum own_flag kind = i > 0 ? own_flag(request, argv[i], argv[i + 1]) : NOT_OWN;
        if (kind == NOT_OWN)
            rest[count++] = argv[i];
        else if (kind == OWN_WITH_VALUE && !argv[++i]) {
            cli_error(CLI_USAGE, "%s needs a value", argv[i - 1]);
            return CLI_REFUSED;
        }
    }
    rest[count] = NULL;
    return cli_parse(&request->cli, count, rest);
}

static int list(void)
{
    const struct figure *figure;
    for (size_t i = 0; (figure = figure_at(i)); i++)
        printf("%-12s %s\n", figure->name, figure->title);
    return CLI_DONE;
}

/* The figures asked for: all where none is named. 0: one is unknown, and that was said. */
static size_t choose(const struct request *request, const struct figure **figures)
{
    size_t count = 0;
    for (int i = 0; i < request->cli.operand_count; i++) {
        const struct figure *figure = figure_find(request->cli.operands[i]);
        if (!figure) {
            cli_error(CLI_USAGE, "unknown figure '%s'; lakestream reproduce --list names them",
                      request->cli.operands[i]);
            return 0;
        }
        bool twice = false;
        for (size_t k = 0; k < count; k++)
            twice = twice || figures[k] == figure;
        if (!twice)
            figures[count++] = figure;
    }
    const struct figure *figure;
    for (size_t i = 0; request->cli.operand_count == 0 && (figure = figure_at(i)); i++)
        figures[count++] = figure;
    return count;
}

/* Loads the figure's experiment and runs what is missing; *seeds: of the whole figure's arm with
 * fewest. */
static int simulate(const struct request *request, const struct figure *figure,
                    struct results_db *db, uint64_t *seeds)
{
    char relative[CONFIG_PATH_MAX];
    char path[CONFIG_PATH_MAX];
    struct experiment experiment;
    struct cli whole = request->cli;
    whole.seeds = 0;
    snprintf(relative, sizeof relative, "configs/experiments/%s.yaml", figure->name);
    cli_data_path(relative, path);
    if (!cli_load_experiment(&whole, path, &experiment))
        return CLI_FAILED;
    *seeds = experiment.arms[0].config.seeds;
    for (size_t i = 1; i < experiment.arm_count; i++)
        if (experiment.arms[i].config.seeds < *seeds)
            *seeds = experiment.arms[i].config.seeds;
    int status = CLI_DONE;
    if (!request->no_run) {
        struct simulate_options options = {
            .db = db,
            .jobs = request->cli.jobs,
            .seeds = request->cli.seeds > 0 ? request->cli.seeds
                     : request->quick       ? QUICK_SEEDS
                                            : 0,
            .progress = stderr,
            .command = "lakestream reproduce",
        };
        status = simulate_experiment(&experiment, &options);
    }
    experiment_free(&experiment);
    return status;
}

static void say(const struct reproduce *reproduce, const struct figure *const *figures,
                size_t count, const char *headlines)
{
    printf("\nfound:\n");
    for (const char *line = headlines; *line;) {
        size_t length = strcspn(line, "\n");
        printf("  %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    printf("\nlook at:\n");
    for (size_t i = 0; i < count; i++)
        printf("  %s/%s.svg  .png  .md\n", reproduce->folder, figures[i]->name);
    if (reproduce->paper)
        printf("  %s\n", reproduce->paper);
    printf("  %s (lakestream query)\n", reproduce->db_path);
}

static int draw_all(const struct request *request, const struct figure *const *figures,
                    size_t count, struct reproduce *reproduce)
{
    struct diagnostic diagnostic;
    char *headlines = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&headlines, &size);
    int status = CLI_DONE;
    assert(text);
    for (size_t i = 0; i < count && status == CLI_DONE; i++) {
        uint64_t seeds = 0;
        status = simulate(request, figures[i], reproduce->db, &seeds);
        if (status == CLI_DONE &&
            !reproduce_figure(reproduce, figures[i], seeds, text, &diagnostic))
            status = cli_error(CLI_FAILED, "%s", diagnostic.text);
    }
    if (status == CLI_DONE && !reproduce_summary(reproduce, &diagnostic))
        status = cli_error(CLI_FAILED, "%s", diagnostic.text);
    fclose(text);
    if (status == CLI_DONE)
        say(reproduce, figures, count, headlines);
    free(headlines);
    return status;
}

static bool make_folder(const char *folder)
{
    char inside[CONFIG_PATH_MAX];
    snprintf(inside, sizeof inside, "%s/.", folder);
    return cli_make_parent(inside);
}

/* NULL: the page is left alone. */
static const char *choose_paper(const struct request *request)
{
    bool whole = !request->quick && request->cli.seeds == 0 && request->cli.set_count == 0;
    if (request->paper)
        return request->paper;
    return whole && access(PAPER_FILE, F_OK) == 0 ? PAPER_FILE : NULL;
}

static int reproduce_all(const struct request *request, const struct figure *const *figures,
                         size_t count)
{
    struct diagnostic diagnostic;
    struct reported reported;
    char path[CONFIG_PATH_MAX];
    char message[RESULTS_MESSAGE_MAX];
    if (!figure_plot_ready(&diagnostic))
        return cli_error(CLI_FAILED, "%s", diagnostic.text);
    cli_data_path("configs/reported.tsv", path);
    if (!reported_read(path, &reported, &diagnostic))
        return cli_error(CLI_FAILED, "%s", diagnostic.text);
    if (!make_folder(request->folder) || (request->documents && !make_folder(DOCUMENTS)))
        return CLI_FAILED;
    struct reproduce reproduce = {
        .db_path = request->cli.db,
        .folder = request->folder,
        .documents = request->documents ? DOCUMENTS : NULL,
        .paper = choose_paper(request),
        .reported = &reported,
    };
    if (!request->no_run && !cli_make_parent(request->cli.db))
        return CLI_FAILED;
    enum results_access access = request->no_run ? RESULTS_READ : RESULTS_WRITE;
    if (results_open(request->cli.db, access, &reproduce.db, message) != RESULTS_OK)
        return cli_error(CLI_FAILED, "%s", message);
    int status = draw_all(request, figures, count, &reproduce);
    results_close(reproduce.db);
    return status;
}

int reproduce_main(int argc, char **argv)
{
    const struct figure *figures[64];
    static struct request request;
    request = (struct request){
        .cli = {.usage = usage,
                .flags = CLI_SET | CLI_SEEDS | CLI_DB | CLI_JOBS,
                .operands_max = 32},
        .folder = FOLDER_DEFAULT,
    };
    switch (parse(&request, argc, argv)) {
    case CLI_HELPED:
        return CLI_DONE;
    case CLI_REFUSED:
        return CLI_USAGE;
    case CLI_PARSED:
        break;
    }
    if (request.list)
        return list();
    size_t count = choose(&request, figures);
    return count == 0 ? CLI_USAGE : reproduce_all(&request, figures, count);
}
