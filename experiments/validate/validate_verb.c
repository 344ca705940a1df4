/* validate_verb.c - `lakestream validate`: simulates the public measurement of contention under
 * each model, writes figure, table and PAPER_REPRO.md, or fits the contended model. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cli.h"
#include "experiments/config/options.h"
#include "experiments/figures/figure_plot.h"
#include "experiments/figures/paper.h"
#include "experiments/validate/validate_fit.h"
#include "experiments/validate/validate_report.h"
#include "experiments/verbs.h"

#define SEEDS_DEFAULT 10
#define SEED_FIRST 1
#define FOLDER_DEFAULT "out/figures"
#define NAME "validate"
#define MEASUREMENT "configs/validate/contention.csv"

struct validation {
    struct validate_report report;
    struct validate_paths paths[VALIDATE_MODEL_COUNT][VALIDATE_STORES_MAX];
};

/* ---- what there is ---- */

static bool list_stores(struct validate_report *report, struct diagnostic *diagnostic)
{
    for (size_t i = 0; i < report->measured.count; i++) {
        const char *store = report->measured.rows[i].store;
        bool known = false;
        for (size_t s = 0; s < report->store_count; s++)
            known = known || strcmp(report->stores[s], store) == 0;
        if (known)
            continue;
        if (report->store_count == VALIDATE_STORES_MAX) {
            diagnostic_set(diagnostic, "the measurement has more than %d stores",
                           VALIDATE_STORES_MAX);
            return false;
        }
        report->stores[report->store_count++] = store;
    }
    return true;
}

static bool load(struct validation *validation, struct diagnostic *diagnostic)
{
    struct validate_report *report = &validation->report;
    char path[CONFIG_PATH_MAX];
    cli_data_path(MEASUREMENT, path);
    if (!measured_read(path, &report->measured, diagnostic) || !list_stores(report, diagnostic))
        return false;
    for (enum validate_model model = 0; model < VALIDATE_MODEL_COUNT; model++)
        for (size_t s = 0; s < report->store_count; s++)
            if (!validate_model_load(model, report->stores[s], &validation->paths[model][s],
                                     &report->configs[model][s], diagnostic))
                return false;
    return true;
}

/* ---- simulating ---- */

static bool simulate(struct validate_report *report, struct diagnostic *diagnostic)
{
    for (enum validate_model model = 0; model < VALIDATE_MODEL_COUNT; model++)
        for (size_t s = 0; s < report->store_count; s++)
            for (size_t i = 0; i < report->measured.count; i++) {
                if (strcmp(report->measured.rows[i].store, report->stores[s]) != 0)
                    continue;
                struct validate_row *row = &report->rows[report->count++];
                row->measured = report->measured.rows[i];
                row->model = model;
                if (!validate_row_run(&report->configs[model][s], report->first_seed, report->seeds,
                                      row, diagnostic))
                    return false;
            }
    return true;
}

/* ---- writing ---- */

static bool open_file(const char *folder, const char *suffix, FILE **file,
                      struct diagnostic *diagnostic)
{
    char path[CONFIG_PATH_MAX];
    snprintf(path, sizeof(path), "%s/" NAME ".%s", folder, suffix);
    *file = fopen(path, "we");
    if (*file == NULL)
        diagnostic_set(diagnostic, "cannot write %s: %s; choose another folder by --out", path,
                       strerror(errno));
    return *file != NULL;
}

static bool close_file(FILE *file, const char *folder, struct diagnostic *diagnostic)
{
    bool failed = ferror(file) != 0;
    if (fclose(file) == 0 && !failed)
        return true;
    diagnostic_set(diagnostic, "cannot write the files of " NAME " in %s: %s", folder,
                   strerror(errno));
    return false;
}

static bool draw(const struct validate_report *report, const char *folder,
                 struct diagnostic *diagnostic)
{
    char scripts[CONFIG_PATH_MAX];
    FILE *points;
    FILE *variables;
    if (!open_file(folder, "tsv", &points, diagnostic))
        return false;
    if (!open_file(folder, "vars", &variables, diagnostic)) {
        fclose(points);
        return false;
    }
    validate_report_plot(report, points, variables);
    bool closed = close_file(points, folder, diagnostic);
    cli_data_path("plots", scripts);
    return close_file(variables, folder, diagnostic) && closed &&
           figure_plot_draw(scripts, folder, NAME, diagnostic);
}

static bool write_table(const char *text, const char *folder, struct diagnostic *diagnostic)
{
    FILE *file;
    if (!open_file(folder, "md", &file, diagnostic))
        return false;
    fprintf(file,
            "# Contention on one key: measured and simulated\n\n![" NAME "](" NAME ".svg)\n\n%s",
            text);
    return close_file(file, folder, diagnostic);
}

static bool write_all(const struct validate_report *report, const char *folder, const char *paper,
                      struct diagnostic *diagnostic)
{
    char *text = NULL;
    size_t size = 0;
    FILE *markdown = open_memstream(&text, &size);
    assert(markdown != NULL);
    validate_report_markdown(report, markdown);
    fclose(markdown);
    bool done = write_table(text, folder, diagnostic) && draw(report, folder, diagnostic) &&
                (paper == NULL || paper_rewrite(paper, NAME, text, diagnostic));
    free(text);
    return done;
}

static void say(const struct validate_report *report, const struct cli *cli, const char *paper)
{
    if (cli->json) {
        json_t *json = validate_report_json(report);
        json_dumpf(json, stdout, JSON_INDENT(2));
        json_decref(json);
        printf("\n");
        return;
    }
    printf("found:\n");
    validate_report_headline(report, stdout);
    printf("\nlook at:\n  %s/" NAME ".svg  .png  .md\n", cli->out);
    if (paper != NULL)
        printf("  %s\n", paper);
}

/* ---- fitting ---- */

static void fit_all(struct validate_report *report)
{
    for (enum validate_model model = VALIDATE_CONTENDED; model < VALIDATE_MODEL_COUNT; model++)
        for (size_t s = 0; s < report->store_count; s++) {
            struct config *config = &report->configs[model][s];
            struct validate_fit fit;
            validate_fit_run(&report->measured, model, report->stores[s], config, &fit);
            printf(
                "# %s, %s: %d parameters, %zu values of %zu rows, %zu steps, cost %.3f -> %.3f\n",
                report->stores[s], validate_model_name(model), VALIDATE_PARAMETERS, fit.values,
                fit.rows, fit.steps, fit.start_cost, fit.cost);
            for (size_t i = 0; i < VALIDATE_PARAMETERS; i++) {
                char text[OPTION_TEXT_MAX];
                option_print(config, option_find(validate_parameter_key(i)), text);
                printf("%s: %s\n", validate_parameter_key(i), text);
            }
            fflush(stdout);
        }
}

/* ---- the verb ---- */

static int validate(const struct cli *cli, struct validation *validation)
{
    struct diagnostic diagnostic;
    char inside[CONFIG_PATH_MAX];
    const char *paper = cli->paper;
    if (paper == NULL && cli->seeds == 0 && access(PAPER_FILE, F_OK) == 0)
        paper = PAPER_FILE;
    if (!cli_data_find(MEASUREMENT, inside))
        return CLI_FAILED;
    if (!load(validation, &diagnostic))
        return cli_error(CLI_FAILED, "%s", diagnostic.text);
    if (cli->fit) {
        fit_all(&validation->report);
        return CLI_DONE;
    }
    snprintf(inside, sizeof(inside), "%s/.", cli->out);
    if (!figure_plot_ready(&diagnostic) ||
        (paper != NULL && !paper_ready(paper, (const char *const[]){NAME}, 1, &diagnostic)))
        return cli_error(CLI_FAILED, "%s", diagnostic.text);
    if (!cli_make_parent(inside))
        return CLI_FAILED;
    if (!simulate(&validation->report, &diagnostic) ||
        !write_all(&validation->report, cli->out, paper, &diagnostic))
        return cli_error(CLI_FAILED, "%s", diagnostic.text);
    say(&validation->report, cli, paper);
    return CLI_DONE;
}

int validate_main(int argc, char **argv)
{
    static const struct cli_help helps[] = {
        {CLI_SEEDS, "N", "runs of each point (default 10)"},
        {0},
    };
    struct cli cli = {
        .usage = "usage: lakestream validate [FLAGS]\n\n"
                 "Holds the simulator against a public measurement of contention on one key:\n"
                 "configs/validate/contention.csv under every latency model, as figure and table,\n"
                 "and rewrites the section of PAPER_REPRO.md.",
        .flags = CLI_OUT | CLI_JSON | CLI_SEEDS | CLI_PAPER | CLI_FIT,
        .out = FOLDER_DEFAULT,
        .helps = helps,
    };
    if (!cli_parse(&cli, argc, argv))
        return cli.status;
    if (cli.seeds > VALIDATE_SEEDS_MAX)
        return cli_error(CLI_USAGE, "--seeds %llu: at most %d here", (unsigned long long)cli.seeds,
                         VALIDATE_SEEDS_MAX);
    struct validation *validation = calloc(1, sizeof(*validation));
    assert(validation != NULL);
    validation->report.seeds = cli.seeds > 0 ? cli.seeds : SEEDS_DEFAULT;
    validation->report.first_seed = SEED_FIRST;
    int status = validate(&cli, validation);
    free(validation);
    return status;
}
