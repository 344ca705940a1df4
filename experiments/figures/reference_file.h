/* reference_file.h - a CSV of what was measured elsewhere and kept: lines that begin with '#' tell
 * about it, the first other line names the columns, each following one is a row. */
#ifndef EXPERIMENTS_REFERENCE_FILE_H
#define EXPERIMENTS_REFERENCE_FILE_H

#include <stdbool.h>

#include "core/base.h"
#include "experiments/config/diagnostic.h"

#define REFERENCE_COLUMNS_MAX 16
#define REFERENCE_NOTES_MAX 1024

struct reference_file {
    const char *columns; /* as the file must name them, with commas */
    size_t column_count; /* at most REFERENCE_COLUMNS_MAX */
    /* One row; `columns` are valid during the call. False: the diagnostic says what is wrong. */
    bool (*row)(void *context, char **columns, struct diagnostic *diagnostic);
    void *context;
    char notes[REFERENCE_NOTES_MAX]; /* filled: the '#' lines without it, each with its newline */
};

/* Blocks. False: the diagnostic says path:line and what is wrong. */
MUST_USE bool reference_file_read(const char *path, struct reference_file *file,
                                  struct diagnostic *diagnostic);

#endif
