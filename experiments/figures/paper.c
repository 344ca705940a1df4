/* paper.c - rewrites the marked parts of PAPER_REPRO.md. */
#include "experiments/figures/paper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/figures/replacement.h"

#define FILE_BYTES_MAX (4 << 20)
#define MARKER_MAX 96

/* NULL: the diagnostic. The caller frees it. */
static char *read_whole(const char *path, struct diagnostic *diagnostic)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        diagnostic_set(diagnostic,
                       "%s: cannot be read: %s; --paper names a page that has the markers of its "
                       "parts, such as a copy of " PAPER_FILE,
                       path, strerror(errno));
        return NULL;
    }
    char *text = malloc(FILE_BYTES_MAX + 2); /* one more tells that there are more */
    assert(text != NULL);
    size_t size = fread(text, 1, FILE_BYTES_MAX + 1, file);
    bool failed = ferror(file) != 0;
    bool whole = !failed && size <= FILE_BYTES_MAX;
    fclose(file);
    text[size] = '\0';
    if (whole && strlen(text) == size)
        return text;
    diagnostic_set(diagnostic, "%s: %s; --paper names a page of text", path,
                   failed   ? "cannot be read to its end"
                   : !whole ? "larger than 4 MiB: not such a page"
                            : "holds a NUL: no text");
    free(text);
    return NULL;
}

/* Returns false. */
static bool refuse(const char *path, int error, struct diagnostic *diagnostic)
{
    bool full = error == ENOSPC || error == EDQUOT;
    diagnostic_set(diagnostic,
                   "%s: cannot be rewritten: %s; %s, or name a copy of it in another place by "
                   "--paper",
                   path, strerror(error),
                   full ? "make space there" : "make the folder that it is in writable");
    return false;
}

static bool replace_file(const char *path, const char *const parts[3],
                         struct diagnostic *diagnostic)
{
    struct replacement replacement;
    if (!replacement_open(&replacement, path))
        return refuse(path, errno, diagnostic);
    for (size_t i = 0; i < 3; i++)
        fputs(parts[i], replacement.file);
    return replacement_close(&replacement) || refuse(path, errno, diagnostic);
}

/* A part of the page: what stands between its markers. False: the diagnostic. */
static bool find_part(const char *path, char *page, const char *name, char *part[2],
                      struct diagnostic *diagnostic)
{
    char begin[MARKER_MAX];
    char end[MARKER_MAX];
    snprintf(begin, sizeof(begin), "<!-- %s:begin -->\n", name);
    snprintf(end, sizeof(end), "<!-- %s:end -->", name);
    part[0] = strstr(page, begin);
    part[1] = part[0] != NULL ? strstr(part[0], end) : NULL;
    if (part[1] == NULL) {
        diagnostic_set(diagnostic, "%s: the lines <!-- %s:begin --> and %s must stand in it", path,
                       name, end);
        return false;
    }
    part[0] += strlen(begin);
    return true;
}

bool paper_ready(const char *path, const char *const *names, size_t count,
                 struct diagnostic *diagnostic)
{
    char *part[2];
    struct replacement replacement;
    char *page = read_whole(path, diagnostic);
    bool found = page != NULL;
    for (size_t i = 0; found && i < count; i++)
        found = find_part(path, page, names[i], part, diagnostic);
    free(page);
    if (!found)
        return false;
    if (!replacement_open(&replacement, path))
        return refuse(path, errno, diagnostic);
    replacement_drop(&replacement);
    return true;
}

bool paper_rewrite(const char *path, const char *name, const char *text,
                   struct diagnostic *diagnostic)
{
    char *part[2];
    char *page = read_whole(path, diagnostic);
    bool done = page != NULL && find_part(path, page, name, part, diagnostic);
    if (done && ((size_t)(part[1] - part[0]) != strlen(text) ||
                 strncmp(part[0], text, strlen(text)) != 0)) {
        char *head = strndup(page, (size_t)(part[0] - page));
        assert(head != NULL);
        done = replace_file(path, (const char *const[3]){head, text, part[1]}, diagnostic);
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
