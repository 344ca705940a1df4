/* checkers.h - watches what a virtual store applies, and says where the chain breaks its promises.
 *
 * - chain: every version is created once and in turn, on the version before it.
 *
 * - steps: every producer's batches appear in order, once, without a gap in its stream; a version
 *   names only TGBs that were stored before, with their sizes; nothing is dropped above the floor.
 *
 * - fence: no version by an epoch below the highest one of its producer, or by another incarnation
 *   of the same epoch.
 *
 * - reader, reclaim (sim/reader_checker.h, sim/reclaim_checker.h), where ranks are followed: every
 *   rank is given what is committed, in turn; nothing is given up or deleted that one still holds.
 *
 * They see references and decode bytes. The cost of a version is that of its new entries; decoded
 * versions are compared entry by entry with what was there before. A violation is recorded and the
 * run goes on. Running out of memory ends the program. Ours. */
#ifndef SIM_CHECKERS_H
#define SIM_CHECKERS_H

#include "core/producer.h"
#include "sim/chain_checker.h"
#include "sim/fence_checker.h"
#include "sim/reader_checker.h"
#include "sim/reclaim_checker.h"
#include "sim/steps_checker.h"
#include "sim/violations.h"
#include "sim/virtual_store.h"

struct checkers {
    struct chain_checker chain;
    struct steps_checker steps;
    struct fence_checker fence;
    struct violations violations;
    uint64_t manifest_bytes; /* size of the newest version */
    bool follows_ranks;      /* the next four are in use */
    struct committed_order order;
    struct reclaim_checker reclaim;
    struct rank_holds holds;
    struct reader_checker reader;
    /* Told of each version that joins the chain, after it was checked; NULL: not called. */
    void (*joined)(void *context, const struct checked_version *checked);
    void *joined_context;
};

void checkers_init(struct checkers *checkers);
void checkers_deinit(struct checkers *checkers);

/* What a virtual store is given as its observer. */
struct virtual_store_observer checkers_observer(struct checkers *checkers);
/* The store to look into, borrowed; before the loop runs. */
void checkers_watch(struct checkers *checkers, const struct virtual_store *store);
/* Ranks are checked, too; before the loop runs. `slices`: of a TGB; 0: plain ones. The struct stays
 * where it is from now on. */
void checkers_follow_ranks(struct checkers *checkers, uint32_t slices);
/* A producer reports one of its batches as visible: it must be committed, and reported once. */
void checkers_visible(struct checkers *checkers, int64_t now_ns, uint32_t producer,
                      const struct batch *batch);

#endif
