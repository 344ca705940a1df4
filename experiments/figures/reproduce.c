/* reproduce.c - one figure, from the database to its files and to its part of PAPER_REPRO.md. */
#include "experiments/figures/reproduce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/cli.h"
#include "experiments/figures/figure_text.h"
#include "experiments/figures/paper.h"

static bool copy_file(const char *from, const char *to, struct diagnostic *diagnostic)
{
    char block[1 << 14];
    size_t size;
    FILE *in = fopen(from, "re");
    FILE *out = in != NULL ? fopen(to, "we") : NULL;
    bool copied = out != NULL;
    while (copied && (size = fread(block, 1, sizeof(block), in)) > 0)
        copied = fwrite(block, 1, size, out) == size;
    copied = copied && !ferror(in);
    if (out != NULL && fclose(out) != 0)
        copied = false;
    if (in != NULL)
        fclose(in);
    if (!copied)
        diagnostic_set(diagnostic, "cannot copy %s to %s: %s", from, to, strerror(errno));
    return copied;
}

static bool copy_document(const struct reproduce *reproduce, const struct figure *figure,
                          struct diagnostic *diagnostic)
{
    char from[CONFIG_PATH_MAX];
    char to[CONFIG_PATH_MAX];
    snprintf(from, sizeof(from), "%s/%s.svg", reproduce->folder, figure->name);
    snprintf(to, sizeof(to), "%s/%s.svg", reproduce->documents, figure->name);
    return copy_file(from, to, diagnostic);
}

static bool rewrite_part(const struct reproduce *reproduce, const struct figure_page *page,
                         struct diagnostic *diagnostic)
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
    bool done = paper_rewrite(reproduce->paper, page->figure->name, text, diagnostic);
    free(text);
    return done;
}

bool reproduce_figure(const struct reproduce *reproduce, const struct figure *figure,
                      uint64_t seeds, FILE *headlines, struct diagnostic *diagnostic)
{
    struct figure_data data;
    char scripts[CONFIG_PATH_MAX];
    if (!figure_data_load(reproduce->db, figure->name, RESULTS_SIM, &data, diagnostic))
        return false;
    if (data.arm_count == 0) {
        diagnostic_set(diagnostic,
                       "%s holds no runs of %s to draw; run lakestream reproduce %s (without "
                       "--no-run) to simulate them",
                       reproduce->db_path, figure->name, figure->name);
        return false;
    }
    cli_data_path("plots", scripts);
    struct figure_page page = {
        .figure = figure,
        .data = &data,
        .reported = reproduce->reported,
        .folder = reproduce->folder,
        .scripts = scripts,
        .seeds = seeds,
    };
    bool done = figure_render(&page, diagnostic);
    if (done && reproduce->documents != NULL)
        done = copy_document(reproduce, figure, diagnostic);
    if (done && reproduce->paper != NULL)
        done = rewrite_part(reproduce, &page, diagnostic);
    if (done)
        figure->headline(&page, headlines);
    figure_data_deinit(&data);
    return done;
}

bool reproduce_summary(const struct reproduce *reproduce, struct diagnostic *diagnostic)
{
    struct figure_data data;
    char *text = NULL;
    size_t size = 0;
    if (reproduce->paper == NULL)
        return true;
    if (!figure_data_load(reproduce->db, "p1", RESULTS_SIM, &data, diagnostic))
        return false;
    if (data.arm_count == 0)
        return true; /* another database: what the page says of P1 stays */
    FILE *markdown = open_memstream(&text, &size);
    assert(markdown != NULL);
    bool done = paper_summary(&data, reproduce->reported, markdown, diagnostic);
    fclose(markdown);
    figure_data_deinit(&data);
    if (done)
        done = paper_rewrite(reproduce->paper, "numbers", text, diagnostic);
    free(text);
    return done;
}
