/* lifecycle_producer.c - a producer of single batches. Ours. */
#include "tests/model/lifecycle_producer.h"

#include <string.h>

#include "tests/model/lifecycle_hash.h"
#include "tests/model/lifecycle_spec.h"

#define BATCH_BYTES 10

/* Follows the machine until it waits for an answer, or for its next attempt. */
static void follow(struct lifecycle *world, struct producer_actor *producer,
                   struct commit_effect effect)
{
    struct commit *commit = &producer->commit;
    while (effect.kind == COMMIT_SLEEP)
        effect = commit_wake(commit, 0);
    producer->busy = effect.kind == COMMIT_SUBMIT;
    if (effect.kind == COMMIT_ENDED) {
        producer->alive = false;
        spec_event(world, EVENT_FENCED);
        if (commit->end != COMMIT_END_FENCED)
            spec_broken(world, "the producer ended: %s", commit->end_text);
    }
    if (effect.kind != COMMIT_DECIDED)
        return;
    while (producer->queue.ready > 0 &&
           batch_queue_at(&producer->queue, 0)->sequence <= commit->committed_sequence)
        batch_queue_pop(&producer->queue);
}

void producer_actor_start(struct lifecycle *world, uint32_t producer_name)
{
    assert(world->producer_count < LIFECYCLE_PRODUCERS_MAX);
    struct producer_actor *producer = &world->producers[world->producer_count++];
    struct commit_options options = {
        .producer = producer_name,
        .entry_bytes = MANIFEST_ENTRY_BYTES_MIN,
        .active_versions = 100,
        .retry_ns = 1,
        .retry_max_ns = 1,
    };
    *producer = (struct producer_actor){.alive = true};
    options.incarnation.bytes[0] = (uint8_t)world->producer_count;
    batch_queue_init(&producer->queue);
    commit_init(&producer->commit, &options, random_stream_make(1, world->producer_count),
                &producer->queue);
}

struct store_op *producer_actor_op(struct producer_actor *producer)
{
    return producer->busy ? &producer->commit.op : NULL;
}

void producer_actor_answer(struct lifecycle *world, struct producer_actor *producer)
{
    follow(world, producer, commit_answer(&producer->commit, 0));
}

bool producer_actor_can_begin(const struct lifecycle *world, const struct producer_actor *producer)
{
    return producer->alive && !producer->busy &&
           (producer->commit.epoch == 0 || producer->queue.count > 0 ||
            world->batches < world->bounds->batches);
}

static void make_batch(struct lifecycle *world, struct producer_actor *producer)
{
    const struct commit *commit = &producer->commit;
    struct batch batch = {.sequence = commit->committed_sequence + 1,
                          .end_offset = commit->committed_offset + BATCH_BYTES,
                          .bytes = BATCH_BYTES};
    struct tgb_name name = {.sequence = batch.sequence,
                            .end_offset = batch.end_offset,
                            .incarnation = commit->options.incarnation,
                            .producer = commit->options.producer,
                            .epoch = commit->epoch};
    struct store_op op = {.verb = STORE_PUT};
    struct applied applied;
    world->batches++;
    *batch_queue_push(&producer->queue, batch.sequence) = batch;
    batch_queue_uploaded(&producer->queue, batch.sequence, 0);
    name_tgb(op.key, &name);
    enum store_outcome outcome = lifecycle_store_apply(&world->store, &op, &applied);
    assert(outcome == STORE_OK && applied.changed);
}

void producer_actor_begin(struct lifecycle *world, struct producer_actor *producer)
{
    assert(producer_actor_can_begin(world, producer));
    if (producer->commit.epoch != 0 && producer->queue.count == 0)
        make_batch(world, producer);
    follow(world, producer, commit_begin(&producer->commit, 0));
}

/* ---- copying, hashing ---- */

void producer_actor_copy(struct producer_actor *to, const struct producer_actor *from)
{
    *to = *from;
    to->commit.queue = &to->queue;
    to->commit.op.page = (struct list_page){0};
    if (from->commit.known)
        manifest_retain(from->commit.known);
    if (from->commit.sent)
        manifest_retain(from->commit.sent);
    batch_queue_init(&to->queue);
    for (uint32_t i = 0; i < from->queue.count; i++) {
        const struct batch *batch = batch_queue_at(&from->queue, i);
        *batch_queue_push(&to->queue, batch->sequence) = *batch;
    }
    to->queue.ready = from->queue.ready;
}

void producer_actor_close(struct producer_actor *producer)
{
    commit_deinit(&producer->commit);
    batch_queue_deinit(&producer->queue);
}

uint64_t producer_actor_hash(const struct producer_actor *producer)
{
    const struct commit *c = &producer->commit;
    uint64_t hash = hash_mix(3, (producer->alive ? 2u : 0u) + (producer->busy ? 1u : 0u));
    if (!producer->alive)
        return hash;
    hash = hash_mix(hash, c->options.producer * 256u + c->options.incarnation.bytes[0]);
    hash = hash_mix(hash, (uint64_t)c->phase * 64 + (uint64_t)c->intent * 16 + (uint64_t)c->end);
    hash = hash_manifest(hash_manifest(hash, c->known), c->sent);
    hash = hash_mix(hash, c->search_after * 4096 + c->seen.newest * 64 + c->probe_missing);
    hash = hash_mix(hash, c->lowest_used * 4096 + c->seen.floor.version * 64 + c->seen.floor.step);
    hash =
        hash_mix(hash, c->epoch * UINT64_C(65536) + c->committed_sequence * 64 + c->queue->count);
    hash = hash_mix(hash, (uint64_t)c->create_outcome * 64 + c->resends);
    return producer->busy ? hash_request(hash, &c->op) : hash;
}
