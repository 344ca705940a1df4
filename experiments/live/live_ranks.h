/* live_ranks.h - which of several processes this one is, where one live run is started on many
 * nodes by the same command, and which producers are its share. */
#ifndef EXPERIMENTS_LIVE_RANKS_H
#define EXPERIMENTS_LIVE_RANKS_H

#include <stdbool.h>

#include "core/base.h"

#define LIVE_RANKS_MAX 4096
#define LIVE_PRODUCERS_MAX 4096 /* of one rank */
#define LIVE_TOKEN_MAX 64
#define LIVE_RANKS_TEXT_MAX 256

struct live_ranks {
    uint32_t rank;
    uint32_t count;             /* 1: this process is alone */
    char token[LIVE_TOKEN_MAX]; /* by which the ranks find each other; empty: alone */
};

/* As given on the command line; NULL and 0: not given. */
struct live_ranks_flags {
    const char *rank;
    uint64_t ranks;
    const char *token;
};

/* From the flags; else from the environment that mpirun (Open MPI, or any that speaks PMI) or srun
 * made. Below srun the job and step are the token, unless one is given. False: the text says what
 * is missing or contradicts, and what to do. */
MUST_USE bool live_ranks_find(const struct live_ranks_flags *flags, struct live_ranks *ranks,
                              char text[LIVE_RANKS_TEXT_MAX]);

/* Whether every rank has a producer, and none more than fit on one machine. False: the text says
 * what to change. */
MUST_USE bool live_ranks_fit(const struct live_ranks *ranks, uint64_t producers,
                             char text[LIVE_RANKS_TEXT_MAX]);

/* This rank's producers: *count of them, from *first on. Shares differ by one at most. */
void live_ranks_share(const struct live_ranks *ranks, uint32_t producers, uint32_t *first,
                      uint32_t *count);

#endif
