/* reclaim_checker_test.c - what may be deleted passes; each thing that may not is caught, and
 * named.
 */
#include "sim/reclaim_checker.h"

#include <stdio.h>
#include <string.h>

#include "tests/harness.h"

#define BATCH_BYTES 100

/* A chain of one producer, written by hand: batches 1 to 4 are steps 1 to 4. */
struct bench {
    struct violations violations;
    struct committed_order order;
    struct chain_checker chain;
    struct reclaim_checker reclaim;
};

static struct incarnation incarnation_of(uint8_t number)
{
    struct incarnation incarnation;
    memset(incarnation.bytes, number, sizeof(incarnation.bytes));
    return incarnation;
}

static struct tgb_name name_of(uint64_t sequence)
{
    return (struct tgb_name){.bucket = 1,
                             .sequence = sequence,
                             .end_offset = sequence * BATCH_BYTES,
                             .incarnation = incarnation_of(1),
                             .epoch = 1};
}

static void apply(struct bench *bench, enum store_verb verb, const char *key)
{
    struct store_op op;
    store_op_init(&op);
    op.verb = verb;
    snprintf(op.key, sizeof(op.key), "%s", key);
    if (strncmp(key, NAME_MANIFEST_PREFIX, strlen(NAME_MANIFEST_PREFIX)) == 0)
        chain_checker_other(&bench->chain, NS_PER_S, 3, &op, &bench->violations);
    reclaim_checker_applied(&bench->reclaim, NS_PER_S, 3, &op);
    store_op_deinit(&op);
}

static void write_floor(struct bench *bench, uint64_t version, uint64_t step)
{
    char key[STORE_KEY_MAX];
    name_floor(key, (struct floor){.version = version, .step = step});
    apply(bench, STORE_PUT, key);
}

static void delete_tgb(struct bench *bench, const struct tgb_name *name)
{
    char key[STORE_KEY_MAX];
    name_tgb(key, name);
    apply(bench, STORE_DELETE, key);
}

static void bench_open(struct bench *bench)
{
    *bench = (struct bench){0};
    reclaim_checker_init(&bench->reclaim, &bench->order, &bench->chain, &bench->violations);
    struct manifest *newest = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    for (uint64_t batch = 1; batch <= 4; batch++) {
        struct manifest_entry entry = {.tgb = name_of(batch), .tgb_bytes = BATCH_BYTES};
        struct manifest_change change = {.author = {.epoch = 1, .incarnation = incarnation_of(1)},
                                         .state = {.epoch = 1,
                                                   .incarnation = incarnation_of(1),
                                                   .next_offset = batch * BATCH_BYTES,
                                                   .last_sequence = batch,
                                                   .last_commit_version = batch + 1},
                                         .entry_count = 1,
                                         .entries = &entry};
        struct manifest *next = manifest_append(newest, &change);
        committed_order_version(&bench->order, next);
        bench->chain.version = next->version;
        manifest_release(newest);
        newest = next;
    }
    manifest_release(newest);
    reclaim_checker_hold(&bench->reclaim, 0, 2);
    reclaim_checker_hold(&bench->reclaim, 1, 3);
}

static bool ends(struct bench *bench, const char *text)
{
    bool found = text[0] == '\0' ? bench->violations.count == 0
                                 : strstr(bench->violations.first, text) != NULL;
    if (!found)
        printf("\n  looked for \"%s\", found \"%s\"\n", text, bench->violations.first);
    reclaim_checker_deinit(&bench->reclaim);
    committed_order_deinit(&bench->order);
    return found;
}

static void what_no_rank_holds_may_go(void)
{
    struct bench bench;
    struct tgb_name name = name_of(1);
    struct tgb_name orphan = name_of(4);
    orphan.bucket++;
    bench_open(&bench);
    write_floor(&bench, 4, 2);
    delete_tgb(&bench, &name);
    delete_tgb(&bench, &orphan);
    reclaim_checker_hold(&bench.reclaim, 0, 4);
    write_floor(&bench, 5, 3);
    name = name_of(2);
    delete_tgb(&bench, &name);
    reclaim_checker_hold(&bench.reclaim, 1, 0); /* retired */
    write_floor(&bench, 5, 4);
    CU_ASSERT_EQUAL(bench.reclaim.tgbs, 2);
    CU_ASSERT_EQUAL(bench.reclaim.orphans, 1);
    CU_ASSERT_TRUE(ends(&bench, ""));
}

static void a_floor_above_a_hold_is_caught(void)
{
    struct bench bench;
    bench_open(&bench);
    write_floor(&bench, 4, 3);
    CU_ASSERT_TRUE(ends(&bench, "reclaim: a floor gives up what is below step 3; rank 0 holds"));
}

static void a_held_step_that_is_deleted_is_caught(void)
{
    struct bench bench;
    struct tgb_name name = name_of(3);
    bench_open(&bench);
    delete_tgb(&bench, &name);
    CU_ASSERT_EQUAL(bench.violations.count, 2); /* it is above the floor, too */
    CU_ASSERT_TRUE(ends(&bench, "reclaim: step 3 is deleted; rank 0 holds what is from step 2"));
}

static void a_step_that_no_floor_gave_up_is_caught(void)
{
    struct bench bench;
    struct tgb_name name = name_of(1);
    bench_open(&bench);
    delete_tgb(&bench, &name);
    CU_ASSERT_EQUAL(bench.violations.count, 1);
    CU_ASSERT_TRUE(ends(&bench, "reclaim: step 1 is deleted; the floor is at step 0"));
}

static void an_undecided_batch_that_is_deleted_is_caught(void)
{
    struct bench bench;
    struct tgb_name name = name_of(5);
    bench_open(&bench);
    delete_tgb(&bench, &name);
    CU_ASSERT_TRUE(ends(&bench, "is deleted and may still be committed"));
}

static void an_unknown_producer_s_batch_is_undecided(void)
{
    struct bench bench;
    struct tgb_name name = name_of(1);
    name.producer = 7;
    bench_open(&bench);
    delete_tgb(&bench, &name);
    CU_ASSERT_TRUE(ends(&bench, "is deleted and may still be committed"));
}

static void the_highest_floor_and_intent_stay(void)
{
    struct bench bench;
    char key[STORE_KEY_MAX];
    bench_open(&bench);
    name_intent(key, 1);
    apply(&bench, STORE_PUT, key);
    name_intent(key, 2);
    apply(&bench, STORE_PUT, key);
    name_intent(key, 1);
    apply(&bench, STORE_DELETE, key);
    CU_ASSERT_EQUAL(bench.violations.count, 0);
    name_intent(key, 2);
    apply(&bench, STORE_DELETE, key);
    CU_ASSERT_EQUAL(bench.violations.count, 1);
    write_floor(&bench, 3, 1);
    write_floor(&bench, 4, 1);
    name_floor(key, (struct floor){.version = 3, .step = 1});
    apply(&bench, STORE_DELETE, key);
    CU_ASSERT_EQUAL(bench.violations.count, 1);
    name_floor(key, (struct floor){.version = 4, .step = 1});
    apply(&bench, STORE_DELETE, key);
    CU_ASSERT_EQUAL(bench.violations.count, 2);
    CU_ASSERT_TRUE(ends(&bench, "the highest intent, is deleted"));
}

/* Two reclaimers wrote at once: what is first in a listing is not the highest step. */
static void the_floor_of_the_highest_step_stays(void)
{
    struct bench bench;
    char key[STORE_KEY_MAX];
    bench_open(&bench);
    write_floor(&bench, 2, 2);
    write_floor(&bench, 3, 2);
    write_floor(&bench, 4, 1);
    name_floor(key, (struct floor){.version = 2, .step = 2});
    apply(&bench, STORE_DELETE, key);
    CU_ASSERT_EQUAL(bench.violations.count, 0);
    name_floor(key, (struct floor){.version = 3, .step = 2});
    apply(&bench, STORE_DELETE, key);
    CU_ASSERT_TRUE(ends(&bench, "the floor of the highest step, is deleted"));
}

static void show_floor(struct bench *bench, uint32_t actor, struct floor floor)
{
    char key[STORE_KEY_MAX];
    struct list_page page = {0};
    name_floor(key, floor);
    list_page_add(&page, key, 0);
    reclaim_checker_shown(&bench->reclaim, actor, &page);
    list_page_deinit(&page);
}

static void who_sends_a_floor_below_one_that_he_saw_is_caught(void)
{
    struct bench bench;
    bench_open(&bench);
    show_floor(&bench, 3, (struct floor){.version = 4, .step = 1});
    show_floor(&bench, 3, (struct floor){.version = 3, .step = 2});
    reclaim_checker_sends(&bench.reclaim, 0, 3, &(struct floor){.version = 4, .step = 2});
    reclaim_checker_sends(&bench.reclaim, 0, 2, &(struct floor){.version = 4, .step = 1});
    CU_ASSERT_EQUAL(bench.violations.count, 0);
    reclaim_checker_sends(&bench.reclaim, 0, 3, &(struct floor){.version = 4, .step = 1});
    CU_ASSERT_TRUE(ends(&bench, "floor 4-1 is sent by who has seen 4-2"));
}

static void what_is_given_up_while_a_rank_is_unheard_is_caught(void)
{
    struct bench bench;
    char key[STORE_KEY_MAX];
    bench_open(&bench);
    bench.reclaim.declared = 2;
    reclaim_checker_heard(&bench.reclaim, 0);
    write_floor(&bench, 4, 1); /* no step is below it */
    CU_ASSERT_EQUAL(bench.violations.count, 0);
    write_floor(&bench, 4, 2);
    CU_ASSERT_EQUAL(bench.violations.count, 1);
    name_intent(key, 2);
    apply(&bench, STORE_PUT, key);
    CU_ASSERT_EQUAL(bench.violations.count, 2);
    reclaim_checker_heard(&bench.reclaim, 1);
    apply(&bench, STORE_PUT, key);
    CU_ASSERT_EQUAL(bench.violations.count, 2);
    CU_ASSERT_TRUE(ends(&bench, "rank 1 has never said what it needs"));
}

static void create_version(struct bench *bench, uint8_t incarnation, uint64_t first_step)
{
    struct manifest manifest = {.version = 9,
                                .author = {.incarnation = incarnation_of(incarnation)},
                                .first_step = first_step};
    struct checked_version checked = {.manifest = &manifest};
    reclaim_checker_version(&bench->reclaim, &checked);
}

static void a_version_that_is_not_trimmed_is_caught(void)
{
    struct bench bench;
    bench_open(&bench);
    create_version(&bench, 1, 1);
    write_floor(&bench, 4, 2);
    create_version(&bench, 1, 1); /* he may not know yet */
    create_version(&bench, 2, 1); /* nor may another */
    CU_ASSERT_EQUAL(bench.violations.count, 0);
    create_version(&bench, 2, 2);
    create_version(&bench, 2, 1);
    CU_ASSERT_TRUE(ends(&bench, "version 9 begins at step 1; the floor was at step 2"));
}

const struct harness_test reclaim_checker_tests[] = {
    HARNESS_TEST(what_no_rank_holds_may_go),
    HARNESS_TEST(a_floor_above_a_hold_is_caught),
    HARNESS_TEST(a_held_step_that_is_deleted_is_caught),
    HARNESS_TEST(a_step_that_no_floor_gave_up_is_caught),
    HARNESS_TEST(an_undecided_batch_that_is_deleted_is_caught),
    HARNESS_TEST(an_unknown_producer_s_batch_is_undecided),
    HARNESS_TEST(the_highest_floor_and_intent_stay),
    HARNESS_TEST(the_floor_of_the_highest_step_stays),
    HARNESS_TEST(who_sends_a_floor_below_one_that_he_saw_is_caught),
    HARNESS_TEST(what_is_given_up_while_a_rank_is_unheard_is_caught),
    HARNESS_TEST(a_version_that_is_not_trimmed_is_caught),
    {0},
};
