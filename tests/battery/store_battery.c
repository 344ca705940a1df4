/* store_battery.c - the cases of the battery, and the helpers they share. Ours; the answers are
 * those of S3 with If-None-Match: *. */
#include "tests/battery/store_battery.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RACERS 48
#define PAGED_KEYS 1203
#define BATCH 64 /* requests in flight */
#define LARGE_BYTES ((uint64_t)9 << 20)

struct request {
    struct store_op op;
    uint32_t *waiting;
    bool submitting;
    uint32_t done_count;
};

static void on_done(struct store_op *op, void *context)
{
    struct request *request = context;
    CU_ASSERT_FALSE(request->submitting);
    CU_ASSERT_PTR_EQUAL(op, &request->op);
    request->done_count++;
    (*request->waiting)--;
}

static void request_init(struct request *request, enum store_verb verb, const char *key)
{
    memset(request, 0, sizeof(*request));
    store_op_init(&request->op);
    request->op.verb = verb;
    int written = snprintf(request->op.key, STORE_KEY_MAX, "%s", key);
    CU_ASSERT_FATAL(written >= 0 && written < STORE_KEY_MAX);
}

static void request_body(struct request *request, const void *data, uint64_t bytes)
{
    request->op.body =
        (struct body){.kind = BODY_BYTES, .bytes = bytes, .data = (uint8_t *)(uintptr_t)data};
}

static void submit(const struct store_battery *battery, struct request *request, uint32_t *waiting)
{
    request->op.done = on_done;
    request->op.context = request;
    request->waiting = waiting;
    request->submitting = true;
    (*waiting)++;
    store_submit(battery->store, &request->op);
    CU_ASSERT_EQUAL(request->done_count, 0);
    request->submitting = false;
}

static void run(const struct store_battery *battery, const uint32_t *waiting)
{
    if (battery->run_until_done != NULL)
        battery->run_until_done(battery->context, waiting);
    else
        loop_run(battery->loop, TIME_NEVER);
    CU_ASSERT_EQUAL_FATAL(*waiting, 0);
}

/* Submits, runs, and checks the outcome; the answer stays in the request. */
static void expect(const struct store_battery *battery, struct request *request,
                   enum store_outcome outcome)
{
    uint32_t waiting = 0;
    submit(battery, request, &waiting);
    run(battery, &waiting);
    CU_ASSERT_EQUAL(request->done_count, 1);
    if (request->op.outcome != outcome)
        fprintf(stderr, "\n%s %s: %s, not %s: %s\n", store_verb_name(request->op.verb),
                request->op.key, store_outcome_name(request->op.outcome),
                store_outcome_name(outcome), request->op.error);
    CU_ASSERT_EQUAL(request->op.outcome, outcome);
}

static void put(const struct store_battery *battery, enum store_verb verb, const char *key,
                const char *text, enum store_outcome outcome)
{
    struct request request;
    request_init(&request, verb, key);
    request_body(&request, text, strlen(text));
    expect(battery, &request, outcome);
    store_op_deinit(&request.op);
}

static void get_range(const struct store_battery *battery, const char *key, uint64_t offset,
                      uint64_t bytes, const char *text, uint64_t object_bytes)
{
    struct request request;
    request_init(&request, STORE_GET, key);
    request.op.range_offset = offset;
    request.op.range_bytes = bytes;
    expect(battery, &request, STORE_OK);
    CU_ASSERT_EQUAL(request.op.result.kind, BODY_BYTES);
    CU_ASSERT_EQUAL_FATAL(request.op.result.bytes, strlen(text));
    CU_ASSERT(strlen(text) == 0 || memcmp(request.op.result.data, text, strlen(text)) == 0);
    CU_ASSERT_EQUAL(request.op.object_bytes, object_bytes);
    store_op_deinit(&request.op);
}

static void get(const struct store_battery *battery, const char *key, const char *text)
{
    get_range(battery, key, 0, 0, text, strlen(text));
}

static void simple(const struct store_battery *battery, enum store_verb verb, const char *key,
                   enum store_outcome outcome)
{
    struct request request;
    request_init(&request, verb, key);
    expect(battery, &request, outcome);
    CU_ASSERT_EQUAL(request.op.result.bytes, 0);
    store_op_deinit(&request.op);
}

/* `expected` ends with NULL. */
static void list(const struct store_battery *battery, const char *prefix, const char *after,
                 uint32_t keys_max, const char *const *expected, bool truncated)
{
    struct request request;
    request_init(&request, STORE_LIST, prefix);
    memcpy(request.op.after, after, strlen(after) + 1);
    request.op.list_keys_max = keys_max;
    expect(battery, &request, STORE_OK);
    const struct list_page *page = &request.op.page;
    size_t count = 0;
    for (; expected[count] != NULL; count++) {
        CU_ASSERT_FATAL(count < page->count);
        CU_ASSERT_STRING_EQUAL(list_page_key(page, count), expected[count]);
    }
    CU_ASSERT_EQUAL(page->count, count);
    CU_ASSERT_EQUAL(page->truncated, truncated);
    store_op_deinit(&request.op);
}

/* ---- cases ---- */

static void put_get_overwrite(const struct store_battery *battery)
{
    put(battery, STORE_PUT, "overwrite/key", "first", STORE_OK);
    get(battery, "overwrite/key", "first");
    put(battery, STORE_PUT, "overwrite/key", "the second, longer", STORE_OK);
    get(battery, "overwrite/key", "the second, longer");
    put(battery, STORE_PUT, "overwrite/key", "3", STORE_OK);
    get(battery, "overwrite/key", "3");
}

static void create_twice(const struct store_battery *battery)
{
    put(battery, STORE_PUT_IF_ABSENT, "create/key", "first", STORE_OK);
    put(battery, STORE_PUT_IF_ABSENT, "create/key", "second", STORE_EXISTS);
    get(battery, "create/key", "first");
    put(battery, STORE_PUT, "create/put", "by put", STORE_OK);
    put(battery, STORE_PUT_IF_ABSENT, "create/put", "second", STORE_EXISTS);
    get(battery, "create/put", "by put");
    simple(battery, STORE_DELETE, "create/key", STORE_OK);
    put(battery, STORE_PUT_IF_ABSENT, "create/key", "third", STORE_OK);
    get(battery, "create/key", "third");
}

static void ranges(const struct store_battery *battery)
{
    put(battery, STORE_PUT, "range/key", "0123456789", STORE_OK);
    get_range(battery, "range/key", 0, 1, "0", 10);
    get_range(battery, "range/key", 2, 3, "234", 10);
    get_range(battery, "range/key", 4, 0, "456789", 10);
    get_range(battery, "range/key", 2, 7, "2345678", 10);
    get_range(battery, "range/key", 7, 3, "789", 10);
    get_range(battery, "range/key", 7, 100, "789", 10);
    get_range(battery, "range/key", 10, 1, "", 10);
    get_range(battery, "range/key", 10, 0, "", 10);
    get_range(battery, "range/key", 1000, 5, "", 10);
    get_range(battery, "range/key", UINT64_MAX, 0, "", 10);
    put(battery, STORE_PUT, "range/empty", "", STORE_OK);
    get_range(battery, "range/empty", 0, 0, "", 0);
    get_range(battery, "range/empty", 0, 5, "", 0);
    get_range(battery, "range/empty", 3, 5, "", 0);
}

static void not_found(const struct store_battery *battery)
{
    simple(battery, STORE_GET, "absent/key", STORE_NOT_FOUND);
    put(battery, STORE_PUT, "absent/other", "", STORE_OK);
    simple(battery, STORE_GET, "absent/key", STORE_NOT_FOUND);
    simple(battery, STORE_GET, "absent", STORE_NOT_FOUND);
    simple(battery, STORE_GET, "absent/other/below", STORE_NOT_FOUND);
}

static void delete_twice(const struct store_battery *battery)
{
    put(battery, STORE_PUT, "delete/key", "text", STORE_OK);
    simple(battery, STORE_DELETE, "delete/key", STORE_OK);
    simple(battery, STORE_GET, "delete/key", STORE_NOT_FOUND);
    simple(battery, STORE_DELETE, "delete/key", STORE_OK);
    simple(battery, STORE_DELETE, "delete/never/there", STORE_OK);
    list(battery, "delete/", "", 10, (const char *const[]){NULL}, false);
}

static void empty_listing(const struct store_battery *battery)
{
    const char *const none[] = {NULL};
    list(battery, "nothing/here/", "", STORE_LIST_KEYS_MAX, none, false);
    list(battery, "nothing", "", 1, none, false);
    list(battery, "nothing/", "nothing/x", 1, none, false);
}

static void listing_order(const struct store_battery *battery)
{
    static const char *const keys[] = {
        "order/a",  "order/a!",   "order/a-b", "order/a.b", "order/a/b", "order/a/b/c", "order/a/c",
        "order/a0", "order/a0/z", "order/aa",  "order/b",   "order/b/",  "order/c/d/e", NULL};
    /* All but the one that ends in '/', in another order. */
    static const size_t mixed[] = {12, 3, 8, 0, 7, 10, 5, 1, 9, 4, 2, 6};
    for (size_t i = 0; i < sizeof(mixed) / sizeof(mixed[0]); i++)
        put(battery, STORE_PUT, keys[mixed[i]], keys[mixed[i]], STORE_OK);
    const char *const all[] = {keys[0], keys[1], keys[2], keys[3],  keys[4],  keys[5], keys[6],
                               keys[7], keys[8], keys[9], keys[10], keys[12], NULL};
    list(battery, "order/", "", 100, all, false);
    list(battery, "order/", "", 12, all, false);
    list(battery, "order", "", 100, all, false);
    for (size_t i = 0; i < 12; i++)
        list(battery, "order/", all[i], 100, all + i + 1, false);
    for (size_t i = 0; i + 1 < 12; i++)
        list(battery, "order/", i == 0 ? "" : all[i - 1], 1, (const char *const[]){all[i], NULL},
             true);
    for (size_t i = 0; i < 12; i++)
        get(battery, all[i], all[i]);
}

static void listing_prefix_and_after(const struct store_battery *battery)
{
    static const char *const keys[] = {"pick/m/001",     "pick/m/002", "pick/m/010",
                                       "pick/m/floor-9", "pick/n/001", NULL};
    for (size_t i = 0; keys[i] != NULL; i++)
        put(battery, STORE_PUT_IF_ABSENT, keys[i], "", STORE_OK);
    const char *const none[] = {NULL};
    const char *const versions[] = {keys[0], keys[1], NULL};
    list(battery, "pick/m/00", "", 100, versions, false);
    list(battery, "pick/m/002", "", 100, versions + 1, false);
    list(battery, "pick/m/003", "", 100, none, false);
    list(battery, "pick/m/002/", "", 100, none, false);
    list(battery, "pick/m", "pick/m/:", 100, (const char *const[]){keys[3], NULL}, false);
    list(battery, "pick/m/", "pick/m/0015", 100,
         (const char *const[]){keys[1], keys[2], keys[3], NULL}, false);
    list(battery, "pick/m/", "pick/m/002", 1, (const char *const[]){keys[2], NULL}, true);
    list(battery, "pick/m/", "pick/l/zzz", 1, (const char *const[]){keys[0], NULL}, true);
    list(battery, "pick/m/", "pick/n/", 100, none, false);
    list(battery, "pick/", "pick/m/zzz", 100, keys + 4, false);
    list(battery, "pick/n/", "pick/m/001", 100, keys + 4, false);
    list(battery, "pick/", "pick/m", 100, keys, false);
    list(battery, "pick/", "pick/m/", 100, keys, false);
}

static void put_paged_keys(const struct store_battery *battery, struct request *requests)
{
    for (uint32_t from = 0; from < PAGED_KEYS; from += BATCH) {
        uint32_t count = PAGED_KEYS - from < BATCH ? PAGED_KEYS - from : BATCH;
        uint32_t waiting = 0;
        for (uint32_t i = 0; i < count; i++) {
            char key[STORE_KEY_MAX];
            /* Scattered: 1203 and 700 have no common divisor. */
            snprintf(key, sizeof(key), "page/%05u", (from + i) * 700 % PAGED_KEYS);
            request_init(&requests[i], STORE_PUT, key);
            request_body(&requests[i], requests[i].op.key, (from + i) * 700 % PAGED_KEYS % 7);
            submit(battery, &requests[i], &waiting);
        }
        run(battery, &waiting);
        for (uint32_t i = 0; i < count; i++) {
            CU_ASSERT_EQUAL(requests[i].op.outcome, STORE_OK);
            store_op_deinit(&requests[i].op);
        }
    }
}

static void paging(const struct store_battery *battery)
{
    struct request *requests = calloc(BATCH, sizeof(*requests));
    CU_ASSERT_PTR_NOT_NULL_FATAL(requests);
    put_paged_keys(battery, requests);
    static const uint32_t sizes[] = {STORE_LIST_KEYS_MAX, 401, 999};
    for (size_t s = 0; s < 3; s++) {
        struct request *request = &requests[0];
        request_init(request, STORE_LIST, "page/");
        request->op.list_keys_max = sizes[s];
        uint32_t seen = 0;
        bool truncated = true;
        while (truncated) {
            request->done_count = 0;
            expect(battery, request, STORE_OK);
            const struct list_page *page = &request->op.page;
            uint32_t left = PAGED_KEYS - seen;
            CU_ASSERT_EQUAL_FATAL(page->count, left < sizes[s] ? left : sizes[s]);
            for (size_t i = 0; i < page->count; i++, seen++) {
                char key[STORE_KEY_MAX];
                snprintf(key, sizeof(key), "page/%05u", seen);
                CU_ASSERT_STRING_EQUAL(list_page_key(page, i), key);
                CU_ASSERT_EQUAL(page->object_bytes[i], seen % 7);
            }
            truncated = page->truncated;
            snprintf(request->op.after, STORE_KEY_MAX, "%s", list_page_key(page, page->count - 1));
            store_op_release(&request->op);
        }
        CU_ASSERT_EQUAL(seen, PAGED_KEYS);
        store_op_deinit(&request->op);
    }
    free(requests);
}

static void one_winner(const struct store_battery *battery)
{
    struct request *requests = calloc(RACERS, sizeof(*requests));
    CU_ASSERT_PTR_NOT_NULL_FATAL(requests);
    static char bodies[RACERS][8];
    for (int round = 0; round < 5; round++) {
        char key[STORE_KEY_MAX];
        snprintf(key, sizeof(key), "race/%d", round);
        uint32_t waiting = 0;
        for (int i = 0; i < RACERS; i++) {
            snprintf(bodies[i], sizeof(bodies[i]), "%d", i);
            request_init(&requests[i], STORE_PUT_IF_ABSENT, key);
            request_body(&requests[i], bodies[i], strlen(bodies[i]));
            submit(battery, &requests[i], &waiting);
        }
        run(battery, &waiting);
        int winner = -1;
        for (int i = 0; i < RACERS; i++) {
            enum store_outcome outcome = requests[i].op.outcome;
            CU_ASSERT(outcome == STORE_OK || outcome == STORE_EXISTS || outcome == STORE_BUSY);
            CU_ASSERT(outcome != STORE_OK || winner == -1);
            if (outcome == STORE_OK)
                winner = i;
            store_op_deinit(&requests[i].op);
        }
        CU_ASSERT_FATAL(winner >= 0);
        get(battery, key, bodies[winner]);
    }
    free(requests);
}

static void empty_body(const struct store_battery *battery)
{
    put(battery, STORE_PUT_IF_ABSENT, "empty/created", "", STORE_OK);
    put(battery, STORE_PUT_IF_ABSENT, "empty/created", "x", STORE_EXISTS);
    get(battery, "empty/created", "");
    put(battery, STORE_PUT, "empty/put", "", STORE_OK);
    get(battery, "empty/put", "");
    struct request request;
    request_init(&request, STORE_PUT, "empty/null");
    request_body(&request, NULL, 0);
    expect(battery, &request, STORE_OK);
    store_op_deinit(&request.op);
    get(battery, "empty/null", "");
}

static void large_body(const struct store_battery *battery)
{
    uint8_t *data = malloc(LARGE_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    for (uint64_t i = 0; i < LARGE_BYTES; i++)
        data[i] = (uint8_t)(i * 31 + (i >> 12));
    struct request request;
    request_init(&request, STORE_PUT_IF_ABSENT, "large/key");
    request_body(&request, data, LARGE_BYTES);
    expect(battery, &request, STORE_OK);
    store_op_deinit(&request.op);

    static const uint64_t offsets[] = {0, LARGE_BYTES / 3};
    for (size_t i = 0; i < 2; i++) {
        request_init(&request, STORE_GET, "large/key");
        request.op.range_offset = offsets[i];
        expect(battery, &request, STORE_OK);
        CU_ASSERT_EQUAL(request.op.object_bytes, LARGE_BYTES);
        CU_ASSERT_EQUAL_FATAL(request.op.result.bytes, LARGE_BYTES - offsets[i]);
        CU_ASSERT(memcmp(request.op.result.data, data + offsets[i], LARGE_BYTES - offsets[i]) == 0);
        store_op_deinit(&request.op);
    }
    free(data);
}

/* An op is its user's again inside `done`: it can be submitted at once. */
struct chain {
    const struct store_battery *battery;
    struct request request;
    uint32_t waiting;
    uint32_t left;
};

static void chain_step(struct store_op *op, void *context)
{
    struct chain *chain = context;
    CU_ASSERT_FALSE(chain->request.submitting);
    CU_ASSERT_EQUAL(op->outcome, STORE_OK);
    store_op_release(op);
    if (--chain->left == 0) {
        chain->waiting = 0;
        return;
    }
    chain->request.submitting = true;
    store_submit(chain->battery->store, op);
    chain->request.submitting = false;
}

static void resubmit_in_done(const struct store_battery *battery)
{
    struct chain chain = {.battery = battery, .waiting = 1, .left = 20};
    request_init(&chain.request, STORE_PUT, "chain/key");
    request_body(&chain.request, "x", 1);
    chain.request.op.done = chain_step;
    chain.request.op.context = &chain;
    chain.request.submitting = true;
    store_submit(battery->store, &chain.request.op);
    chain.request.submitting = false;
    run(battery, &chain.waiting);
    CU_ASSERT_EQUAL(chain.left, 0);
    store_op_deinit(&chain.request.op);
    get(battery, "chain/key", "x");
}

const struct store_battery_case store_battery_cases[] = {
    {"put_get_overwrite", put_get_overwrite},
    {"create_twice", create_twice},
    {"ranges", ranges},
    {"not_found", not_found},
    {"delete_twice", delete_twice},
    {"empty_listing", empty_listing},
    {"listing_order", listing_order},
    {"listing_prefix_and_after", listing_prefix_and_after},
    {"paging", paging},
    {"one_winner", one_winner},
    {"empty_body", empty_body},
    {"large_body", large_body},
    {"resubmit_in_done", resubmit_in_done},
    {0},
};

void store_battery_run(const struct store_battery *battery)
{
    for (const struct store_battery_case *entry = store_battery_cases; entry->name != NULL; entry++)
        entry->run(battery);
}
