/* units.h - values with units as people write them: 250ms, 4MiB, 13.5MB/s, 3.7%.
 *
 * Parsing is strict and exact: a number is decimal, without a leading zero, nan, inf or surplus
 * characters; a duration is a whole number of nanoseconds, a size a whole number of bytes. What a
 * unit_print function wrote reads back to the same value. Numbers go through strtod on a checked
 * set of characters; the decimal point is "." because the program never calls setlocale (C locale).
 * On an error the functions return false, leave the value alone, and the diagnostic says what was
 * found and what is expected, with an example. Nothing allocates. */
#ifndef EXPERIMENTS_UNITS_H
#define EXPERIMENTS_UNITS_H

#include <stdbool.h>

#include "core/base.h"
#include "experiments/config/diagnostic.h"

#define UNIT_TEXT_MAX 64                         /* bytes of a printed value, with the NUL */
#define UNIT_COUNT_MAX ((UINT64_C(1) << 53) - 1) /* every count is exact as a double, too */

enum unit {
    UNIT_DURATION,  /* int64_t, ns, at least 0: 250ms 10s 10min 1.5h */
    UNIT_BYTES,     /* uint64_t: 64B 4MiB 13.5MB */
    UNIT_RATE,      /* double, bytes/s, at least 0: 432MB/s 50MiB/s */
    UNIT_COUNT,     /* uint64_t, at most UNIT_COUNT_MAX */
    UNIT_RATIO,     /* double: 0.037 3.7% */
    UNIT_NUMBER,    /* double */
    UNIT_CHOICE,    /* uint32_t or an enum: index into choices "on|off" */
    UNIT_TEXT,      /* char[] */
    UNIT_QUANTILES, /* struct quantile_table: "0:0.6 0.5:1 1:4" */
    UNIT_MESH,      /* struct tgb_mesh: none 8x2 (mesh.h) */
};

MUST_USE bool unit_parse_duration(const char *text, int64_t *ns, struct diagnostic *diagnostic);
MUST_USE bool unit_parse_bytes(const char *text, uint64_t *bytes, struct diagnostic *diagnostic);
MUST_USE bool unit_parse_rate(const char *text, double *rate, struct diagnostic *diagnostic);
MUST_USE bool unit_parse_count(const char *text, uint64_t *count, struct diagnostic *diagnostic);
MUST_USE bool unit_parse_ratio(const char *text, double *ratio, struct diagnostic *diagnostic);
MUST_USE bool unit_parse_number(const char *text, double *number, struct diagnostic *diagnostic);
/* `choices`: names separated by '|'. */
MUST_USE bool unit_parse_choice(const char *text, const char *choices, uint32_t *index,
                                struct diagnostic *diagnostic);

void unit_print_duration(int64_t ns, char text[UNIT_TEXT_MAX]);
void unit_print_bytes(uint64_t bytes, char text[UNIT_TEXT_MAX]);
void unit_print_rate(double rate, char text[UNIT_TEXT_MAX]);
void unit_print_count(uint64_t count, char text[UNIT_TEXT_MAX]);
/* Ratios too. */
void unit_print_number(double number, char text[UNIT_TEXT_MAX]);
/* The index must be valid. */
void unit_print_choice(uint32_t index, const char *choices, char text[UNIT_TEXT_MAX]);

#endif
