/* rank_log.h - what one rank was given, as text: for each life a line "start STEP NUMBER DIGEST",
 * then for every step "STEP PRODUCER EPOCH SEQUENCE BYTES DIGEST". Each line is one write, so that
 * a killed process leaves whole lines. Ours. */
#ifndef EXPERIMENTS_RANK_LOG_H
#define EXPERIMENTS_RANK_LOG_H

#include <stdbool.h>
#include <stdio.h>

#include "core/consumer.h"

#define RANK_LOG_TEXT_MAX 640

/* Opens FOLDER/rank-RANK.log to add to. -1: `error` says why. */
int rank_log_open(const char *folder, uint32_t rank, char error[RANK_LOG_TEXT_MAX]);
/* False: errno says why. */
MUST_USE bool rank_log_start(int fd, uint64_t step, uint64_t number, uint64_t digest);
/* `digest`: of all steps up to this one. */
MUST_USE bool rank_log_step(int fd, const struct consumer_delivery *delivery, uint64_t digest);

/* One line of a log, read. */
struct rank_line {
    bool start;
    uint64_t step;
    uint64_t number; /* of a start */
    uint64_t sequence;
    uint64_t slice_bytes;
    uint64_t digest;
    uint32_t producer;
    uint32_t epoch;
};

/* A log that is being read; zero it first. */
struct rank_log {
    FILE *stream;
    uint64_t line;
};

enum rank_log_next {
    RANK_LOG_LINE,
    RANK_LOG_END,
    RANK_LOG_DAMAGED, /* log->line is not a line */
};

MUST_USE bool rank_log_read(struct rank_log *log, const char *folder, uint32_t rank,
                            char error[RANK_LOG_TEXT_MAX]);
MUST_USE enum rank_log_next rank_log_next(struct rank_log *log, struct rank_line *line);
void rank_log_close(struct rank_log *log);

#endif
