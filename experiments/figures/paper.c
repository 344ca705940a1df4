/* paper.c - rewrites the marked parts of PAPER_REPRO.md. */
#include "experiments/figures/paper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX (4 << 20)
#define MARKER_MAX 96

/* NULL: the diagnostic. The caller frees it. */
static char *read_whole(const char *path, struct diagnostic *diagnostic)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        diagnostic_set(diagnostic, "%s: cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    char *text = malloc(FILE_BYTES_MAX + 1);
    assert(text != NULL);
    size_t size = fread(text, 1, FILE_BYTES_MAX, file);
    bool whole = !ferror(file) && feof(file);
    fclose(file);
    text[size] = '\0';
    if (whole && strlen(text) == size)
        return text;
    diagnostic_set(diagnostic, "%s: cannot be read whole, or is no text", path);
    free(text);
    return NULL;
}

static bool replace_file(const char *path, const char *const parts[3],
                         struct diagnostic *diagnostic)
{
    char next[CONFIG_PATH_MAX];
    snprintf(next, sizeof(next), "%s.new", path);
    FILE *file = fopen(next, "we");
    bool written = file != NULL;
    for (size_t i = 0; written && i < 3; i++)
        written = fputs(parts[i], file) >= 0;
    if (file != NULL && fclose(file) != 0)
        written = false;
    if (written && rename(next, path) == 0)
        return true;
    diagnostic_set(diagnostic, "%s: cannot be rewritten: %s", path, strerror(errno));
    unlink(next);
    return false;
}

bool paper_rewrite(const char *path, const char *name, const char *text,
                   struct diagnostic *diagnostic)
{
    char begin[MARKER_MAX];
    char end[MARKER_MAX];
    char *page = read_whole(path, diagnostic);
    if (page == NULL)
        return false;
    snprintf(begin, sizeof(begin), "<!-- %s:begin -->\n", name);
    snprintf(end, sizeof(end), "<!-- %s:end -->", name);
    char *from = strstr(page, begin);
    char *until = from != NULL ? strstr(from, end) : NULL;
    if (until == NULL) {
        diagnostic_set(diagnostic, "%s: the lines <!-- %s:begin --> and %s must stand in it", path,
                       name, end);
        free(page);
        return false;
    }
    from += strlen(begin);
    bool done = true;
    if ((size_t)(until - from) != strlen(text) || strncmp(from, text, strlen(text)) != 0) {
        char *head = strndup(page, (size_t)(from - page));
        assert(head != NULL);
        done = replace_file(path, (const char *const[3]){head, text, until}, diagnostic);
        free(head);
    }
    free(page);
    return done;
}

/* ---- the table of all numbers ---- */

void paper_found_add(struct paper_found *found, const char *id, char *cells)
{
    assert(found->count < PAPER_FOUND_MAX);
    found->items[found->count].id = id;
    found->items[found->count++].cells = cells;
}

void paper_found_deinit(struct paper_found *found)
{
    for (size_t i = 0; i < found->count; i++)
        free(found->items[i].cells);
    found->count = 0;
}

char *paper_cells(const char *path, const char *id)
{
    struct diagnostic diagnostic;
    char head[MARKER_MAX];
    char *cells = NULL;
    char *page = read_whole(path, &diagnostic);
    if (page == NULL)
        return NULL;
    snprintf(head, sizeof(head), "\n| %s | ", id);
    char *line = strstr(page, head);
    char *cell = line != NULL ? strstr(line + strlen(head), " | ") : NULL;
    char *end = line != NULL ? strchr(line + 1, '\n') : NULL;
    if (cell != NULL && end != NULL && cell < end)
        cells = strndup(cell + 3, (size_t)(end + 1 - cell - 3));
    free(page);
    return cells;
}
