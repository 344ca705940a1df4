/* commit_target.c - a producer on a store that answers anything: it never crashes, what it makes
 * visible is its own stream in order, and once the store behaves again an attempt is decided, or
 * the producer ends, within a bounded number of steps. */
#include <string.h>

#include "core/codec_store.h"
#include "core/driver.h"
#include "tests/core/manual_loop.h"
#include "tests/fuzz/fuzz_store.h"
#include "tests/fuzz/target.h"

#define STEPS_MAX 20000          /* while the input lasts: it cannot last longer */
#define STEPS_TO_DECIDE_MAX 8000 /* an attempt, once the store behaves */
#define CHANGES_MAX 16

void fuzz_commit(const uint8_t *data, size_t size);

struct watch {
    uint64_t attempts;
    uint64_t sequence; /* last visible; 0: none */
    bool ended;
};

static void on_attempt(void *context, uint32_t producer, const struct attempt *attempt,
                       const struct attempt_detail *detail)
{
    struct watch *watch = context;
    (void)producer;
    assert(attempt->tau_ns >= 0 && attempt->producers_active >= 1);
    assert(detail->started_ns + attempt->tau_ns == attempt->ended_ns);
    watch->attempts++;
}

static void on_visible(void *context, uint32_t producer, const struct batch *batch,
                       int64_t visible_ns)
{
    struct watch *watch = context;
    (void)producer;
    assert(watch->sequence == 0 || batch->sequence == watch->sequence + 1);
    assert(visible_ns >= batch->made_ns);
    watch->sequence = batch->sequence;
}

static void on_request(void *context, uint32_t producer, enum store_verb verb,
                       enum store_outcome outcome, uint64_t bytes)
{
    (void)context;
    (void)producer;
    (void)verb;
    (void)outcome;
    (void)bytes;
}

static void on_ended(void *context, uint32_t producer, enum producer_end end, const char *text)
{
    struct watch *watch = context;
    (void)producer;
    assert(end < PRODUCER_END_COUNT && text[0] != '\0');
    watch->ended = true;
}

static struct producer_options options_of(struct fuzz_input *input,
                                          const struct incarnation *incarnation)
{
    uint8_t form = fuzz_byte(input);
    struct producer_options options = {
        .commit = {.producer = 1,
                   .entry_bytes = MANIFEST_ENTRY_BYTES_MIN,
                   .incarnation = *incarnation,
                   .find = form & 1 ? COMMIT_FIND_PROBE : COMMIT_FIND_LIST,
                   .active_versions = 16,
                   .retry_ns = NS_PER_MS,
                   .retry_max_ns = 20 * NS_PER_MS},
        .random = random_stream_make(form, 1),
        .mode = form & 2 ? PRODUCER_BACKGROUND : PRODUCER_INLINE,
        .first_gap_ns = 10 * NS_PER_MS,
        .gap_max_ns = 100 * NS_PER_MS,
        .gap_jitter = 0.1,
        .batch_bytes = 100,
        .batch_ns = 20 * NS_PER_MS,
        .batch_jitter = 0.1,
        .uploads_max = 1 + (form >> 2) % 4,
    };
    size_t kinds = 0;
    while (policy_kind_at(kinds) != NULL)
        kinds++;
    options.policy_kind = policy_kind_at((form >> 4) % kinds);
    for (size_t i = 0; i < policy_parameter_count(options.policy_kind); i++)
        options.policy_values[i] = options.policy_kind->parameters[i].value_default;
    return options;
}

/* Until the attempt in progress and the next one are decided by a store that behaves. */
static void run_to_decisions(struct manual_loop *loop, const struct watch *watch)
{
    for (int i = 0; i < 2 && !watch->ended; i++) {
        uint64_t before = watch->attempts;
        int steps = 0;
        while (watch->attempts == before && !watch->ended) {
            bool stepped = manual_loop_step(loop);
            assert(stepped && "a producer that is alive waits for something");
            assert(++steps < STEPS_TO_DECIDE_MAX);
        }
    }
}

void fuzz_commit(const uint8_t *data, size_t size)
{
    static struct manual_loop loop;
    struct fuzz_input input = {.data = data, .size = size};
    struct incarnation mine;
    memset(mine.bytes, 0xa5, sizeof(mine.bytes));
    manual_loop_init(&loop);
    struct producer_options options = options_of(&input, &mine);
    struct fuzz_store *store = fuzz_store_open(&loop.loop, &input);
    store->mine = mine;
    store->delay_ns = NS_PER_MS;
    for (unsigned i = fuzz_byte(&input) % CHANGES_MAX; i > 0; i--)
        fuzz_change(store);
    struct codec_store_options codec_options = {.payload = false};
    struct store *codec = codec_store_open(&store->store, &codec_options);
    struct watch watch = {0};
    struct producer_observer observer = {.context = &watch,
                                         .attempt = on_attempt,
                                         .visible = on_visible,
                                         .request = on_request,
                                         .ended = on_ended};
    struct driver *driver = driver_open(&(struct driver_options){
        .store = codec, .loop = &loop.loop, .observer = &observer, .producer = &options});
    driver_start(driver);
    for (int i = 0; i < STEPS_MAX && !watch.ended && !fuzz_ended(&input); i++)
        manual_loop_step(&loop);
    input.at = input.size;
    run_to_decisions(&loop, &watch);
    if (!watch.ended)
        driver_stop(driver);
    for (int i = 0; i < STEPS_TO_DECIDE_MAX && !watch.ended; i++)
        manual_loop_step(&loop);
    assert(watch.ended);
    driver_close(driver);
    store_close(codec);
    store_close(&store->store);
}
