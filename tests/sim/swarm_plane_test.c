/* swarm_plane_test.c - operations are told by who sends what; what was not met is named. */
#include "sim/swarm_plane.h"

#include <stdio.h>
#include <string.h>

#include "tests/harness.h"

static void note(struct swarm_plane *plane, enum plane_side side, enum store_verb verb,
                 const char *key)
{
    struct store_op op;
    store_op_init(&op);
    op.verb = verb;
    snprintf(op.key, sizeof(op.key), "%s", key);
    swarm_plane_note(plane, side, FAULT_ERROR, &op);
    store_op_deinit(&op);
}

static void operations_are_told_apart(void)
{
    static const struct {
        enum plane_side side;
        enum store_verb verb;
        const char *key;
        enum plane_operation operation;
    } cases[] = {
        {PLANE_RANK, STORE_PUT_IF_ABSENT, "watermark/0000000003/00000000000000000007",
         PLANE_TAKE_NUMBER},
        {PLANE_RANK, STORE_GET, "watermark/0000000003/00000000000000000007", PLANE_JUDGE_NUMBER},
        {PLANE_RANK, STORE_LIST, "watermark/0000000003/", PLANE_LIST_NUMBERS},
        {PLANE_RANK, STORE_PUT, "watermark/0000000003/00000000000000000007-18446744073709551614",
         PLANE_PUT_VALUE},
        {PLANE_RANK, STORE_DELETE, "watermark/0000000003/00000000000000000007-18446744073709551614",
         PLANE_DELETE_VALUE},
        {PLANE_RANK, STORE_PUT, "watermark/0000000003/00000000000000000007-retired",
         PLANE_PUT_RETIRED},
        {PLANE_RANK, STORE_LIST, "manifest/floor-", PLANE_RANK_LIST_FLOOR},
        {PLANE_RANK, STORE_LIST, "intent/", PLANE_RANK_LIST_INTENT},
        {PLANE_RANK, STORE_LIST, "manifest/", PLANE_RANK_LIST_VERSIONS},
        {PLANE_RANK, STORE_GET, "manifest/00000000000000000002", PLANE_RANK_GET_VERSION},
        {PLANE_RANK, STORE_GET, "tgb/000000000001/x", PLANE_GET_SLICE},
        {PLANE_RECLAIMER, STORE_LIST, "watermark/", PLANE_LIST_WATERMARKS},
        {PLANE_RECLAIMER, STORE_LIST, "manifest/floor-", PLANE_LIST_MARKERS},
        {PLANE_RECLAIMER, STORE_LIST, "intent/", PLANE_LIST_MARKERS},
        {PLANE_RECLAIMER, STORE_PUT, "intent/18446744073709551614", PLANE_PUT_INTENT},
        {PLANE_RECLAIMER, STORE_LIST, "manifest/", PLANE_LIST_VERSIONS},
        {PLANE_RECLAIMER, STORE_GET, "manifest/00000000000000000002", PLANE_GET_VERSION},
        {PLANE_RECLAIMER, STORE_PUT, "manifest/floor-18446744073709551614-18446744073709551614",
         PLANE_PUT_FLOOR},
        {PLANE_RECLAIMER, STORE_LIST, "tgb/", PLANE_LIST_TGBS},
        {PLANE_RECLAIMER, STORE_DELETE, "manifest/00000000000000000002", PLANE_DELETE_VERSION},
        {PLANE_RECLAIMER, STORE_DELETE, "tgb/000000000001/x", PLANE_DELETE_TGB},
        {PLANE_RECLAIMER, STORE_DELETE, "intent/18446744073709551614", PLANE_DELETE_MARKER},
    };
    bool met[PLANE_OPERATION_COUNT] = {false};
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        struct swarm_plane plane = {0};
        note(&plane, cases[i].side, cases[i].verb, cases[i].key);
        CU_ASSERT_EQUAL(plane.done[cases[i].operation], 1);
        CU_ASSERT_EQUAL(plane.hit[cases[i].operation][FAULT_ERROR], 1);
        met[cases[i].operation] = true;
    }
    for (size_t i = 0; i < PLANE_OPERATION_COUNT; i++)
        CU_ASSERT(met[i]);
}

static void what_was_not_met_is_named(void)
{
    char text[256];
    struct swarm_plane plane = {0};
    uint32_t all = swarm_plane_missing(&plane, 1, text, sizeof(text));
    CU_ASSERT(strstr(text, "lost_request hit \"rank: take a number\" 0 times") != NULL);
    struct swarm_plane other = {0};
    note(&other, PLANE_RANK, STORE_GET, "tgb/000000000001/x");
    other.turns[TURN_RESTORED] = 3;
    swarm_plane_add(&plane, &other);
    CU_ASSERT_EQUAL(swarm_plane_missing(&plane, 1, text, sizeof(text)), all - 2);
    CU_ASSERT_EQUAL(swarm_plane_missing(&plane, 2, text, sizeof(text)), all - 1);
}

const struct harness_test swarm_plane_tests[] = {
    HARNESS_TEST(operations_are_told_apart),
    HARNESS_TEST(what_was_not_met_is_named),
    {0},
};
