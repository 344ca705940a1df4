/* progress.c - see progress.h. */
#include "experiments/trials/progress.h"

#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define TERMINAL_PERIOD_NS (200 * NS_PER_MS)
#define LINE_MAX_BYTES 512
#define PLAIN_PERIOD_NS (10 * NS_PER_S)

int64_t progress_now_ns(void)
{
    struct timespec now;
    int failed = clock_gettime(CLOCK_MONOTONIC, &now);
    assert(failed == 0);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

void progress_time_text(char text[PROGRESS_TEXT_MAX])
{
    time_t now = time(NULL);
    struct tm parts;
    struct tm *converted = gmtime_r(&now, &parts);
    assert(converted != NULL);
    size_t length = strftime(text, PROGRESS_TEXT_MAX, "%Y-%m-%dT%H:%M:%SZ", &parts);
    assert(length > 0);
}

struct progress progress_make(FILE *stream, const char *label)
{
    return (struct progress){
        .stream = stream,
        .label = label,
        .terminal = stream != NULL && isatty(fileno(stream)),
        .last_ns = progress_now_ns(),
    };
}

void progress_duration_text(double duration_s, char text[PROGRESS_TEXT_MAX])
{
    int64_t whole = duration_s > 0 ? (int64_t)(duration_s + 0.5) : 0;
    if (whole < 60)
        snprintf(text, PROGRESS_TEXT_MAX, "%d s", (int)whole);
    else if (whole < 3600)
        snprintf(text, PROGRESS_TEXT_MAX, "%d min %02d s", (int)(whole / 60), (int)(whole % 60));
    else
        snprintf(text, PROGRESS_TEXT_MAX, "%lld h %02d min", (long long)(whole / 3600),
                 (int)(whole % 3600 / 60));
}

/* What fits into one line: a line that wraps is not rewritten in place. */
static int columns_of(FILE *stream)
{
    struct winsize size;
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) != 0 || size.ws_col < 2)
        return LINE_MAX_BYTES;
    return size.ws_col - 1;
}

void progress_show(struct progress *progress, const struct progress_state *state)
{
    if (progress->stream == NULL)
        return;
    int64_t now_ns = progress_now_ns();
    int64_t period_ns = progress->terminal ? TERMINAL_PERIOD_NS : PLAIN_PERIOD_NS;
    if (now_ns - progress->last_ns < period_ns)
        return;
    progress->last_ns = now_ns;
    char eta[48] = "time left unknown";
    if (state->eta_s >= 0) {
        char duration[PROGRESS_TEXT_MAX];
        progress_duration_text(state->eta_s, duration);
        snprintf(eta, sizeof(eta), "about %s left", duration);
    }
    char failed[32] = "";
    if (state->failed > 0)
        snprintf(failed, sizeof(failed), ", %zu failed", state->failed);
    double percent = state->total > 0 ? 100.0 * (double)state->done / (double)state->total : 100;
    char line[LINE_MAX_BYTES];
    snprintf(line, sizeof(line), "%s: %zu of %zu %s (%.0f %%)%s, %s", progress->label, state->done,
             state->total, progress->unit != NULL ? progress->unit : "runs", percent, failed, eta);
    if (progress->terminal)
        fprintf(progress->stream, "\r%.*s\033[K", columns_of(progress->stream), line);
    else
        fprintf(progress->stream, "%s\n", line);
    fflush(progress->stream);
    progress->dirty = progress->terminal;
}

void progress_clear(struct progress *progress)
{
    if (!progress->dirty)
        return;
    fputs("\r\033[K", progress->stream);
    fflush(progress->stream);
    progress->dirty = false;
}
