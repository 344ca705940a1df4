/* reclaim_target.c - a reclaimer on a store that answers anything: it never crashes, deletes only
 * what has a name of ours, no version that no floor is above, nothing in a dry run; and each round
 * ends within a bounded number of steps. */
#include <string.h>

#include "core/codec_store.h"
#include "core/reclaim_driver.h"
#include "tests/core/manual_loop.h"
#include "tests/fuzz/fuzz_store.h"
#include "tests/fuzz/target.h"

#define STEPS_MAX 20000        /* while the input lasts */
#define STEPS_TO_END_MAX 40000 /* a round, once the store behaves */
#define CHANGES_MAX 16

void fuzz_reclaim(const uint8_t *data, size_t size);

struct guard;

struct guard_call {
    struct store_op op;
    struct store_op *outer; /* NULL: free */
    struct guard *guard;
};

/* Stands before the store, and sees what is asked for and answered. */
struct guard {
    struct store store;
    struct store *inner;
    enum reclaim_mode mode;
    uint64_t floor; /* the highest version of one that was shown or written */
    uint64_t rounds;
    bool ended;
    struct guard_call calls[RECLAIM_SLOTS_MAX];
};

static void note_floor(struct guard *guard, const char *key)
{
    struct floor floor;
    if (name_parse_floor(key, &floor) && floor.version > guard->floor)
        guard->floor = floor.version;
}

static void check_delete(const struct guard *guard, const char *key)
{
    uint64_t number;
    struct floor floor;
    struct tgb_name tgb;
    assert(guard->mode == RECLAIM_DELETE);
    if (name_parse_version(key, &number))
        assert(number < guard->floor);
    else
        assert(name_parse_tgb(key, &tgb) || name_parse_intent(key, &number) ||
               name_parse_floor(key, &floor));
}

static void guard_done(struct store_op *op, void *context)
{
    struct guard_call *call = context;
    struct store_op *outer = call->outer;
    for (size_t i = 0; i < op->page.count; i++)
        note_floor(call->guard, list_page_key(&op->page, i));
    if (op->verb == STORE_PUT && op->outcome == STORE_OK)
        note_floor(call->guard, op->key);
    store_op_take_answer(outer, op);
    store_op_release(op);
    call->outer = NULL;
    outer->done(outer, outer->context);
}

static void guard_submit(struct store *store, struct store_op *op)
{
    struct guard *guard = (struct guard *)store;
    struct guard_call *call = guard->calls;
    uint64_t step;
    struct floor floor;
    assert(op->verb != STORE_PUT_IF_ABSENT);
    if (op->verb == STORE_DELETE)
        check_delete(guard, op->key);
    if (op->verb == STORE_PUT) {
        assert(guard->mode == RECLAIM_DELETE);
        assert(name_parse_intent(op->key, &step) || name_parse_floor(op->key, &floor));
    }
    while (call->outer != NULL)
        call++;
    assert(call < guard->calls + RECLAIM_SLOTS_MAX);
    store_op_copy_request(&call->op, op);
    call->outer = op;
    store_submit(guard->inner, &call->op);
}

static void guard_close(struct store *store)
{
    (void)store;
}

static const struct store_ops guard_ops = {.submit = guard_submit, .close = guard_close};

static void guard_init(struct guard *guard, struct store *inner, enum reclaim_mode mode)
{
    *guard = (struct guard){.inner = inner, .mode = mode};
    guard->store.ops = &guard_ops;
    for (size_t i = 0; i < RECLAIM_SLOTS_MAX; i++) {
        struct guard_call *call = &guard->calls[i];
        store_op_init(&call->op);
        call->op.done = guard_done;
        call->op.context = call;
        call->guard = guard;
    }
}

static void guard_deinit(struct guard *guard)
{
    for (size_t i = 0; i < RECLAIM_SLOTS_MAX; i++)
        store_op_deinit(&guard->calls[i].op);
}

static void on_request(void *context, enum store_verb verb, enum store_outcome outcome,
                       uint64_t bytes)
{
    (void)context;
    (void)verb;
    (void)outcome;
    (void)bytes;
}

static void on_round(void *context, const struct reclaim_report *report, const char *error)
{
    struct guard *guard = context;
    bool failed = report->end == RECLAIM_GIVEN_UP || report->end == RECLAIM_REFUSED;
    assert((error[0] != '\0') == failed);
    assert(report->orphans <= report->tgbs && report->orphan_bytes <= report->tgb_bytes);
    assert(report->undecided_count <= RECLAIM_UNDECIDED_MAX);
    guard->rounds++;
}

static void on_ended(void *context)
{
    struct guard *guard = context;
    guard->ended = true;
}

static struct reclaim_options options_of(struct fuzz_input *input)
{
    uint8_t form = fuzz_byte(input);
    return (struct reclaim_options){
        .random = random_stream_make(form, 1),
        .retry_ns = NS_PER_MS,
        .retry_max_ns = 20 * NS_PER_MS,
        .mode = form & 1 ? RECLAIM_DRY_RUN : RECLAIM_DELETE,
        .ranks = form & 2 ? fuzz_byte(input) : 0,
        .behind = form & 4 ? fuzz_number(input) : 1,
        .grace_ns = form & 8 ? NS_PER_S : 0,
        .marker_grace_ns = form & 16 ? 0 : 100 * NS_PER_MS,
        .full_every = 1 + (form >> 5) % 2U,
        .deletes_max = 1 + (form >> 6) * 2U,
    };
}

static void run_to_end(struct manual_loop *loop, const struct guard *guard, uint64_t rounds)
{
    int steps = 0;
    while (guard->rounds < rounds && !guard->ended) {
        bool stepped = manual_loop_step(loop);
        assert(stepped && "a reclaimer waits for something, or for its next round");
        assert(++steps < STEPS_TO_END_MAX);
    }
}

void fuzz_reclaim(const uint8_t *data, size_t size)
{
    static struct manual_loop loop;
    struct fuzz_input input = {.data = data, .size = size};
    manual_loop_init(&loop);
    struct reclaim_options options = options_of(&input);
    struct fuzz_store *store = fuzz_store_open(&loop.loop, &input);
    store->delay_ns = NS_PER_MS;
    store->consumers = true;
    for (unsigned i = fuzz_byte(&input) % CHANGES_MAX; i > 0; i--)
        fuzz_change(store);
    struct codec_store_options codec_options = {.payload = false};
    struct store *codec = codec_store_open(&store->store, &codec_options);
    static struct guard guard;
    guard_init(&guard, codec, options.mode);
    struct reclaim_observer observer = {
        .context = &guard, .request = on_request, .round = on_round, .ended = on_ended};
    struct reclaim_driver *driver =
        reclaim_driver_open(&(struct reclaim_driver_options){.store = &guard.store,
                                                             .loop = &loop.loop,
                                                             .observer = &observer,
                                                             .reclaim = &options,
                                                             .period_ns = 10 * NS_PER_MS,
                                                             .jitter = RECLAIM_JITTER});
    reclaim_driver_start(driver);
    for (int i = 0; i < STEPS_MAX && !fuzz_ended(&input); i++)
        manual_loop_step(&loop);
    input.at = input.size;
    run_to_end(&loop, &guard, guard.rounds + 2);
    reclaim_driver_stop(driver);
    for (int i = 0; i < STEPS_TO_END_MAX && !guard.ended; i++)
        manual_loop_step(&loop);
    assert(guard.ended);
    reclaim_driver_close(driver);
    guard_deinit(&guard);
    store_close(codec);
    store_close(&store->store);
}
