/* rank_log.c - see rank_log.h. Ours. */
#include "experiments/consume/rank_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "experiments/config/text_line.h"
#include "experiments/config/units.h"

#define LINE_MAX_BYTES 192
#define DIGEST_DIGITS 16

/* ---- writing ---- */

int rank_log_open(const char *folder, uint32_t rank, char error[RANK_LOG_TEXT_MAX])
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/rank-%u.log", folder, rank);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        snprintf(error, RANK_LOG_TEXT_MAX, "cannot write %.400s: %s", path, strerror(errno));
    return fd;
}

static bool write_line(int fd, const char *line, int chars)
{
    assert(chars > 0 && chars < LINE_MAX_BYTES);
    ssize_t written = write(fd, line, (size_t)chars);
    if (written >= 0 && written < chars)
        errno = ENOSPC;
    return written == chars;
}

bool rank_log_start(int fd, uint64_t step, uint64_t number, uint64_t digest)
{
    char line[LINE_MAX_BYTES];
    int chars = snprintf(line, sizeof(line), "start %" PRIu64 " %" PRIu64 " %016" PRIx64 "\n", step,
                         number, digest);
    return write_line(fd, line, chars);
}

bool rank_log_step(int fd, const struct consumer_delivery *delivery, uint64_t digest)
{
    char line[LINE_MAX_BYTES];
    const struct tgb_name *tgb = &delivery->entry.tgb;
    int chars = snprintf(
        line, sizeof(line), "%" PRIu64 " %u %u %" PRIu64 " %" PRIu64 " %016" PRIx64 "\n",
        delivery->step, tgb->producer, tgb->epoch, tgb->sequence, delivery->slice.bytes, digest);
    return write_line(fd, line, chars);
}

/* ---- reading ---- */

bool rank_log_read(struct rank_log *log, const char *folder, uint32_t rank,
                   char error[RANK_LOG_TEXT_MAX])
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/rank-%u.log", folder, rank);
    *log = (struct rank_log){.stream = fopen(path, "re")};
    if (log->stream == NULL)
        snprintf(error, RANK_LOG_TEXT_MAX,
                 "cannot read %.400s: %s; name the folder of lakestream consume --log, with its "
                 "--ranks, where this user may read",
                 path, strerror(errno));
    return log->stream != NULL;
}

void rank_log_close(struct rank_log *log)
{
    if (log->stream != NULL)
        fclose(log->stream);
    *log = (struct rank_log){0};
}

static bool take_number(char **text, uint64_t *number)
{
    struct diagnostic diagnostic;
    char *end = strchr(*text, ' ');
    if (end == NULL)
        return false;
    *end = '\0';
    bool right = unit_parse_count(*text, number, &diagnostic);
    *text = end + 1;
    return right;
}

static bool take_digest(const char *text, uint64_t *digest)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t value = 0;
    if (strlen(text) != DIGEST_DIGITS)
        return false;
    for (int i = 0; i < DIGEST_DIGITS; i++) {
        const char *digit = strchr(digits, text[i]);
        if (digit == NULL)
            return false;
        value = value << 4 | (uint64_t)(digit - digits);
    }
    *digest = value;
    return true;
}

static bool parse(char *text, struct rank_line *line)
{
    static const char start[] = "start ";
    uint64_t producer = 0;
    uint64_t epoch = 0;
    *line = (struct rank_line){.start = strncmp(text, start, strlen(start)) == 0};
    if (line->start)
        text += strlen(start);
    if (!take_number(&text, &line->step))
        return false;
    if (line->start)
        return take_number(&text, &line->number) && take_digest(text, &line->digest);
    if (!take_number(&text, &producer) || !take_number(&text, &epoch) ||
        !take_number(&text, &line->sequence) || !take_number(&text, &line->slice_bytes) ||
        producer > UINT32_MAX || epoch > UINT32_MAX)
        return false;
    line->producer = (uint32_t)producer;
    line->epoch = (uint32_t)epoch;
    return take_digest(text, &line->digest);
}

enum rank_log_next rank_log_next(struct rank_log *log, struct rank_line *line)
{
    char text[LINE_MAX_BYTES];
    enum text_line got = text_line_read(log->stream, text, sizeof(text));
    if (got == TEXT_LINE_END)
        return RANK_LOG_END;
    log->line++;
    return got == TEXT_LINE_WHOLE && parse(text, line) ? RANK_LOG_LINE : RANK_LOG_DAMAGED;
}
