/* order_file.c - see order_file.h. Ours. */
#include "experiments/consume/order_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "experiments/config/text_line.h"
#include "experiments/config/units.h"

#define FIELDS 5

static bool refuse(char error[ORDER_FILE_TEXT_MAX], const char *what, const char *path)
{
    snprintf(error, ORDER_FILE_TEXT_MAX, "cannot %s %.400s: %s", what, path, strerror(errno));
    return false;
}

bool order_file_open(struct order_file *file, const char *path, char error[ORDER_FILE_TEXT_MAX])
{
    *file = (struct order_file){.path = path, .stream = fopen(path, "re")};
    return file->stream != NULL || refuse(error, "read", path);
}

void order_file_close(struct order_file *file)
{
    if (file->stream != NULL)
        fclose(file->stream);
    *file = (struct order_file){0};
}

/* Five numbers with one space between them. Changes the text. */
static bool parse(char *text, struct order_line *line)
{
    uint64_t fields[FIELDS];
    struct diagnostic diagnostic;
    for (int i = 0; i < FIELDS; i++) {
        char *end = strchr(text, i < FIELDS - 1 ? ' ' : '\0');
        if (end == NULL)
            return false;
        *end = '\0';
        if (!unit_parse_count(text, &fields[i], &diagnostic))
            return false;
        text = end + 1;
    }
    if (fields[1] > UINT32_MAX || fields[2] > UINT32_MAX)
        return false;
    *line = (struct order_line){
        .step = fields[0],
        .producer = (uint32_t)fields[1],
        .epoch = (uint32_t)fields[2],
        .sequence = fields[3],
        .tgb_bytes = fields[4],
    };
    return true;
}

enum order_next order_file_next(struct order_file *file, struct order_line *line,
                                char error[ORDER_FILE_TEXT_MAX])
{
    char text[ORDER_LINE_BYTES_MAX];
    enum text_line got = text_line_read(file->stream, text, sizeof(text));
    if (got != TEXT_LINE_WHOLE && got != TEXT_LINE_BAD)
        return ORDER_END;
    file->line++;
    if (got == TEXT_LINE_BAD || !parse(text, line) || line->step == 0) {
        snprintf(error, ORDER_FILE_TEXT_MAX,
                 "%.400s:%" PRIu64 ": expected STEP PRODUCER EPOCH SEQUENCE BYTES", file->path,
                 file->line);
        return ORDER_DAMAGED;
    }
    if (file->last.step != 0 && line->step != file->last.step + 1) {
        snprintf(error, ORDER_FILE_TEXT_MAX,
                 "%.400s:%" PRIu64 ": step %" PRIu64 " comes after step %" PRIu64, file->path,
                 file->line, line->step, file->last.step);
        return ORDER_DAMAGED;
    }
    file->last = *line;
    return ORDER_LINE;
}

/* ---- adding ---- */

/* *end: where the last whole line ends. */
static bool find_end(const char *path, struct order_line *last, off_t *end,
                     char error[ORDER_FILE_TEXT_MAX])
{
    struct order_file file;
    struct order_line line;
    enum order_next next = ORDER_LINE;
    if (!order_file_open(&file, path, error))
        return false;
    *end = 0;
    while ((next = order_file_next(&file, &line, error)) == ORDER_LINE)
        *end = ftello(file.stream);
    *last = file.last;
    order_file_close(&file);
    return next == ORDER_END;
}

FILE *order_file_append(const char *path, struct order_line *last, char error[ORDER_FILE_TEXT_MAX])
{
    off_t end = 0;
    *last = (struct order_line){0};
    FILE *stream = fopen(path, "ae");
    if (stream == NULL) {
        (void)refuse(error, "write", path);
        return NULL;
    }
    if (!find_end(path, last, &end, error)) {
        fclose(stream);
        return NULL;
    }
    if (ftruncate(fileno(stream), end) != 0) {
        (void)refuse(error, "write", path);
        fclose(stream);
        return NULL;
    }
    return stream;
}

void order_file_write(FILE *stream, const struct order_line *line)
{
    fprintf(stream, "%" PRIu64 " %u %u %" PRIu64 " %" PRIu64 "\n", line->step, line->producer,
            line->epoch, line->sequence, line->tgb_bytes);
}
