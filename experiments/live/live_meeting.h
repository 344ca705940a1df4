/* live_meeting.h - how rank 0 tells the other ranks which run comes next, and where: objects below
 * a prefix that all of them can work out, <live.store>/meetings/<experiment>-<token>/.
 *
 *     run-<number>       from 1 on: a run, or that there is none left
 *
 * Functions open and close a session of their own, and block. Ours. */
#ifndef EXPERIMENTS_LIVE_MEETING_H
#define EXPERIMENTS_LIVE_MEETING_H

#include <stdbool.h>

#include "experiments/config/experiment.h"
#include "experiments/live/live_group.h"
#include "experiments/live/live_place.h"
#include "experiments/results/results.h"

struct live_meeting {
    const struct config *config; /* borrowed, as all here: of the first arm */
    const char *experiment;
    const struct live_ranks *ranks;
    struct live_signals *signals; /* open */
    uint64_t number;              /* of the latest run; 0: none yet */
    bool lost;                    /* rank 0: a call failed, so that no other may follow */
};

/* As heard: texts are harmless for a terminal and `group` is hexadecimal, but whether `url` is a
 * place for this rank is the caller's to check. */
struct live_call {
    bool over;   /* no run is left; the rest says nothing but whether ... */
    bool failed; /* ... rank 0 gave up */
    char url[LIVE_URL_MAX];
    char arm[2 * CONFIG_NAME_MAX];
    char hash[RESULTS_HASH_MAX]; /* of the arm's config: all ranks must have the same */
    char group[LIVE_GROUP_ID_MAX];
    uint64_t seed;
};

/* What is stored for a call. The caller frees it. */
char *live_meeting_print(const struct live_ranks *ranks, const struct live_call *call);
/* The other way; pure. False: `text` says what is wrong with it. */
MUST_USE bool live_meeting_parse(const struct live_ranks *ranks, const struct body *body,
                                 struct live_call *call, char text[LIVE_GROUP_TEXT_MAX]);

/* Rank 0: the next run. False: the text says why; after the first also that the token was used
 * before. */
MUST_USE bool live_meeting_call(struct live_meeting *meeting, const struct live_call *call,
                                char text[LIVE_GROUP_TEXT_MAX]);

/* The others: waits for the next run. */
MUST_USE enum live_group_end live_meeting_hear(struct live_meeting *meeting, struct live_call *call,
                                               char text[LIVE_GROUP_TEXT_MAX]);

#endif
