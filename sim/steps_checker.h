/* steps_checker.h - see checkers.h: batches in order, once, contiguous, stored before they are
 * named. */
#ifndef SIM_STEPS_CHECKER_H
#define SIM_STEPS_CHECKER_H

#include "core/producer.h"
#include "sim/chain_checker.h"
#include "sim/virtual_store.h"

/* What the chain says about one producer so far. */
struct stream {
    uint64_t sequence; /* of the last committed batch */
    uint64_t offset;   /* where it ends */
    uint32_t epoch;    /* of the producer's newest version; 0: none */
    uint32_t reported_epoch;
    struct incarnation incarnation;
    uint64_t reported; /* last batch that the producer called visible */
};

struct steps_checker {
    const struct virtual_store *store; /* NULL: do not look whether TGBs are stored */
    struct stream *streams;            /* by producer */
    uint32_t stream_count;
    uint64_t first_step;
    uint64_t next_step;
    uint64_t *entry_hashes; /* by step, of decoded versions */
    uint64_t entry_hash_capacity;
};

void steps_checker_init(struct steps_checker *steps);
void steps_checker_deinit(struct steps_checker *steps);
/* `floor_step`: the highest step that a floor gave up. */
void steps_checker_version(struct steps_checker *steps, uint64_t floor_step,
                           const struct checked_version *checked, struct violations *violations);
void steps_checker_visible(struct steps_checker *steps, int64_t now_ns, uint32_t producer,
                           const struct batch *batch, struct violations *violations);

#endif
