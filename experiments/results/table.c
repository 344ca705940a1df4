/* table.c - see table.h. */
#include "experiments/results/table.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 64

enum cell_kind {
    CELL_MISSING,
    CELL_TEXT,
    CELL_INTEGER,
    CELL_NUMBER,
};

struct cell {
    enum cell_kind kind;
    char *text; /* CELL_TEXT: owned */
    bool marked;
    int64_t integer;
    double number;
};

struct column {
    char *name;
    char *unit;
    enum table_role role;
};

struct table {
    struct column *columns;
    size_t column_count;
    struct cell *cells;
    size_t cell_count;
    size_t cell_capacity;
    char **notes;
    size_t note_count;
};

static char *copy(const char *text)
{
    char *made = strdup(text);
    assert(made != NULL);
    return made;
}

struct table *table_open(void)
{
    struct table *table = calloc(1, sizeof(*table));
    assert(table != NULL);
    return table;
}

void table_close(struct table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->column_count; i++) {
        free(table->columns[i].name);
        free(table->columns[i].unit);
    }
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i].text);
    for (size_t i = 0; i < table->note_count; i++)
        free(table->notes[i]);
    free(table->notes);
    free(table->columns);
    free(table->cells);
    free(table);
}

void table_add_column(struct table *table, const char *name, const char *unit, enum table_role role)
{
    assert(table->cell_count == 0);
    assert(role == TABLE_PLAIN || table->column_count > 0);
    table->columns = realloc(table->columns, (table->column_count + 1) * sizeof(*table->columns));
    assert(table->columns != NULL);
    table->columns[table->column_count++] = (struct column){copy(name), copy(unit), role};
}

static void add(struct table *table, struct cell cell)
{
    assert(table->column_count > 0);
    if (table->cell_count == table->cell_capacity) {
        table->cell_capacity = 2 * table->cell_capacity + 64;
        table->cells = realloc(table->cells, table->cell_capacity * sizeof(*table->cells));
        assert(table->cells != NULL);
    }
    table->cells[table->cell_count++] = cell;
}

void table_add_text(struct table *table, const char *text)
{
    add(table, (struct cell){.kind = CELL_TEXT, .text = copy(text)});
}

void table_add_marked_text(struct table *table, const char *text)
{
    add(table, (struct cell){.kind = CELL_TEXT, .text = copy(text), .marked = true});
}

void table_add_note(struct table *table, const char *note)
{
    table->notes = realloc(table->notes, (table->note_count + 1) * sizeof(*table->notes));
    assert(table->notes != NULL);
    table->notes[table->note_count++] = copy(note);
}

void table_add_integer(struct table *table, int64_t value)
{
    add(table, (struct cell){.kind = CELL_INTEGER, .integer = value});
}

void table_add_number(struct table *table, double value)
{
    add(table, (struct cell){.kind = isnan(value) ? CELL_MISSING : CELL_NUMBER, .number = value});
}

void table_add_missing(struct table *table)
{
    add(table, (struct cell){.kind = CELL_MISSING});
}

size_t table_row_count(const struct table *table)
{
    return table->column_count > 0 ? table->cell_count / table->column_count : 0;
}

static const struct cell *cell_at(const struct table *table, size_t row, size_t column)
{
    return &table->cells[row * table->column_count + column];
}

/* The shortest of 15 to 17 digits that reads back (by jansson) as the same number. */
static void exact_number(double value, char text[NUMBER_MAX])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, NUMBER_MAX, "%.*g", digits, value);
        json_t *back = json_loads(text, JSON_DECODE_ANY, NULL);
        double read = back != NULL ? json_number_value(back) : NAN;
        json_decref(back);
        if (read == value)
            return;
    }
}

/* So many significant digits, never in exponents where a person would not write one. */
static void short_number(double value, int digits, char text[NUMBER_MAX])
{
    double size = fabs(value);
    if (size != 0 && (size < 1e-4 || size >= 1e15)) {
        snprintf(text, NUMBER_MAX, "%.*e", digits - 1, value);
        return;
    }
    int decimals = size > 0 ? digits - 1 - (int)floor(log10(size)) : 0;
    decimals = decimals < 0 ? 0 : decimals;
    snprintf(text, NUMBER_MAX, "%.*f", decimals, value);
}

/* ---- for people ---- */

/* The first line, with an ellipsis for those after it; free it. */
static char *first_line(const struct cell *cell)
{
    char *line = NULL;
    size_t length = strcspn(cell->text, "\r\n");
    bool more = cell->text[length + strspn(cell->text + length, "\r\n")] != '\0';
    int size = asprintf(&line, "%.*s%s%s", (int)length, cell->text, more ? " …" : "",
                        cell->marked ? " *" : "");
    assert(size >= 0);
    return line;
}

/* What stands in an aligned cell, the half width beside it included; free it. */
static char *aligned_text(const struct table *table, size_t row, size_t column)
{
    const struct cell *cell = cell_at(table, row, column);
    char number[NUMBER_MAX];
    char text[2 * NUMBER_MAX + 8];
    switch (cell->kind) {
    case CELL_TEXT:
        return first_line(cell);
    case CELL_MISSING:
        return copy("-");
    case CELL_INTEGER:
        snprintf(text, sizeof(text), "%" PRId64, cell->integer);
        return copy(text);
    case CELL_NUMBER:
        break;
    }
    short_number(cell->number, 4, number);
    bool joined =
        column + 1 < table->column_count && table->columns[column + 1].role == TABLE_HALF_WIDTH;
    if (!joined || cell_at(table, row, column + 1)->kind != CELL_NUMBER)
        return copy(number);
    char half[NUMBER_MAX];
    short_number(cell_at(table, row, column + 1)->number, 2, half);
    snprintf(text, sizeof(text), "%s +- %s", number, half);
    return copy(text);
}

static char *aligned_title(const struct column *column)
{
    char text[256];
    bool plain = column->unit[0] == '\0' || strcmp(column->unit, "1") == 0;
    if (plain)
        snprintf(text, sizeof(text), "%s", column->name);
    else
        snprintf(text, sizeof(text), "%s [%s]", column->name, column->unit);
    return copy(text);
}

static bool is_text(const struct table *table, size_t column)
{
    for (size_t row = 0; row < table_row_count(table); row++) {
        enum cell_kind kind = cell_at(table, row, column)->kind;
        if (kind != CELL_MISSING)
            return kind == CELL_TEXT;
    }
    return true;
}

/* Bytes that start a character of UTF-8. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void print_aligned(const struct table *table, FILE *stream)
{
    size_t columns = table->column_count;
    size_t rows = table_row_count(table) + 1;
    char **texts = calloc(rows * columns, sizeof(*texts));
    int *widths = calloc(columns, sizeof(*widths));
    assert(texts != NULL && widths != NULL);
    for (size_t i = 0; i < rows * columns; i++) {
        size_t row = i / columns;
        size_t column = i % columns;
        texts[i] = row == 0 ? aligned_title(&table->columns[column])
                            : aligned_text(table, row - 1, column);
        int width = width_of(texts[i]);
        widths[column] = width > widths[column] ? width : widths[column];
    }
    for (size_t row = 0; row < rows; row++) {
        int pending = 0; /* spaces, printed only if something follows */
        for (size_t column = 0; column < columns; column++) {
            if (table->columns[column].role == TABLE_HALF_WIDTH)
                continue;
            const char *text = texts[row * columns + column];
            int space = widths[column] - width_of(text);
            bool left = is_text(table, column);
            fprintf(stream, "%*s%s", pending + (left ? 0 : space), "", text);
            pending = (left ? space : 0) + 2;
        }
        fputc('\n', stream);
    }
    for (size_t i = 0; i < rows * columns; i++)
        free(texts[i]);
    free(texts);
    free(widths);
}

/* ---- for programs ---- */

static void print_csv_text(const char *text, FILE *stream)
{
    if (text[strcspn(text, ",\"\r\n")] == '\0' && text[0] != ' ') {
        fputs(text, stream);
        return;
    }
    fputc('"', stream);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', stream);
        fputc(*text, stream);
    }
    fputc('"', stream);
}

static void print_csv_cell(const struct cell *cell, FILE *stream)
{
    char number[NUMBER_MAX];
    switch (cell->kind) {
    case CELL_MISSING:
        break;
    case CELL_TEXT:
        print_csv_text(cell->text, stream);
        break;
    case CELL_INTEGER:
        fprintf(stream, "%" PRId64, cell->integer);
        break;
    case CELL_NUMBER:
        exact_number(cell->number, number);
        fputs(number, stream);
        break;
    }
}

static void print_csv(const struct table *table, FILE *stream)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (i > 0)
            fputc(',', stream);
        print_csv_text(table->columns[i].name, stream);
    }
    fputc('\n', stream);
    for (size_t i = 0; i < table->cell_count; i++) {
        print_csv_cell(&table->cells[i], stream);
        fputc((i + 1) % table->column_count == 0 ? '\n' : ',', stream);
    }
}

static json_t *json_cell(const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_MISSING:
        return json_null();
    case CELL_TEXT:
        return json_stringn_nocheck(cell->text, strlen(cell->text));
    case CELL_INTEGER:
        return json_integer(cell->integer);
    case CELL_NUMBER:
        return isfinite(cell->number) ? json_real(cell->number) : json_null();
    }
    return json_null();
}

static void print_json(const struct table *table, FILE *stream)
{
    json_t *rows = json_array();
    assert(rows != NULL);
    for (size_t row = 0; row < table_row_count(table); row++) {
        json_t *object = json_object();
        for (size_t i = 0; i < table->column_count; i++) {
            int failed = json_object_set_new_nocheck(object, table->columns[i].name,
                                                     json_cell(cell_at(table, row, i)));
            assert(failed == 0);
        }
        int failed = json_array_append_new(rows, object);
        assert(failed == 0);
    }
    json_dumpf(rows, stream, JSON_INDENT(2));
    fputc('\n', stream);
    json_decref(rows);
}

void table_print_notes(const struct table *table, FILE *stream)
{
    for (size_t i = 0; i < table->note_count; i++)
        fprintf(stream, "%s\n", table->notes[i]);
}

void table_print(const struct table *table, enum table_format format, FILE *stream)
{
    assert(table->column_count > 0);
    assert(table->cell_count % table->column_count == 0);
    switch (format) {
    case TABLE_ALIGNED:
        print_aligned(table, stream);
        if (table->note_count > 0)
            fputc('\n', stream);
        table_print_notes(table, stream);
        break;
    case TABLE_CSV:
        print_csv(table, stream);
        break;
    case TABLE_JSON:
        print_json(table, stream);
        break;
    }
}
