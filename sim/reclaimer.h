/* reclaimer.h - a minimal reclaimer of the manifest chain, an actor for swarms and sweeps.
 *
 * Each round: list the versions and the floor; take V, a few versions behind the newest, read it,
 * and validate it by a floor that is read afterwards; write the floor (V, a step that V still
 * holds); list again, and delete the versions below the highest floor then listed. It gives a round
 * up at the first answer that it cannot use; several may run, and each may die anywhere. It deletes
 * no TGB. The full one, which asks consumers, comes with the data plane. */
#ifndef SIM_RECLAIMER_H
#define SIM_RECLAIMER_H

#include "core/loop.h"
#include "core/name.h"
#include "core/random.h"
#include "core/store.h"

struct reclaimer_options {
    struct store *store; /* borrowed */
    struct loop *loop;   /* borrowed */
    struct random_stream random;
    uint64_t behind;     /* k: V = newest - k */
    uint64_t keep_steps; /* of V's steps, so many at least stay */
    int64_t gap_ns;      /* between rounds, at most; drawn */
};

struct reclaimer_counters {
    uint64_t rounds;
    uint64_t floors; /* written, for sure */
    uint64_t deleted;
    uint64_t given_up; /* rounds */
    uint64_t invalid;  /* validations that failed: another reclaimer was ahead */
};

struct reclaimer;

struct reclaimer *reclaimer_open(const struct reclaimer_options *options);
void reclaimer_start(struct reclaimer *reclaimer);
/* No further round. */
void reclaimer_stop(struct reclaimer *reclaimer);
/* With nothing in flight, or when its store was cut or closed before. */
void reclaimer_close(struct reclaimer *reclaimer);
struct reclaimer_counters reclaimer_counters(const struct reclaimer *reclaimer);

#endif
