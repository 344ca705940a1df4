/* reproduce.c - one figure, from the database to its files and to its part of PAPER_REPRO.md. */
#include "experiments/figures/reproduce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/cli.h"
#include "experiments/figures/figure_text.h"
#include "experiments/figures/paper.h"
#include "experiments/figures/replacement.h"

/* ---- drawing ---- */

/* What simulates the runs that are missing. The caller frees it. */
static char *simulating_command(const struct cli *cli, const struct figure *figure)
{
    struct cli reproduce = *cli;
    char name[CONFIG_NAME_MAX];
    char *operand = name;
    snprintf(name, sizeof(name), "%s", figure->name);
    reproduce.operands = &operand;
    reproduce.operand_count = 1;
    return cli_command(&reproduce, CLI_NO_RUN | CLI_PAPER | CLI_DOCS);
}

/* Owned by the caller: which runs are missing, and the command. */
static char *describe_missing(const struct reproduce *reproduce, const struct reproduce_plan *plan,
                              const struct figure_data *data)
{
    char *said = NULL;
    size_t size = 0;
    char *command = simulating_command(reproduce->cli, plan->figure);
    FILE *text = open_memstream(&said, &size);
    assert(text != NULL);
    fprintf(text, "%s holds %zu of the %zu runs of %s with these configs and this model (missing: ",
            reproduce->db_path, reproduce_plan_total(plan) - reproduce_plan_missing(plan, data),
            reproduce_plan_total(plan), plan->figure->name);
    reproduce_plan_name_missing(plan, data, text);
    fprintf(text, "); to simulate them, run %s", command);
    fclose(text);
    free(command);
    return said;
}

static char *write_section(const struct figure_page *page)
{
    char *text = NULL;
    size_t size = 0;
    char caption[CAPTION_MAX];
    char note[CAPTION_MAX];
    FILE *markdown = open_memstream(&text, &size);
    assert(markdown != NULL);
    text_caption(page, caption);
    text_note(page, note);
    fprintf(markdown, "%s. %s\n\n", caption, note);
    page->figure->paper(page, markdown);
    fclose(markdown);
    return text;
}

static bool draw(const struct figure_page *page, FILE *headlines, struct diagnostic *diagnostic)
{
    if (!figure_render(page, diagnostic))
        return false;
    if (page->figure->headline != NULL)
        page->figure->headline(page, headlines);
    return true;
}

bool reproduce_figure(const struct reproduce *reproduce, const struct reproduce_plan *plan,
                      FILE *headlines, struct reproduced *drawn, struct diagnostic *diagnostic)
{
    struct figure_data data;
    char scripts[CONFIG_PATH_MAX];
    *drawn = (struct reproduced){.figure = plan->figure};
    if (!figure_data_select(reproduce->db, &plan->selection, &data, diagnostic))
        return false;
    drawn->missing = reproduce_plan_missing(plan, &data);
    if (drawn->missing > 0) {
        char *said = describe_missing(reproduce, plan, &data);
        if (data.arm_count == 0)
            diagnostic_set(diagnostic, "%s", said);
        else
            cli_error(CLI_DONE, "%s", said);
        free(said);
    }
    cli_data_path("plots", scripts);
    bool some = reproduce->cli->quick && reproduce->cli->seeds == 0;
    struct figure_page page = {
        .figure = plan->figure,
        .data = &data,
        .reported = reproduce->reported,
        .folder = reproduce->folder,
        .scripts = scripts,
        .whole_seeds_min = some ? plan->whole_seeds_min : 0,
        .whole_seeds_max = some ? plan->whole_seeds_max : 0,
        .missing = drawn->missing,
    };
    bool done = data.arm_count > 0 && draw(&page, headlines, diagnostic);
    if (done && reproduce->paper != NULL && drawn->missing == 0)
        drawn->section = write_section(&page);
    figure_data_deinit(&data);
    return done;
}

void reproduced_deinit(struct reproduced *drawn)
{
    free(drawn->section);
    drawn->section = NULL;
}

/* ---- publishing ---- */

/* False: errno. */
static bool copy_whole(const char *from, const char *to)
{
    char block[1 << 14];
    size_t size;
    struct replacement replacement;
    FILE *in = fopen(from, "re");
    if (in == NULL)
        return false;
    bool copied = replacement_open(&replacement, to);
    if (copied) {
        while ((size = fread(block, 1, sizeof(block), in)) > 0)
            fwrite(block, 1, size, replacement.file);
        copied = !ferror(in);
        if (!copied)
            replacement_drop(&replacement);
        else
            copied = replacement_close(&replacement);
    }
    fclose(in);
    return copied;
}

static bool copy_document(const struct reproduce *reproduce, const struct figure *figure,
                          struct diagnostic *diagnostic)
{
    char from[CONFIG_PATH_MAX];
    char to[CONFIG_PATH_MAX];
    snprintf(from, sizeof(from), "%s/%s.svg", reproduce->folder, figure->name);
    snprintf(to, sizeof(to), "%s/%s.svg", reproduce->documents, figure->name);
    if (copy_whole(from, to))
        return true;
    diagnostic_set(diagnostic,
                   "cannot copy %s to %s: %s; make the folder writable, and space in it, or leave "
                   "out --docs",
                   from, to, strerror(errno));
    return false;
}

/* What a figure found of its number, as it is shipped; where runs are missing, what the page says.
 * NULL: nothing. */
static char *found_cells(const struct reproduce *reproduce, const struct figure *figure)
{
    struct reproduce_plan plan;
    struct figure_data data;
    struct diagnostic diagnostic;
    char *cells = NULL;
    size_t size = 0;
    if (!reproduce_plan_load(reproduce->cli, figure, 0, &plan))
        return paper_cells(reproduce->paper, figure->reported);
    bool read = figure_data_select(reproduce->db, &plan.selection, &data, &diagnostic);
    if (read && reproduce_plan_missing(&plan, &data) == 0) {
        struct figure_page page = {
            .figure = figure, .data = &data, .reported = reproduce->reported};
        FILE *markdown = open_memstream(&cells, &size);
        assert(markdown != NULL);
        figure->summary(&page, markdown);
        fclose(markdown);
    } else {
        cells = paper_cells(reproduce->paper, figure->reported);
    }
    figure_data_deinit(&data); /* empty where it could not be read */
    reproduce_plan_deinit(&plan);
    return cells;
}

static void find_all(const struct reproduce *reproduce, struct paper_found *found)
{
    const struct figure *figure;
    for (size_t i = 0; (figure = figure_at(i)) != NULL; i++) {
        char *cells = figure->summary != NULL ? found_cells(reproduce, figure) : NULL;
        if (cells != NULL)
            paper_found_add(found, figure->reported, cells);
    }
}

/* What P1 found, as the whole experiment is shipped, and the other figures; leaves *text NULL where
 * runs of P1 are missing. */
static bool write_summary(const struct reproduce *reproduce, char **text,
                          struct diagnostic *diagnostic)
{
    struct reproduce_plan plan;
    struct figure_data data;
    size_t size = 0;
    *text = NULL;
    if (!reproduce_plan_load(reproduce->cli, figure_find("p1"), 0, &plan)) {
        diagnostic_set(diagnostic,
                       "the table of reported numbers needs configs/experiments/p1.yaml");
        return false;
    }
    bool done = figure_data_select(reproduce->db, &plan.selection, &data, diagnostic);
    if (done && reproduce_plan_missing(&plan, &data) == 0) {
        struct paper_found found = {0};
        FILE *markdown = open_memstream(text, &size);
        assert(markdown != NULL);
        find_all(reproduce, &found);
        done = paper_summary(&data, reproduce->reported, &found, markdown, diagnostic);
        paper_found_deinit(&found);
        fclose(markdown);
    }
    figure_data_deinit(&data); /* empty where it could not be read */
    reproduce_plan_deinit(&plan);
    return done;
}

bool reproduce_publish(const struct reproduce *reproduce, const struct reproduced *drawn,
                       size_t count, struct diagnostic *diagnostic)
{
    for (size_t i = 0; reproduce->documents != NULL && i < count; i++)
        if (drawn[i].missing == 0 && !copy_document(reproduce, drawn[i].figure, diagnostic))
            return false;
    if (reproduce->paper == NULL)
        return true;
    char *summary;
    bool done = write_summary(reproduce, &summary, diagnostic);
    for (size_t i = 0; done && i < count; i++)
        if (drawn[i].section != NULL)
            done = paper_rewrite(reproduce->paper, drawn[i].figure->name, drawn[i].section,
                                 diagnostic);
    if (done && summary != NULL)
        done = paper_rewrite(reproduce->paper, "numbers", summary, diagnostic);
    free(summary);
    return done;
}
