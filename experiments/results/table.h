/* table.h - rows of values with named columns, printed for people, as CSV or as JSON.
 *
 * Cells are appended row by row, left to right. Texts are copied. Allocation failure aborts. */
#ifndef EXPERIMENTS_TABLE_H
#define EXPERIMENTS_TABLE_H

#include <stdio.h>

#include "core/base.h"

enum table_format {
    /* For people: numbers in four significant digits, "mean +- half width", the first line of a
     * text; the notes follow. */
    TABLE_ALIGNED,
    TABLE_CSV,  /* RFC 4180 with newlines for line ends; all digits; nothing for a missing value */
    TABLE_JSON, /* an array of objects; null for a missing value */
};

enum table_role {
    TABLE_PLAIN,
    TABLE_HALF_WIDTH, /* of the column before it, at 95 %; joins that when aligned */
};

struct table;

struct table *table_open(void);
void table_close(struct table *table); /* NULL is allowed */

/* All columns before the first cell. `unit` may be "". */
void table_add_column(struct table *table, const char *name, const char *unit,
                      enum table_role role);
void table_add_text(struct table *table, const char *text);
/* A text with a star behind it when aligned, which a note explains. */
void table_add_marked_text(struct table *table, const char *text);
void table_add_integer(struct table *table, int64_t value);
/* NAN is a missing value. */
void table_add_number(struct table *table, double value);
void table_add_missing(struct table *table);

/* A line below the table. */
void table_add_note(struct table *table, const char *note);

size_t table_row_count(const struct table *table);
/* The last row must be complete. */
void table_print_notes(const struct table *table, FILE *stream);
void table_print(const struct table *table, enum table_format format, FILE *stream);

#endif
