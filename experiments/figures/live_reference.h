/* live_reference.h - live runs that were kept as a CSV, so that a machine without the stores can
 * set them beside what it simulates.
 *
 * A reference file (reference_file.h) with LIVE_REFERENCE_COLUMNS; its notes tell about the machine
 * and the servers. tools/sim_vs_live.sh writes it. */
#ifndef EXPERIMENTS_LIVE_REFERENCE_H
#define EXPERIMENTS_LIVE_REFERENCE_H

#include "experiments/config/config.h"
#include "experiments/figures/reference_file.h"

#define LIVE_REFERENCE_ROWS_MAX 1024
#define LIVE_REFERENCE_COLUMNS                                                                     \
    "arm,seed,success,committed_mb_s,attempts,rate,tgb,duration_s,commit,started"

struct live_reference_row {
    char arm[2 * CONFIG_NAME_MAX];
    uint64_t seed;
    double success;        /* ratio */
    double committed_mb_s; /* 10^6 bytes/s */
    double attempts;
    double rate; /* of one producer, bytes/s; these three say what was run */
    uint64_t tgb_bytes;
    double duration_s;
};

struct live_reference {
    size_t count;
    struct live_reference_row rows[LIVE_REFERENCE_ROWS_MAX];
    char notes[REFERENCE_NOTES_MAX]; /* the '#' lines without it, each with its newline */
};

/* Blocks. False: the diagnostic says path:line and what is wrong. */
MUST_USE bool live_reference_read(const char *path, struct live_reference *reference,
                                  struct diagnostic *diagnostic);
/* Whether the row is a run of this arm as it is configured now. */
bool live_reference_matches(const struct live_reference_row *row, const char *arm,
                            const struct config *config);

#endif
