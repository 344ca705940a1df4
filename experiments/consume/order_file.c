/* order_file.c - see order_file.h. Ours. */
#include "experiments/consume/order_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "experiments/config/text_line.h"
#include "experiments/config/units.h"

#define FIELDS 5
#define RUN_WORD "run "

static bool refuse_write(char error[ORDER_FILE_TEXT_MAX], const char *path)
{
    snprintf(error, ORDER_FILE_TEXT_MAX, "cannot write %.400s: %s", path, strerror(errno));
    return false;
}

bool order_file_open(struct order_file *file, const char *path, char error[ORDER_FILE_TEXT_MAX])
{
    *file = (struct order_file){.path = path, .stream = fopen(path, "re")};
    if (file->stream == NULL)
        snprintf(
            error, ORDER_FILE_TEXT_MAX,
            "cannot read %.400s: %s; name a file that lakestream consume --order wrote, and that "
            "this user may read",
            path, strerror(errno));
    return file->stream != NULL;
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

/* The next whole line, or one that is none (BAD). */
static enum text_line read_line(struct order_file *file, char text[ORDER_LINE_BYTES_MAX])
{
    enum text_line got = text_line_read(file->stream, text, ORDER_LINE_BYTES_MAX);
    if (got != TEXT_LINE_WHOLE && got != TEXT_LINE_BAD)
        return TEXT_LINE_END;
    file->line++;
    file->end += strlen(text) + 1;
    return got;
}

static bool take_run(struct order_file *file, const char *text)
{
    size_t word = strlen(RUN_WORD);
    if (file->line != 1 || strncmp(text, RUN_WORD, word) != 0 || text[word] == '\0' ||
        strlen(text + word) >= ORDER_RUN_MAX)
        return false;
    memcpy(file->run, text + word, strlen(text + word) + 1);
    return true;
}

enum order_next order_file_next(struct order_file *file, struct order_line *line,
                                char error[ORDER_FILE_TEXT_MAX])
{
    char text[ORDER_LINE_BYTES_MAX];
    enum text_line got = read_line(file, text);
    if (got == TEXT_LINE_WHOLE && take_run(file, text))
        got = read_line(file, text);
    if (got == TEXT_LINE_END)
        return ORDER_END;
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

/* To the end, so that all of it is an order. */
static bool read_whole(struct order_file *file, char error[ORDER_FILE_TEXT_MAX])
{
    struct order_line line;
    enum order_next next;
    do
        next = order_file_next(file, &line, error);
    while (next == ORDER_LINE);
    return next == ORDER_END;
}

static bool check_run(const struct order_file *file, const char *run,
                      char error[ORDER_FILE_TEXT_MAX])
{
    bool unsaid = file->run[0] == '\0';
    if (unsaid ? file->line == 0 : strcmp(file->run, run) == 0)
        return true;
    if (unsaid)
        snprintf(error, ORDER_FILE_TEXT_MAX,
                 "%.400s does not say which run's order it is; it can be read (lakestream digest), "
                 "but not gone on with: name another file",
                 file->path);
    else
        snprintf(error, ORDER_FILE_TEXT_MAX,
                 "%.400s is the order of another run (%s) than this one (%s); name another file",
                 file->path, file->run, run);
    return false;
}

/* What a crash cut off is removed; a new file says whose it is. */
static bool prepare(FILE *stream, const struct order_file *file, const char *run)
{
    if (ftruncate(fileno(stream), (off_t)file->end) != 0)
        return false;
    if (file->line == 0)
        fprintf(stream, RUN_WORD "%s\n", run);
    return fflush(stream) == 0;
}

FILE *order_file_append(const char *path, const char *run, struct order_line *last,
                        char error[ORDER_FILE_TEXT_MAX])
{
    struct order_file file;
    *last = (struct order_line){0};
    assert(run[0] != '\0' && strlen(run) < ORDER_RUN_MAX);
    FILE *stream = fopen(path, "ae");
    if (stream == NULL) {
        (void)refuse_write(error, path);
        return NULL;
    }
    bool good = order_file_open(&file, path, error);
    if (good && read_whole(&file, error) && check_run(&file, run, error)) {
        *last = file.last;
        good = prepare(stream, &file, run) || refuse_write(error, path);
    } else {
        good = false;
    }
    order_file_close(&file);
    if (good)
        return stream;
    fclose(stream);
    return NULL;
}

void order_file_write(FILE *stream, const struct order_line *line)
{
    fprintf(stream, "%" PRIu64 " %u %u %" PRIu64 " %" PRIu64 "\n", line->step, line->producer,
            line->epoch, line->sequence, line->tgb_bytes);
}
