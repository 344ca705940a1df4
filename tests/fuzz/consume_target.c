/* consume_target.c - a rank on a store that answers anything: it never crashes, hands over each
 * step once and in order, writes nothing but its own numbers, takes no value back, deletes none but
 * its own lower values, and ends within a bounded number of steps when it is stopped. */
#include <string.h>

#include "core/codec_store.h"
#include "core/consumer_driver.h"
#include "tests/core/manual_loop.h"
#include "tests/fuzz/fuzz_store.h"
#include "tests/fuzz/target.h"

#define STEPS_MAX 20000
#define CHANGES_MAX 16
#define CONSUMER 1
#define CALLS_MAX (CONSUMER_FETCHES_MAX + 2)

void fuzz_consume(const uint8_t *data, size_t size);

struct witness;

struct witness_call {
    struct store_op op;
    struct store_op *outer; /* NULL: free */
    struct witness *witness;
};

/* Stands before the store and behind the rank, and sees what each asks for. */
struct witness {
    struct store store;
    struct store *inner;
    struct consumer_driver *driver;
    uint64_t number;    /* the last one asked for */
    uint64_t value;     /* the last one published */
    uint64_t next_step; /* 0: not allowed yet */
    uint8_t form;
    bool ended;
    struct witness_call calls[CALLS_MAX];
};

static struct watermark_name own_name(const struct store_op *op)
{
    struct watermark_name name;
    bool parsed = name_parse_watermark(op->key, &name);
    assert(parsed);
    assert(name.consumer == CONSUMER);
    return name;
}

static void check_get(const struct store_op *op)
{
    uint64_t version;
    struct tgb_name tgb;
    if (name_parse_version(op->key, &version))
        return;
    if (name_parse_tgb(op->key, &tgb))
        assert(op->range_bytes > 0);
    else
        assert(own_name(op).part == WATERMARK_NUMBER);
}

static void check_request(struct witness *witness, const struct store_op *op)
{
    struct watermark_name name;
    switch (op->verb) {
    case STORE_GET:
        check_get(op);
        break;
    case STORE_PUT:
        name = own_name(op);
        assert(name.part != WATERMARK_NUMBER && name.number == witness->number);
        assert(name.part == WATERMARK_NUMBER_RETIRED || name.step >= witness->value);
        if (name.part == WATERMARK_NUMBER_VALUE)
            witness->value = name.step;
        break;
    case STORE_PUT_IF_ABSENT:
        name = own_name(op);
        assert(name.part == WATERMARK_NUMBER && witness->value == 0);
        witness->number = name.number;
        break;
    case STORE_DELETE:
        name = own_name(op);
        assert(name.part == WATERMARK_NUMBER_VALUE && name.number == witness->number);
        assert(name.step < witness->value);
        break;
    case STORE_LIST:
    case STORE_VERB_COUNT:
        break;
    }
}

static void call_done(struct store_op *op, void *context)
{
    struct witness_call *call = context;
    struct store_op *outer = call->outer;
    store_op_take_answer(outer, op);
    store_op_release(op);
    call->outer = NULL;
    outer->done(outer, outer->context);
}

static void witness_submit(struct store *store, struct store_op *op)
{
    struct witness *witness = (struct witness *)store;
    struct witness_call *call = witness->calls;
    check_request(witness, op);
    while (call->outer != NULL)
        call++;
    assert(call < witness->calls + CALLS_MAX);
    store_op_copy_request(&call->op, op);
    call->outer = op;
    store_submit(witness->inner, &call->op);
}

static void witness_close(struct store *store)
{
    (void)store;
}

static const struct store_ops witness_ops = {.submit = witness_submit, .close = witness_close};

/* ---- what the rank tells ---- */

static void on_running(void *context, uint32_t consumer, uint64_t step)
{
    struct witness *witness = context;
    (void)consumer;
    assert(witness->next_step == 0 && step > 0 && witness->value > 0);
    assert(step >= witness->value);
    witness->next_step = step;
}

static void on_ready(void *context, uint32_t consumer, const struct consumer_delivery *delivery)
{
    struct witness *witness = context;
    (void)consumer;
    assert(delivery->step == witness->next_step);
    assert(delivery->slice.kind == BODY_BYTES || delivery->slice.kind == BODY_LENGTH);
    witness->next_step++;
    consumer_driver_take(witness->driver);
    if ((delivery->step + witness->form) % 3 == 0)
        consumer_driver_checkpoint(witness->driver);
}

static void on_save(void *context, uint32_t consumer, const struct checkpoint_set *checkpoints)
{
    struct witness *witness = context;
    (void)consumer;
    assert(checkpoints->count > 0 && checkpoints->count <= CHECKPOINTS_MAX);
    for (uint32_t i = 1; i < checkpoints->count; i++)
        assert(checkpoints->items[i - 1].step < checkpoints->items[i].step);
    if (witness->form & 128)
        consumer_driver_save_refused(witness->driver);
    else
        consumer_driver_saved(witness->driver);
}

static void on_checkpointed(void *context, uint32_t consumer, uint64_t step)
{
    const struct witness *witness = context;
    (void)consumer;
    assert(step >= witness->value && step <= witness->next_step);
}

static void on_request(void *context, uint32_t consumer, const struct consumer_answer *answer)
{
    (void)context;
    (void)consumer;
    assert(answer->answered_ns >= answer->sent_ns);
}

static void on_ended(void *context, uint32_t consumer, enum consumer_end end, const char *text)
{
    struct witness *witness = context;
    (void)consumer;
    assert(!witness->ended && end < CONSUMER_END_COUNT && text[0] != '\0');
    witness->ended = true;
}

static struct consumer_options options_of(struct fuzz_input *input, uint8_t form)
{
    uint32_t slices = form % 4;
    struct consumer_options options = {
        .membership = {.consumer = CONSUMER,
                       .retry_ns = NS_PER_MS,
                       .retry_max_ns = 20 * NS_PER_MS,
                       .start_step = form & 16 ? 1 + fuzz_byte(input) : 0,
                       .rollback_step = form & 32 ? 1 + fuzz_byte(input) : 0},
        .random = random_stream_make(form, 1),
        .slices = slices,
        .slice = slices > 0 ? fuzz_byte(input) % slices : 0,
        .prefetch_bytes = 1 + (uint64_t)fuzz_byte(input) * 64,
        .fetches_max = 1 + fuzz_byte(input) % CONSUMER_FETCHES_MAX,
        .fetch_retries = 4,
        .lookahead = 1 + form % 8U,
        .poll_min_ns = NS_PER_MS,
        .poll_max_ns = 100 * NS_PER_MS,
        .poll_smoothing = CONSUMER_POLL_SMOOTHING,
        .poll_early = CONSUMER_POLL_EARLY,
        .poll_jitter = CONSUMER_POLL_JITTER,
        .retry_ns = NS_PER_MS,
        .retry_max_ns = 20 * NS_PER_MS,
        .checkpoints_kept = 1 + form % 3U,
    };
    memset(options.membership.identity.bytes, form, INCARNATION_BYTES);
    for (uint32_t i = 0; form & 64 && i < 3; i++) {
        struct checkpoint checkpoint = {.step = 1 + 4 * i + fuzz_byte(input) % 4U,
                                        .number = 1 + fuzz_byte(input) % 4U};
        checkpoint_add(&options.checkpoints, &checkpoint, CHECKPOINTS_MAX);
    }
    return options;
}

void fuzz_consume(const uint8_t *data, size_t size)
{
    static struct manual_loop loop;
    static struct witness witness;
    struct fuzz_input input = {.data = data, .size = size};
    manual_loop_init(&loop);
    uint8_t form = fuzz_byte(&input);
    struct consumer_options options = options_of(&input, form);
    struct fuzz_store *store = fuzz_store_open(&loop.loop, &input);
    store->delay_ns = NS_PER_MS;
    store->consumers = true;
    store->mesh = (struct tgb_mesh){.data = options.slices, .context = options.slices > 0};
    memset(store->mine.bytes, form, INCARNATION_BYTES);
    for (unsigned i = fuzz_byte(&input) % CHANGES_MAX; i > 0; i--)
        fuzz_change(store);
    struct codec_store_options codec_options = {.payload = false};
    struct store *codec = codec_store_open(&store->store, &codec_options);
    witness = (struct witness){.store = {&witness_ops}, .inner = codec, .form = form};
    for (size_t i = 0; i < CALLS_MAX; i++) {
        struct witness_call *call = &witness.calls[i];
        store_op_init(&call->op);
        call->op.done = call_done;
        call->op.context = call;
        call->witness = &witness;
    }
    struct consumer_observer observer = {.context = &witness,
                                         .running = on_running,
                                         .ready = on_ready,
                                         .save = on_save,
                                         .checkpointed = on_checkpointed,
                                         .request = on_request,
                                         .ended = on_ended};
    struct consumer_driver_options driver = {
        .store = &witness.store, .loop = &loop.loop, .observer = &observer, .consumer = &options};
    witness.driver = consumer_driver_open(&driver);
    consumer_driver_start(witness.driver);
    for (int i = 0; i < STEPS_MAX && !fuzz_ended(&input) && !witness.ended; i++)
        manual_loop_step(&loop);
    input.at = input.size;
    for (int i = 0; i < 400 && !witness.ended; i++) /* the store behaves: it runs, or ends */
        manual_loop_step(&loop);
    consumer_driver_stop(witness.driver);
    for (int i = 0; i < STEPS_MAX && !witness.ended; i++)
        manual_loop_step(&loop);
    assert(witness.ended);
    consumer_driver_close(witness.driver);
    for (size_t i = 0; i < CALLS_MAX; i++)
        store_op_deinit(&witness.calls[i].op);
    store_close(codec);
    store_close(&store->store);
}
