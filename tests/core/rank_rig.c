/* rank_rig.c - see rank_rig.h. Ours. */
#include "tests/core/rank_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/codec_store.h"
#include "core/digest_chain.h"
#include "core/tgb_object.h"
#include "core/tgb_payload.h"
#include "tests/harness.h"

#define LOOP_STEPS_MAX 200000
#define OBJECT_BYTES 4096

/* ---- the chain ---- */

void rig_init(struct rig *rig, struct tgb_mesh mesh, enum body_kind body)
{
    *rig = (struct rig){.mesh = mesh, .body = body, .object_bytes = OBJECT_BYTES};
    manual_loop_init(&rig->loop);
    rig->store = scripted_store_open(&rig->loop, 10 * NS_PER_MS);
    rig->newest = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    scripted_store_create_version(rig->store, rig->newest);
}

void rig_deinit(struct rig *rig)
{
    CU_ASSERT_EQUAL(scripted_store_in_flight(rig->store), 0);
    manifest_release(rig->newest);
    scripted_store_close(rig->store);
}

static void put_tgb(struct rig *rig, struct manifest_entry *entry)
{
    char key[STORE_KEY_MAX];
    name_tgb(key, &entry->tgb);
    struct body body = {.kind = rig->body, .bytes = rig->object_bytes};
    if (rig->body == BODY_BYTES) {
        body.data = malloc(body.bytes);
        assert(body.data != NULL);
        if (tgb_mesh_slices(rig->mesh) == 0) {
            tgb_payload_fill(RIG_PRODUCER, entry->tgb.sequence, 0, body.bytes, body.data);
        } else {
            struct tgb_object object = {.mesh = rig->mesh, .name = entry->tgb, .bytes = body.data};
            enum tgb_error error =
                tgb_layout_make(body.bytes, tgb_mesh_slices(rig->mesh), &object.layout);
            assert(error == TGB_OK);
            tgb_object_fill(&object);
        }
        entry->tgb_checksum = digest_chain_slice(body.data, body.bytes);
    }
    bool created = scripted_store_create(rig->store, key, &body);
    assert(created);
    free(body.data);
}

void rig_commit(struct rig *rig, uint64_t steps)
{
    const struct producer_state *old = manifest_state_find(rig->newest, RIG_PRODUCER);
    struct manifest_entry entries[RIG_STEPS_MAX];
    assert(steps > 0 && steps <= RIG_STEPS_MAX);
    struct manifest_change change = {
        .author = {.producer = RIG_PRODUCER, .epoch = 1},
        .first_step = rig->floor.step,
        .state = {.producer = RIG_PRODUCER, .epoch = 1},
        .entry_count = steps,
        .entries = entries,
    };
    if (old != NULL)
        change.state = *old;
    for (uint64_t i = 0; i < steps; i++) {
        change.state.last_sequence++;
        change.state.next_offset += rig->object_bytes;
        entries[i] = (struct manifest_entry){.tgb = {.sequence = change.state.last_sequence,
                                                     .end_offset = change.state.next_offset,
                                                     .producer = RIG_PRODUCER,
                                                     .epoch = 1},
                                             .tgb_bytes = rig->object_bytes};
        put_tgb(rig, &entries[i]);
    }
    change.state.last_commit_version = rig->newest->version + 1;
    struct manifest *next = manifest_append(rig->newest, &change);
    bool created = scripted_store_create_version(rig->store, next);
    assert(created);
    manifest_release(rig->newest);
    rig->newest = next;
}

void rig_key(const struct rig *rig, uint64_t step, char key[STORE_KEY_MAX])
{
    const struct manifest_entry *entry = manifest_entry_find(rig->newest, step);
    assert(entry != NULL);
    name_tgb(key, &entry->tgb);
}

void rig_reclaim(struct rig *rig, uint64_t step)
{
    char key[STORE_KEY_MAX];
    rig->floor = (struct floor){.version = rig->newest->version, .step = step};
    scripted_store_raise_floor(rig->store, rig->floor);
    scripted_store_delete_below_floor(rig->store);
    for (uint64_t s = rig->newest->first_step; s < step && s < rig->newest->next_step; s++) {
        rig_key(rig, s, key);
        scripted_store_delete(rig->store, key);
    }
}

void rig_encode(struct rig *rig)
{
    char key[STORE_KEY_MAX];
    name_version(key, rig->newest->version);
    struct body *body = scripted_store_body(rig->store, key);
    struct body encoded = {.kind = BODY_BYTES, .bytes = manifest_encoded_bytes(rig->newest)};
    encoded.data = malloc(encoded.bytes);
    assert(body != NULL && encoded.data != NULL);
    manifest_encode(rig->newest, encoded.data);
    body_release(body);
    *body = encoded;
}

void rig_script(struct rig *rig, struct rule rule)
{
    scripted_store_script(rig->store, &rule);
}

void rig_damage(struct rig *rig, uint64_t step, uint64_t offset)
{
    char key[STORE_KEY_MAX];
    rig_key(rig, step, key);
    struct body *body = scripted_store_body(rig->store, key);
    assert(body != NULL && body->kind == BODY_BYTES && offset < body->bytes);
    body->data[offset] ^= 1;
}

static struct watermark_name own_name(enum watermark_part part, uint64_t number, uint64_t step)
{
    return (struct watermark_name){
        .consumer = RIG_CONSUMER, .part = part, .number = number, .step = step};
}

void rig_put_own(struct rig *rig, enum watermark_part part, uint64_t number, uint64_t step)
{
    struct watermark_name name = own_name(part, number, step);
    scripted_store_put_watermark(rig->store, &name);
}

bool rig_has_own(struct rig *rig, enum watermark_part part, uint64_t number, uint64_t step)
{
    struct watermark_name name = own_name(part, number, step);
    return scripted_store_has_watermark(rig->store, &name);
}

static uint64_t slice_checksum(const struct rig *rig, const struct manifest_entry *entry,
                               uint32_t slice)
{
    uint32_t slices = tgb_mesh_slices(rig->mesh);
    uint64_t raw_bytes = entry->tgb_bytes;
    if (slices > 0) {
        struct tgb_layout layout;
        enum tgb_error error = tgb_layout_make(entry->tgb_bytes, slices, &layout);
        assert(error == TGB_OK);
        raw_bytes = tgb_layout_capacity(&layout);
    }
    if (rig->body == BODY_LENGTH)
        return digest_chain_length(&entry->tgb, slice, raw_bytes);
    uint8_t *raw = malloc(raw_bytes);
    assert(raw != NULL);
    tgb_payload_fill(entry->tgb.producer, entry->tgb.sequence, slice * raw_bytes, raw_bytes, raw);
    uint64_t checksum = digest_chain_slice(raw, raw_bytes);
    free(raw);
    return checksum;
}

uint64_t rig_digest(const struct rig *rig, uint64_t digest, uint64_t first, uint64_t next,
                    uint32_t slice)
{
    for (uint64_t step = first; step < next; step++) {
        const struct manifest_entry *entry = manifest_entry_find(rig->newest, step);
        assert(entry != NULL);
        digest = digest_chain_next(digest, step, slice_checksum(rig, entry, slice));
    }
    return digest;
}

/* ---- what a process tells ---- */

static void on_running(void *context, uint32_t consumer, uint64_t step)
{
    struct rank *rank = context;
    CU_ASSERT_EQUAL(consumer, RIG_CONSUMER);
    CU_ASSERT_EQUAL(rank->running_from, 0);
    rank->running_from = step;
}

static void on_ready(void *context, uint32_t consumer, const struct consumer_delivery *delivery)
{
    (void)consumer;
    struct rank *rank = context;
    CU_ASSERT_PTR_NULL(rank->ready);
    CU_ASSERT_EQUAL(delivery->step, rank->running_from + rank->taken);
    const struct manifest_entry *entry = manifest_entry_find(rank->rig->newest, delivery->step);
    CU_ASSERT_PTR_NOT_NULL_FATAL(entry);
    CU_ASSERT_EQUAL(delivery->entry.tgb.sequence, entry->tgb.sequence);
    if (!rank->rig->other_payload)
        CU_ASSERT_EQUAL(delivery->slice_checksum,
                        slice_checksum(rank->rig, entry, rank_machine(rank)->options.slice));
    CU_ASSERT_PTR_EQUAL(consumer_delivery(consumer_driver_consumer(rank->driver)), delivery);
    rank->ready = delivery;
    if (rank->takes == RANK_TAKES_AT_ONCE)
        rank_take(rank);
}

static void on_save(void *context, uint32_t consumer, const struct checkpoint_set *checkpoints)
{
    (void)consumer;
    struct rank *rank = context;
    CU_ASSERT_PTR_NULL(rank->asked);
    if (checkpoint_highest_number(checkpoints) < checkpoint_highest_number(&rank->rig->durable)) {
        consumer_driver_save_refused(rank->driver);
        return;
    }
    rank->asked = checkpoints;
    if (rank->saves == RANK_SAVES_AT_ONCE)
        rank_save(rank);
}

static void on_checkpointed(void *context, uint32_t consumer, uint64_t step)
{
    (void)consumer;
    struct rank *rank = context;
    CU_ASSERT(step >= rank->checkpointed);
    rank->checkpointed = step;
}

static void on_request(void *context, uint32_t consumer, const struct consumer_answer *answer)
{
    (void)consumer;
    struct rank *rank = context;
    rank->answers[answer->request]++;
    CU_ASSERT(answer->answered_ns > answer->sent_ns);
    if (answer->request == CONSUMER_REQUEST_SLICE)
        rank->slice_wait_ns = (uint64_t)(answer->answered_ns - answer->sent_ns);
}

static void on_ended(void *context, uint32_t consumer, enum consumer_end end, const char *text)
{
    (void)consumer;
    struct rank *rank = context;
    CU_ASSERT_FALSE(rank->ended);
    rank->ended = true;
    rank->end = end;
    memcpy(rank->end_text, text, strlen(text) + 1);
}

/* ---- processes ---- */

struct consumer_options rig_options(struct rig *rig, uint32_t slice)
{
    rig->identity++;
    return (struct consumer_options){
        .membership = {.consumer = RIG_CONSUMER,
                       .identity = {.bytes = {rig->identity}},
                       .retry_ns = 5 * NS_PER_MS,
                       .retry_max_ns = 50 * NS_PER_MS},
        .checkpoints = rig->durable,
        .random = random_stream_make(1, rig->identity),
        .slices = tgb_mesh_slices(rig->mesh),
        .slice = slice,
        .prefetch_bytes = 64 << 20,
        .fetches_max = 4,
        .fetch_retries = 3,
        .lookahead = 8,
        .poll_min_ns = 20 * NS_PER_MS,
        .poll_max_ns = 2 * NS_PER_S,
        .poll_smoothing = CONSUMER_POLL_SMOOTHING,
        .poll_early = CONSUMER_POLL_EARLY,
        .poll_jitter = CONSUMER_POLL_JITTER,
        .retry_ns = 5 * NS_PER_MS,
        .retry_max_ns = 50 * NS_PER_MS,
        .checkpoints_kept = 2,
    };
}

void rank_open(struct rank *rank, struct rig *rig, const struct consumer_options *options)
{
    *rank = (struct rank){.rig = rig};
    rank->observer = (struct consumer_observer){.context = rank,
                                                .running = on_running,
                                                .ready = on_ready,
                                                .save = on_save,
                                                .checkpointed = on_checkpointed,
                                                .request = on_request,
                                                .ended = on_ended};
    struct store *port = scripted_store_port(rig->store);
    if (rig->codec) {
        struct codec_store_options codec = {.payload = false};
        rank->codec = codec_store_open(port, &codec);
    }
    struct consumer_driver_options driver = {.store = rank->codec != NULL ? rank->codec : port,
                                             .loop = &rig->loop.loop,
                                             .observer = &rank->observer,
                                             .consumer = options};
    rank->port = rig->identity;
    rank->driver = consumer_driver_open(&driver);
}

void rank_start(struct rank *rank)
{
    consumer_driver_start(rank->driver);
}

void rank_begin(struct rank *rank, struct rig *rig, uint32_t slice)
{
    struct consumer_options options = rig_options(rig, slice);
    rank_open(rank, rig, &options);
    rank_start(rank);
}

void rank_begin_by_hand(struct rank *rank, struct rig *rig, uint32_t slice)
{
    struct consumer_options options = rig_options(rig, slice);
    rank_open(rank, rig, &options);
    rank->takes = RANK_TAKES_BY_HAND;
    rank_start(rank);
}

void rank_take(struct rank *rank)
{
    assert(rank->ready != NULL);
    rank->ready = NULL;
    rank->taken++;
    rank->taken_ns += rank->rig->loop.now_ns;
    consumer_driver_take(rank->driver);
    if (rank->checkpoint_every != 0 &&
        (rank->running_from + rank->taken) % rank->checkpoint_every == 0)
        consumer_driver_checkpoint(rank->driver);
}

void rank_save(struct rank *rank)
{
    assert(rank->asked != NULL);
    rank->rig->durable = *rank->asked;
    rank->rig->saves++;
    rank->asked = NULL;
    consumer_driver_saved(rank->driver);
}

static void close_process(struct rank *rank)
{
    if (rank->codec != NULL)
        store_close(rank->codec);
    consumer_driver_close(rank->driver);
    rank->codec = NULL;
    rank->driver = NULL;
}

const struct consumer *rank_machine(const struct rank *rank)
{
    return consumer_driver_consumer(rank->driver);
}

void rank_stop(struct rank *rank)
{
    consumer_driver_stop(rank->driver);
    rank_until_ended(rank);
    CU_ASSERT_EQUAL(rank->end, CONSUMER_STOPPED);
    rank_close(rank);
}

void rank_crash(struct rank *rank)
{
    scripted_store_cut(rank->rig->store, rank->port);
    close_process(rank);
}

void rank_close(struct rank *rank)
{
    CU_ASSERT_TRUE(rank->ended);
    close_process(rank);
}

/* ---- until ---- */

static void step(struct rig *rig, uint32_t *steps)
{
    if (++*steps == LOOP_STEPS_MAX || !manual_loop_step(&rig->loop))
        CU_FAIL_FATAL("what is waited for does not come");
}

void rank_until_taken(struct rank *rank, uint64_t count)
{
    uint32_t steps = 0;
    while (rank->taken < count && !rank->ended)
        step(rank->rig, &steps);
    if (rank->ended)
        printf("\n  %s: %s\n", consumer_end_name(rank->end), rank->end_text);
    CU_ASSERT_FALSE_FATAL(rank->ended);
}

void rank_until_ready(struct rank *rank)
{
    uint32_t steps = 0;
    while (rank->ready == NULL)
        step(rank->rig, &steps);
}

void rank_until_checkpointed(struct rank *rank, uint64_t at)
{
    uint32_t steps = 0;
    while (rank->checkpointed < at)
        step(rank->rig, &steps);
}

void rank_until_ended(struct rank *rank)
{
    uint32_t steps = 0;
    while (!rank->ended)
        step(rank->rig, &steps);
}

void rank_expect_end(struct rank *rank, enum consumer_end end, const char *text)
{
    rank_until_ended(rank);
    CU_ASSERT_EQUAL(rank->end, end);
    bool said = strstr(rank->end_text, text) != NULL;
    if (!said)
        printf("\n  %s: %s\n", consumer_end_name(rank->end), rank->end_text);
    CU_ASSERT_TRUE(said);
    rank_close(rank);
}

void rig_until_ns(struct rig *rig, int64_t ns)
{
    loop_run(&rig->loop.loop, ns);
}
