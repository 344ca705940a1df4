/* swarm_plane.h - what of the data plane a swarm has been through: which fault hit which operation
 * of ranks and reclaimers, and which turns their machines took. */
#ifndef SIM_SWARM_PLANE_H
#define SIM_SWARM_PLANE_H

#include "core/fault_store.h"

enum plane_side {
    PLANE_RANK, /* and who retires one */
    PLANE_RECLAIMER,
};

/* code, side, verb, name */
#define PLANE_OPERATIONS(X)                                                                        \
    X(TAKE_NUMBER, PLANE_RANK, STORE_PUT_IF_ABSENT, "rank: take a number")                         \
    X(JUDGE_NUMBER, PLANE_RANK, STORE_GET, "rank: whose number is it")                             \
    X(LIST_NUMBERS, PLANE_RANK, STORE_LIST, "rank: list the own numbers")                          \
    X(PUT_VALUE, PLANE_RANK, STORE_PUT, "rank: publish a value")                                   \
    X(PUT_RETIRED, PLANE_RANK, STORE_PUT, "rank: publish that a number has ended")                 \
    X(DELETE_VALUE, PLANE_RANK, STORE_DELETE, "rank: delete the value before")                     \
    X(RANK_LIST_FLOOR, PLANE_RANK, STORE_LIST, "rank: list the floor")                             \
    X(RANK_LIST_INTENT, PLANE_RANK, STORE_LIST, "rank: list the intent")                           \
    X(RANK_LIST_VERSIONS, PLANE_RANK, STORE_LIST, "rank: list versions")                           \
    X(RANK_GET_VERSION, PLANE_RANK, STORE_GET, "rank: read a version")                             \
    X(GET_SLICE, PLANE_RANK, STORE_GET, "rank: read a slice")                                      \
    X(LIST_WATERMARKS, PLANE_RECLAIMER, STORE_LIST, "reclaim: list watermarks")                    \
    X(LIST_MARKERS, PLANE_RECLAIMER, STORE_LIST, "reclaim: list floors or intents")                \
    X(PUT_INTENT, PLANE_RECLAIMER, STORE_PUT, "reclaim: write the intent")                         \
    X(LIST_VERSIONS, PLANE_RECLAIMER, STORE_LIST, "reclaim: list versions")                        \
    X(GET_VERSION, PLANE_RECLAIMER, STORE_GET, "reclaim: read a version")                          \
    X(PUT_FLOOR, PLANE_RECLAIMER, STORE_PUT, "reclaim: write the floor")                           \
    X(LIST_TGBS, PLANE_RECLAIMER, STORE_LIST, "reclaim: list TGBs")                                \
    X(DELETE_VERSION, PLANE_RECLAIMER, STORE_DELETE, "reclaim: delete a version")                  \
    X(DELETE_TGB, PLANE_RECLAIMER, STORE_DELETE, "reclaim: delete a TGB")                          \
    X(DELETE_MARKER, PLANE_RECLAIMER, STORE_DELETE, "reclaim: delete an old floor or intent")

enum plane_operation {
#define X(code, side, verb, name) PLANE_##code,
    PLANE_OPERATIONS(X)
#undef X
    PLANE_OPERATION_COUNT
};

/* code, name */
#define PLANE_TURNS(X)                                                                             \
    X(ALLOWED_AT_ONCE, "start: from a checkpoint, without asking for the intent")                  \
    X(ALLOWED_CHECKED, "start: from a checkpoint, after the intent was read")                      \
    X(ALLOWED_NEW, "start: without a checkpoint")                                                  \
    X(REFUSED_KEPT, "start: refused with checkpoints")                                             \
    X(ROLLED_BACK, "start: rolled back, newer checkpoints discarded")                              \
    X(RESTORED, "start: from checkpoints older than the last kept")                                \
    X(SUPERSEDED, "end: superseded")                                                               \
    X(RETIRED, "end: retired")                                                                     \
    X(STORE_FAILED, "end: the store refused")                                                      \
    X(SLICE_MISSING, "run: 404 on a slice")                                                        \
    X(CHAIN_INVALID, "run: a version was below the floor by then")                                 \
    X(SAVE_REFUSED, "save: refused, a newer process has saved")                                    \
    X(DIED_SAVING, "save: its process died meanwhile")                                             \
    X(FLOOR_RAISED, "round: the floor's step is raised")                                           \
    X(FLOOR_KEPT, "round: something is deleted, the step stays")                                   \
    X(RANK_MISSING, "round: a declared rank holds nothing")                                        \
    X(UNDECIDED_LEFT, "round: an undecided TGB is left")                                           \
    X(ORPHAN_DELETED, "round: an orphan is deleted")                                               \
    X(MARKER_DELETED, "round: an old floor or intent is deleted")                                  \
    X(ROUND_REFUSED, "round: the store refused")                                                   \
    X(ROUNDS_OVERLAP, "round: beside another reclaimer's")                                         \
    X(DIED_IN_ROUND, "round: its process died meanwhile")                                          \
    X(ALL_RECLAIMED, "the end: nothing is stored that is not live")

enum plane_turn {
#define X(code, name) TURN_##code,
    PLANE_TURNS(X)
#undef X
    PLANE_TURN_COUNT
};

struct swarm_plane {
    uint64_t done[PLANE_OPERATION_COUNT];
    uint64_t hit[PLANE_OPERATION_COUNT][FAULT_KIND_COUNT];
    uint64_t turns[PLANE_TURN_COUNT];
};

/* An operation was submitted, and that fault hits it. */
void swarm_plane_note(struct swarm_plane *plane, enum plane_side side, enum fault_kind kind,
                      const struct store_op *op);
const char *plane_operation_name(enum plane_operation operation);
const char *plane_turn_name(enum plane_turn turn);
/* Adds `other`. */
void swarm_plane_add(struct swarm_plane *plane, const struct swarm_plane *other);
/* How many pairs of an operation and a fault that can hit it, and turns, were not met `at_least`
 * times; the first few by name. */
uint32_t swarm_plane_missing(const struct swarm_plane *plane, uint64_t at_least, char *text,
                             size_t text_bytes);

#endif
