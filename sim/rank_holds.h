/* rank_holds.h - which steps each rank may still ask for, from what the ranks and the store show:
 * what the reclaim checker is told.
 *
 * A rank's number that was allowed to run holds its first step, then its oldest checkpoint that is
 * durable; the checkpoints hold on after its process died. A higher number ends a hold that no
 * checkpoint stands for; "retired" on that number or a higher one ends any, and so does a higher
 * number whose value is above it: it was started from something younger. Ours; the rules that it
 * restates are those of docs/data_plane.md. */
#ifndef SIM_RANK_HOLDS_H
#define SIM_RANK_HOLDS_H

#include "core/checkpoint.h"
#include "core/store.h"
#include "sim/reclaim_checker.h"

struct rank_hold {
    uint64_t highest; /* number taken */
    uint64_t retired; /* highest number that has ended */
    uint64_t holder;  /* highest number that was allowed */
    bool kept;        /* durable checkpoints stand for it */
    uint64_t step;    /* that is held; 0: none */
    uint64_t valued;  /* highest number with a value, */
    uint64_t value;   /* and the last one */
    uint64_t most;    /* the highest value ever, on any number */
};

struct rank_holds {
    struct reclaim_checker *reclaim; /* borrowed */
    struct rank_hold *ranks;
    uint32_t count;
};

void rank_holds_deinit(struct rank_holds *holds);
/* Borrowed until another rank is asked for. */
const struct rank_hold *rank_holds_of(struct rank_holds *holds, uint32_t rank);

/* An operation below watermark/ that succeeded. */
void rank_holds_applied(struct rank_holds *holds, const struct store_op *op);
/* The rank is started anew without its checkpoints: they are given up. */
void rank_holds_abandoned(struct rank_holds *holds, uint32_t rank);
/* A number of the rank may run from `step` on, with these checkpoints durable. */
void rank_holds_allowed(struct rank_holds *holds, uint32_t rank, uint64_t number, uint64_t step,
                        const struct checkpoint_set *set);
/* A number of the rank has made these checkpoints durable. */
void rank_holds_saved(struct rank_holds *holds, uint32_t rank, uint64_t number,
                      const struct checkpoint_set *set);

#endif
