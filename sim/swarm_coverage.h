/* swarm_coverage.h - which fault met which branch of the commit protocol.
 *
 * Branches are told from outside, by what the commit machine was doing before an answer and what it
 * does next, so that the core counts nothing for its tests' sake. A fault meets a branch if it hit
 * the same attempt or one of the two before it. */
#ifndef SIM_SWARM_COVERAGE_H
#define SIM_SWARM_COVERAGE_H

#include "core/commit.h"
#include "sim/swarm_config.h"

#define BRANCH_APPLIED (1u << FAULT_ERROR_APPLIED | 1u << FAULT_THROTTLED_APPLIED)

/* Of refusals, only these branches come. */
#define BRANCH_FIRST_OF_REFUSALS BRANCH_FIND_REFUSED

/* code, name, faults that cannot meet it (a mask) */
#define SWARM_BRANCHES(X)                                                                          \
    /* What was applied is there. */                                                               \
    X(FIND_NOTHING, "find: no version yet", BRANCH_APPLIED)                                        \
    X(FIND_NEWER, "find: a newer version", 0)                                                      \
    X(FIND_KNOWN, "find: what is known is the newest", 0)                                          \
    X(FIND_PAGE, "find: a further page", 0)                                                        \
    /* A floor's version is there, so that one atomic page shows both: a guard against stores      \
     * whose listings are not. */                                                                  \
    X(FIND_FLOOR_ABOVE, "find: the floor is above all that was found", UINT32_MAX)                 \
    X(PROBE_THERE, "probe: there", 0)                                                              \
    X(PROBE_MISSING, "probe: missing", 0)                                                          \
    X(READ_VANISHED, "read: 404 on a version that was seen", 0)                                    \
    X(GENESIS_CREATED, "genesis: created", BRANCH_APPLIED)                                         \
    X(GENESIS_UNDECIDED, "genesis: exists, or no answer", 0)                                       \
    X(REBASE_NEXT, "rebase: create the next version", 0)                                           \
    X(REBASE_IS_WON, "rebase: my state says won", 0)                                               \
    X(REBASE_IS_LOST, "rebase: my state says lost", 0)                                             \
    X(REBASE_IS_FENCED, "rebase: fenced", 0)                                                       \
    X(FENCE_NEXT, "fence: create the fencing version", 0)                                          \
    X(FENCE_IS_WON, "fence: my state says won", 0)                                                 \
    X(FENCE_IS_LOST, "fence: my state says lost", 0)                                               \
    X(FENCE_IS_FENCED, "fence: it may have landed and been fenced since", 0)                       \
    X(CREATE_OK, "judge: OK", 0)                                                                   \
    X(CREATE_EXISTS, "judge: EXISTS", 0)                                                           \
    X(CREATE_UNKNOWN, "judge: UNKNOWN", 0)                                                         \
    X(CREATE_THROTTLED, "judge: THROTTLED", 0)                                                     \
    X(CREATE_BUSY, "judge: BUSY, sent again", 0)                                                   \
    X(CREATE_BUSY_BOUND, "judge: BUSY too often, read", 0)                                         \
    X(JUDGE_EXISTS_MINE, "judge: EXISTS and it is mine", 0)                                        \
    X(JUDGE_EXISTS_FOREIGN, "judge: EXISTS and it is another's", 0)                                \
    X(JUDGE_EXISTS_VANISHED, "judge: EXISTS and gone when read", 0)                                \
    X(JUDGE_UNKNOWN_MINE, "judge: no answer and it is mine", 0)                                    \
    X(JUDGE_UNKNOWN_FOREIGN, "judge: no answer and it is another's", 0)                            \
    X(JUDGE_ABSENT, "judge: no answer and absent, sent again", 0)                                  \
    X(JUDGE_ABSENT_BOUND, "judge: absent too often, new search", 0)                                \
    X(VALID_WON, "validate: won", 0)                                                               \
    X(VALID_LOST, "validate: lost", 0)                                                             \
    X(VALID_FENCED, "validate: fenced", 0)                                                         \
    X(INVALID_WON, "floor: above what seemed won", 0)                                              \
    X(INVALID_LOST, "floor: above what seemed lost", 0)                                            \
    X(INVALID_END, "floor: above what seemed the end", 0)                                          \
    X(FIND_REFUSED, "find: refused for good", 0)                                                   \
    X(CREATE_REFUSED, "create: refused for good", 0)                                               \
    X(JUDGE_REFUSED, "judge: refused for good, whatever became of it", 0)                          \
    X(VALID_REFUSED, "validate: refused for good, after the decision", 0)

enum swarm_branch {
#define X(code, name, impossible) BRANCH_##code,
    SWARM_BRANCHES(X)
#undef X
    BRANCH_COUNT
};

struct swarm_coverage {
    uint64_t taken[BRANCH_COUNT];
    uint64_t met[BRANCH_COUNT][SWARM_FAULTS];
};

/* What the commit machine of one life was doing when its operation was answered. */
struct branch_probe {
    uint32_t armed; /* 0: nothing was answered since the last look */
    enum commit_phase phase;
    enum store_outcome outcome;
    enum store_outcome create_outcome;
    uint32_t epoch;
    uint64_t invalid;
};

enum branch_next {
    NEXT_SUBMITS,
    NEXT_DECIDED,
    NEXT_ENDED,
};

/* The operation was answered, and the machine has not seen it yet. */
void branch_probe_answered(struct branch_probe *probe, const struct commit *commit);
/* What came of it. `faults`: mask of those that met the attempt. */
void branch_probe_next(struct branch_probe *probe, const struct commit *commit,
                       enum branch_next next, uint32_t faults, struct swarm_coverage *coverage);

const char *swarm_branch_name(enum swarm_branch branch);
/* Adds `other`. */
void swarm_coverage_add(struct swarm_coverage *coverage, const struct swarm_coverage *other);
/* How many pairs of a fault and a branch met less than `at_least` times; the first few by name. */
uint32_t swarm_coverage_missing(const struct swarm_coverage *coverage, uint64_t at_least,
                                char *text, size_t text_bytes);

#endif
