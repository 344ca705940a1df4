/* producer.c - a producer's life around the commit machine. The paper's producer; the details of
 * pausing, uploading and stopping are ours. */
#include "core/producer.h"

#include <stdio.h>
#include <stdlib.h>

const char *producer_end_name(enum producer_end end)
{
    static const char *const names[] = {
#define X(code, name, text) name,
        PRODUCER_ENDS(X)
#undef X
    };
    assert(end < PRODUCER_END_COUNT);
    return names[end];
}

const char *producer_end_text(enum producer_end end)
{
    static const char *const texts[] = {
#define X(code, name, text) text,
        PRODUCER_ENDS(X)
#undef X
    };
    assert(end < PRODUCER_END_COUNT);
    return texts[end];
}

struct producer *producer_open(const struct producer_options *options)
{
    assert(options->uploads_max > 0 && options->uploads_max <= PRODUCER_UPLOADS_MAX);
    assert(options->batch_ns > 0);
    assert(options->sizes == NULL || (options->size_count > 0 && options->batch_bytes > 0));
    struct producer *producer =
        calloc(1, sizeof(*producer) + options->uploads_max * sizeof(producer->uploads[0]));
    assert(producer != NULL);
    producer->options = *options;
    batch_queue_init(&producer->queue);
    struct random_stream commit_random = random_stream_make(options->random.key, 1);
    commit_init(&producer->commit, &options->commit, commit_random, &producer->queue);
    policy_init(&producer->policy, options->policy_kind, options->policy_values);
    producer->policy_random = random_stream_make(options->random.key, 2);
    for (uint32_t i = 0; i < options->uploads_max; i++) {
        store_op_init(&producer->uploads[i].op);
        producer->uploads[i].retry = (struct retry){.first_ns = options->commit.retry_ns,
                                                    .max_ns = options->commit.retry_max_ns,
                                                    .row_max = PRODUCER_UPLOAD_RETRIES_MAX};
        producer->uploads_free[i] = (uint8_t)(options->uploads_max - 1 - i);
    }
    producer->uploads_free_count = options->uploads_max;
    return producer;
}

void producer_close(struct producer *producer)
{
    for (uint32_t i = 0; i < producer->options.uploads_max; i++)
        store_op_deinit(&producer->uploads[i].op);
    commit_deinit(&producer->commit);
    batch_queue_deinit(&producer->queue);
    free(producer);
}

static void effect(struct producer_effects *effects, enum producer_effect_kind kind, uint32_t slot,
                   int64_t at_ns)
{
    assert(effects->count < PRODUCER_EFFECTS_MAX);
    effects->items[effects->count++] =
        (struct producer_effect){.kind = kind, .slot = slot, .at_ns = at_ns};
}

/* ---- production ---- */

/* Visible batches that the driver has not taken yet do not count as pending. */
static bool may_produce(const struct producer *producer)
{
    uint64_t pending = producer->next_sequence - 1 - producer->commit.committed_sequence;
    return producer->commit.epoch != 0 && producer->phase < PRODUCER_STOPPING &&
           producer->uploads_free_count > 0 && pending < PRODUCER_PENDING_MAX &&
           producer->next_sequence <= producer->last_sequence;
}

static uint64_t next_bytes(const struct producer *producer)
{
    const struct producer_options *options = &producer->options;
    if (options->sizes == NULL)
        return options->batch_bytes;
    uint64_t first = options->sizes_first != 0 ? options->sizes_first : producer->first_sequence;
    assert(producer->next_sequence >= first);
    return options->sizes[producer->next_sequence - first];
}

/* Of the next batch: in proportion where sizes differ. */
static double next_batch_ns(const struct producer *producer)
{
    const struct producer_options *options = &producer->options;
    double whole_ns = (double)options->batch_ns;
    return options->sizes == NULL
               ? whole_ns
               : whole_ns * (double)next_bytes(producer) / (double)options->batch_bytes;
}

static void batch_begin(struct producer *producer, int64_t now_ns, struct producer_effects *effects)
{
    if (producer->making || !may_produce(producer))
        return;
    double factor = random_factor(&producer->options.random, producer->options.batch_jitter);
    producer->making = true;
    producer->remaining_ns = (int64_t)(next_batch_ns(producer) * factor);
    if (producer->paused)
        return;
    producer->made_at_ns = now_ns + producer->remaining_ns;
    effect(effects, EFFECT_BATCH_TIMER, 0, producer->made_at_ns);
}

static void production_pause(struct producer *producer, int64_t now_ns,
                             struct producer_effects *effects)
{
    if (producer->options.mode != PRODUCER_INLINE || producer->paused)
        return;
    producer->paused = true;
    if (!producer->making)
        return;
    producer->remaining_ns = producer->made_at_ns - now_ns;
    effect(effects, EFFECT_BATCH_TIMER_CANCEL, 0, 0);
}

static void production_resume(struct producer *producer, int64_t now_ns,
                              struct producer_effects *effects)
{
    if (!producer->paused)
        return;
    producer->paused = false;
    if (!producer->making)
        return;
    producer->made_at_ns = now_ns + producer->remaining_ns;
    effect(effects, EFFECT_BATCH_TIMER, 0, producer->made_at_ns);
}

static uint64_t bucket_at(const struct producer *producer, int64_t now_ns)
{
    int64_t committed_ns = producer->commit.committed_ns;
    int64_t clock_ns = committed_ns > now_ns ? committed_ns : now_ns;
    return (uint64_t)(clock_ns / TGB_BUCKET_NS);
}

/* A batch is made: its key and bytes are fixed from here on. */
static void on_batch_timer(struct producer *producer, int64_t now_ns,
                           struct producer_effects *effects)
{
    assert(producer->making && !producer->paused && producer->uploads_free_count > 0);
    producer->making = false;
    if (producer->phase >= PRODUCER_STOPPING)
        return;
    uint64_t bytes = next_bytes(producer);
    producer->next_offset += bytes;
    struct batch *batch = batch_queue_push(&producer->queue, producer->next_sequence++);
    batch->end_offset = producer->next_offset;
    batch->bytes = bytes;
    batch->bucket = bucket_at(producer, now_ns);
    batch->made_ns = now_ns;
    uint32_t slot = producer->uploads_free[--producer->uploads_free_count];
    struct upload *upload = &producer->uploads[slot];
    upload->sequence = batch->sequence;
    upload->retry.row = 0;
    upload->state = UPLOAD_SENT;
    upload->op.verb = STORE_PUT;
    upload->op.body = (struct body){.kind = BODY_LENGTH, .bytes = batch->bytes};
    struct tgb_name name = {
        .bucket = batch->bucket,
        .sequence = batch->sequence,
        .end_offset = batch->end_offset,
        .incarnation = producer->options.commit.incarnation,
        .producer = producer->options.commit.producer,
        .epoch = producer->commit.epoch,
    };
    name_tgb(upload->op.key, &name);
    producer->uploads_busy++;
    effect(effects, EFFECT_SUBMIT_UPLOAD, slot, 0);
    batch_begin(producer, now_ns, effects);
}

/* ---- ending ---- */

static void finish_if_idle(struct producer *producer, struct producer_effects *effects)
{
    if (producer->phase != PRODUCER_STOPPING || producer->commit_in_flight ||
        producer->uploads_busy > 0)
        return;
    producer->phase = PRODUCER_DONE;
    effect(effects, EFFECT_ENDED, 0, 0);
}

static void begin_stopping(struct producer *producer, enum producer_end end, const char *text,
                           struct producer_effects *effects)
{
    if (producer->phase >= PRODUCER_STOPPING)
        return;
    producer->phase = PRODUCER_STOPPING;
    producer->end = end;
    snprintf(producer->end_text, sizeof(producer->end_text), "%s", text);
    if (producer->making && !producer->paused)
        effect(effects, EFFECT_BATCH_TIMER_CANCEL, 0, 0);
    producer->making = false;
    for (uint32_t i = 0; i < producer->options.uploads_max; i++) {
        if (producer->uploads[i].state == UPLOAD_WAITING) {
            producer->uploads[i].state = UPLOAD_FREE;
            producer->uploads_busy--;
        }
    }
    finish_if_idle(producer, effects);
}

/* ---- committing ---- */

static enum producer_end end_of(enum commit_end end)
{
    switch (end) {
    case COMMIT_END_FENCED:
        return PRODUCER_FENCED;
    case COMMIT_END_CORRUPT:
        return PRODUCER_CORRUPT;
    case COMMIT_END_NONE:
    case COMMIT_END_STORE:
        break;
    }
    return PRODUCER_STORE_FAILED;
}

static int64_t next_gap_ns(struct producer *producer)
{
    int64_t gap_ns = policy_gap_ns(&producer->policy);
    assert(gap_ns >= 0);
    if (gap_ns < producer->options.gap_min_ns)
        gap_ns = producer->options.gap_min_ns;
    if (gap_ns > producer->options.gap_max_ns)
        gap_ns = producer->options.gap_max_ns;
    producer->gap_ns = gap_ns;
    double factor = random_factor(&producer->options.random, producer->options.gap_jitter);
    return (int64_t)((double)gap_ns * factor);
}

/* The epoch is committed: where the stream goes on, and where it is to end. */
static void begin_life(struct producer *producer)
{
    const struct producer_options *options = &producer->options;
    const struct commit *commit = &producer->commit;
    producer->next_sequence = commit->committed_sequence + 1;
    producer->first_sequence = producer->next_sequence;
    producer->next_offset = commit->committed_offset;
    producer->last_sequence = UINT64_MAX;
    if (options->batches_max != 0)
        producer->last_sequence = commit->committed_sequence + options->batches_max;
    if (options->sizes == NULL)
        return;
    uint64_t first = options->sizes_first != 0 ? options->sizes_first : producer->first_sequence;
    uint64_t last = first + options->size_count - 1;
    assert(first <= producer->first_sequence);
    if (last < producer->last_sequence)
        producer->last_sequence = last;
}

static void on_decided(struct producer *producer, int64_t now_ns, struct producer_effects *effects)
{
    struct commit *commit = &producer->commit;
    bool stopping = producer->phase >= PRODUCER_STOPPING;
    commit->attempt.gap_ns = producer->gap_ns;
    commit->attempt.draw = random_unit(&producer->policy_random);
    policy_on_attempt(&producer->policy, &commit->attempt);
    effect(effects, EFFECT_ATTEMPT, 0, 0);
    if (commit->epoch != 0 && producer->first_sequence == 0)
        begin_life(producer);
    if (stopping)
        return;
    producer->phase = PRODUCER_WAITING;
    producer->gap_over = false;
    if (commit->epoch != 0 && commit->committed_sequence >= producer->last_sequence) {
        begin_stopping(producer, PRODUCER_STOPPED, "all batches are visible", effects);
        return;
    }
    production_resume(producer, now_ns, effects);
    batch_begin(producer, now_ns, effects);
    effect(effects, EFFECT_COMMIT_TIMER, 0, now_ns + next_gap_ns(producer));
}

static void perform_commit(struct producer *producer, int64_t now_ns,
                           struct commit_effect commit_effect, struct producer_effects *effects)
{
    producer->commit_in_flight = true;
    switch (commit_effect.kind) {
    case COMMIT_SUBMIT:
        effect(effects, EFFECT_SUBMIT_COMMIT, 0, 0);
        break;
    case COMMIT_SLEEP:
        effect(effects, EFFECT_COMMIT_TIMER, 0, commit_effect.until_ns);
        break;
    case COMMIT_DECIDED:
        producer->commit_in_flight = false;
        on_decided(producer, now_ns, effects);
        break;
    case COMMIT_ENDED:
        producer->commit_in_flight = false;
        begin_stopping(producer, end_of(producer->commit.end), producer->commit.end_text, effects);
        break;
    }
    finish_if_idle(producer, effects);
}

static void try_commit(struct producer *producer, int64_t now_ns, struct producer_effects *effects)
{
    bool something = producer->commit.epoch == 0 || producer->queue.ready > 0;
    if (producer->phase != PRODUCER_WAITING || !producer->gap_over || !something)
        return;
    producer->phase = PRODUCER_COMMITTING;
    production_pause(producer, now_ns, effects);
    perform_commit(producer, now_ns, commit_begin(&producer->commit, now_ns), effects);
}

static void on_commit_timer(struct producer *producer, int64_t now_ns,
                            struct producer_effects *effects)
{
    if (producer->commit_in_flight) {
        perform_commit(producer, now_ns, commit_wake(&producer->commit, now_ns), effects);
        return;
    }
    producer->gap_over = true;
    try_commit(producer, now_ns, effects);
}

/* ---- uploads ---- */

static void upload_free(struct producer *producer, uint32_t slot)
{
    producer->uploads[slot].state = UPLOAD_FREE;
    producer->uploads_busy--;
    producer->uploads_free[producer->uploads_free_count++] = (uint8_t)slot;
}

/* A plain PUT of fixed bytes under a name of its own may be sent again whatever happened to it. */
static void upload_retry(struct producer *producer, uint32_t slot, int64_t now_ns,
                         struct producer_effects *effects)
{
    struct upload *upload = &producer->uploads[slot];
    upload->state = UPLOAD_WAITING;
    effect(effects, EFFECT_UPLOAD_TIMER, slot,
           retry_at_ns(&upload->retry, upload->retry.row, &producer->options.random, now_ns));
}

static void upload_end(struct producer *producer, int64_t now_ns, uint32_t slot,
                       struct producer_effects *effects)
{
    struct upload *upload = &producer->uploads[slot];
    char error[STORE_ERROR_MAX];
    switch (retry_judge(&upload->retry, &upload->op, error)) {
    case RETRY_ANSWERED:
        batch_queue_uploaded(&producer->queue, upload->sequence, upload->op.body_checksum);
        upload_free(producer, slot);
        batch_begin(producer, now_ns, effects);
        try_commit(producer, now_ns, effects);
        break;
    case RETRY_LATER:
        upload_retry(producer, slot, now_ns, effects);
        break;
    case RETRY_REFUSED:
    case RETRY_SILENT:
        upload_free(producer, slot);
        begin_stopping(producer, PRODUCER_STORE_FAILED, error, effects);
        break;
    }
}

static void on_upload_answer(struct producer *producer, int64_t now_ns, uint32_t slot,
                             struct producer_effects *effects)
{
    struct upload *upload = &producer->uploads[slot];
    assert(upload->state == UPLOAD_SENT);
    if (upload->op.outcome != STORE_OK && producer->phase >= PRODUCER_STOPPING)
        upload_free(producer, slot);
    else
        upload_end(producer, now_ns, slot, effects);
    store_op_release(&upload->op);
    finish_if_idle(producer, effects);
}

static void on_upload_timer(struct producer *producer, uint32_t slot,
                            struct producer_effects *effects)
{
    struct upload *upload = &producer->uploads[slot];
    if (upload->state != UPLOAD_WAITING)
        return; /* stopped meanwhile */
    upload->state = UPLOAD_SENT;
    effect(effects, EFFECT_SUBMIT_UPLOAD, slot, 0);
}

static void on_start(struct producer *producer, int64_t now_ns, struct producer_effects *effects)
{
    assert(producer->phase == PRODUCER_NEW);
    producer->phase = PRODUCER_WAITING;
    double part = random_unit(&producer->options.random);
    int64_t gap_ns = (int64_t)((double)producer->options.first_gap_ns * part);
    effect(effects, EFFECT_COMMIT_TIMER, 0, now_ns + gap_ns);
}

void producer_step(struct producer *producer, int64_t now_ns, struct producer_event event,
                   struct producer_effects *effects)
{
    effects->count = 0;
    switch (event.kind) {
    case PRODUCER_START:
        on_start(producer, now_ns, effects);
        break;
    case PRODUCER_STOP:
        begin_stopping(producer, PRODUCER_STOPPED, producer_end_text(PRODUCER_STOPPED), effects);
        break;
    case PRODUCER_COMMIT_ANSWER:
        perform_commit(producer, now_ns, commit_answer(&producer->commit, now_ns), effects);
        break;
    case PRODUCER_COMMIT_TIMER:
        on_commit_timer(producer, now_ns, effects);
        break;
    case PRODUCER_BATCH_TIMER:
        on_batch_timer(producer, now_ns, effects);
        break;
    case PRODUCER_UPLOAD_ANSWER:
        on_upload_answer(producer, now_ns, event.slot, effects);
        break;
    case PRODUCER_UPLOAD_TIMER:
        on_upload_timer(producer, event.slot, effects);
        break;
    }
}

bool producer_take_visible(struct producer *producer, struct batch *batch)
{
    if (producer->queue.ready == 0)
        return false;
    if (batch_queue_at(&producer->queue, 0)->sequence > producer->commit.committed_sequence)
        return false;
    *batch = batch_queue_pop(&producer->queue);
    return true;
}
