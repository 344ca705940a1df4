/* reclaim_checker.h - nothing that somebody may still ask for is given up or deleted.
 *
 * - A rank that was allowed to run holds the steps from its oldest kept checkpoint on, over
 *   crashes, until it keeps a younger one, is refused, or is retired. Whoever runs the ranks says
 *   so, when it happens. No floor goes above the lowest hold.
 *
 * - A TGB is deleted only if it is committed at a step below the highest floor and below every
 *   hold, or can never be committed. (Versions: sim/chain_checker.h.)
 *
 * - Of floors and intents the highest stays, and of floors the one with the highest step, too. Who
 *   has read a floor sends none that is lower, in version or in step.
 *
 * - While a declared rank has never said what it needs, no step is given up, nor is it intended.
 *
 * - A version begins no lower than the floor did when its author's version before was created: he
 *   has read a floor since, by which he knew that he had won. Ours. */
#ifndef SIM_RECLAIM_CHECKER_H
#define SIM_RECLAIM_CHECKER_H

#include "sim/chain_checker.h"
#include "sim/committed_order.h"

#define RECLAIM_NOBODY UINT32_MAX

/* What a producer knew at its newest version. */
struct reclaim_author {
    struct incarnation incarnation;
    uint64_t floor_step;
};

struct reclaim_checker {
    const struct committed_order *order; /* borrowed */
    const struct chain_checker *chain;   /* borrowed */
    struct violations *violations;       /* borrowed */
    uint64_t *holds;                     /* by rank: a step, or 0: none */
    uint32_t rank_count;
    uint64_t lowest;       /* hold; UINT64_MAX: nobody holds anything */
    uint32_t lowest_rank;  /* RECLAIM_NOBODY: to be looked for again */
    struct floor floor;    /* the highest written, as listings order them */
    uint64_t intent;       /* the highest written */
    uint64_t tgbs;         /* deleted that were committed, */
    uint64_t orphans;      /* and that were not */
    struct floor steepest; /* of all floors written the highest in step, then in version */
    uint32_t declared;     /* ranks 0..declared-1 must be heard before a step is given up */
    bool *heard;           /* by rank, with room for rank_count */
    struct floor *seen;    /* by actor: the highest version and step of floors that he was shown */
    uint32_t actor_count;
    struct reclaim_author *authors; /* by producer */
    uint32_t author_count;
};

void reclaim_checker_init(struct reclaim_checker *reclaim, const struct committed_order *order,
                          const struct chain_checker *chain, struct violations *violations);
void reclaim_checker_deinit(struct reclaim_checker *reclaim);

/* The rank may ask for `step` and what follows; 0: for nothing any more. */
void reclaim_checker_hold(struct reclaim_checker *reclaim, uint32_t rank, uint64_t step);
/* The rank has said what it needs, or that it needs nothing any more. */
void reclaim_checker_heard(struct reclaim_checker *reclaim, uint32_t rank);
/* A page that an actor goes by, of a listing of versions and floors. */
void reclaim_checker_shown(struct reclaim_checker *reclaim, uint32_t actor,
                           const struct list_page *page);
/* The actor sends a floor, which may land much later. */
void reclaim_checker_sends(struct reclaim_checker *reclaim, int64_t now_ns, uint32_t actor,
                           const struct floor *floor);
/* A version that joined the chain. */
void reclaim_checker_version(struct reclaim_checker *reclaim,
                             const struct checked_version *checked);
/* An operation that succeeded on a key below tgb/, intent/ or the floors; `op` as in checkers.h.
 * Floors after the chain checker. */
void reclaim_checker_applied(struct reclaim_checker *reclaim, int64_t now_ns, uint32_t actor,
                             const struct store_op *op);

#endif
