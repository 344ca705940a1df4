/* world.h - the smallest world in which the commit protocol can go wrong: real commit machines
 * (core/commit.h) on a store of a few versions, with late writes, crashes, zombies and a reclaimer.
 *
 * A world is copied by world_copy, so that a search can try every choice in it. Time stands still:
 * nothing in the protocol may depend on it. One step applies an operation and answers it: what a
 * machine does with an answer touches nobody else, so delaying the answer is the same as delaying
 * the next operation. */
#ifndef TESTS_MODEL_WORLD_H
#define TESTS_MODEL_WORLD_H

#include <stdbool.h>

#include "core/commit.h"
#include "tests/model/search.h"

#define WORLD_VERSIONS_MAX 24
#define WORLD_MACHINES_MAX 6
#define WORLD_LATE_MAX 4
#define WORLD_PRODUCERS_MAX 3
#define WORLD_PROBLEM_MAX 256

struct world_bounds {
    uint32_t producers;    /* started at the beginning */
    uint32_t machines;     /* incarnations in all, restarts included */
    uint64_t versions;     /* no attempt begins once the living chain is this long */
    uint32_t unknowns;     /* creates that are answered UNKNOWN, landing or not */
    uint32_t late;         /* of them, how many may be on their way at a time */
    uint32_t floors;       /* times that the reclaimer raises the floor, to the newest but one */
    bool floors_at_newest; /* or to the newest version itself */
    uint32_t crashes;      /* machines that die; a restart needs none: the old one may live on */
    enum commit_find find;
};

struct late_create {
    uint64_t version;
    struct manifest *manifest;
};

struct machine {
    struct commit commit;
    struct batch_queue queue;
    bool alive;    /* has an operation to be answered, or may begin an attempt */
    bool busy;     /* an operation is to be answered */
    uint64_t lost; /* bit n: attempt n was reported lost */
};

struct world {
    struct world_bounds bounds;
    struct manifest *stored[WORLD_VERSIONS_MAX + 1]; /* what a GET finds */
    struct floor floor;
    struct machine machines[WORLD_MACHINES_MAX];
    uint32_t machine_count;
    struct late_create late[WORLD_LATE_MAX];
    uint32_t late_count;
    uint32_t unknowns;
    uint32_t floors;
    uint32_t crashes;

    /* What the protocol must keep, written down by the store as things happen. */
    uint64_t newest;                                 /* of the living chain */
    struct manifest *living[WORLD_VERSIONS_MAX + 1]; /* borrowed by nobody: own references */
    bool zombie;                     /* the last step was a create that landed below the floor */
    char problem[WORLD_PROBLEM_MAX]; /* empty: all is well */
};

/* A choice: what happens next. */
enum choice_kind {
    CHOICE_ANSWER,          /* machine: its operation is applied and answered truthfully */
    CHOICE_APPLIED_UNKNOWN, /* machine: its create is applied, the answer lost */
    CHOICE_LOST_UNKNOWN,    /* machine: its create is lost */
    CHOICE_LATE_UNKNOWN,    /* machine: its create is on its way, and given up */
    CHOICE_LAND,            /* index: a late create lands */
    CHOICE_BEGIN,           /* machine: it begins an attempt */
    CHOICE_CRASH,           /* machine: it dies; its create may land later */
    CHOICE_RESTART,     /* index: a producer's next incarnation starts; the last one may live on */
    CHOICE_RAISE_FLOOR, /* index: so many versions below the newest living one */
    CHOICE_DELETE,      /* index: a version below the floor */
};

/* Bounds are a struct world_bounds. */
extern const struct world_kind commit_world;

#endif
