/* virtual_store_test.c - what operations do, when, and what is refused. */
#include "sim/virtual_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/manifest.h"
#include "tests/battery/store_battery.h"
#include "tests/harness.h"

#define GET_NS (20 * NS_PER_MS)
#define PUT_NS (100 * NS_PER_MS)
#define LIST_NS (40 * NS_PER_MS)
#define DELETE_NS (10 * NS_PER_MS)

struct bench {
    struct virtual_loop loop;
    struct virtual_store *store;
    struct store *client;
    struct store *other;
    struct store_op op;
    int64_t applied_ns;
    int64_t done_ns;
    unsigned done;
};

static void applied(void *context, int64_t now_ns, uint32_t actor, const struct store_op *op,
                    enum store_outcome outcome)
{
    (void)actor;
    (void)op;
    (void)outcome;
    ((struct bench *)context)->applied_ns = now_ns;
}

static void done(struct store_op *op, void *context)
{
    struct bench *bench = context;
    (void)op;
    bench->done_ns = bench->loop.now_ns;
    bench->done++;
}

static struct virtual_store_options plain_options(void)
{
    const int64_t base_ns[STORE_VERB_COUNT] = {GET_NS, PUT_NS, PUT_NS, LIST_NS, DELETE_NS};
    struct virtual_store_options options = {.seed = 1, .apply_fraction = 0.9};
    for (size_t i = 0; i < STORE_VERB_COUNT; i++)
        options.latency[i].base_ns = base_ns[i];
    return options;
}

static void bench_open(struct bench *bench, struct virtual_store_options options)
{
    *bench = (struct bench){0};
    virtual_loop_init(&bench->loop, EVENT_QUEUE_HEAP);
    options.loop = &bench->loop;
    options.observer = (struct virtual_store_observer){bench, applied};
    bench->store = virtual_store_open(&options);
    bench->client = virtual_store_client(bench->store, 1);
    bench->other = virtual_store_client(bench->store, 2);
    store_op_init(&bench->op);
    bench->op.done = done;
    bench->op.context = bench;
    bench->op.list_keys_max = STORE_LIST_KEYS_MAX;
}

static void bench_close(struct bench *bench)
{
    store_close(bench->client);
    store_close(bench->other);
    virtual_store_close(bench->store);
    store_op_deinit(&bench->op);
    virtual_loop_deinit(&bench->loop);
}

/* Submits and runs until it is answered; returns the outcome. */
static enum store_outcome perform(struct bench *bench, enum store_verb verb, const char *key)
{
    store_op_release(&bench->op);
    bench->op.verb = verb;
    snprintf(bench->op.key, sizeof(bench->op.key), "%s", key);
    unsigned before = bench->done;
    store_submit(bench->client, &bench->op);
    assert(bench->done == before); /* never from inside submit */
    loop_run(&bench->loop.loop, TIME_NEVER);
    assert(bench->done == before + 1);
    return bench->op.outcome;
}

static enum store_outcome put_bytes(struct bench *bench, enum store_verb verb, const char *key,
                                    const char *text)
{
    bench->op.body =
        (struct body){.kind = BODY_BYTES, .bytes = strlen(text), .data = (uint8_t *)text};
    return perform(bench, verb, key);
}

static bool result_is(const struct bench *bench, const char *text)
{
    return bench->op.result.kind == BODY_BYTES && bench->op.result.bytes == strlen(text) &&
           memcmp(bench->op.result.data, text, strlen(text)) == 0;
}

static void put_overwrites_and_create_does_not(void)
{
    struct bench bench;
    bench_open(&bench, plain_options());
    CU_ASSERT_EQUAL(perform(&bench, STORE_GET, "a/x"), STORE_NOT_FOUND);
    CU_ASSERT_EQUAL(put_bytes(&bench, STORE_PUT_IF_ABSENT, "a/x", "one"), STORE_OK);
    CU_ASSERT_EQUAL(put_bytes(&bench, STORE_PUT_IF_ABSENT, "a/x", "two"), STORE_EXISTS);
    CU_ASSERT_EQUAL(perform(&bench, STORE_GET, "a/x"), STORE_OK);
    CU_ASSERT_TRUE(result_is(&bench, "one"));
    CU_ASSERT_EQUAL(put_bytes(&bench, STORE_PUT, "a/x", "three"), STORE_OK);
    CU_ASSERT_EQUAL(perform(&bench, STORE_GET, "a/x"), STORE_OK);
    CU_ASSERT_TRUE(result_is(&bench, "three"));
    CU_ASSERT_EQUAL(perform(&bench, STORE_DELETE, "a/x"), STORE_OK);
    CU_ASSERT_EQUAL(perform(&bench, STORE_DELETE, "a/x"), STORE_OK);
    CU_ASSERT_EQUAL(perform(&bench, STORE_GET, "a/x"), STORE_NOT_FOUND);
    CU_ASSERT_EQUAL(put_bytes(&bench, STORE_PUT_IF_ABSENT, "a/x", "four"), STORE_OK);
    CU_ASSERT_EQUAL(virtual_store_objects(bench.store), 1);
    bench_close(&bench);
}

static void what_is_stored_is_counted_by_component(void)
{
    struct bench bench;
    bench_open(&bench, plain_options());
    CU_ASSERT_EQUAL(virtual_store_stock(bench.store, "tgb/").objects, 0);
    bench.op.body = (struct body){.kind = BODY_LENGTH, .bytes = 1000};
    CU_ASSERT_EQUAL(perform(&bench, STORE_PUT, "tgb/a"), STORE_OK);
    CU_ASSERT_EQUAL(perform(&bench, STORE_PUT, "tgb/b"), STORE_OK);
    CU_ASSERT_EQUAL(perform(&bench, STORE_PUT, "other"), STORE_OK);
    bench.op.body.bytes = 300;
    CU_ASSERT_EQUAL(perform(&bench, STORE_PUT, "tgb/b"), STORE_OK);
    CU_ASSERT_EQUAL(virtual_store_stock(bench.store, "tgb/").objects, 2);
    CU_ASSERT_EQUAL(virtual_store_stock(bench.store, "tgb/").bytes, 1300);
    CU_ASSERT_EQUAL(virtual_store_stock(bench.store, "").bytes, 1000);
    CU_ASSERT_EQUAL(perform(&bench, STORE_DELETE, "tgb/a"), STORE_OK);
    CU_ASSERT_EQUAL(perform(&bench, STORE_DELETE, "tgb/a"), STORE_OK);
    CU_ASSERT_EQUAL(virtual_store_stock(bench.store, "tgb/").objects, 1);
    CU_ASSERT_EQUAL(virtual_store_stock(bench.store, "tgb/").bytes, 300);
    bench_close(&bench);
}

static void ranges_are_cut(void)
{
    struct bench bench;
    bench_open(&bench, plain_options());
    put_bytes(&bench, STORE_PUT, "k", "0123456789");
    bench.op.range_offset = 3;
    bench.op.range_bytes = 4;
    perform(&bench, STORE_GET, "k");
    CU_ASSERT_TRUE(result_is(&bench, "3456"));
    CU_ASSERT_EQUAL(bench.op.object_bytes, 10);
    bench.op.range_bytes = 0;
    perform(&bench, STORE_GET, "k");
    CU_ASSERT_TRUE(result_is(&bench, "3456789"));
    bench.op.range_offset = 10;
    CU_ASSERT_EQUAL(perform(&bench, STORE_GET, "k"), STORE_OK);
    CU_ASSERT_TRUE(result_is(&bench, ""));
    bench_close(&bench);
}

static void references_and_lengths_come_back(void)
{
    struct bench bench;
    bench_open(&bench, plain_options());
    struct manifest *genesis = manifest_genesis(128);
    uint64_t bytes = manifest_encoded_bytes(genesis);
    bench.op.body = (struct body){.kind = BODY_MANIFEST, .bytes = bytes, .manifest = genesis};
    CU_ASSERT_EQUAL(perform(&bench, STORE_PUT_IF_ABSENT, "manifest/1"), STORE_OK);
    perform(&bench, STORE_GET, "manifest/1");
    CU_ASSERT_EQUAL(bench.op.result.kind, BODY_MANIFEST);
    CU_ASSERT_PTR_EQUAL(bench.op.result.manifest, genesis);
    CU_ASSERT_EQUAL(bench.op.result.bytes, bytes);
    bench.op.range_bytes = 8;
    perform(&bench, STORE_GET, "manifest/1");
    CU_ASSERT_EQUAL(bench.op.result.bytes, 8);
    bench.op.range_bytes = 0;
    bench.op.body = (struct body){.kind = BODY_LENGTH, .bytes = 1 << 25};
    perform(&bench, STORE_PUT, "tgb/1");
    perform(&bench, STORE_GET, "tgb/1");
    CU_ASSERT_EQUAL(bench.op.result.kind, BODY_LENGTH);
    CU_ASSERT_EQUAL(bench.op.result.bytes, 1 << 25);
    store_op_release(&bench.op);
    manifest_release(genesis);
    bench_close(&bench);
}

static void operations_take_their_time(void)
{
    const struct {
        enum store_verb verb;
        int64_t latency_ns;
    } rows[] = {{STORE_PUT, PUT_NS},
                {STORE_PUT_IF_ABSENT, PUT_NS},
                {STORE_GET, GET_NS},
                {STORE_LIST, LIST_NS},
                {STORE_DELETE, DELETE_NS}};
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct bench bench;
        bench_open(&bench, plain_options());
        perform(&bench, rows[i].verb, "k");
        CU_ASSERT_EQUAL(bench.applied_ns, rows[i].latency_ns * 9 / 10);
        CU_ASSERT_EQUAL(bench.done_ns, rows[i].latency_ns);
        CU_ASSERT_EQUAL(bench.loop.handled, 2);
        bench_close(&bench);
    }
}

static void sharing_only_lengthens(void)
{
    /* 1,000 bytes at 1 MB/s are 1 ms: within f L of a PUT; 1 MB are 1 s: beyond. */
    struct virtual_store_options options = plain_options();
    options.client_bytes_per_s = 1.0e6;
    struct bench bench;
    bench_open(&bench, options);
    bench.op.body = (struct body){.kind = BODY_LENGTH, .bytes = 1000};
    perform(&bench, STORE_PUT, "small");
    CU_ASSERT_EQUAL(bench.done_ns, PUT_NS);
    bench.op.body.bytes = 1000000;
    int64_t sent_ns = bench.loop.now_ns;
    perform(&bench, STORE_PUT, "large");
    CU_ASSERT_EQUAL(bench.applied_ns - sent_ns, NS_PER_S);
    CU_ASSERT_EQUAL(bench.done_ns - sent_ns, NS_PER_S + PUT_NS / 10);
    sent_ns = bench.loop.now_ns;
    perform(&bench, STORE_GET, "small");
    CU_ASSERT_EQUAL(bench.done_ns - sent_ns, GET_NS);
    sent_ns = bench.loop.now_ns;
    perform(&bench, STORE_GET, "large");
    CU_ASSERT_EQUAL(bench.applied_ns - sent_ns, GET_NS * 9 / 10);
    CU_ASSERT_EQUAL(bench.done_ns - sent_ns, GET_NS * 9 / 10 + NS_PER_S);
    bench_close(&bench);
}

static void clients_share_the_store_link(void)
{
    struct virtual_store_options options = plain_options();
    options.store_bytes_per_s = 1.0e6;
    struct bench bench;
    bench_open(&bench, options);
    struct store_op ops[2];
    struct store *clients[] = {bench.client, bench.other};
    for (size_t i = 0; i < 2; i++) {
        store_op_init(&ops[i]);
        ops[i].verb = STORE_PUT;
        ops[i].done = done;
        ops[i].context = &bench;
        ops[i].body = (struct body){.kind = BODY_LENGTH, .bytes = 1000000};
        snprintf(ops[i].key, sizeof(ops[i].key), "%zu", i);
        store_submit(clients[i], &ops[i]);
    }
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench.done, 2);
    CU_ASSERT_EQUAL(bench.done_ns, 2 * NS_PER_S + PUT_NS / 10);
    bench_close(&bench);
}

static void list_all(struct bench *bench, const char *prefix, const char *after, uint32_t max)
{
    bench->op.list_keys_max = max;
    snprintf(bench->op.after, sizeof(bench->op.after), "%s", after);
    perform(bench, STORE_LIST, prefix);
}

static bool page_is(const struct bench *bench, const char *keys, bool truncated)
{
    char text[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < bench->op.page.count; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s ",
                                 list_page_key(&bench->op.page, i));
    return strcmp(text, keys) == 0 && bench->op.page.truncated == truncated;
}

static void listings_are_sorted_pages(void)
{
    struct bench bench;
    bench_open(&bench, plain_options());
    const char *keys[] = {"b/3", "a/2", "b/1", "top", "b-/9", "a/1", "b/2", "b/10"};
    for (size_t i = 0; i < HARNESS_COUNT(keys); i++)
        put_bytes(&bench, STORE_PUT, keys[i], "x");
    list_all(&bench, "b/", "", 10);
    CU_ASSERT_TRUE(page_is(&bench, "b/1 b/10 b/2 b/3 ", false));
    list_all(&bench, "b/", "b/10", 1);
    CU_ASSERT_TRUE(page_is(&bench, "b/2 ", true));
    list_all(&bench, "b/", "b/2", 1);
    CU_ASSERT_TRUE(page_is(&bench, "b/3 ", false));
    list_all(&bench, "b/1", "", 10);
    CU_ASSERT_TRUE(page_is(&bench, "b/1 b/10 ", false));
    list_all(&bench, "b", "", 10);
    CU_ASSERT_TRUE(page_is(&bench, "b-/9 b/1 b/10 b/2 b/3 ", false));
    list_all(&bench, "", "b/2", 10);
    CU_ASSERT_TRUE(page_is(&bench, "b/3 top ", false));
    perform(&bench, STORE_DELETE, "b/10");
    list_all(&bench, "b/", "", 10);
    CU_ASSERT_TRUE(page_is(&bench, "b/1 b/2 b/3 ", false));
    list_all(&bench, "c/", "", 10);
    CU_ASSERT_TRUE(page_is(&bench, "", false));
    bench_close(&bench);
}

/* Random puts and deletes, each listing compared with a plain array. */
static void listings_survive_churn(void)
{
    struct bench bench;
    bench_open(&bench, plain_options());
    static bool present[1000];
    struct random_stream stream = random_stream_make(5, 5);
    unsigned wrong = 0;
    for (size_t i = 0; i < 20000; i++) {
        size_t number = random_next(&stream) % 1000;
        bool puts = random_next(&stream) % 1000 < (i / 4000 % 2 == 0 ? 800 : 200);
        char key[32];
        snprintf(key, sizeof(key), "n/%03zu", number);
        if (puts)
            put_bytes(&bench, STORE_PUT, key, "x");
        else
            perform(&bench, STORE_DELETE, key);
        present[number] = puts;
        if (i % 100 != 0)
            continue;
        list_all(&bench, "n/", "", STORE_LIST_KEYS_MAX);
        size_t at = 0;
        for (size_t n = 0; n < 1000; n++) {
            if (!present[n])
                continue;
            snprintf(key, sizeof(key), "n/%03zu", n);
            wrong += at < bench.op.page.count && strcmp(list_page_key(&bench.op.page, at), key) == 0
                         ? 0
                         : 1;
            at++;
        }
        wrong += at == bench.op.page.count ? 0 : 1;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    bench_close(&bench);
}

static void requests_over_the_rate_are_refused(void)
{
    struct virtual_store_options options = plain_options();
    options.puts_per_s = 10.0;
    struct bench bench;
    bench_open(&bench, options);
    static struct store_op ops[25];
    for (size_t i = 0; i < 25; i++) {
        store_op_init(&ops[i]);
        ops[i].verb = STORE_PUT;
        ops[i].done = done;
        ops[i].context = &bench;
        snprintf(ops[i].key, sizeof(ops[i].key), "%zu", i);
        store_submit(bench.client, &ops[i]);
    }
    loop_run(&bench.loop.loop, TIME_NEVER);
    unsigned throttled = 0;
    for (size_t i = 0; i < 25; i++)
        throttled += ops[i].outcome == STORE_THROTTLED ? 1 : 0;
    CU_ASSERT_EQUAL(throttled, 15);
    CU_ASSERT_EQUAL(virtual_store_objects(bench.store), 10);
    CU_ASSERT_EQUAL(perform(&bench, STORE_GET, "0"), STORE_OK); /* another rate */
    CU_ASSERT_EQUAL(virtual_store_counters(bench.store).throttled, 15);
    bench_close(&bench);
}

static void closing_drops_what_is_in_flight(void)
{
    struct virtual_store_options options = plain_options();
    options.store_bytes_per_s = 1.0e6;
    options.client_bytes_per_s = 1.0e6;
    struct bench bench;
    bench_open(&bench, options);
    put_bytes(&bench, STORE_PUT, "k", "some text");
    bench.op.verb = STORE_GET;
    struct store_op large;
    store_op_init(&large);
    large.verb = STORE_PUT;
    large.body = (struct body){.kind = BODY_LENGTH, .bytes = 1000000};
    snprintf(large.key, sizeof(large.key), "large");
    store_submit(bench.client, &large);
    store_submit(bench.client, &bench.op);
    loop_run(&bench.loop.loop, bench.loop.now_ns + PUT_NS);
    unsigned before = bench.done;
    store_close(bench.client);
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench.done, before);
    CU_ASSERT_PTR_NULL(virtual_store_peek(bench.store, "large"));
    CU_ASSERT_EQUAL(bench.loop.now_ns, 2 * PUT_NS);
    bench.client = virtual_store_client(bench.store, 3);
    bench_close(&bench);
    store_op_deinit(&large);
}

static void every_store_s_battery_passes(void)
{
    struct bench bench;
    bench_open(&bench, plain_options());
    struct store_battery battery = {.store = bench.client, .loop = &bench.loop.loop};
    store_battery_run(&battery);
    bench_close(&bench);
}

static void reads_can_be_decided_at_their_own_instant(void)
{
    struct bench bench;
    struct virtual_store_options options = plain_options();
    options.read_fraction = 0.25;
    bench_open(&bench, options);
    CU_ASSERT_EQUAL(perform(&bench, STORE_GET, "a/x"), STORE_NOT_FOUND);
    CU_ASSERT_EQUAL(bench.applied_ns, GET_NS / 4);
    CU_ASSERT_EQUAL(bench.done_ns, GET_NS);
    CU_ASSERT_EQUAL(put_bytes(&bench, STORE_PUT, "a/x", "one"), STORE_OK);
    CU_ASSERT_EQUAL(bench.applied_ns, GET_NS + PUT_NS / 10 * 9);
    bench_close(&bench);
}

/* A create that was dropped holds nobody up. */
static void a_create_waits_for_those_in_flight(void)
{
    struct bench bench;
    struct virtual_store_options options = plain_options();
    struct store_op dropped;
    options.create_queue.wait_ns = NS_PER_MS;
    bench_open(&bench, options);
    store_op_init(&dropped);
    dropped.done = done;
    dropped.context = &bench;
    dropped.verb = STORE_PUT_IF_ABSENT;
    snprintf(dropped.key, sizeof(dropped.key), "a/x");
    loop_run(&bench.loop.loop, 0);
    store_submit(bench.other, &dropped);
    bench.op.verb = STORE_PUT_IF_ABSENT;
    snprintf(bench.op.key, sizeof(bench.op.key), "a/y");
    store_submit(bench.client, &bench.op);
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench.done, 2);
    CU_ASSERT_EQUAL(bench.done_ns, PUT_NS + NS_PER_MS);
    store_op_release(&dropped);
    store_submit(bench.other, &dropped);
    store_close(bench.other);
    bench.other = virtual_store_client(bench.store, 3);
    int64_t before_ns = bench.loop.now_ns;
    CU_ASSERT_EQUAL(perform(&bench, STORE_PUT_IF_ABSENT, "a/z"), STORE_OK);
    CU_ASSERT_EQUAL(bench.done_ns, before_ns + PUT_NS);
    store_op_deinit(&dropped);
    bench_close(&bench);
}

const struct harness_test virtual_store_tests[] = {
    HARNESS_TEST(every_store_s_battery_passes),
    HARNESS_TEST(put_overwrites_and_create_does_not),
    HARNESS_TEST(what_is_stored_is_counted_by_component),
    HARNESS_TEST(ranges_are_cut),
    HARNESS_TEST(references_and_lengths_come_back),
    HARNESS_TEST(operations_take_their_time),
    HARNESS_TEST(sharing_only_lengthens),
    HARNESS_TEST(clients_share_the_store_link),
    HARNESS_TEST(listings_are_sorted_pages),
    HARNESS_TEST(listings_survive_churn),
    HARNESS_TEST(requests_over_the_rate_are_refused),
    HARNESS_TEST(closing_drops_what_is_in_flight),
    HARNESS_TEST(reads_can_be_decided_at_their_own_instant),
    HARNESS_TEST(a_create_waits_for_those_in_flight),
    {0},
};
