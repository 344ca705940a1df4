/* battery_request.c - one operation of a case, and what came of it. Ours. */
#include "tests/battery/battery_request.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>

void request_init(struct request *request, enum store_verb verb, const char *key)
{
    memset(request, 0, sizeof(*request));
    store_op_init(&request->op);
    request->op.verb = verb;
    int written = snprintf(request->op.key, STORE_KEY_MAX, "%s", key);
    CU_ASSERT_FATAL(written >= 0 && written < STORE_KEY_MAX);
}

void request_body(struct request *request, const void *data, uint64_t bytes)
{
    request->op.body =
        (struct body){.kind = BODY_BYTES, .bytes = bytes, .data = (uint8_t *)(uintptr_t)data};
}

static void on_done(struct store_op *op, void *context)
{
    struct request *request = context;
    CU_ASSERT_FALSE(request->submitting);
    CU_ASSERT_PTR_EQUAL(op, &request->op);
    request->done_count++;
    (*request->waiting)--;
}

void request_submit(const struct store_battery *battery, struct request *request, uint32_t *waiting)
{
    request->op.done = on_done;
    request->op.context = request;
    request->waiting = waiting;
    request->submitting = true;
    (*waiting)++;
    uint32_t done_before = request->done_count;
    store_submit(battery->store, &request->op);
    CU_ASSERT_EQUAL(request->done_count, done_before);
    request->submitting = false;
}

void battery_wait(const struct store_battery *battery, const uint32_t *waiting)
{
    if (battery->run_until_done != NULL)
        battery->run_until_done(battery->context, waiting);
    else
        loop_run(battery->loop, TIME_NEVER);
    CU_ASSERT_EQUAL_FATAL(*waiting, 0);
}

void request_expect(const struct store_battery *battery, struct request *request,
                    enum store_outcome outcome)
{
    uint32_t waiting = 0;
    uint32_t done_before = request->done_count;
    request_submit(battery, request, &waiting);
    battery_wait(battery, &waiting);
    CU_ASSERT_EQUAL(request->done_count, done_before + 1);
    if (request->op.outcome != outcome)
        fprintf(stderr, "\n%s %s: %s, not %s: %s\n", store_verb_name(request->op.verb),
                request->op.key, store_outcome_name(request->op.outcome),
                store_outcome_name(outcome), request->op.error);
    CU_ASSERT_EQUAL(request->op.outcome, outcome);
}

void battery_put(const struct store_battery *battery, enum store_verb verb, const char *key,
                 const char *text, enum store_outcome outcome)
{
    struct request request;
    request_init(&request, verb, key);
    request_body(&request, text, strlen(text));
    request_expect(battery, &request, outcome);
    store_op_deinit(&request.op);
}

void battery_get_range(const struct store_battery *battery, const char *key, uint64_t offset,
                       uint64_t bytes, const char *text, uint64_t object_bytes)
{
    struct request request;
    request_init(&request, STORE_GET, key);
    request.op.range_offset = offset;
    request.op.range_bytes = bytes;
    request_expect(battery, &request, STORE_OK);
    CU_ASSERT_EQUAL(request.op.result.kind, BODY_BYTES);
    CU_ASSERT_EQUAL_FATAL(request.op.result.bytes, strlen(text));
    CU_ASSERT(strlen(text) == 0 || memcmp(request.op.result.data, text, strlen(text)) == 0);
    CU_ASSERT_EQUAL(request.op.object_bytes, object_bytes);
    store_op_deinit(&request.op);
}

void battery_get(const struct store_battery *battery, const char *key, const char *text)
{
    battery_get_range(battery, key, 0, 0, text, strlen(text));
}

void battery_simple(const struct store_battery *battery, enum store_verb verb, const char *key,
                    enum store_outcome outcome)
{
    struct request request;
    request_init(&request, verb, key);
    request_expect(battery, &request, outcome);
    CU_ASSERT_EQUAL(request.op.result.bytes, 0);
    store_op_deinit(&request.op);
}

static void say_listing(const struct battery_listing *listing, const struct list_page *page)
{
    fprintf(stderr, "\nlist %s after '%s' found %zu:", listing->prefix, listing->after,
            page->count);
    for (size_t i = 0; i < page->count && i < 20; i++)
        fprintf(stderr, " %s", list_page_key(page, i));
    fprintf(stderr, "%s\n", page->truncated ? " ..." : "");
}

void battery_list(const struct store_battery *battery, const struct battery_listing *listing)
{
    struct request request;
    request_init(&request, STORE_LIST, listing->prefix);
    snprintf(request.op.after, STORE_KEY_MAX, "%s", listing->after);
    request.op.list_keys_max = listing->keys_max;
    request_expect(battery, &request, STORE_OK);
    const struct list_page *page = &request.op.page;
    size_t count = 0;
    bool same = page->truncated == listing->truncated;
    for (; same && listing->expected[count] != NULL; count++)
        same = count < page->count &&
               strcmp(list_page_key(page, count), listing->expected[count]) == 0;
    same = same && page->count == count;
    if (!same)
        say_listing(listing, page);
    CU_ASSERT(same);
    store_op_deinit(&request.op);
}
