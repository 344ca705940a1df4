/* figure.c - the table of figures, and a page as files: points, variables, table, SVG and PNG. */
#include "experiments/figures/figure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/figures/figure_plot.h"
#include "experiments/figures/figure_text.h"

#define FIGURES(X)                                                                                 \
    X(figure_p1)                                                                                   \
    X(figure_frontier)                                                                             \
    X(figure_sensitivity)                                                                          \
    X(figure_sim_vs_live)                                                                          \
    X(figure_p1_reclaimed)                                                                         \
    X(figure_p6)                                                                                   \
    X(figure_p7)                                                                                   \
    X(figure_p8)

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

/* ---- files ---- */

/* A page whose files are not whole yet. */
struct staging {
    const struct figure_page *page;
    char folder[CONFIG_PATH_MAX]; /* inside the page's own, so that a rename moves a file */
};

static const char *const suffixes[] = {"tsv", "vars", "md", "svg", "png"};

#define SUFFIX_COUNT (sizeof(suffixes) / sizeof(suffixes[0]))
#define FILE_PATH_MAX (CONFIG_PATH_MAX + 80)

static void path_of(const struct staging *staging, const char *suffix, char path[FILE_PATH_MAX])
{
    snprintf(path, FILE_PATH_MAX, "%s/%s.%s", staging->folder, staging->page->figure->name, suffix);
}

static bool refuse(const struct staging *staging, const char *suffix, int error,
                   struct diagnostic *diagnostic)
{
    const struct figure_page *page = staging->page;
    diagnostic_set(diagnostic,
                   "cannot write %s.%s in %s: %s; free space there, or choose another folder by "
                   "--out",
                   page->figure->name, suffix, page->folder,
                   error != 0 ? strerror(error) : "writing failed");
    return false;
}

static FILE *open_file(const struct staging *staging, const char *suffix,
                       struct diagnostic *diagnostic)
{
    char path[FILE_PATH_MAX];
    path_of(staging, suffix, path);
    FILE *file = fopen(path, "we");
    if (file == NULL)
        refuse(staging, suffix, errno, diagnostic);
    return file;
}

static bool close_file(const struct staging *staging, const char *suffix, FILE *file,
                       struct diagnostic *diagnostic)
{
    errno = 0;
    bool failed = fflush(file) != 0 || ferror(file) != 0;
    int error = errno;
    if (fclose(file) != 0 && !failed) {
        failed = true;
        error = errno;
    }
    return !failed || refuse(staging, suffix, error, diagnostic);
}

static bool stage(struct staging *staging, struct diagnostic *diagnostic)
{
    const struct figure_page *page = staging->page;
    int length = snprintf(staging->folder, sizeof(staging->folder), "%s/.%s-XXXXXX", page->folder,
                          page->figure->name);
    if (length >= (int)sizeof(staging->folder)) {
        diagnostic_set(diagnostic, "%s: a name too long; choose another folder by --out",
                       page->folder);
        return false;
    }
    if (mkdtemp(staging->folder) != NULL)
        return true;
    diagnostic_set(diagnostic, "cannot write in %s: %s; choose another folder by --out",
                   page->folder, strerror(errno));
    return false;
}

static bool move_files(const struct staging *staging, struct diagnostic *diagnostic)
{
    char from[FILE_PATH_MAX];
    char to[FILE_PATH_MAX];
    for (size_t i = 0; i < SUFFIX_COUNT; i++) {
        path_of(staging, suffixes[i], from);
        snprintf(to, sizeof(to), "%s/%s.%s", staging->page->folder, staging->page->figure->name,
                 suffixes[i]);
        if (rename(from, to) != 0)
            return refuse(staging, suffixes[i], errno, diagnostic);
    }
    return true;
}

static void unstage(const struct staging *staging)
{
    char path[FILE_PATH_MAX];
    for (size_t i = 0; i < SUFFIX_COUNT; i++) {
        path_of(staging, suffixes[i], path);
        unlink(path);
    }
    rmdir(staging->folder);
}

/* ---- a page ---- */

static bool write_points(const struct staging *staging, struct diagnostic *diagnostic)
{
    const struct figure_page *page = staging->page;
    FILE *points = open_file(staging, "tsv", diagnostic);
    if (points == NULL)
        return false;
    FILE *variables = open_file(staging, "vars", diagnostic);
    if (variables == NULL) {
        fclose(points);
        return false;
    }
    char caption[CAPTION_MAX];
    text_caption(page, caption);
    variable_text(variables, "title_text", page->figure->title);
    variable_text(variables, "caption", caption);
    page->figure->plot(page, points, variables);
    bool closed = close_file(staging, "tsv", points, diagnostic);
    return close_file(staging, "vars", variables, diagnostic) && closed;
}

static bool write_table(const struct staging *staging, struct diagnostic *diagnostic)
{
    const struct figure_page *page = staging->page;
    FILE *markdown = open_file(staging, "md", diagnostic);
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
    return close_file(staging, "md", markdown, diagnostic);
}

static bool draw(const struct staging *staging, struct diagnostic *diagnostic)
{
    struct diagnostic found;
    const struct figure_page *page = staging->page;
    if (figure_plot_draw(page->scripts, staging->folder, page->figure->name, &found))
        return true;
    diagnostic_set(diagnostic, "%s: %s", page->folder, found.text);
    return false;
}

bool figure_render(const struct figure_page *page, struct diagnostic *diagnostic)
{
    assert(page->data->arm_count > 0);
    struct staging staging = {.page = page};
    if (!stage(&staging, diagnostic))
        return false;
    bool done = write_points(&staging, diagnostic) && write_table(&staging, diagnostic) &&
                draw(&staging, diagnostic) && move_files(&staging, diagnostic);
    unstage(&staging);
    return done;
}
