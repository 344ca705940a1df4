/* diagnostic.h - one message for a person: where, which key, what was found, what is expected. */
#ifndef EXPERIMENTS_DIAGNOSTIC_H
#define EXPERIMENTS_DIAGNOSTIC_H

#include <stdarg.h>
#include <stdio.h>

#define DIAGNOSTIC_MAX 768 /* bytes, with the final NUL; longer messages are cut */

struct diagnostic {
    char text[DIAGNOSTIC_MAX]; /* one line, no newline at the end */
};

/* Formats into the diagnostic. The arguments must not point into it. */
__attribute__((format(printf, 2, 3))) static inline void
diagnostic_set(struct diagnostic *diagnostic, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(diagnostic->text, sizeof(diagnostic->text), format, arguments);
    va_end(arguments);
}

#endif
