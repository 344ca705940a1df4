/* reclaim_test.c - rounds of a reclaimer: what consumers need, intent, floor, who blocks, and what
 * a store that does not answer changes. */
#include "core/reclaim.h"

#include <string.h>

#include "tests/core/yard.h"
#include "tests/harness.h"

static void expect_nothing_given_up(struct yard *yard)
{
    CU_ASSERT_EQUAL(yard_steps(yard, 1, 10), 10);
    CU_ASSERT_EQUAL(scripted_store_floor(yard->store).step, 0);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, DELETE_TGB), 0);
}

static void lowest_watermark_becomes_the_floor(void)
{
    struct yard *yard = yard_open_with_steps();
    yard_round(yard, RECLAIM_DONE);
    struct floor floor = scripted_store_floor(yard->store);
    CU_ASSERT(floor.version == 6 && floor.step == 4);
    CU_ASSERT_EQUAL(yard_intent(yard), 4);
    CU_ASSERT_EQUAL(yard_steps(yard, 1, 3), 0);
    CU_ASSERT_EQUAL(yard_steps(yard, 4, 10), 7);
    for (uint64_t version = 1; version < 6; version++)
        CU_ASSERT_FALSE(yard_has_version(yard, version));
    CU_ASSERT_TRUE(yard_has_version(yard, 6));
    const struct reclaim_report *report = &yard->report;
    CU_ASSERT(report->watermark == 4 && report->holder == 0 && report->consumers == 2);
    CU_ASSERT(report->tgbs == 3 && report->tgb_bytes == 3 * YARD_TGB_BYTES && report->live == 7);
    CU_ASSERT(report->versions == 5 && report->orphans == 0 && report->undecided == 0);
    CU_ASSERT(report->newest == 6 && report->next_step == 11);
    /* Nothing moved: no marker, no deletion. A new process has to read the version. */
    uint64_t before = yard->requests;
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT_EQUAL(yard->requests - before, 2 + 6);
    CU_ASSERT(yard->report.tgbs == 0 && yard->report.versions == 0 && yard->report.live == 7);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, PUT_FLOOR), 1);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, PUT_INTENT), 1);
    yard_close(yard);
}

static void next_version_is_trimmed_and_the_floor_follows(void)
{
    struct yard *yard = yard_open_with_steps();
    yard_round(yard, RECLAIM_DONE);
    yard_commit(yard, 1, 1);
    CU_ASSERT_EQUAL(yard->newest->first_step, 4);
    yard_value(yard, 0, 1, 11);
    yard_value(yard, 1, 1, 9);
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT_EQUAL(scripted_store_floor(yard->store).step, 9);
    CU_ASSERT_EQUAL(yard->report.holder, 1);
    CU_ASSERT_EQUAL(yard_steps(yard, 4, 8), 0);
    CU_ASSERT_EQUAL(yard_steps(yard, 9, 11), 3);
    yard_close(yard);
}

static void versions_behind_the_newest_stay(void)
{
    struct yard *yard = yard_open_with_steps();
    yard->options.behind = 2;
    yard_round(yard, RECLAIM_DONE);
    struct floor floor = scripted_store_floor(yard->store);
    CU_ASSERT(floor.version == 4 && floor.step == 4);
    CU_ASSERT_FALSE(yard_has_version(yard, 3));
    CU_ASSERT_TRUE(yard_has_version(yard, 4));
    /* Steps are given up and TGBs decided by the newest one, however short the chain. */
    CU_ASSERT_EQUAL(yard_steps(yard, 1, 3), 0);
    yard->options.behind = 100;
    yard_value(yard, 0, 1, 11);
    yard_value(yard, 1, 1, 10);
    yard_round(yard, RECLAIM_DONE);
    floor = scripted_store_floor(yard->store);
    CU_ASSERT(floor.version == 4 && floor.step == 10);
    CU_ASSERT_EQUAL(yard_steps(yard, 1, 9), 0);
    CU_ASSERT_TRUE(yard_has_step(yard, 10));
    CU_ASSERT_EQUAL(yard->report.newest, 6);
    yard_close(yard);
}

static void nothing_is_given_up_while_anybody_is_unknown(void)
{
    struct yard *yard = yard_open();
    for (uint32_t i = 0; i < 5; i++)
        yard_commit(yard, 1 + i % 2, 2);
    yard_round(yard, RECLAIM_DONE); /* no consumer at all */
    CU_ASSERT(yard->report.consumers == 0 && yard->report.missing == 0);
    yard_retire(yard, 5, 1); /* one, which needs nothing */
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT(yard->report.consumers == 0 && yard->report.retired == 1);
    yard_value(yard, 0, 1, 4);
    yard->options.ranks = 3; /* 1 and 2 never came */
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT(yard->report.missing == 2 && yard->report.first_missing == 1);
    yard->options.ranks = 1;
    yard_number(yard, 7, 1); /* taken, no value yet */
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT(yard->report.missing == 1 && yard->report.first_missing == 7);
    CU_ASSERT_EQUAL(yard->report.watermark, 4);
    expect_nothing_given_up(yard);
    CU_ASSERT_EQUAL(yard_intent(yard), 0);
    CU_ASSERT_TRUE(yard_has_version(yard, 1));
    yard_value(yard, 7, 1, 6);
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT_EQUAL(scripted_store_floor(yard->store).step, 4);
    yard_close(yard);
}

/* ---- the order of things ---- */

static void intent_is_there_and_nothing_is_gone(struct scripted_store *store, void *context)
{
    (void)store;
    CU_ASSERT_EQUAL(yard_intent(context), 4);
    expect_nothing_given_up(context);
}

static void floor_is_raised(struct scripted_store *store, void *context)
{
    (void)context;
    struct floor floor = scripted_store_floor(store);
    CU_ASSERT(floor.version == 6 && floor.step == 4);
}

static void intent_then_listing_then_floor_then_deletions(void)
{
    struct yard *yard = yard_open_with_steps();
    yard_script(yard, (struct rule){.kind = LIST_NUMBERS,
                                    .skip = 1,
                                    .times = 1,
                                    .before = intent_is_there_and_nothing_is_gone});
    yard_script(yard,
                (struct rule){.kind = PUT_FLOOR, .before = intent_is_there_and_nothing_is_gone});
    yard_script(yard, (struct rule){.kind = DELETE_TGB, .before = floor_is_raised});
    yard_script(yard, (struct rule){.kind = DELETE_VERSION, .before = floor_is_raised});
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, LIST_NUMBERS), 2);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, DELETE_TGB), 3);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, DELETE_VERSION), 5);
    yard_close(yard);
}

static void newcomer_comes(struct scripted_store *store, void *context)
{
    (void)store;
    yard_value(context, 8, 1, 2);
}

static void newcomer_takes_a_number(struct scripted_store *store, void *context)
{
    (void)store;
    yard_number(context, 8, 1);
}

/* Rolls back: its higher number needs more than its lower one. */
static void consumer_rolls_back(struct scripted_store *store, void *context)
{
    (void)store;
    yard_value(context, 1, 2, 3);
}

static void who_comes_before_the_intent_is_heeded(void)
{
    static const struct {
        void (*before)(struct scripted_store *, void *);
        uint64_t step;
    } rows[] = {{newcomer_comes, 2}, {consumer_rolls_back, 3}, {newcomer_takes_a_number, 1}};
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct yard *yard = yard_open_with_steps();
        yard_script(yard, (struct rule){.kind = PUT_INTENT, .times = 1, .before = rows[i].before});
        yard_round(yard, RECLAIM_DONE);
        CU_ASSERT_EQUAL(scripted_store_floor(yard->store).step, rows[i].step);
        CU_ASSERT_EQUAL(scripted_store_floor(yard->store).version, 6);
        CU_ASSERT_EQUAL(yard_steps(yard, rows[i].step, 10), 11 - rows[i].step);
        CU_ASSERT_EQUAL(yard->report.tgbs, rows[i].step - 1);
        yard_close(yard);
    }
}

/* ---- stores that do not answer ---- */

static void marker_that_is_lost_is_sent_until_it_is_surely_there(void)
{
    static const enum request_kind kinds[] = {PUT_INTENT, PUT_FLOOR, LIST_NUMBERS, LIST_TGBS};
    static const enum store_outcome outcomes[] = {STORE_UNKNOWN, STORE_THROTTLED, STORE_BUSY};
    for (size_t i = 0; i < HARNESS_COUNT(kinds); i++) {
        for (size_t j = 0; j < HARNESS_COUNT(outcomes); j++) {
            struct yard *yard = yard_open_with_steps();
            yard_script(yard, (struct rule){.kind = kinds[i],
                                            .times = RECLAIM_RETRIES_MAX,
                                            .application = DROP,
                                            ANSWER(outcomes[j])});
            yard_round(yard, RECLAIM_DONE);
            CU_ASSERT_EQUAL(yard->report.retried, RECLAIM_RETRIES_MAX);
            CU_ASSERT_EQUAL(scripted_store_floor(yard->store).step, 4);
            CU_ASSERT_EQUAL(yard_intent(yard), 4);
            yard_close(yard);
        }
    }
}

static void round_without_answers_is_given_up_and_deletes_nothing(void)
{
    static const enum request_kind kinds[] = {LIST_NEWER, LIST_FLOOR, LIST_NUMBERS, PUT_INTENT,
                                              PUT_FLOOR};
    for (size_t i = 0; i < HARNESS_COUNT(kinds); i++) {
        struct yard *yard = yard_open_with_steps();
        yard_script(yard,
                    (struct rule){.kind = kinds[i], .application = DROP, ANSWER(STORE_UNKNOWN)});
        yard_round(yard, RECLAIM_GIVEN_UP);
        CU_ASSERT_PTR_NOT_NULL(strstr(yard->error, "not answered 64 times"));
        expect_nothing_given_up(yard);
        CU_ASSERT_TRUE(yard_has_version(yard, 1));
        yard_close(yard);
    }
}

static void next_round_begins_a_new_row(void)
{
    struct yard *yard = yard_open_with_steps();
    yard_script(yard, (struct rule){.kind = LIST_NUMBERS,
                                    .times = RECLAIM_RETRIES_MAX + 2,
                                    ANSWER(STORE_UNKNOWN)});
    yard_start(yard, 100 * NS_PER_S);
    yard_until_rounds(yard, 1);
    CU_ASSERT_EQUAL(yard->report.end, RECLAIM_GIVEN_UP);
    yard_until_rounds(yard, 2);
    CU_ASSERT_EQUAL(yard->report.end, RECLAIM_DONE);
    CU_ASSERT_EQUAL(yard->report.retried, 1);
    yard_close(yard);
}

static void chain_moves_on(struct scripted_store *store, void *context)
{
    struct yard *yard = context;
    yard_commit(yard, 1, 1);
    scripted_store_raise_floor(store, (struct floor){.version = yard->newest->version, .step = 4});
    scripted_store_delete_below_floor(store);
}

static void chain_that_keeps_moving_is_left_to_a_later_round(void)
{
    struct yard *yard = yard_open_with_steps();
    yard_script(yard, (struct rule){.kind = READ_VERSION, .before = chain_moves_on});
    yard_round(yard, RECLAIM_GIVEN_UP);
    CU_ASSERT_PTR_NOT_NULL(strstr(yard->error, "cannot be found"));
    CU_ASSERT_EQUAL(yard_steps(yard, 4, 10), 7);
    yard_close(yard);
}

static void refusal_ends_the_round_and_says_why(void)
{
    static const enum request_kind kinds[] = {LIST_NEWER, LIST_NUMBERS, PUT_INTENT, PUT_FLOOR};
    for (size_t i = 0; i < HARNESS_COUNT(kinds); i++) {
        struct yard *yard = yard_open_with_steps();
        yard_script(yard, (struct rule){.kind = kinds[i], .times = 1, ANSWER(STORE_FAILED)});
        yard_round(yard, RECLAIM_REFUSED);
        CU_ASSERT_TRUE(yard->error[0] != '\0');
        CU_ASSERT_EQUAL(yard_steps(yard, 1, 10), 10);
        yard_close(yard);
    }
}

/* ---- what else there is ---- */

static void dry_run_counts_what_a_round_then_does(void)
{
    struct yard *yard = yard_open_with_steps();
    yard->options.mode = RECLAIM_DRY_RUN;
    yard_round(yard, RECLAIM_DONE);
    struct reclaim_report dry = yard->report;
    expect_nothing_given_up(yard);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, PUT_INTENT), 0);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, PUT_FLOOR), 0);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, DELETE_VERSION), 0);
    CU_ASSERT(dry.tgbs == 3 && dry.versions == 5 && dry.floor.step == 4);
    yard->options.mode = RECLAIM_DELETE;
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT(yard->report.tgbs == dry.tgbs && yard->report.tgb_bytes == dry.tgb_bytes);
    CU_ASSERT(yard->report.versions == dry.versions && yard->report.live == dry.live);
    CU_ASSERT(yard->report.version_bytes == dry.version_bytes && dry.version_bytes > 0);
    CU_ASSERT(yard->report.floor.version == dry.floor.version);
    yard_close(yard);
}

static void watermark_beyond_the_chain_gives_up_no_step_to_come(void)
{
    struct yard *yard = yard_open_with_steps();
    yard_value(yard, 0, 1, 9000);
    yard_value(yard, 1, 1, 9500);
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT_EQUAL(scripted_store_floor(yard->store).step, 11);
    CU_ASSERT_EQUAL(yard_intent(yard), 11);
    yard_commit(yard, 1, 2);
    CU_ASSERT_EQUAL(yard->newest->first_step, 11);
    CU_ASSERT_EQUAL(yard_steps(yard, 11, 12), 2);
    yard_close(yard);
}

static void lowest_watermark_is_found_on_any_page(void)
{
    struct yard *yard = yard_open_with_steps();
    for (uint32_t consumer = 2; consumer < 1500; consumer++)
        yard_value(yard, consumer, 1, consumer == 1450 ? 3 : 8);
    yard->options.ranks = 1500;
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT(yard->report.consumers == 1500 && yard->report.holder == 1450);
    CU_ASSERT_EQUAL(scripted_store_floor(yard->store).step, 3);
    yard_close(yard);
}

static void watermark_that_stands_still_is_reported(void)
{
    struct yard *yard = yard_open_with_steps();
    yard->options.full_every = 2;
    yard_start(yard, 100 * NS_PER_S);
    yard_until_rounds(yard, 1);
    CU_ASSERT_EQUAL(yard->report.held_ns, 0);
    for (uint64_t round = 2; round <= 3; round++) {
        uint64_t before = yard->requests;
        yard_until_rounds(yard, round);
        CU_ASSERT_EQUAL(yard->requests - before, round % 2 == 0 ? 4 : 6);
    }
    yard_until_rounds(yard, 5);
    CU_ASSERT(yard->report.holder == 0 && yard->report.watermark == 4);
    CU_ASSERT(yard->report.held_ns >= 200 * NS_PER_S && yard->report.held_ns <= 601 * NS_PER_S);
    yard_value(yard, 0, 1, 5);
    yard_until_rounds(yard, 6);
    CU_ASSERT(yard->report.watermark == 5 && yard->report.held_ns == 0);
    CU_ASSERT_EQUAL(yard->report.oldest_bucket, 1);
    yard->bucket = 9;
    yard_commit(yard, 1, 2);
    yard_value(yard, 0, 1, 11);
    yard_value(yard, 1, 1, 11);
    yard_until_rounds(yard, 8);
    CU_ASSERT(yard->report.watermark == 11 && yard->report.oldest_bucket == 9);
    yard_value(yard, 0, 1, 13);
    yard_value(yard, 1, 1, 13);
    yard_until_rounds(yard, 10);
    CU_ASSERT(yard->report.watermark == 13 && yard->report.oldest_bucket == 0);
    yard_close(yard);
}

static void no_version_and_a_damaged_one_end_the_round(void)
{
    struct yard *yard = yard_open();
    scripted_store_delete(yard->store, "manifest/00000000000000000001");
    yard_round(yard, RECLAIM_EMPTY);
    yard_put(yard, "manifest/00000000000000000002");
    yard_round(yard, RECLAIM_REFUSED);
    CU_ASSERT_PTR_NOT_NULL(strstr(yard->error, "manifest/00000000000000000002"));
    yard_close(yard);
}

const struct harness_test reclaim_tests[] = {
    HARNESS_TEST(lowest_watermark_becomes_the_floor),
    HARNESS_TEST(next_version_is_trimmed_and_the_floor_follows),
    HARNESS_TEST(versions_behind_the_newest_stay),
    HARNESS_TEST(nothing_is_given_up_while_anybody_is_unknown),
    HARNESS_TEST(intent_then_listing_then_floor_then_deletions),
    HARNESS_TEST(who_comes_before_the_intent_is_heeded),
    HARNESS_TEST(marker_that_is_lost_is_sent_until_it_is_surely_there),
    HARNESS_TEST(round_without_answers_is_given_up_and_deletes_nothing),
    HARNESS_TEST(next_round_begins_a_new_row),
    HARNESS_TEST(chain_that_keeps_moving_is_left_to_a_later_round),
    HARNESS_TEST(refusal_ends_the_round_and_says_why),
    HARNESS_TEST(dry_run_counts_what_a_round_then_does),
    HARNESS_TEST(watermark_beyond_the_chain_gives_up_no_step_to_come),
    HARNESS_TEST(lowest_watermark_is_found_on_any_page),
    HARNESS_TEST(watermark_that_stands_still_is_reported),
    HARNESS_TEST(no_version_and_a_damaged_one_end_the_round),
    {0},
};
