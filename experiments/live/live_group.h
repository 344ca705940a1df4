/* live_group.h - the ranks of one live run, as one of them sees them: a barrier before the run and
 * results after it, both through objects below the run's own prefix.
 *
 *     run/group-<id>/ready-<rank>     this rank's producers stand ready, or why not; its clock
 *     run/group-<id>/start            by rank 0: when the run starts, or why it does not; its clock
 *     run/group-<id>/result-<rank>    how it ended there, and what was recorded
 *
 * The id is drawn by rank 0 for every run, so that a prefix that is gone on with holds nothing that
 * could be taken for today's. Functions block on the store and on other ranks, the latter for at
 * most live.patience; they may be called only while the process has one thread, and leave it so. A
 * signal ends the waiting.
 *
 * Clocks: the start is a time by rank 0's clock, and every rank takes it by its own. A rank whose
 * clock is off by more than about live.lead does not start. Each message carries its sender's
 * clock, which bounds the difference from both sides, as in NTP. Ours. */
#ifndef EXPERIMENTS_LIVE_GROUP_H
#define EXPERIMENTS_LIVE_GROUP_H

#include "experiments/config/config.h"
#include "experiments/live/live_child.h"
#include "experiments/live/live_ranks.h"
#include "experiments/live/live_signals.h"
#include "experiments/results/run_results.h"

#define LIVE_GROUP_ID_MAX 17
#define LIVE_GROUP_TEXT_MAX 512

struct live_group {
    struct live_ranks ranks; /* more than one */
    char id[LIVE_GROUP_ID_MAX];
    const struct config *config;  /* borrowed, as all here */
    const char *url;              /* of the run */
    struct live_signals *signals; /* open */
    /* Filled as the run goes on. */
    bool stood_ready;
    int64_t heard_ns[LIVE_RANKS_MAX]; /* rank 0: own clock less the sender's, as `ready` came */
    int64_t start_heard_ns;           /* others: the same of `start` */
};

enum live_group_end {
    LIVE_GROUP_DONE,
    LIVE_GROUP_FAILED, /* the text says what failed and what to do */
    LIVE_GROUP_ASKED,  /* a signal came */
};

void live_group_draw_id(char id[LIVE_GROUP_ID_MAX]);

/* The barrier. On DONE *start_ns is the run's start, by rank 0's clock, and *wait_ns how far off it
 * is by this one's; it may be a little negative. */
MUST_USE enum live_group_end live_group_start(struct live_group *group, int64_t *start_ns,
                                              int64_t *wait_ns, char text[LIVE_GROUP_TEXT_MAX]);

/* What a run came to: of one rank, or, at rank 0 after the conclusion, of all. */
struct live_group_result {
    const char *failure; /* empty: it did not fail. Borrowed */
    struct live_counts counts;
    uint32_t restarts;
    uint64_t memory_bytes;     /* the most of any producer */
    struct recorder *recorder; /* NULL: the run did not start. Borrowed */
};

/* After this rank's end. Ranks other than 0 tell their result, also of a run that did not start
 * here. Rank 0, for a run that did not fail here, waits for those and adds them to its own, with
 * metrics about ranks and clocks in `results`; FAILED: one of them failed, or which ones are
 * missing. */
MUST_USE enum live_group_end live_group_conclude(struct live_group *group,
                                                 struct live_group_result *result,
                                                 struct run_results *results,
                                                 char text[LIVE_GROUP_TEXT_MAX]);

#endif
