/* order_file.h - the committed order as text: a line "run IDENTITY", which says whose it is, then
 * one for every step, "STEP PRODUCER EPOCH SEQUENCE BYTES", steps without a gap. What a witness of
 * the chain writes, and what digests are recomputed from; for these the first line may be missing.
 * Everything blocks. Ours. */
#ifndef EXPERIMENTS_ORDER_FILE_H
#define EXPERIMENTS_ORDER_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base.h"

#define ORDER_FILE_TEXT_MAX 640
#define ORDER_LINE_BYTES_MAX 128 /* of a line as text, with a NUL: five numbers */
#define ORDER_RUN_MAX 64         /* of a run's identity, with the NUL */

struct order_line {
    uint64_t step;
    uint64_t sequence;
    uint64_t tgb_bytes;
    uint32_t producer;
    uint32_t epoch;
};

/* A file of lines that is being read. */
struct order_file {
    const char *path; /* borrowed */
    FILE *stream;
    uint64_t line;
    uint64_t end;            /* bytes of the whole lines that were read */
    char run[ORDER_RUN_MAX]; /* known with the first line; empty: the file does not say */
    struct order_line last;  /* step 0: none yet */
};

enum order_next {
    ORDER_LINE,
    ORDER_END,
    ORDER_DAMAGED, /* `error` names file and line */
};

/* False: `error` says why. */
MUST_USE bool order_file_open(struct order_file *file, const char *path,
                              char error[ORDER_FILE_TEXT_MAX]);
void order_file_close(struct order_file *file);
/* The next line; a last line without its end was cut off by a crash, and is no line. */
MUST_USE enum order_next order_file_next(struct order_file *file, struct order_line *line,
                                         char error[ORDER_FILE_TEXT_MAX]);

/* Opens a file of this run to add to, made if it is not there; what a crash cut off is removed.
 * *last is its last line, step 0 where it has none. NULL: it is another run's, or has steps and
 * does not say of which, or cannot be written; `error` says so. */
FILE *order_file_append(const char *path, const char *run, struct order_line *last,
                        char error[ORDER_FILE_TEXT_MAX]);
/* In the stream's buffer: flush when it must be seen. */
void order_file_write(FILE *stream, const struct order_line *line);

#endif
