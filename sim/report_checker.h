/* report_checker.h - what producers say, against what the chain holds; for worlds in which several
 * incarnations of one producer live at once, and come back late.
 *
 *   report  an attempt is won if and only if a living version of its incarnation came of it, and it
 * names that version, its batches and their bytes; the versions that attempts call their own and
 * others' add up to one between the version named and the newest; a batch is called visible once,
 * in order, and the chain holds that very batch of that incarnation; who ends as fenced was fenced;
 * a producer's commit time never falls key     one batch of one incarnation has one key and one
 * size, however often it is sent
 *
 * A version is living if it was created above the floor: the chain checker says which are. */
#ifndef SIM_REPORT_CHECKER_H
#define SIM_REPORT_CHECKER_H

#include "core/producer.h"
#include "sim/chain_checker.h"

#define REPORT_LIVES_MAX 96
#define REPORT_PRODUCERS_MAX 64

struct committed {
    struct incarnation incarnation;
    uint64_t end_offset;
};

struct committed_stream {
    struct committed *batches; /* by sequence - 1 */
    size_t count;
    size_t capacity;
    uint32_t epoch;
    struct incarnation incarnation; /* that holds the epoch */
    int64_t commit_ns;              /* of the newest version */
};

struct sent_batch {
    uint64_t sequence;
    uint64_t bucket;
    uint64_t end_offset;
    uint64_t bytes;
};

/* One incarnation. */
struct reported_life {
    struct incarnation incarnation;
    uint32_t producer;
    uint64_t versions;     /* living, by this incarnation */
    uint64_t last_version; /* the newest of those, with what it added */
    uint64_t last_batches;
    uint64_t last_bytes;
    uint64_t won;
    uint64_t lost;
    uint64_t foreign; /* versions that its attempts saw of others */
    uint64_t visible; /* batches */
    uint64_t visible_sequence;
    struct sent_batch *sent;
    size_t sent_count;
    size_t sent_capacity;
};

struct report_checker {
    struct violations *violations; /* borrowed */
    uint32_t life_count;
    struct reported_life lives[REPORT_LIVES_MAX];
    struct committed_stream streams[REPORT_PRODUCERS_MAX];
    uint64_t versions; /* living: the number of the newest */
    uint64_t next_step;
};

void report_checker_init(struct report_checker *report, struct violations *violations);
void report_checker_deinit(struct report_checker *report);
/* The number of the life, which is its actor number: lives are added in their order. */
uint32_t report_checker_add(struct report_checker *report, uint32_t producer,
                            const struct incarnation *incarnation);

void report_checker_version(struct report_checker *report, const struct checked_version *checked);
/* A TGB is stored. */
void report_checker_upload(struct report_checker *report, int64_t now_ns, uint32_t actor,
                           const struct store_op *op);
void report_checker_attempt(struct report_checker *report, int64_t now_ns, uint32_t life,
                            const struct attempt *attempt, const struct attempt_detail *detail);
void report_checker_visible(struct report_checker *report, int64_t now_ns, uint32_t life,
                            const struct batch *batch);
/* `epoch`: the life's own, 0 if it never had one. */
void report_checker_fenced(struct report_checker *report, int64_t now_ns, uint32_t life,
                           uint32_t epoch);
/* Whether the life holds its producer's epoch in the newest version. */
bool report_checker_holds(const struct report_checker *report, uint32_t life);

#endif
