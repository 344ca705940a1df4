/* lifecycle.h - the smallest world in which the life of steps can go wrong: producers commit them
 * (core/commit.h), consumers fetch them, keep checkpoints, crash, start again and go back
 * (core/consumer.h), reclaimers give them up (core/reclaim.h), all on one store with lost answers
 * and late writes.
 *
 * Time stands still: nothing may depend on it. One step applies an operation and answers it: what a
 * machine does with an answer touches nobody else. A reclaimer that dies is one that is not chosen
 * any more. A read is never lost and nobody dies before one: dying after it comes to the same. */
#ifndef TESTS_MODEL_LIFECYCLE_H
#define TESTS_MODEL_LIFECYCLE_H

#include "core/commit.h"
#include "core/consumer.h"
#include "core/reclaim.h"
#include "tests/model/lifecycle_store.h"
#include "tests/model/search.h"

#define LIFECYCLE_PRODUCERS_MAX 4
#define LIFECYCLE_RANKS_MAX 5
#define LIFECYCLE_RECLAIMERS_MAX 2
#define LIFECYCLE_STEPS_MAX 16

/* The operations of a consumer: of its number, of the chain, of a slice. */
enum rank_slot {
    RANK_SLOT_CONTROL,
    RANK_SLOT_CHAIN,
    RANK_SLOT_FETCH,
    RANK_SLOTS,
};

#define RECLAIMER_SLOTS (RECLAIM_SLOT_DELETES + 1)

/* Writes that may go wrong. */
enum {
    FAULTS_VERSIONS = 1,
    FAULTS_MARKERS = 2, /* floors, intents */
    FAULTS_WATERMARKS = 4,
    FAULTS_DELETIONS = 8,
    FAULTS_ALL = 15,
};

struct lifecycle_bounds {
    uint32_t steps;     /* committed before the search begins, each by a version of its own */
    uint32_t producers; /* names that may commit; each has its first incarnation at the beginning */
    uint32_t incarnations; /* of them in all: more than producers are successors, starting now */
    uint32_t batches;      /* that producers commit in all */
    uint32_t consumers;    /* names */
    uint32_t joined;       /* of them, so many run already, with a checkpoint at step 1 */
    uint32_t lives;        /* processes of consumers in all, those that joined included */
    uint32_t agreed;       /* step at which a consumer starts without checkpoints; 0: anywhere */
    uint32_t zombies;      /* of them, so many may start while another of the same name lives on */
    uint32_t advances;     /* steps that are taken, each followed by a checkpoint */
    uint32_t kept;         /* checkpoints */
    uint32_t readers;      /* 1: a consumer's reads are steps of their own; 0: done in an instant */
    uint32_t retirements;  /* of consumer 0, by hand, one after the other */
    uint32_t rollbacks;    /* starts at the oldest checkpoint instead of the newest */
    uint32_t forgets;      /* 1: keys of numbers below the highest allowed one may be deleted */
    uint32_t reclaimers;   /* that may work at the same time */
    uint32_t rounds;       /* in all */
    uint32_t behind;       /* of the reclaimers' version */
    uint32_t page_keys;    /* of a listing's page at most; 0: all in one */
    uint32_t faults;       /* FAULTS_... of these writes, and no others: */
    uint32_t unknowns;     /* writes that are answered UNKNOWN, landing or not */
    uint32_t late;         /* writes on their way at a time, of these or of the dead */
};

/* What is pending of an actor, and the answer that it waits for. */
enum actor_kind {
    ACTOR_PRODUCER,
    ACTOR_RANK,
    ACTOR_RECLAIMER,
    ACTOR_RETIRER,
};

struct producer_actor {
    struct commit commit;
    struct batch_queue queue;
    bool alive;
    bool busy;
};

/* A process of a consumer. */
struct rank_actor {
    struct consumer *machine; /* owned; NULL: it ended, or died */
    uint32_t consumer;        /* its name */
    bool busy[RANK_SLOTS];    /* an operation is to be answered */
    bool saving;              /* the checkpoints are to be made durable */
    bool alone;               /* nobody else of this name lived since it started */
    bool back;                /* started at its oldest checkpoint */
};

struct reclaimer_actor {
    struct reclaim *machine; /* owned */
    bool busy[RECLAIMER_SLOTS];
    bool in_round;
};

/* Somebody who retires a consumer by hand. */
struct retirer_actor {
    struct membership *machine; /* owned; NULL: nobody does */
    uint32_t consumer;
};

/* What survives the processes of a consumer, and what the specification knows of it. */
struct host {
    struct checkpoint_set durable;
    uint64_t writer;  /* number of the process that saved it */
    uint64_t allowed; /* highest number that was allowed to run */
    bool refused;     /* since then its checkpoints were refused: nothing is promised */
};

struct lifecycle {
    const struct lifecycle_bounds *bounds;
    struct lifecycle_store store;
    struct producer_actor producers[LIFECYCLE_PRODUCERS_MAX];
    struct rank_actor ranks[LIFECYCLE_RANKS_MAX];
    struct reclaimer_actor reclaimers[LIFECYCLE_RECLAIMERS_MAX];
    struct retirer_actor retirer;
    struct host hosts[LIFECYCLE_CONSUMERS_MAX];
    uint32_t producer_count;
    uint32_t rank_count;

    /* Spent of the bounds. */
    uint32_t batches;
    uint32_t zombies;
    uint32_t advances;
    uint32_t rollbacks;
    uint32_t retirements;
    uint32_t rounds;
    uint32_t unknowns;

    /* The committed order, as the store saw it come about. */
    struct manifest *newest;                 /* of the living chain; a reference */
    uint32_t order[LIFECYCLE_STEPS_MAX + 1]; /* keys of the TGBs by step */

    uint64_t events;   /* of the last step */
    char problem[256]; /* empty: all is well */
};

/* Bounds are a struct lifecycle_bounds. */
extern const struct world_kind lifecycle_world;

#endif
