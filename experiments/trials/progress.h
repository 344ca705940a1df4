/* progress.h - wall time, and what a person sees while something long runs.
 *
 * The only wall clock of experiments/. On a terminal one line is rewritten in place; elsewhere a
 * plain line appears about every ten seconds. Nothing blocks but the stream. */
#ifndef EXPERIMENTS_PROGRESS_H
#define EXPERIMENTS_PROGRESS_H

#include <stdbool.h>
#include <stdio.h>

#include "core/base.h"

#define PROGRESS_TEXT_MAX 32 /* bytes of a time or duration, with the NUL */

/* Monotonic: for durations only. */
int64_t progress_now_ns(void);
/* Wall time as ISO 8601 in UTC. */
void progress_time_text(char text[PROGRESS_TEXT_MAX]);

/* Zero-initialised apart from the stream and the label is ready. */
struct progress {
    FILE *stream;      /* borrowed; NULL: silent */
    const char *label; /* borrowed */
    const char *unit;  /* what is counted, borrowed; NULL: runs */
    bool terminal;
    bool dirty; /* the terminal's line holds text */
    int64_t last_ns;
};

struct progress_state {
    size_t done; /* the skipped ones included */
    size_t total;
    size_t failed;
    double eta_s; /* negative: not known yet */
};

struct progress progress_make(FILE *stream, const char *label);
/* Shows the state if it is time to; a terminal sees it five times a second at most. */
void progress_show(struct progress *progress, const struct progress_state *state);
/* Clears the terminal's line, so that other text may follow. */
void progress_clear(struct progress *progress);

/* "8 s", "2 min 05 s", "1 h 20 min". */
void progress_duration_text(double duration_s, char text[PROGRESS_TEXT_MAX]);

#endif
