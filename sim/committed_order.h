/* committed_order.h - what the chain has committed, step by step, and where each TGB stands: what
 * the reader and reclaim checkers hold others to.
 *
 * Told of each version that joins the chain, in turn (sim/checkers.h); costs the new entries. Kept
 * for the whole run, also what was given up since. Running out of memory ends the program. Ours. */
#ifndef SIM_COMMITTED_ORDER_H
#define SIM_COMMITTED_ORDER_H

#include "core/manifest.h"

enum tgb_standing {
    TGB_COMMITTED, /* under exactly this name */
    TGB_UNDECIDED, /* may still be committed */
    TGB_ORPHAN,    /* never was and never will be */
};

/* Steps of one producer's batches, by sequence - 1. */
struct committed_steps {
    uint64_t *steps;
    uint64_t count;
    uint64_t capacity;
};

struct committed_order {
    struct manifest_entry *entries; /* by step - 1 */
    uint64_t count;
    uint64_t capacity;
    struct committed_steps *producers;
    uint32_t producer_count;
    struct manifest *newest; /* NULL: none yet */
};

void committed_order_deinit(struct committed_order *order); /* of a zeroed one, too */
/* The newest version, borrowed. */
void committed_order_version(struct committed_order *order, const struct manifest *manifest);

/* NULL if the step is not committed. Borrowed until the next version. */
const struct manifest_entry *committed_order_entry(const struct committed_order *order,
                                                   uint64_t step);
/* As of the newest version; the step of a committed one is in *step, otherwise 0. */
enum tgb_standing committed_order_standing(const struct committed_order *order,
                                           const struct tgb_name *name, uint64_t *step);

/* The same TGB: every part of the name agrees. */
bool tgb_name_equal(const struct tgb_name *one, const struct tgb_name *other);

#endif
