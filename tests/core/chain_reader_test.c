/* chain_reader_test.c - reading a version that counts: searches, zombies, floors that move, stores
 * that do not answer. */
#include "core/chain_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/core/world.h"
#include "tests/harness.h"

/* A reader with its operation on the world's store and its sleeps on the world's loop. */
struct follower {
    struct world *world;
    struct store *store;
    struct chain_reader reader;
    struct timer timer;
    bool reading;
    enum chain_effect_kind end;
};

static void perform(struct follower *follower, struct chain_effect effect)
{
    follower->reading = effect.kind == CHAIN_SUBMIT || effect.kind == CHAIN_SLEEP;
    follower->end = effect.kind;
    if (effect.kind == CHAIN_SUBMIT)
        store_submit(follower->store, &follower->reader.op);
    else if (effect.kind == CHAIN_SLEEP)
        loop_timer_set(&follower->world->loop.loop, &follower->timer, effect.until_ns);
}

static void on_answer(struct store_op *op, void *context)
{
    (void)op;
    struct follower *follower = context;
    perform(follower, chain_reader_answer(&follower->reader, follower->world->loop.now_ns));
}

static void on_timer(struct timer *timer, void *context)
{
    (void)timer;
    struct follower *follower = context;
    perform(follower, chain_reader_wake(&follower->reader));
}

static struct follower *follower_open(void)
{
    struct follower *follower = calloc(1, sizeof(*follower));
    assert(follower != NULL);
    follower->world = world_open(1);
    follower->store = scripted_store_port(follower->world->store);
    struct chain_reader_options options = {.retry_ns = NS_PER_MS, .retry_max_ns = NS_PER_S};
    chain_reader_init(&follower->reader, &options, random_stream_make(1, 2));
    follower->reader.op.done = on_answer;
    follower->reader.op.context = follower;
    timer_init(&follower->timer, on_timer, follower);
    return follower;
}

static void follower_close(struct follower *follower)
{
    chain_reader_deinit(&follower->reader);
    world_close(follower->world);
    free(follower);
}

static void follower_grow(struct follower *follower, uint64_t versions)
{
    for (uint64_t i = 0; i < versions; i++)
        world_foreign_commit(follower->world->store, follower->world);
}

static enum chain_effect_kind follower_read(struct follower *follower)
{
    perform(follower, chain_reader_begin(&follower->reader));
    while (follower->reading && manual_loop_step(&follower->world->loop))
        continue;
    CU_ASSERT_FALSE(follower->reading);
    CU_ASSERT_PTR_NULL(follower->reader.found);
    return follower->end;
}

static uint64_t requests(const struct follower *follower)
{
    return scripted_store_requests(follower->world->store, ANY_REQUEST);
}

static void read_costs_one_request_or_three(void)
{
    struct follower *follower = follower_open();
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_EMPTY);
    CU_ASSERT_EQUAL(requests(follower), 1);
    follower_grow(follower, 4);
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_CHANGED);
    CU_ASSERT_EQUAL(follower->reader.known->version, 5);
    CU_ASSERT_EQUAL(requests(follower), 4);
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_UNCHANGED);
    CU_ASSERT_EQUAL(follower->reader.known->version, 5);
    CU_ASSERT_EQUAL(requests(follower), 5);
    follower_close(follower);
}

static void search_goes_on_page_by_page(void)
{
    struct follower *follower = follower_open();
    follower_grow(follower, 3 * STORE_LIST_KEYS_MAX);
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_CHANGED);
    CU_ASSERT_EQUAL(follower->reader.known->version, 3 * STORE_LIST_KEYS_MAX + 1);
    CU_ASSERT_EQUAL(requests(follower), 4 + 2);
    follower_close(follower);
}

/* The chain moves on, the versions below its floor go, and a late create lands on a name of theirs.
 */
static void chain_moves_on_and_a_zombie_lands(struct scripted_store *store, void *context)
{
    world_chain_moves_on(store, context);
    struct manifest *genesis = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    struct manifest_change change = {.author = {.producer = 7, .epoch = 9},
                                     .state = {.producer = 7, .epoch = 9}};
    struct manifest *zombie = manifest_append(genesis, &change);
    CU_ASSERT_TRUE(scripted_store_create_version(store, zombie));
    manifest_release(zombie);
    manifest_release(genesis);
}

static void zombie_is_not_believed(void)
{
    struct follower *follower = follower_open();
    follower_grow(follower, 1);
    world_script(follower->world, (struct rule){.kind = READ_VERSION,
                                                .times = 1,
                                                .before = chain_moves_on_and_a_zombie_lands});
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_CHANGED);
    CU_ASSERT_EQUAL(follower->reader.known->version, 5);
    CU_ASSERT_PTR_NULL(manifest_state_find(follower->reader.known, 7));
    CU_ASSERT_EQUAL(follower->reader.invalid, 1);
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_UNCHANGED);
    follower_close(follower);
}

static void floor_that_passes_what_was_read_voids_it(void)
{
    struct follower *follower = follower_open();
    follower_grow(follower, 1);
    world_script(follower->world,
                 (struct rule){.kind = LIST_FLOOR, .times = 1, .before = world_chain_moves_on});
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_CHANGED);
    CU_ASSERT_EQUAL(follower->reader.known->version, 5);
    CU_ASSERT_EQUAL(follower->reader.invalid, 1);
    /* What is known stays until there is another, also when the floor has passed it. */
    world_script(follower->world, (struct rule){.kind = LIST_NEWER,
                                                .times = 1,
                                                .before = world_chain_moves_on,
                                                .answers = true,
                                                .outcome = STORE_FAILED});
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_FAILED);
    CU_ASSERT_EQUAL(follower->reader.known->version, 5);
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_CHANGED);
    CU_ASSERT_EQUAL(follower->reader.known->version, 8);
    follower_close(follower);
}

/* More than a page of names that sort before every floor. */
static void foreign_keys_hide_no_floor(void)
{
    struct follower *follower = follower_open();
    for (int i = 0; i < 40; i++) {
        char key[STORE_KEY_MAX];
        snprintf(key, sizeof(key), NAME_FLOOR_PREFIX "!%02d", i);
        scripted_store_put_empty(follower->world->store, key);
    }
    scripted_store_put_empty(follower->world->store, NAME_FLOOR_PREFIX);
    follower_grow(follower, 1);
    world_script(follower->world, (struct rule){.kind = READ_VERSION,
                                                .times = 1,
                                                .before = chain_moves_on_and_a_zombie_lands});
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_CHANGED);
    CU_ASSERT_EQUAL(follower->reader.known->version, 5);
    CU_ASSERT_EQUAL(follower->reader.invalid, 1);
    follower_close(follower);
}

/* A foreign key parts the pages between the last version and the first floor. */
static void versions_that_the_floor_passed_between_two_pages_are_not_read(void)
{
    struct follower *follower = follower_open();
    follower_grow(follower, STORE_LIST_KEYS_MAX - 2);
    scripted_store_put_empty(follower->world->store, NAME_MANIFEST_PREFIX "a");
    scripted_store_raise_floor(follower->world->store, (struct floor){.version = 1, .step = 1});
    world_script(
        follower->world,
        (struct rule){.kind = LIST_NEWER, .skip = 1, .times = 1, .before = world_chain_moves_on});
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_CHANGED);
    CU_ASSERT_EQUAL(follower->reader.known->version, STORE_LIST_KEYS_MAX + 2);
    CU_ASSERT_EQUAL(scripted_store_requests(follower->world->store, READ_VERSION), 1);
    CU_ASSERT(follower->reader.vanished == 0 && follower->reader.invalid == 0);
    follower_close(follower);
}

/* The floor that sorts first: of the highest version, the highest step. */
static void highest_floors_are_told_apart(void)
{
    static const struct floor floors[] = {{2, 9}, {3, 4}, {3, 7}, {3, 5}};
    struct follower *follower = follower_open();
    follower_grow(follower, 3);
    for (size_t i = 0; i < HARNESS_COUNT(floors); i++)
        scripted_store_raise_floor(follower->world->store, floors[i]);
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_CHANGED);
    CU_ASSERT(follower->reader.seen.top.version == 3 && follower->reader.seen.top.step == 7);
    CU_ASSERT(follower->reader.seen.floor.version == 3 && follower->reader.seen.floor.step == 9);
    follower_close(follower);
}

static void newest_two_are_lost(struct scripted_store *store, void *context)
{
    (void)context;
    scripted_store_delete(store, "manifest/00000000000000000002");
    scripted_store_delete(store, "manifest/00000000000000000003");
}

static void chain_that_ends_before_what_was_known_is_not_believed(void)
{
    struct follower *follower = follower_open();
    follower_grow(follower, 1);
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_CHANGED);
    follower_grow(follower, 1);
    world_script(follower->world,
                 (struct rule){.kind = READ_VERSION, .times = 1, .before = newest_two_are_lost});
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_FAILED);
    CU_ASSERT_EQUAL(follower->reader.failure, CHAIN_UNFINDABLE);
    CU_ASSERT_PTR_NOT_NULL(strstr(follower->reader.error, "something else deleting"));
    CU_ASSERT_EQUAL(follower->reader.known->version, 2);
    follower_close(follower);
}

static void versions_that_never_stay_are_given_up(void)
{
    struct follower *follower = follower_open();
    follower_grow(follower, 1);
    world_script(follower->world,
                 (struct rule){.kind = READ_VERSION, .before = world_chain_moves_on});
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_FAILED);
    CU_ASSERT_EQUAL(follower->reader.vanished, CHAIN_RESTARTS_MAX + 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(follower->reader.error, "something else deleting"));
    follower_close(follower);
}

static void unanswered_reads_are_sent_again_and_bounded(void)
{
    static const enum store_outcome outcomes[] = {STORE_UNKNOWN, STORE_THROTTLED, STORE_BUSY};
    static const enum request_kind kinds[] = {LIST_NEWER, READ_VERSION, LIST_FLOOR};
    for (size_t i = 0; i < HARNESS_COUNT(outcomes); i++) {
        for (size_t j = 0; j < HARNESS_COUNT(kinds); j++) {
            struct follower *follower = follower_open();
            follower_grow(follower, 1);
            struct rule rule = {.kind = kinds[j], .times = CHAIN_RETRIES_MAX, ANSWER(outcomes[i])};
            world_script(follower->world, rule);
            CU_ASSERT_EQUAL(follower_read(follower), CHAIN_CHANGED);
            CU_ASSERT_EQUAL(follower->reader.retry.total, CHAIN_RETRIES_MAX);
            rule.times = CHAIN_RETRIES_MAX + 2;
            world_script(follower->world, rule);
            follower_grow(follower, 1);
            CU_ASSERT_EQUAL(follower_read(follower), CHAIN_FAILED);
            CU_ASSERT_PTR_NOT_NULL(strstr(follower->reader.error, "not answered 64 times"));
            /* A new read begins a new row, and one more is not answered. */
            CU_ASSERT_EQUAL(follower_read(follower), CHAIN_CHANGED);
            follower_close(follower);
        }
    }
}

/* The bound is on a row: an answer in between ends it. */
static void unanswered_requests_of_a_long_read_do_not_add_up(void)
{
    static const enum request_kind kinds[] = {LIST_NEWER, READ_VERSION, LIST_FLOOR};
    struct follower *follower = follower_open();
    follower_grow(follower, 1);
    for (size_t i = 0; i < HARNESS_COUNT(kinds); i++)
        world_script(
            follower->world,
            (struct rule){.kind = kinds[i], .times = CHAIN_RETRIES_MAX, ANSWER(STORE_UNKNOWN)});
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_CHANGED);
    CU_ASSERT_EQUAL(follower->reader.retry.total, HARNESS_COUNT(kinds) * CHAIN_RETRIES_MAX);
    follower_close(follower);
}

static void refusal_fails_and_says_why(void)
{
    struct follower *follower = follower_open();
    world_script(follower->world,
                 (struct rule){.kind = LIST_NEWER, .times = 1, ANSWER(STORE_NOT_FOUND)});
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_FAILED);
    CU_ASSERT_TRUE(follower->reader.error[0] != '\0');
    follower_close(follower);
}

static void foreign_bytes_and_lost_steps_are_errors(void)
{
    struct follower *follower = follower_open();
    scripted_store_watch(follower->world->store, NULL); /* it would not believe this chain */
    uint8_t bytes[] = "no manifest";
    struct body body = {.kind = BODY_BYTES, .bytes = sizeof(bytes), .data = bytes};
    struct manifest_entry entry = {.tgb = {.sequence = 1, .end_offset = 1}, .tgb_bytes = 1};
    struct manifest *genesis = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    struct manifest_change change = {
        .state = {.last_sequence = 1, .next_offset = 1}, .entry_count = 1, .entries = &entry};
    struct manifest *second = manifest_append(genesis, &change);
    scripted_store_create_version(follower->world->store, second);
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_CHANGED);
    change.entry_count = 0;
    change.state = (struct producer_state){0};
    struct manifest *empty = manifest_append(genesis, &change);
    empty->version = 3;
    scripted_store_create_version(follower->world->store, empty);
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(follower->reader.error, "version 3 has lost steps"));
    CU_ASSERT_EQUAL(follower->reader.known->version, 2);
    scripted_store_create(follower->world->store, "manifest/00000000000000000004", &body);
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(follower->reader.error, "00000000000000000004 does not hold"));
    manifest_release(genesis);
    manifest_release(second);
    manifest_release(empty);
    follower_close(follower);
}

static void version_under_the_name_of_another_is_an_error(void)
{
    struct follower *follower = follower_open();
    follower_grow(follower, 1);
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_CHANGED);
    scripted_store_watch(follower->world->store, NULL); /* it would not believe this chain */
    struct manifest *second = scripted_store_version(follower->world->store, 2);
    struct body body = {
        .kind = BODY_MANIFEST, .bytes = manifest_encoded_bytes(second), .manifest = second};
    scripted_store_create(follower->world->store, "manifest/00000000000000000003", &body);
    manifest_release(second);
    CU_ASSERT_EQUAL(follower_read(follower), CHAIN_FAILED);
    CU_ASSERT_EQUAL(follower->reader.failure, CHAIN_DAMAGED);
    CU_ASSERT_PTR_NOT_NULL(strstr(follower->reader.error, "00000000000000000003 does not hold"));
    follower_close(follower);
}

const struct harness_test chain_reader_tests[] = {
    HARNESS_TEST(read_costs_one_request_or_three),
    HARNESS_TEST(search_goes_on_page_by_page),
    HARNESS_TEST(zombie_is_not_believed),
    HARNESS_TEST(floor_that_passes_what_was_read_voids_it),
    HARNESS_TEST(foreign_keys_hide_no_floor),
    HARNESS_TEST(versions_that_the_floor_passed_between_two_pages_are_not_read),
    HARNESS_TEST(highest_floors_are_told_apart),
    HARNESS_TEST(chain_that_ends_before_what_was_known_is_not_believed),
    HARNESS_TEST(versions_that_never_stay_are_given_up),
    HARNESS_TEST(unanswered_reads_are_sent_again_and_bounded),
    HARNESS_TEST(unanswered_requests_of_a_long_read_do_not_add_up),
    HARNESS_TEST(refusal_fails_and_says_why),
    HARNESS_TEST(foreign_bytes_and_lost_steps_are_errors),
    HARNESS_TEST(version_under_the_name_of_another_is_an_error),
    {0},
};
