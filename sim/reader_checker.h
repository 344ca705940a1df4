/* reader_checker.h - what ranks are given, against what the chain has committed.
 *
 * - A life begins at the checkpoint that it goes back to, and is given every step from there on, in
 *   turn, each once: the entry that is committed at that step, and this rank's slice of it, byte
 *   for byte where bytes travel. So whoever replays a step, whenever, is given the same.
 *
 * - A checkpoint names a place that the life was at, with the digest of what was before it. What is
 *   kept goes only where there are more than are to be kept, the oldest first, or where a rollback
 *   leaves it behind.
 *
 * - Nobody reports a loss, and who says that he was superseded or retired was. Ours. */
#ifndef SIM_READER_CHECKER_H
#define SIM_READER_CHECKER_H

#include "core/consumer.h"
#include "sim/committed_order.h"
#include "sim/rank_holds.h"
#include "sim/violations.h"

#define READER_PLACES_MAX (4 * CHECKPOINTS_MAX)

/* One process of one rank. */
struct reader_life {
    uint32_t rank;
    bool running;
    bool refused;           /* a request for good, by the store */
    uint64_t next_step;     /* to be given */
    uint64_t digest;        /* of the steps before it */
    uint64_t digest_before; /* ... without the last one */
    /* Where it was when a checkpoint was asked for, and what it found; the oldest are overwritten.
     */
    struct checkpoint places[READER_PLACES_MAX];
    uint64_t place_count;
    struct checkpoint_set set; /* as it last wanted it to be durable; at first, what it found */
    uint32_t kept;             /* at most */
};

struct reader_checker {
    const struct committed_order *order; /* borrowed */
    struct rank_holds *holds;            /* borrowed */
    struct violations *violations;       /* borrowed */
    uint32_t slices;                     /* of a TGB; 0: plain ones */
    struct reader_life *lives;
    uint32_t life_count;
    uint32_t life_capacity;
    uint64_t given; /* steps, to all lives */
};

void reader_checker_deinit(struct reader_checker *reader); /* of a zeroed one, too */
/* The number of the life. `options`: its checkpoints are those that are durable. */
uint32_t reader_checker_add(struct reader_checker *reader, const struct consumer_options *options);
/* It may run, from `step` on. `from`: the checkpoint to go back to; NULL: none. */
void reader_checker_running(struct reader_checker *reader, int64_t now_ns, uint32_t life,
                            uint64_t step, const struct checkpoint *from);
void reader_checker_given(struct reader_checker *reader, int64_t now_ns, uint32_t life,
                          const struct consumer_delivery *delivery);
/* A checkpoint is asked for before `step`. */
void reader_checker_place(struct reader_checker *reader, uint32_t life, uint64_t step);
/* The life wants these to be durable. */
void reader_checker_saves(struct reader_checker *reader, int64_t now_ns, uint32_t life,
                          const struct checkpoint_set *set);
/* It is about to be refused a request for good, as only a store that fails does. */
void reader_checker_refused(struct reader_checker *reader, uint32_t life);
/* `number`: of the life; 0: it has none. */
void reader_checker_ended(struct reader_checker *reader, int64_t now_ns, uint32_t life,
                          uint64_t number, enum consumer_end end, const char *text);

#endif
