/* checkers_test.c - a good chain passes; each planted bug is caught, and named. */
#include "sim/checkers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

#define PRODUCERS 3
#define BATCH_BYTES 100
#define ENTRY_BYTES 128

/* A chain that is written by hand, next to the checkers that watch it. */
struct bench {
    struct checkers checkers;
    struct virtual_loop loop;
    struct virtual_store *store;
    struct store *client;
    struct virtual_store_observer observer;
    struct manifest *newest;
    struct producer_state states[PRODUCERS];
    bool encoded; /* shows the checkers bytes */
};

static void done(struct store_op *op, void *context)
{
    (void)op;
    (void)context;
}

static struct incarnation incarnation_of(uint8_t number)
{
    struct incarnation incarnation;
    memset(incarnation.bytes, number, sizeof(incarnation.bytes));
    return incarnation;
}

static void show(struct bench *bench, enum store_verb verb, const char *key, struct body body)
{
    struct store_op op;
    store_op_init(&op);
    op.verb = verb;
    op.body = body;
    snprintf(op.key, sizeof(op.key), "%s", key);
    bench->observer.applied(bench->observer.context, 7 * NS_PER_S, 2, &op, STORE_OK);
    store_op_deinit(&op);
}

/* Takes over the reference. */
static void show_version(struct bench *bench, enum store_verb verb, struct manifest *manifest)
{
    char key[STORE_KEY_MAX];
    name_version(key, manifest->version);
    struct body body = {
        .kind = BODY_MANIFEST, .bytes = manifest_encoded_bytes(manifest), .manifest = manifest};
    uint8_t *data = NULL;
    if (bench->encoded) {
        data = malloc(body.bytes);
        manifest->checksum = manifest_encode(manifest, data);
        body = (struct body){.kind = BODY_BYTES, .bytes = body.bytes, .data = data};
    }
    show(bench, verb, key, body);
    free(data);
    manifest_release(bench->newest);
    bench->newest = manifest;
}

static void upload(struct bench *bench, const struct manifest_entry *entry)
{
    struct store_op op;
    store_op_init(&op);
    op.verb = STORE_PUT;
    op.done = done;
    op.body = (struct body){.kind = BODY_LENGTH, .bytes = entry->tgb_bytes};
    name_tgb(op.key, &entry->tgb);
    store_submit(bench->client, &op);
    loop_run(&bench->loop.loop, TIME_NEVER);
    store_op_deinit(&op);
}

/* The next version as the producer would write it, with `count` batches; the change is complete but
 * for what a test breaks. Entries live as long as the next call. */
static struct manifest_change next_change(struct bench *bench, uint32_t producer, size_t count,
                                          struct manifest_entry entries[])
{
    struct producer_state *state = &bench->states[producer];
    for (size_t i = 0; i < count; i++) {
        state->last_sequence++;
        state->next_offset += BATCH_BYTES;
        entries[i] = (struct manifest_entry){.tgb = {.bucket = 1,
                                                     .sequence = state->last_sequence,
                                                     .end_offset = state->next_offset,
                                                     .incarnation = state->incarnation,
                                                     .producer = producer,
                                                     .epoch = state->epoch},
                                             .tgb_bytes = BATCH_BYTES};
        upload(bench, &entries[i]);
    }
    state->last_commit_version = bench->newest->version + 1;
    return (struct manifest_change){
        .author = {.producer = producer, .epoch = state->epoch, .incarnation = state->incarnation},
        .state = *state,
        .entry_count = count,
        .entries = entries};
}

static void commit_change(struct bench *bench, const struct manifest_change *change)
{
    show_version(bench, STORE_PUT_IF_ABSENT, manifest_append(bench->newest, change));
}

static void commit_batches(struct bench *bench, uint32_t producer, size_t count)
{
    struct manifest_entry entries[8];
    struct manifest_change change = next_change(bench, producer, count, entries);
    commit_change(bench, &change);
}

static void bench_open(struct bench *bench, bool encoded)
{
    *bench = (struct bench){.encoded = encoded};
    virtual_loop_init(&bench->loop, EVENT_QUEUE_HEAP);
    struct virtual_store_options options = {.loop = &bench->loop};
    bench->store = virtual_store_open(&options);
    bench->client = virtual_store_client(bench->store, 0);
    checkers_init(&bench->checkers);
    checkers_watch(&bench->checkers, bench->store);
    bench->observer = checkers_observer(&bench->checkers);
    show_version(bench, STORE_PUT_IF_ABSENT, manifest_genesis(ENTRY_BYTES));
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        bench->states[i] = (struct producer_state){
            .producer = i, .epoch = 1, .incarnation = incarnation_of((uint8_t)(i + 1))};
        commit_batches(bench, i, 0);
    }
    commit_batches(bench, 0, 2);
    commit_batches(bench, 1, 1);
}

static void bench_close(struct bench *bench)
{
    manifest_release(bench->newest);
    checkers_deinit(&bench->checkers);
    store_close(bench->client);
    virtual_store_close(bench->store);
    virtual_loop_deinit(&bench->loop);
}

static bool caught(struct bench *bench, const char *text)
{
    bool found = bench->checkers.violations.count > 0 &&
                 strstr(bench->checkers.violations.first, text) != NULL;
    if (!found)
        printf("\n  looked for \"%s\", found \"%s\"\n", text, bench->checkers.violations.first);
    bench_close(bench);
    return found;
}

static void a_good_chain_passes(void)
{
    for (int encoded = 0; encoded < 2; encoded++) {
        struct bench bench;
        bench_open(&bench, encoded == 1);
        for (uint32_t i = 0; i < 50; i++)
            commit_batches(&bench, i % PRODUCERS, i % 5);
        CU_ASSERT_STRING_EQUAL(bench.checkers.violations.first, "");
        CU_ASSERT_EQUAL(bench.checkers.violations.count, 0);
        CU_ASSERT_EQUAL(bench.checkers.chain.version, 1 + PRODUCERS + 2 + 50);
        CU_ASSERT_EQUAL(bench.checkers.steps.next_step - 1, 3 + 100);
        CU_ASSERT_EQUAL(bench.checkers.manifest_bytes, manifest_encoded_bytes(bench.newest));
        bench_close(&bench);
    }
}

static void chain_catches_a_gap(void)
{
    struct bench bench;
    struct manifest_entry entries[1];
    bench_open(&bench, false);
    struct manifest_change change = next_change(&bench, 0, 1, entries);
    struct manifest *hidden = manifest_append(bench.newest, &change);
    show_version(&bench, STORE_PUT_IF_ABSENT, manifest_append(hidden, &change));
    manifest_release(hidden);
    CU_ASSERT_TRUE(caught(&bench, "chain: version 8 is created after version 6"));
}

static void chain_catches_a_second_winner(void)
{
    struct bench bench;
    bench_open(&bench, false);
    show_version(&bench, STORE_PUT_IF_ABSENT, manifest_retain(bench.newest));
    CU_ASSERT_TRUE(caught(&bench, "chain: version 6 is created after version 6"));
}

static void chain_catches_an_unconditional_write(void)
{
    struct bench bench;
    bench_open(&bench, false);
    show_version(&bench, STORE_PUT, manifest_retain(bench.newest));
    CU_ASSERT_TRUE(caught(&bench, "is written without a condition"));
}

static void chain_catches_a_deleted_version(void)
{
    struct bench bench;
    char key[STORE_KEY_MAX];
    bench_open(&bench, false);
    name_floor(key, (struct floor){.version = 3, .step = 1});
    show(&bench, STORE_PUT, key, (struct body){.kind = BODY_NONE});
    name_version(key, 2);
    show(&bench, STORE_DELETE, key, (struct body){.kind = BODY_NONE});
    CU_ASSERT_EQUAL(bench.checkers.violations.count, 0);
    name_version(key, 3);
    show(&bench, STORE_DELETE, key, (struct body){.kind = BODY_NONE});
    CU_ASSERT_TRUE(caught(&bench, "is deleted and not below a floor"));
}

static void chain_catches_another_base(void)
{
    struct bench bench;
    bench_open(&bench, true);
    bench.newest->checksum ^= 1;
    commit_batches(&bench, 0, 1);
    CU_ASSERT_TRUE(caught(&bench, "based on other content"));
}

/* As by a producer that took the genesis of another config for its own. */
static void chain_catches_another_entry_size(void)
{
    struct bench bench;
    bench_open(&bench, false);
    bench.newest->entry_bytes++;
    commit_batches(&bench, 1, 1);
    CU_ASSERT_TRUE(caught(&bench, "chain: version 7 has entries of"));
}

static void chain_catches_damaged_bytes(void)
{
    struct bench bench;
    char key[STORE_KEY_MAX];
    uint8_t bytes[] = "not a manifest at all";
    bench_open(&bench, true);
    name_version(key, 7);
    show(&bench, STORE_PUT_IF_ABSENT, key,
         (struct body){.kind = BODY_BYTES, .bytes = sizeof(bytes), .data = bytes});
    CU_ASSERT_TRUE(caught(&bench, "chain: version 7: "));
}

static void steps_catch_a_lost_batch(void)
{
    struct bench bench;
    struct manifest_entry entries[2];
    bench_open(&bench, false);
    struct manifest_change change = next_change(&bench, 0, 2, entries);
    change.entries = entries + 1;
    change.entry_count = 1;
    commit_change(&bench, &change);
    CU_ASSERT_TRUE(caught(&bench, "holds batch 4 of producer 0 after its batch 2"));
}

static void steps_catch_a_batch_twice(void)
{
    struct bench bench;
    struct manifest_entry entries[1];
    bench_open(&bench, false);
    struct manifest_change change = next_change(&bench, 0, 1, entries);
    commit_change(&bench, &change);
    change.state.last_commit_version++;
    commit_change(&bench, &change);
    CU_ASSERT_TRUE(caught(&bench, "holds batch 3 of producer 0 after its batch 3"));
}

static void steps_catch_a_hole_in_the_stream(void)
{
    struct bench bench;
    struct manifest_entry entries[1];
    bench_open(&bench, false);
    bench.states[1].next_offset += 5;
    struct manifest_change change = next_change(&bench, 1, 1, entries);
    commit_change(&bench, &change);
    CU_ASSERT_TRUE(caught(&bench, "but the stream stood at 100"));
}

static void steps_catch_a_tgb_that_is_not_stored(void)
{
    struct bench bench;
    struct manifest_entry entries[1];
    bench_open(&bench, false);
    struct manifest_change change = next_change(&bench, 1, 1, entries);
    entries[0].tgb.bucket++;
    commit_change(&bench, &change);
    CU_ASSERT_TRUE(caught(&bench, "which is not stored"));
}

static void steps_catch_a_wrong_size(void)
{
    struct bench bench;
    struct manifest_entry entries[1];
    bench_open(&bench, false);
    struct manifest_change change = next_change(&bench, 1, 1, entries);
    entries[0].tgb_bytes++;
    commit_change(&bench, &change);
    CU_ASSERT_TRUE(bench.checkers.violations.count == 2);
    CU_ASSERT_TRUE(caught(&bench, "steps: step 4"));
}

static void steps_catch_a_wrong_state(void)
{
    struct bench bench;
    struct manifest_entry entries[1];
    bench_open(&bench, false);
    struct manifest_change change = next_change(&bench, 1, 1, entries);
    change.state.next_offset -= 1;
    commit_change(&bench, &change);
    CU_ASSERT_TRUE(caught(&bench, "puts producer 1 at batch 2, offset 199"));
}

static void steps_catch_a_dropped_step(void)
{
    struct bench bench;
    struct manifest_entry entries[1];
    bench_open(&bench, false);
    struct manifest_change change = next_change(&bench, 1, 1, entries);
    change.first_step = 2;
    commit_change(&bench, &change);
    CU_ASSERT_TRUE(caught(&bench, "which no floor gave up"));
}

static void steps_catch_a_changed_entry(void)
{
    struct bench bench;
    struct manifest_entry entries[2];
    bench_open(&bench, true);
    struct manifest_change change = next_change(&bench, 0, 1, entries);
    struct manifest *base = manifest_retain(bench.newest);
    commit_change(&bench, &change);
    /* The same version again, but for one field, and another on top. */
    entries[0].tgb_checksum = 99;
    struct manifest *forged = manifest_append(base, &change);
    uint8_t *bytes = malloc(manifest_encoded_bytes(forged));
    forged->checksum = manifest_encode(forged, bytes);
    bench.checkers.chain.checksum = forged->checksum;
    manifest_release(bench.newest);
    bench.newest = forged;
    commit_batches(&bench, 1, 1);
    free(bytes);
    manifest_release(base);
    CU_ASSERT_TRUE(caught(&bench, "step 4 is not what it was"));
}

static void steps_catch_a_false_visible(void)
{
    struct bench bench;
    struct batch batch = {.sequence = 1};
    bench_open(&bench, false);
    checkers_visible(&bench.checkers, 0, 0, &batch);
    CU_ASSERT_EQUAL(bench.checkers.violations.count, 0);
    checkers_visible(&bench.checkers, 0, 0, &batch);
    CU_ASSERT_EQUAL(bench.checkers.violations.count, 1);
    batch.sequence = 3;
    checkers_visible(&bench.checkers, 0, 0, &batch);
    CU_ASSERT_EQUAL(bench.checkers.violations.count, 3); /* too early, and 2 was skipped */
    CU_ASSERT_TRUE(caught(&bench, "is called visible twice"));
}

static void fence_catches_an_old_epoch(void)
{
    struct bench bench;
    bench_open(&bench, false);
    bench.states[0].epoch = 2;
    bench.states[0].incarnation = incarnation_of(77);
    commit_batches(&bench, 0, 0);
    CU_ASSERT_EQUAL(bench.checkers.violations.count, 0);
    bench.states[0].epoch = 1;
    bench.states[0].incarnation = incarnation_of(1);
    commit_batches(&bench, 0, 0);
    CU_ASSERT_TRUE(caught(&bench, "fence: version 8 is by epoch 1 of producer 0"));
}

static void fence_catches_a_second_incarnation(void)
{
    struct bench bench;
    bench_open(&bench, false);
    bench.states[2].incarnation = incarnation_of(78);
    commit_batches(&bench, 2, 0);
    CU_ASSERT_TRUE(caught(&bench, "7.000000000 s, actor 2: fence: version 7 is by a second"));
}

const struct harness_test checkers_tests[] = {
    HARNESS_TEST(a_good_chain_passes),
    HARNESS_TEST(chain_catches_a_gap),
    HARNESS_TEST(chain_catches_a_second_winner),
    HARNESS_TEST(chain_catches_an_unconditional_write),
    HARNESS_TEST(chain_catches_a_deleted_version),
    HARNESS_TEST(chain_catches_another_base),
    HARNESS_TEST(chain_catches_another_entry_size),
    HARNESS_TEST(chain_catches_damaged_bytes),
    HARNESS_TEST(steps_catch_a_lost_batch),
    HARNESS_TEST(steps_catch_a_batch_twice),
    HARNESS_TEST(steps_catch_a_hole_in_the_stream),
    HARNESS_TEST(steps_catch_a_tgb_that_is_not_stored),
    HARNESS_TEST(steps_catch_a_wrong_size),
    HARNESS_TEST(steps_catch_a_wrong_state),
    HARNESS_TEST(steps_catch_a_dropped_step),
    HARNESS_TEST(steps_catch_a_changed_entry),
    HARNESS_TEST(steps_catch_a_false_visible),
    HARNESS_TEST(fence_catches_an_old_epoch),
    HARNESS_TEST(fence_catches_a_second_incarnation),
    {0},
};
