/* reproduce_verb.c - `lakestream reproduce`: runs what the database lacks, draws, and says what was
 * found and where it lies. */
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
#define FIGURES_MAX 64

static int list(void)
{
    const struct figure *figure;
    for (size_t i = 0; (figure = figure_at(i)) != NULL; i++)
        printf("%-12s %s\n", figure->name, figure->title);
    return CLI_DONE;
}

/* The figures asked for: all where none is named. 0: one is unknown, and that was said. */
static size_t choose(const struct cli *cli, const struct figure **figures)
{
    size_t count = 0;
    for (int i = 0; i < cli->operand_count; i++) {
        const struct figure *figure = figure_find(cli->operands[i]);
        if (figure == NULL) {
            cli_error(CLI_USAGE, "unknown figure '%s'; lakestream reproduce --list names them",
                      cli->operands[i]);
            return 0;
        }
        bool twice = false;
        for (size_t k = 0; k < count; k++)
            twice = twice || figures[k] == figure;
        if (!twice)
            figures[count++] = figure;
    }
    const struct figure *figure;
    for (size_t i = 0; cli->operand_count == 0 && (figure = figure_at(i)) != NULL; i++)
        figures[count++] = figure;
    return count;
}

/* `lakestream sim` of the figure's experiment into the same database. The caller frees it. */
static char *sim_command(const struct cli *cli, char *path)
{
    struct cli sim = *cli;
    sim.verb = "sim";
    sim.given = (cli->given & CLI_SET) | CLI_DB;
    sim.operands = &path;
    sim.operand_count = 1;
    return cli_command(&sim, 0);
}

/* Seeds of each arm that are asked for; 0: as the experiment says. */
static uint64_t seeds_of(const struct cli *cli)
{
    return cli->seeds > 0 ? cli->seeds : cli->quick ? QUICK_SEEDS : 0;
}

/* Runs what is missing. */
static int simulate(const struct reproduce *reproduce, struct reproduce_plan *plan)
{
    const struct cli *cli = reproduce->cli;
    if (cli->no_run)
        return CLI_DONE;
    char *command = cli_command(cli, 0);
    char *repeat = sim_command(cli, plan->path);
    struct simulate_options options = {
        .db = reproduce->db,
        .jobs = (unsigned)cli->jobs,
        .seeds = plan->seeds,
        .progress = stderr,
        .command = command,
        .repeat = repeat,
    };
    int status = simulate_experiment(&plan->experiment, &options);
    free(command);
    free(repeat);
    return status;
}

static int run_and_draw(const struct reproduce *reproduce, struct reproduce_plan *plan,
                        FILE *headlines, struct reproduced *drawn)
{
    struct diagnostic diagnostic;
    int status = simulate(reproduce, plan);
    if (status == CLI_DONE && !reproduce_figure(reproduce, plan, headlines, drawn, &diagnostic))
        status = cli_error(CLI_FAILED, "%s", diagnostic.text);
    return status;
}

/* Status: whether it could be written. */
static int say(const struct reproduce *reproduce, const struct reproduced *drawn, size_t count,
               const char *headlines)
{
    if (*headlines)
        printf("\nfound:\n");
    for (const char *line = headlines; *line;) {
        size_t length = strcspn(line, "\n");
        printf("  %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    printf("\nlook at:\n");
    for (size_t i = 0; i < count; i++)
        printf("  %s/%s.svg  .png  .md\n", reproduce->folder, drawn[i].figure->name);
    for (size_t i = 0; reproduce->paper != NULL && i < count; i++)
        if (drawn[i].missing > 0)
            printf("  %s: %s is left as it was, for runs are missing\n", reproduce->paper,
                   drawn[i].figure->name);
        else
            printf("  %s: %s\n", reproduce->paper, drawn[i].figure->name);
    printf("  %s (lakestream query)\n", reproduce->db_path);
    if (fflush(stdout) == 0)
        return CLI_DONE;
    return cli_error(CLI_FAILED, "cannot write the output; is the disk full?");
}

/* Nothing is published before all figures are drawn. */
static int draw_all(const struct reproduce *reproduce, struct reproduce_plan *plans, size_t count)
{
    struct diagnostic diagnostic;
    struct reproduced drawn[FIGURES_MAX] = {0};
    char *headlines = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&headlines, &size);
    int status = CLI_DONE;
    assert(text != NULL);
    for (size_t i = 0; i < count && status == CLI_DONE; i++)
        status = run_and_draw(reproduce, &plans[i], text, &drawn[i]);
    fclose(text);
    if (status == CLI_DONE && !reproduce_publish(reproduce, drawn, count, &diagnostic))
        status = cli_error(CLI_FAILED, "%s", diagnostic.text);
    if (status == CLI_DONE)
        status = say(reproduce, drawn, count, headlines);
    for (size_t i = 0; i < count; i++)
        reproduced_deinit(&drawn[i]);
    free(headlines);
    return status;
}

static bool make_folder(const char *folder)
{
    char inside[CONFIG_PATH_MAX];
    snprintf(inside, sizeof(inside), "%s/.", folder);
    return cli_make_parent(inside);
}

/* Whether what is shipped was asked for, all of it: only that is published. */
static bool asks_for_all(const struct cli *cli)
{
    return !cli->quick && cli->seeds == 0 && cli->set_count == 0;
}

/* NULL: the page is left alone. */
static const char *choose_paper(const struct cli *cli)
{
    if (cli->paper != NULL)
        return cli->paper;
    return asks_for_all(cli) && access(PAPER_FILE, F_OK) == 0 ? PAPER_FILE : NULL;
}

/* Whether all that is to be published can be, as far as it is known before the sweeps. */
static bool page_is_ready(const char *paper, const struct reproduce_plan *plans, size_t count,
                          struct diagnostic *diagnostic)
{
    const char *names[FIGURES_MAX + 1];
    size_t named = 0;
    for (size_t i = 0; i < count; i++) {
        names[named++] = plans[i].figure->name;
        if (strcmp(plans[i].figure->name, "p1") == 0)
            names[named++] = "numbers";
    }
    return paper_ready(paper, names, named, diagnostic);
}

static int reproduce_all(const struct cli *cli, struct reproduce_plan *plans, size_t count)
{
    struct diagnostic diagnostic;
    struct reported reported;
    char path[CONFIG_PATH_MAX];
    char plots[CONFIG_PATH_MAX];
    char message[RESULTS_MESSAGE_MAX];
    if (!figure_plot_ready(&diagnostic))
        return cli_error(CLI_FAILED, "%s", diagnostic.text);
    if (!cli_data_find("configs/reported.tsv", path) || !cli_data_find("plots", plots))
        return CLI_FAILED;
    if (!reported_read(path, &reported, &diagnostic))
        return cli_error(CLI_FAILED, "%s", diagnostic.text);
    const char *paper = choose_paper(cli);
    if (paper != NULL && !page_is_ready(paper, plans, count, &diagnostic))
        return cli_error(CLI_FAILED, "%s", diagnostic.text);
    if (!make_folder(cli->out) || (cli->docs && !make_folder(DOCUMENTS)))
        return CLI_FAILED;
    struct reproduce reproduce = {
        .db_path = cli->db,
        .folder = cli->out,
        .documents = cli->docs ? DOCUMENTS : NULL,
        .paper = paper,
        .reported = &reported,
        .cli = cli,
    };
    if (!cli->no_run && !cli_make_parent(cli->db))
        return CLI_FAILED;
    enum results_access access = cli->no_run ? RESULTS_READ : RESULTS_WRITE;
    if (results_open(cli->db, access, &reproduce.db, message) != RESULTS_OK)
        return cli_error(CLI_FAILED, "%s", message);
    int status = draw_all(&reproduce, plans, count);
    results_close(reproduce.db);
    return status;
}

/* What no figure can be made with is refused before any is begun. */
static int plan_all(const struct cli *cli, const struct figure *const *figures, size_t count)
{
    struct reproduce_plan *plans = calloc(count, sizeof(*plans));
    int status = CLI_DONE;
    size_t loaded = 0;
    assert(plans != NULL);
    while (loaded < count && status == CLI_DONE)
        if (reproduce_plan_load(cli, figures[loaded], seeds_of(cli), &plans[loaded]))
            loaded++;
        else
            status = CLI_USAGE;
    if (status == CLI_DONE)
        status = reproduce_all(cli, plans, count);
    for (size_t i = 0; i < loaded; i++)
        reproduce_plan_deinit(&plans[i]);
    free(plans);
    return status;
}

int reproduce_main(int argc, char **argv)
{
    const struct figure *figures[FIGURES_MAX];
    struct cli cli = {
        .usage =
            "usage: lakestream reproduce [FIGURE...] [FLAGS]\n\n"
            "Simulates what the database lacks of each figure (all of them if none is named),\n"
            "draws it as SVG and PNG with a table beside it, and rewrites the tables of\n"
            "PAPER_REPRO.md. A figure is made of the runs of its experiment's file as it is now,\n"
            "with --set. With --set, --seeds or --quick, or where --no-run finds runs missing,\n"
            "PAPER_REPRO.md is left alone.",
        .flags = CLI_LIST | CLI_QUICK | CLI_NO_RUN | CLI_OUT | CLI_DOCS | CLI_PAPER | CLI_SET |
                 CLI_SEEDS | CLI_DB | CLI_JOBS,
        .operands_max = FIGURES_MAX,
        .out = FOLDER_DEFAULT,
    };
    if (!cli_parse(&cli, argc, argv))
        return cli.status;
    if (cli.list)
        return list();
    if ((cli.paper != NULL || cli.docs) && !asks_for_all(&cli))
        return cli_error(CLI_USAGE, "reproduce: --paper and --docs publish the figures as they are "
                                    "shipped; leave out --set, --seeds and --quick");
    size_t count = choose(&cli, figures);
    return count == 0 ? CLI_USAGE : plan_all(&cli, figures, count);
}
