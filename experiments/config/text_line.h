/* text_line.h - a text file line by line, into a buffer of a fixed size: what a line takes is
 * bounded, whatever the file holds. Ours. */
#ifndef EXPERIMENTS_TEXT_LINE_H
#define EXPERIMENTS_TEXT_LINE_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base.h"

enum text_line {
    TEXT_LINE_WHOLE,    /* it ended with a newline, which is left out */
    TEXT_LINE_LAST,     /* the file ended before a newline came */
    TEXT_LINE_END,      /* there is none left */
    TEXT_LINE_BAD,      /* too long for the buffer, or it holds a NUL; the next call goes on */
    TEXT_LINE_BAD_LAST, /* the same, and the file ended before a newline came */
};

/* Blocks. `text` ends with a NUL, and is empty for END and BAD. */
MUST_USE enum text_line text_line_read(FILE *stream, char *text, size_t capacity);
/* BAD or BAD_LAST. */
bool text_line_bad(enum text_line line);

#endif
