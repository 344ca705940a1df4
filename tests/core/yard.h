/* yard.h - a chain, its TGBs and its consumers' numbers on a scripted store, and one reclaimer;
 * what scenarios of reclamation are told in.
 *
 * The clock stands at YARD_NOW when a yard is opened. TGBs are of YARD_TGB_BYTES, in bucket 1
 * unless the yard says otherwise. Everything but the reclaimer acts at once, behind its back. */
#ifndef TESTS_CORE_YARD_H
#define TESTS_CORE_YARD_H

#include "core/reclaim_driver.h"
#include "tests/core/manual_loop.h"
#include "tests/core/scripted_store.h"

#define YARD_NOW (1000 * NS_PER_S)
#define YARD_TGB_BYTES 100
#define YARD_MARKER_GRACE (60 * NS_PER_S)

struct yard {
    struct manual_loop loop;
    struct scripted_store *store;
    struct manifest *newest;
    uint64_t bucket; /* of the TGBs that are uploaded from here on */
    struct reclaim_options options;
    struct reclaim_observer observer;
    struct reclaim_driver *driver; /* NULL: dead */
    uint32_t port;
    struct reclaim_report report; /* of the last round */
    char error[STORE_ERROR_MAX];
    uint64_t rounds;
    uint64_t requests;
    bool ended;
};

/* With a genesis; deletes, nothing behind, no grace, every round a full one, 4 deletions at once.
 */
struct yard *yard_open(void);
/* With versions 2 to 6, steps 1 to 10; consumer 0 needs step 4 on, consumer 1 step 7 on. */
struct yard *yard_open_with_steps(void);
void yard_close(struct yard *yard);
/* The context of the rule's `before` is the yard. */
void yard_script(struct yard *yard, struct rule rule);

/* A producer's incarnation in an epoch: fixed. */
struct incarnation yard_incarnation(uint32_t producer, uint32_t epoch);
/* The name of a producer's batch in bucket `yard->bucket`; end offsets follow from sequences. */
struct tgb_name yard_name(const struct yard *yard, uint32_t producer, uint32_t epoch,
                          uint64_t sequence);
void yard_upload(struct yard *yard, const struct tgb_name *name);
bool yard_has_tgb(const struct yard *yard, const struct tgb_name *name);
bool yard_has_version(const struct yard *yard, uint64_t version);
/* Uploads and commits the producer's next batches in one version, under its epoch, 1 at first. */
void yard_commit(struct yard *yard, uint32_t producer, uint32_t batches);
/* A version in which the producer's next epoch begins. */
void yard_fence(struct yard *yard, uint32_t producer);
/* The key of step's TGB in the newest version. */
bool yard_has_step(const struct yard *yard, uint64_t step);
/* How many of steps [first, last] have their TGB. */
uint64_t yard_steps(const struct yard *yard, uint64_t first, uint64_t last);

void yard_put(struct yard *yard, const char *key);
void yard_number(struct yard *yard, uint32_t consumer, uint64_t number);
void yard_value(struct yard *yard, uint32_t consumer, uint64_t number, uint64_t step);
void yard_retire(struct yard *yard, uint32_t consumer, uint64_t number);
/* The highest intent; 0: none. */
uint64_t yard_intent(const struct yard *yard);

/* Starts a reclaimer with yard->options and a period (0: one round). The one before must be dead.
 */
void yard_start(struct yard *yard, int64_t period_ns);
/* Runs one round of a new process to its end, and fails the test unless it ends as said. */
void yard_round(struct yard *yard, enum reclaim_end end);
/* Until so many rounds have ended. */
void yard_until_rounds(struct yard *yard, uint64_t rounds);
/* The process dies: what it sent may still be applied. */
void yard_crash(struct yard *yard);

#endif
