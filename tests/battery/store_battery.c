/* store_battery.c - the cases on one object at a time, and the table of all. Ours; the answers are
 * those of S3 with If-None-Match: *. */
#include "tests/battery/store_battery.h"

#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "tests/battery/battery_cases.h"
#include "tests/battery/battery_request.h"

#define LARGE_BYTES ((uint64_t)9 << 20)

static void put_get_overwrite(const struct store_battery *battery)
{
    battery_put(battery, STORE_PUT, "overwrite/key", "first", STORE_OK);
    battery_get(battery, "overwrite/key", "first");
    battery_put(battery, STORE_PUT, "overwrite/key", "the second, longer", STORE_OK);
    battery_get(battery, "overwrite/key", "the second, longer");
    battery_put(battery, STORE_PUT, "overwrite/key", "3", STORE_OK);
    battery_get(battery, "overwrite/key", "3");
}

static void create_twice(const struct store_battery *battery)
{
    battery_put(battery, STORE_PUT_IF_ABSENT, "create/key", "first", STORE_OK);
    battery_put(battery, STORE_PUT_IF_ABSENT, "create/key", "second", STORE_EXISTS);
    battery_get(battery, "create/key", "first");
    battery_put(battery, STORE_PUT, "create/put", "by put", STORE_OK);
    battery_put(battery, STORE_PUT_IF_ABSENT, "create/put", "second", STORE_EXISTS);
    battery_get(battery, "create/put", "by put");
    battery_simple(battery, STORE_DELETE, "create/key", STORE_OK);
    battery_put(battery, STORE_PUT_IF_ABSENT, "create/key", "third", STORE_OK);
    battery_get(battery, "create/key", "third");
}

static void ranges(const struct store_battery *battery)
{
    battery_put(battery, STORE_PUT, "range/key", "0123456789", STORE_OK);
    battery_get_range(battery, "range/key", 0, 1, "0", 10);
    battery_get_range(battery, "range/key", 2, 3, "234", 10);
    battery_get_range(battery, "range/key", 4, 0, "456789", 10);
    battery_get_range(battery, "range/key", 2, 7, "2345678", 10);
    battery_get_range(battery, "range/key", 7, 3, "789", 10);
    battery_get_range(battery, "range/key", 7, 100, "789", 10);
    battery_get_range(battery, "range/key", 10, 1, "", 10);
    battery_get_range(battery, "range/key", 10, 0, "", 10);
    battery_get_range(battery, "range/key", 1000, 5, "", 10);
    battery_get_range(battery, "range/key", UINT64_MAX, 0, "", 10);
    battery_put(battery, STORE_PUT, "range/empty", "", STORE_OK);
    battery_get_range(battery, "range/empty", 0, 0, "", 0);
    battery_get_range(battery, "range/empty", 0, 5, "", 0);
    battery_get_range(battery, "range/empty", 3, 5, "", 0);
}

static void not_found(const struct store_battery *battery)
{
    battery_simple(battery, STORE_GET, "absent/key", STORE_NOT_FOUND);
    battery_put(battery, STORE_PUT, "absent/other", "", STORE_OK);
    battery_simple(battery, STORE_GET, "absent/key", STORE_NOT_FOUND);
    battery_simple(battery, STORE_GET, "absent", STORE_NOT_FOUND);
    battery_simple(battery, STORE_GET, "absent/other/below", STORE_NOT_FOUND);
}

static void delete_twice(const struct store_battery *battery)
{
    battery_put(battery, STORE_PUT, "delete/key", "text", STORE_OK);
    battery_simple(battery, STORE_DELETE, "delete/key", STORE_OK);
    battery_simple(battery, STORE_GET, "delete/key", STORE_NOT_FOUND);
    battery_simple(battery, STORE_DELETE, "delete/key", STORE_OK);
    battery_simple(battery, STORE_DELETE, "delete/never/there", STORE_OK);
    battery_list(battery, &(struct battery_listing){.prefix = "delete/",
                                                    .after = "",
                                                    .keys_max = 10,
                                                    .expected = (const char *const[]){NULL}});
}

static void empty_body(const struct store_battery *battery)
{
    battery_put(battery, STORE_PUT_IF_ABSENT, "empty/created", "", STORE_OK);
    battery_put(battery, STORE_PUT_IF_ABSENT, "empty/created", "x", STORE_EXISTS);
    battery_get(battery, "empty/created", "");
    battery_put(battery, STORE_PUT, "empty/put", "", STORE_OK);
    battery_get(battery, "empty/put", "");
    struct request request;
    request_init(&request, STORE_PUT, "empty/null");
    request_body(&request, NULL, 0);
    request_expect(battery, &request, STORE_OK);
    store_op_deinit(&request.op);
    battery_get(battery, "empty/null", "");
}

/* A body is never taken for what a store says. */
static void telling_body(const struct store_battery *battery)
{
    static const char *const bodies[] = {
        "<?xml version=\"1.0\"?><Error><Code>InternalError</Code></Error>",
        "<Error><Code>NoSuchKey</Code></Error>", "HTTP/1.1 404 Not Found\r\n\r\n",
        "5\r\nhello\r\n0\r\n\r\n", "\r\n"};
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        battery_put(battery, STORE_PUT, "telling/key", bodies[i], STORE_OK);
        battery_get(battery, "telling/key", bodies[i]);
    }
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
    request_expect(battery, &request, STORE_OK);
    store_op_deinit(&request.op);

    static const struct {
        uint64_t offset;
        uint64_t asked;
        uint64_t bytes;
    } rows[] = {{0, 0, LARGE_BYTES},
                {LARGE_BYTES / 3, 0, LARGE_BYTES - LARGE_BYTES / 3},
                {((uint64_t)4 << 20) - 5, 10, 10}, /* across what a store keeps as one piece */
                {LARGE_BYTES - 1, 1, 1}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        request_init(&request, STORE_GET, "large/key");
        request.op.range_offset = rows[i].offset;
        request.op.range_bytes = rows[i].asked;
        request.op.bound.bytes_max = LARGE_BYTES;
        request_expect(battery, &request, STORE_OK);
        CU_ASSERT_EQUAL(request.op.object_bytes, LARGE_BYTES);
        CU_ASSERT_EQUAL_FATAL(request.op.result.bytes, rows[i].bytes);
        CU_ASSERT(memcmp(request.op.result.data, data + rows[i].offset, rows[i].bytes) == 0);
        store_op_deinit(&request.op);
    }
    free(data);
}

const struct store_battery_case store_battery_cases[] = {
    {"put_get_overwrite", put_get_overwrite},
    {"create_twice", create_twice},
    {"ranges", ranges},
    {"not_found", not_found},
    {"delete_twice", delete_twice},
    {"empty_body", empty_body},
    {"telling_body", telling_body},
    {"large_body", large_body},
    {"longer_than_asked_for", battery_longer_than_asked_for},
    {"as_long_as_its_head_says", battery_as_long_as_its_head_says},
    {"odd_keys", battery_odd_keys},
    {"longest_key", battery_longest_key},
    {"key_below_a_key", battery_key_below_a_key},
    {"empty_listing", battery_empty_listing},
    {"listing_order", battery_listing_order},
    {"listing_prefix_and_after", battery_listing_prefix_and_after},
    {"paging", battery_paging},
    {"one_winner", battery_one_winner},
    {"one_large_winner", battery_one_large_winner},
    {"mixed_at_once", battery_mixed_at_once},
    {"resubmit_in_done", battery_resubmit_in_done},
    {0},
};

void store_battery_run(const struct store_battery *battery)
{
    for (const struct store_battery_case *entry = store_battery_cases; entry->name != NULL; entry++)
        entry->run(battery);
}
