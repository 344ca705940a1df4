/* reference_file.c - see reference_file.h. Ours. */
#include "experiments/figures/reference_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "experiments/config/text_line.h"

#define LINE_MAX_BYTES 512

/* Cuts the text at its next comma. NULL if there was none. */
static char *cut(char *text)
{
    char *comma = strchr(text, ',');
    if (comma == NULL)
        return NULL;
    *comma = '\0';
    return comma + 1;
}

static bool take_row(struct reference_file *file, char *line, struct diagnostic *diagnostic)
{
    char *columns[REFERENCE_COLUMNS_MAX] = {line};
    for (size_t i = 1; i < file->column_count; i++)
        if ((columns[i] = cut(columns[i - 1])) == NULL) {
            diagnostic_set(diagnostic, "%zu columns instead of %zu", i, file->column_count);
            return false;
        }
    return file->row(file->context, columns, diagnostic);
}

static void add_note(struct reference_file *file, const char *line)
{
    size_t used = strlen(file->notes);
    snprintf(file->notes + used, sizeof(file->notes) - used, "%s\n", line + 1 + (line[1] == ' '));
}

static bool take_line(struct reference_file *file, char *line, bool *named,
                      struct diagnostic *diagnostic)
{
    size_t bytes = strlen(line);
    if (bytes > 0 && line[bytes - 1] == '\r')
        line[bytes - 1] = '\0';
    if (*line == '#') {
        add_note(file, line);
        return true;
    }
    if (*named)
        return take_row(file, line, diagnostic);
    *named = strcmp(line, file->columns) == 0;
    diagnostic_set(diagnostic, "the columns are not %s", file->columns);
    return *named;
}

bool reference_file_read(const char *path, struct reference_file *file,
                         struct diagnostic *diagnostic)
{
    char line[LINE_MAX_BYTES];
    struct diagnostic reason;
    enum text_line got;
    bool named = false;
    bool valid = true;
    int number = 0;
    assert(file->column_count >= 1 && file->column_count <= REFERENCE_COLUMNS_MAX);
    file->notes[0] = '\0';
    FILE *stream = fopen(path, "re");
    if (stream == NULL) {
        diagnostic_set(diagnostic, "%s: %s", path, strerror(errno));
        return false;
    }
    while (valid && (got = text_line_read(stream, line, sizeof(line))) != TEXT_LINE_END) {
        number++;
        diagnostic_set(&reason, "the line is too long, or holds a NUL");
        valid = !text_line_bad(got) && take_line(file, line, &named, &reason);
    }
    fclose(stream);
    if (valid && !named) {
        diagnostic_set(diagnostic, "%s: no line names the columns, %s", path, file->columns);
        return false;
    }
    if (!valid)
        diagnostic_set(diagnostic, "%s:%d: %.500s", path, number, reason.text);
    return valid;
}
