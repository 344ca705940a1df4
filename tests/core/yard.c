/* yard.c - chains and numbers written by hand, and a reclaimer around them. Ours. */
#include "tests/core/yard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"

#define STEPS_MAX 1000000

static void on_request(void *context, enum store_verb verb, enum store_outcome outcome,
                       uint64_t bytes)
{
    (void)verb;
    (void)outcome;
    (void)bytes;
    struct yard *yard = context;
    yard->requests++;
}

static void on_round(void *context, const struct reclaim_report *report, const char *error)
{
    struct yard *yard = context;
    yard->report = *report;
    snprintf(yard->error, sizeof(yard->error), "%s", error);
    yard->rounds++;
}

static void on_ended(void *context)
{
    struct yard *yard = context;
    CU_ASSERT_FALSE(yard->ended);
    yard->ended = true;
}

struct yard *yard_open(void)
{
    struct yard *yard = calloc(1, sizeof(*yard));
    assert(yard != NULL);
    manual_loop_init(&yard->loop);
    yard->loop.now_ns = YARD_NOW;
    yard->store = scripted_store_open(&yard->loop, 10 * NS_PER_MS);
    yard->newest = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    scripted_store_create_version(yard->store, yard->newest);
    yard->bucket = 1;
    yard->options = (struct reclaim_options){.random = random_stream_make(1, 1),
                                             .retry_ns = NS_PER_MS,
                                             .retry_max_ns = NS_PER_S,
                                             .marker_grace_ns = YARD_MARKER_GRACE,
                                             .full_every = 1,
                                             .deletes_max = 4};
    yard->observer = (struct reclaim_observer){
        .context = yard, .request = on_request, .round = on_round, .ended = on_ended};
    return yard;
}

void yard_crash(struct yard *yard)
{
    scripted_store_cut(yard->store, yard->port);
    reclaim_driver_close(yard->driver);
    yard->driver = NULL;
}

void yard_close(struct yard *yard)
{
    if (yard->driver != NULL)
        yard_crash(yard);
    scripted_store_close(yard->store);
    manifest_release(yard->newest);
    free(yard);
}

void yard_script(struct yard *yard, struct rule rule)
{
    rule.context = yard;
    scripted_store_script(yard->store, &rule);
}

struct incarnation yard_incarnation(uint32_t producer, uint32_t epoch)
{
    return (struct incarnation){{(uint8_t)producer, (uint8_t)epoch, 7}};
}

struct tgb_name yard_name(const struct yard *yard, uint32_t producer, uint32_t epoch,
                          uint64_t sequence)
{
    return (struct tgb_name){.bucket = yard->bucket,
                             .sequence = sequence,
                             .end_offset = sequence * YARD_TGB_BYTES,
                             .incarnation = yard_incarnation(producer, epoch),
                             .producer = producer,
                             .epoch = epoch};
}

void yard_upload(struct yard *yard, const struct tgb_name *name)
{
    char key[STORE_KEY_MAX];
    struct body body = {.kind = BODY_LENGTH, .bytes = YARD_TGB_BYTES};
    name_tgb(key, name);
    scripted_store_create(yard->store, key, &body);
}

bool yard_has_tgb(const struct yard *yard, const struct tgb_name *name)
{
    char key[STORE_KEY_MAX];
    name_tgb(key, name);
    return scripted_store_has(yard->store, key);
}

bool yard_has_version(const struct yard *yard, uint64_t version)
{
    char key[STORE_KEY_MAX];
    name_version(key, version);
    return scripted_store_has(yard->store, key);
}

static void commit(struct yard *yard, const struct producer_state *state, uint32_t batches,
                   const struct manifest_entry *entries)
{
    struct manifest_change change = {.author = {.producer = state->producer,
                                                .epoch = state->epoch,
                                                .incarnation = state->incarnation},
                                     .first_step = scripted_store_floor(yard->store).step,
                                     .state = *state,
                                     .entry_count = batches,
                                     .entries = entries};
    change.state.last_commit_version = yard->newest->version + 1;
    struct manifest *next = manifest_append(yard->newest, &change);
    CU_ASSERT_TRUE(scripted_store_create_version(yard->store, next));
    manifest_release(yard->newest);
    yard->newest = next;
}

static struct producer_state state_of(const struct yard *yard, uint32_t producer)
{
    const struct producer_state *state = manifest_state_find(yard->newest, producer);
    if (state != NULL)
        return *state;
    return (struct producer_state){
        .producer = producer, .epoch = 1, .incarnation = yard_incarnation(producer, 1)};
}

void yard_commit(struct yard *yard, uint32_t producer, uint32_t batches)
{
    struct producer_state state = state_of(yard, producer);
    struct manifest_entry *entries = calloc(batches + 1, sizeof(*entries));
    assert(entries != NULL);
    for (uint32_t i = 0; i < batches; i++) {
        entries[i].tgb = yard_name(yard, producer, state.epoch, ++state.last_sequence);
        entries[i].tgb_bytes = YARD_TGB_BYTES;
        state.next_offset = entries[i].tgb.end_offset;
        yard_upload(yard, &entries[i].tgb);
    }
    commit(yard, &state, batches, entries);
    free(entries);
}

void yard_fence(struct yard *yard, uint32_t producer)
{
    struct producer_state state = state_of(yard, producer);
    state.epoch++;
    state.incarnation = yard_incarnation(producer, state.epoch);
    commit(yard, &state, 0, NULL);
}

bool yard_has_step(const struct yard *yard, uint64_t step)
{
    const struct manifest_entry *entry = manifest_entry_find(yard->newest, step);
    CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
    return yard_has_tgb(yard, &entry->tgb);
}

uint64_t yard_steps(const struct yard *yard, uint64_t first, uint64_t last)
{
    uint64_t count = 0;
    for (uint64_t step = first; step <= last; step++)
        count += yard_has_step(yard, step);
    return count;
}

void yard_put(struct yard *yard, const char *key)
{
    scripted_store_put_empty(yard->store, key);
}

void yard_number(struct yard *yard, uint32_t consumer, uint64_t number)
{
    scripted_store_put_watermark(
        yard->store,
        &(struct watermark_name){.consumer = consumer, .part = WATERMARK_NUMBER, .number = number});
}

void yard_value(struct yard *yard, uint32_t consumer, uint64_t number, uint64_t step)
{
    yard_number(yard, consumer, number);
    scripted_store_put_watermark(
        yard->store,
        &(struct watermark_name){
            .consumer = consumer, .part = WATERMARK_NUMBER_VALUE, .number = number, .step = step});
}

struct yard *yard_open_with_steps(void)
{
    struct yard *yard = yard_open();
    for (uint32_t i = 0; i < 5; i++)
        yard_commit(yard, 1 + i % 2, 2);
    yard_value(yard, 0, 1, 4);
    yard_value(yard, 1, 1, 7);
    return yard;
}

void yard_retire(struct yard *yard, uint32_t consumer, uint64_t number)
{
    yard_number(yard, consumer, number);
    scripted_store_put_watermark(
        yard->store, &(struct watermark_name){
                         .consumer = consumer, .part = WATERMARK_NUMBER_RETIRED, .number = number});
}

uint64_t yard_intent(const struct yard *yard)
{
    char key[STORE_KEY_MAX];
    for (uint64_t step = 10000; step > 0; step--) {
        name_intent(key, step);
        if (scripted_store_has(yard->store, key))
            return step;
    }
    return 0;
}

void yard_start(struct yard *yard, int64_t period_ns)
{
    assert(yard->driver == NULL);
    struct reclaim_driver_options options = {.store = scripted_store_port(yard->store),
                                             .loop = &yard->loop.loop,
                                             .observer = &yard->observer,
                                             .reclaim = &yard->options,
                                             .period_ns = period_ns,
                                             .jitter = RECLAIM_JITTER};
    yard->port++;
    yard->ended = false;
    yard->driver = reclaim_driver_open(&options);
    reclaim_driver_start(yard->driver);
}

void yard_until_rounds(struct yard *yard, uint64_t rounds)
{
    uint32_t steps = 0;
    while (yard->rounds < rounds)
        if (++steps == STEPS_MAX || !manual_loop_step(&yard->loop))
            CU_FAIL_FATAL("a round that is waited for does not end");
}

void yard_round(struct yard *yard, enum reclaim_end end)
{
    yard_start(yard, 0);
    yard_until_rounds(yard, yard->rounds + 1);
    if (yard->report.end != end)
        printf("\n    the round ended %s: %s\n", reclaim_end_name(yard->report.end), yard->error);
    CU_ASSERT_EQUAL(yard->report.end, end);
    CU_ASSERT_TRUE(yard->ended);
    CU_ASSERT_EQUAL(scripted_store_in_flight(yard->store), 0);
    reclaim_driver_close(yard->driver);
    yard->driver = NULL;
}
