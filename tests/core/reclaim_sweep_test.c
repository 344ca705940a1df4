/* reclaim_sweep_test.c - which objects go: every kind of name against every kind of state; pages,
 * deletions that fail, old markers. */
#include <stdio.h>
#include <string.h>

#include "tests/core/yard.h"
#include "tests/harness.h"

/* ---- the rule ---- */

enum fate {
    GOES,
    ORPHAN_GOES,
    STAYS,
    UNDECIDED,
};

/* Producer 1 stands at epoch 3, sequence 6: 1 and 2 were committed under epoch 1, 3 and 4 under
 * epoch 2, 5 and 6 under epoch 3; steps like sequences. Step 4 and what follows is needed. */
static const struct {
    const char *what;
    uint32_t producer;
    uint32_t epoch;
    uint32_t incarnation; /* of which epoch */
    uint64_t sequence;
    uint64_t offset; /* beside the right one */
    uint64_t bucket;
    enum fate fate;
} names[] = {
    {"below the floor's step", 1, 2, 2, 3, 0, 1, GOES},
    {"below it, of an old epoch", 1, 1, 1, 2, 0, 1, GOES},
    {"needed, of an old epoch", 1, 2, 2, 4, 0, 1, STAYS},
    {"needed", 1, 3, 3, 6, 0, 1, STAYS},
    {"next one", 1, 3, 3, 7, 0, 1, UNDECIDED},
    {"far ahead", 1, 3, 3, 900, 0, 1, UNDECIDED},
    {"same epoch, another incarnation", 1, 3, 9, 5, 0, 1, ORPHAN_GOES},
    {"same epoch, another incarnation, ahead", 1, 3, 9, 7, 0, 1, ORPHAN_GOES},
    {"fenced before it was committed", 1, 2, 2, 7, 0, 1, ORPHAN_GOES},
    {"fenced, sequence made again since", 1, 2, 2, 5, 0, 1, GOES},
    {"old epoch, unknown incarnation", 1, 1, 8, 4, 0, 1, GOES},
    {"epoch to come", 1, 4, 4, 7, 0, 1, UNDECIDED},
    {"epoch to come, old sequence", 1, 4, 4, 2, 0, 1, UNDECIDED},
    {"producer to come", 2, 1, 1, 1, 0, 1, UNDECIDED},
    {"needed, but for its offset", 1, 3, 3, 6, 1, 1, GOES},
    {"needed, but for its bucket", 1, 3, 3, 6, 0, 2, GOES},
};

static struct tgb_name name_of_row(size_t row)
{
    return (struct tgb_name){.bucket = names[row].bucket,
                             .sequence = names[row].sequence,
                             .end_offset = names[row].sequence * YARD_TGB_BYTES + names[row].offset,
                             .incarnation =
                                 yard_incarnation(names[row].producer, names[row].incarnation),
                             .producer = names[row].producer,
                             .epoch = names[row].epoch};
}

static struct yard *yard_with_epochs(void)
{
    struct yard *yard = yard_open();
    yard_commit(yard, 1, 2);
    yard_fence(yard, 1);
    yard_commit(yard, 1, 2);
    yard_fence(yard, 1);
    yard_commit(yard, 1, 2);
    yard_value(yard, 0, 1, 4);
    return yard;
}

static void every_name_has_its_fate(void)
{
    for (size_t row = 0; row < HARNESS_COUNT(names); row++) {
        struct yard *yard = yard_with_epochs();
        struct tgb_name name = name_of_row(row);
        yard_upload(yard, &name);
        yard_round(yard, RECLAIM_DONE);
        const struct reclaim_report *report = &yard->report;
        bool goes = names[row].fate == GOES || names[row].fate == ORPHAN_GOES;
        if (yard_has_tgb(yard, &name) == goes)
            printf("\n    %s\n", names[row].what);
        CU_ASSERT_EQUAL(yard_has_tgb(yard, &name), !goes);
        CU_ASSERT_EQUAL(report->orphans, names[row].fate == ORPHAN_GOES);
        CU_ASSERT_EQUAL(report->undecided, names[row].fate == UNDECIDED);
        CU_ASSERT_EQUAL(report->live, 3);
        CU_ASSERT_EQUAL(yard_steps(yard, 4, 6), 3);
        yard_close(yard);
    }
}

static void all_names_at_once(void)
{
    struct yard *yard = yard_with_epochs();
    for (size_t row = 0; row < HARNESS_COUNT(names); row++) {
        struct tgb_name name = name_of_row(row);
        yard_upload(yard, &name);
    }
    yard_round(yard, RECLAIM_DONE);
    for (size_t row = 0; row < HARNESS_COUNT(names); row++) {
        struct tgb_name name = name_of_row(row);
        bool stays = names[row].fate == STAYS || names[row].fate == UNDECIDED;
        CU_ASSERT_EQUAL(yard_has_tgb(yard, &name), stays);
    }
    CU_ASSERT(yard->report.orphans == 3 && yard->report.undecided == 5);
    CU_ASSERT(yard->report.orphan_bytes == 3 * YARD_TGB_BYTES && yard->report.live == 3);
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT(yard->report.tgbs == 0 && yard->report.undecided == 5);
    yard_close(yard);
}

/* A late create below the floor names what is still to be committed. */
static void zombie_that_names_a_tgb_dooms_it_not(void)
{
    struct yard *yard = yard_with_epochs();
    yard_round(yard, RECLAIM_DONE);
    struct tgb_name waiting = yard_name(yard, 5, 1, 1);
    yard_upload(yard, &waiting);
    struct manifest *genesis = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    struct manifest_entry entry = {.tgb = waiting, .tgb_bytes = YARD_TGB_BYTES};
    struct manifest_change change = {
        .author = {.producer = 5, .epoch = 1, .incarnation = waiting.incarnation},
        .state = {.producer = 5,
                  .epoch = 1,
                  .incarnation = waiting.incarnation,
                  .next_offset = waiting.end_offset,
                  .last_sequence = 1},
        .entry_count = 1,
        .entries = &entry};
    struct manifest *zombie = manifest_append(genesis, &change);
    CU_ASSERT_TRUE(scripted_store_create_version(yard->store, zombie));
    yard_value(yard, 0, 1, 7);
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT_FALSE(yard_has_version(yard, 2));
    CU_ASSERT_TRUE(yard_has_tgb(yard, &waiting));
    manifest_release(zombie);
    manifest_release(genesis);
    yard_close(yard);
}

static void tgbs_within_the_grace_stay(void)
{
    struct yard *yard = yard_open();
    yard->bucket = (YARD_NOW - 100 * NS_PER_S) / TGB_BUCKET_NS;
    yard_commit(yard, 1, 2);
    yard->bucket = YARD_NOW / TGB_BUCKET_NS;
    yard_commit(yard, 1, 3);
    yard->bucket += 1000; /* a clock far ahead */
    yard_commit(yard, 1, 1);
    yard_value(yard, 0, 1, 7);
    yard->options.grace_ns = 30 * NS_PER_S;
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT(yard->report.tgbs == 2 && yard->report.young == 4);
    yard->loop.now_ns += 60 * NS_PER_S;
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT(yard->report.tgbs == 3 && yard->report.young == 1);
    yard->loop.now_ns = 10 * NS_PER_S; /* the clock jumped back, before any grace could be over */
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT(yard->report.tgbs == 0 && yard->report.young == 1);
    yard->options.grace_ns = 0;
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT(yard->report.tgbs == 1 && yard->report.young == 0);
    yard_close(yard);
    /* A bucket is as old as its end. */
    yard = yard_open();
    yard->bucket = 10;
    yard_commit(yard, 1, 1);
    yard_value(yard, 0, 1, 2);
    yard->options.grace_ns = 30 * NS_PER_S;
    yard->loop.now_ns = 11 * TGB_BUCKET_NS + 30 * NS_PER_S - NS_PER_S;
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT_EQUAL(yard->report.young, 1);
    yard->loop.now_ns = 11 * TGB_BUCKET_NS + 30 * NS_PER_S;
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT_EQUAL(yard->report.tgbs, 1);
    yard_close(yard);
}

static void undecided_are_reported_by_producer_the_oldest_first(void)
{
    struct yard *yard = yard_with_epochs();
    for (uint32_t producer = 40; producer > 0; producer--) {
        yard->bucket++;
        for (uint64_t sequence = 7; sequence < 7 + producer % 3 + 1; sequence++) {
            struct tgb_name name = yard_name(yard, producer + 10, 1, sequence);
            yard_upload(yard, &name);
        }
    }
    yard_round(yard, RECLAIM_DONE);
    const struct reclaim_report *report = &yard->report;
    CU_ASSERT_EQUAL(report->undecided, 80);
    CU_ASSERT_EQUAL(report->undecided_bytes, 80 * YARD_TGB_BYTES);
    CU_ASSERT_EQUAL(report->undecided_count, RECLAIM_UNDECIDED_MAX);
    for (uint32_t i = 0; i < report->undecided_count; i++) {
        const struct reclaim_undecided *row = &report->undecided_of[i];
        CU_ASSERT_EQUAL(row->producer, 50 - i);
        CU_ASSERT_EQUAL(row->tgbs, (40 - i) % 3 + 1);
        CU_ASSERT_EQUAL(row->bytes, row->tgbs * YARD_TGB_BYTES);
        CU_ASSERT_EQUAL(row->oldest_bucket, 2 + i);
    }
    yard_close(yard);
}

/* ---- listings ---- */

static void objects_go_page_by_page_and_few_at_a_time(void)
{
    struct yard *yard = yard_open();
    for (int i = 0; i < 50; i++)
        yard_commit(yard, 1, 70);
    yard_value(yard, 0, 1, 3001);
    yard_start(yard, 0);
    uint32_t most = 0;
    while (yard->rounds == 0 && manual_loop_step(&yard->loop)) {
        uint32_t in_flight = scripted_store_in_flight(yard->store);
        most = in_flight > most ? in_flight : most;
    }
    CU_ASSERT_EQUAL(most, yard->options.deletes_max + 1); /* and the next page */
    CU_ASSERT(yard->report.tgbs == 3000 && yard->report.live == 500);
    CU_ASSERT_EQUAL(yard_steps(yard, 1, 3000), 0);
    CU_ASSERT_EQUAL(yard_steps(yard, 3001, 3500), 500);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, LIST_TGBS), 4);
    yard_close(yard);
}

static void listing_stops_where_the_live_steps_begin_but_in_full_rounds(void)
{
    struct yard *yard = yard_open();
    for (int i = 0; i < 50; i++, yard->bucket++)
        yard_commit(yard, 1, 70);
    yard->bucket = 0;
    yard_commit(yard, 2, 1); /* a clock behind: an old bucket, a late step */
    struct tgb_name late = yard_name(yard, 1, 1, 1);
    late.bucket = 1000;
    yard_upload(yard, &late);
    yard->options.full_every = 4;
    yard_value(yard, 0, 1, 1);
    yard_start(yard, NS_PER_S);
    yard_until_rounds(yard, 1);
    CU_ASSERT_TRUE(yard->report.full);
    CU_ASSERT_EQUAL(yard->report.tgbs, 1);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, LIST_TGBS), 4);
    yard_upload(yard, &late);
    yard_value(yard, 0, 1, 141);
    yard_until_rounds(yard, 2);
    CU_ASSERT_FALSE(yard->report.full);
    CU_ASSERT(yard->report.tgbs == 140 && yard->report.live == 71);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, LIST_TGBS), 5);
    yard_until_rounds(yard, 4);
    CU_ASSERT_TRUE(yard_has_tgb(yard, &late));
    yard_until_rounds(yard, 5);
    CU_ASSERT(yard->report.full && yard->report.tgbs == 1);
    CU_ASSERT_FALSE(yard_has_tgb(yard, &late));
    CU_ASSERT_EQUAL(yard_steps(yard, 141, 3501), 3361);
    yard_close(yard);
}

static void foreign_keys_are_left_alone_and_counted(void)
{
    static const char *const keys[] = {
        "manifest/00000000000000000001.bak",
        "tgb/README",
        "tgb/000000000001/1-1-zz-3-300",
        "watermark/me",
        "watermark/0000000000/00000000000000000001-old",
        "intent/none",
        "manifest/floor-none",
    };
    struct yard *yard = yard_with_epochs();
    for (size_t i = 0; i < HARNESS_COUNT(keys); i++)
        yard_put(yard, keys[i]);
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT_EQUAL(yard->report.foreign, HARNESS_COUNT(keys));
    for (size_t i = 0; i < HARNESS_COUNT(keys); i++)
        CU_ASSERT_TRUE(scripted_store_has(yard->store, keys[i]));
    yard_close(yard);
}

/* ---- deletions ---- */

static void deletion_without_an_answer_is_sent_again_then_left(void)
{
    struct yard *yard = yard_with_epochs();
    yard_script(yard, (struct rule){.kind = DELETE_TGB,
                                    .times = RECLAIM_DELETE_RETRIES_MAX,
                                    .application = DROP,
                                    ANSWER(STORE_UNKNOWN)});
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT(yard->report.tgbs == 3 && yard->report.abandoned == 0);
    CU_ASSERT_EQUAL(yard->report.retried, RECLAIM_DELETE_RETRIES_MAX);
    yard_close(yard);
    yard = yard_with_epochs();
    yard_script(yard,
                (struct rule){.kind = DELETE_TGB, .application = DROP, ANSWER(STORE_THROTTLED)});
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT(yard->report.tgbs == 0 && yard->report.abandoned == 3);
    CU_ASSERT_EQUAL(yard->report.versions, 5);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, DELETE_TGB),
                    3 * (RECLAIM_DELETE_RETRIES_MAX + 1));
    yard_close(yard);
}

static void deletion_that_is_given_up_leaves_the_next_its_retries(void)
{
    struct yard *yard = yard_with_epochs();
    yard->options.deletes_max = 1;
    yard_script(yard, (struct rule){.kind = DELETE_TGB,
                                    .times = RECLAIM_DELETE_RETRIES_MAX + 2,
                                    .application = DROP,
                                    ANSWER(STORE_UNKNOWN)});
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT(yard->report.tgbs == 2 && yard->report.abandoned == 1);
    yard_close(yard);
}

static void object_that_another_deleted_counts_as_deleted(void)
{
    struct yard *yard = yard_with_epochs();
    yard_script(yard, (struct rule){.kind = DELETE_TGB, .times = 1, ANSWER(STORE_NOT_FOUND)});
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT(yard->report.tgbs == 3 && yard->report.abandoned == 0);
    CU_ASSERT_EQUAL(yard->report.retried, 0);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, DELETE_TGB), 3);
    yard_close(yard);
}

/* A page and the last deletions before it were asked for in vain, and would be again after a while;
 * one of these is refused first. */
static void refused_round_asks_for_nothing_more(void)
{
    struct yard *yard = yard_open();
    for (int i = 0; i < 20; i++)
        yard_commit(yard, 1, 70);
    yard_value(yard, 0, 1, 1390);
    yard->options.retry_ns = yard->options.retry_max_ns = NS_PER_S;
    yard->options.deletes_max = 64;
    yard_script(yard,
                (struct rule){.kind = LIST_TGBS, .skip = 1, .times = 1, ANSWER(STORE_UNKNOWN)});
    yard_script(yard, (struct rule){.kind = DELETE_TGB,
                                    .skip = 1000 - yard->options.deletes_max,
                                    .times = yard->options.deletes_max,
                                    .application = DROP,
                                    ANSWER(STORE_UNKNOWN)});
    yard_script(yard, (struct rule){.kind = DELETE_TGB,
                                    .skip = 1000 - yard->options.deletes_max,
                                    .application = DROP,
                                    ANSWER(STORE_FAILED)});
    yard_round(yard, RECLAIM_REFUSED);
    CU_ASSERT_EQUAL(yard->report.retried, 1 + yard->options.deletes_max);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, LIST_TGBS), 2);
    yard_close(yard);
}

static void refused_deletion_ends_the_round(void)
{
    struct yard *yard = yard_open();
    for (int i = 0; i < 20; i++)
        yard_commit(yard, 1, 5);
    yard_value(yard, 0, 1, 90);
    yard_script(
        yard,
        (struct rule){.kind = DELETE_TGB, .skip = 10, .application = DROP, ANSWER(STORE_FAILED)});
    yard_round(yard, RECLAIM_REFUSED);
    CU_ASSERT_EQUAL(yard->report.tgbs, 10);
    CU_ASSERT(scripted_store_requests(yard->store, DELETE_TGB) <= 10 + yard->options.deletes_max);
    CU_ASSERT_PTR_NOT_NULL(strstr(yard->error, "tgb/000000000001/1-1-"));
    yard_close(yard);
    yard = yard_with_epochs(); /* the last ones, after the last listing */
    yard->options.marker_grace_ns = TIME_NEVER;
    yard_script(yard, (struct rule){.kind = DELETE_TGB, .application = DROP, ANSWER(STORE_FAILED)});
    yard_round(yard, RECLAIM_REFUSED);
    CU_ASSERT(yard->report.tgbs == 0 && yard->report.abandoned == 3);
    yard_close(yard);
}

/* ---- markers ---- */

static uint64_t markers(const struct yard *yard)
{
    return scripted_store_count(yard->store, NAME_FLOOR_PREFIX) +
           scripted_store_count(yard->store, NAME_INTENT_PREFIX);
}

static void old_markers_go_after_a_grace_the_highest_never(void)
{
    struct yard *yard = yard_with_epochs();
    yard_start(yard, YARD_MARKER_GRACE / 4);
    for (uint64_t round = 1; round <= 3; round++) {
        yard_value(yard, 0, 1, 3 + round);
        yard_until_rounds(yard, round);
    }
    CU_ASSERT_EQUAL(markers(yard), 6); /* in less than the grace: a floor and an intent each */
    yard_commit(yard, 1, 4);
    for (uint64_t round = 4; round <= 30; round++) {
        yard_value(yard, 0, 1, round < 8 ? 3 + round : 10);
        yard_until_rounds(yard, round);
    }
    CU_ASSERT_EQUAL(markers(yard), 2);
    CU_ASSERT_EQUAL(scripted_store_floor(yard->store).step, 10);
    CU_ASSERT_EQUAL(yard_intent(yard), 10);
    yard_close(yard);
}

static void new_process_deletes_no_marker_in_its_first_round(void)
{
    struct yard *yard = yard_with_epochs();
    for (uint64_t step = 4; step <= 6; step++) {
        yard_value(yard, 0, 1, step);
        yard_round(yard, RECLAIM_DONE);
        yard->loop.now_ns += 10 * YARD_MARKER_GRACE;
        CU_ASSERT_EQUAL(yard->report.markers, 0);
    }
    CU_ASSERT_EQUAL(markers(yard), 6);
    yard->options.marker_grace_ns = TIME_NEVER;
    uint64_t listings = scripted_store_requests(yard->store, LIST_INTENT);
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT_EQUAL(scripted_store_requests(yard->store, LIST_INTENT), listings);
    yard_close(yard);
}

/* A process a round, as a timer runs them: none ever sees a marker twice. */
static void markers_of_many_processes_are_bounded(void)
{
    struct yard *yard = yard_open();
    yard_commit(yard, 1, 2 * RECLAIM_MARKERS_KEPT);
    for (uint64_t step = 2; step <= 2 * RECLAIM_MARKERS_KEPT; step++) {
        yard_value(yard, 0, 1, step);
        yard_round(yard, RECLAIM_DONE);
    }
    CU_ASSERT_EQUAL(markers(yard), 2 * RECLAIM_MARKERS_KEPT);
    CU_ASSERT_EQUAL(scripted_store_floor(yard->store).step, 2 * RECLAIM_MARKERS_KEPT);
    CU_ASSERT_EQUAL(yard_intent(yard), 2 * RECLAIM_MARKERS_KEPT);
    /* One that gave up more steps stays, however many are higher. */
    yard_close(yard);
    yard = yard_open();
    yard_commit(yard, 1, 9);
    for (uint64_t version = 0; version < 40 + RECLAIM_MARKERS_KEPT; version++)
        yard_fence(yard, 2);
    scripted_store_raise_floor(yard->store, (struct floor){.version = 1, .step = 5});
    for (uint64_t version = 2; version < 20 + RECLAIM_MARKERS_KEPT; version++)
        scripted_store_raise_floor(yard->store, (struct floor){.version = version, .step = 3});
    yard->options.ranks = 2; /* blocked: nothing is raised */
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT(markers(yard) >= RECLAIM_MARKERS_KEPT && markers(yard) < 10 + RECLAIM_MARKERS_KEPT);
    CU_ASSERT_EQUAL(yard->report.floor.step, 5);
    yard_round(yard, RECLAIM_DONE);
    CU_ASSERT_EQUAL(yard->report.floor.step, 5);
    yard_close(yard);
}

static void floor_that_gave_up_more_steps_stays(void)
{
    struct yard *yard = yard_with_epochs();
    yard->options.ranks = 2; /* blocked: nothing is raised */
    yard_start(yard, 2 * YARD_MARKER_GRACE);
    scripted_store_raise_floor(yard->store, (struct floor){.version = 2, .step = 3});
    scripted_store_raise_floor(yard->store, (struct floor){.version = 3, .step = 1});
    scripted_store_raise_floor(yard->store, (struct floor){.version = 3, .step = 2});
    yard_until_rounds(yard, 3);
    CU_ASSERT_EQUAL(markers(yard), 2);
    CU_ASSERT_EQUAL(scripted_store_floor(yard->store).step, 2);
    CU_ASSERT_EQUAL(yard->report.floor.step, 3);
    yard_close(yard);
}

const struct harness_test reclaim_sweep_tests[] = {
    HARNESS_TEST(every_name_has_its_fate),
    HARNESS_TEST(all_names_at_once),
    HARNESS_TEST(zombie_that_names_a_tgb_dooms_it_not),
    HARNESS_TEST(tgbs_within_the_grace_stay),
    HARNESS_TEST(undecided_are_reported_by_producer_the_oldest_first),
    HARNESS_TEST(objects_go_page_by_page_and_few_at_a_time),
    HARNESS_TEST(listing_stops_where_the_live_steps_begin_but_in_full_rounds),
    HARNESS_TEST(foreign_keys_are_left_alone_and_counted),
    HARNESS_TEST(deletion_without_an_answer_is_sent_again_then_left),
    HARNESS_TEST(deletion_that_is_given_up_leaves_the_next_its_retries),
    HARNESS_TEST(object_that_another_deleted_counts_as_deleted),
    HARNESS_TEST(refused_round_asks_for_nothing_more),
    HARNESS_TEST(refused_deletion_ends_the_round),
    HARNESS_TEST(old_markers_go_after_a_grace_the_highest_never),
    HARNESS_TEST(new_process_deletes_no_marker_in_its_first_round),
    HARNESS_TEST(markers_of_many_processes_are_bounded),
    HARNESS_TEST(floor_that_gave_up_more_steps_stays),
    {0},
};
