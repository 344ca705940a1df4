/* figure.c - the table of figures, and a page as files: points, variables, table, SVG and PNG. */
#include "experiments/figures/figure.h"

#include <errno.h>
#include <string.h>

#include "experiments/figures/figure_plot.h"
#include "experiments/figures/figure_text.h"

#define FIGURES(X)                                                                                 \
    X(figure_p1)                                                                                   \
    X(figure_frontier)                                                                             \
    X(figure_sensitivity)

#define X(name) extern const struct figure name;
FIGURES(X)
#undef X

static const struct figure *const figures[] = {
#define X(name) &name,
    FIGURES(X)
#undef X
};

#define FIGURE_COUNT (sizeof(figures) / sizeof(figures[0]))

const struct figure *figure_at(size_t index)
{
    return index < FIGURE_COUNT ? figures[index] : NULL;
}

const struct figure *figure_find(const char *name)
{
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        if (strcmp(figures[i]->name, name) == 0)
            return figures[i];
    return NULL;
}

static FILE *open_file(const struct figure_page *page, const char *suffix,
                       struct diagnostic *diagnostic)
{
    char path[CONFIG_PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s.%s", page->folder, page->figure->name, suffix);
    FILE *file = fopen(path, "we");
    if (file == NULL)
        diagnostic_set(diagnostic, "cannot write %s: %s; choose another folder by --out", path,
                       strerror(errno));
    return file;
}

static bool close_file(FILE *file, const struct figure_page *page, struct diagnostic *diagnostic)
{
    bool failed = ferror(file) != 0;
    if (fclose(file) == 0 && !failed)
        return true;
    diagnostic_set(diagnostic, "cannot write the files of figure %s in %s: %s", page->figure->name,
                   page->folder, strerror(errno));
    return false;
}

static bool write_points(const struct figure_page *page, struct diagnostic *diagnostic)
{
    FILE *points = open_file(page, "tsv", diagnostic);
    if (points == NULL)
        return false;
    FILE *variables = open_file(page, "vars", diagnostic);
    if (variables == NULL) {
        fclose(points);
        return false;
    }
    char caption[CAPTION_MAX];
    text_caption(page, caption);
    variable_text(variables, "title_text", page->figure->title);
    variable_text(variables, "caption", caption);
    page->figure->plot(page, points, variables);
    bool closed = close_file(points, page, diagnostic);
    return close_file(variables, page, diagnostic) && closed;
}

static bool write_table(const struct figure_page *page, struct diagnostic *diagnostic)
{
    FILE *markdown = open_file(page, "md", diagnostic);
    if (markdown == NULL)
        return false;
    char caption[CAPTION_MAX];
    char note[CAPTION_MAX];
    text_caption(page, caption);
    text_note(page, note);
    fprintf(markdown, "# %s\n\n%s. %s\n", page->figure->title, caption, note);
    fprintf(markdown, "\n![%s](%s.svg)\n\n", page->figure->name, page->figure->name);
    page->figure->paper(page, markdown);
    if (page->figure->detail != NULL)
        page->figure->detail(page, markdown);
    return close_file(markdown, page, diagnostic);
}

bool figure_render(const struct figure_page *page, struct diagnostic *diagnostic)
{
    assert(page->data->arm_count > 0);
    return write_points(page, diagnostic) && write_table(page, diagnostic) &&
           figure_plot_draw(page->scripts, page->folder, page->figure->name, diagnostic);
}
