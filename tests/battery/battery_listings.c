/* battery_listings.c - pages: order, prefixes, where they start, and that many of them bring every
 * key once. Ours; the answers are those of ListObjectsV2. */
#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/battery/battery_cases.h"
#include "tests/battery/battery_request.h"

#define PAGED_KEYS 1203
#define BATCH 64 /* requests in flight */

/* `expected` ends with NULL. */
static void list(const struct store_battery *battery, const char *prefix, const char *after,
                 uint32_t keys_max, const char *const *expected)
{
    battery_list(battery, &(struct battery_listing){
                              .prefix = prefix,
                              .after = after,
                              .keys_max = keys_max,
                              .expected = expected,
                          });
}

/* The page ends before the last key. */
static void list_cut(const struct store_battery *battery, const char *prefix, const char *after,
                     const char *only)
{
    battery_list(battery, &(struct battery_listing){
                              .prefix = prefix,
                              .after = after,
                              .keys_max = 1,
                              .expected = (const char *const[]){only, NULL},
                              .truncated = true,
                          });
}

void battery_empty_listing(const struct store_battery *battery)
{
    const char *const none[] = {NULL};
    list(battery, "nothing/here/", "", STORE_LIST_KEYS_MAX, none);
    list(battery, "nothing", "", 1, none);
    list(battery, "nothing/", "nothing/x", 1, none);
}

/* Bytes below and above '/', beside names that go on. */
void battery_listing_order(const struct store_battery *battery)
{
    enum {
        COUNT = 12
    };
    static const char *const keys[COUNT + 1] = {
        "order/a!",  "order/a-b",  "order/a.b", "order/a/a", "order/a/b/c", "order/a/c",
        "order/a00", "order/a0/z", "order/aa",  "order/b!",  "order/b/!",   "order/c/d/e"};
    static const size_t mixed[COUNT] = {11, 3, 8, 0, 7, 10, 5, 1, 9, 4, 2, 6};
    const char *sorted[COUNT + 1] = {0};
    for (size_t i = 0; i < COUNT; i++) {
        battery_put(battery, STORE_PUT, keys[mixed[i]], keys[mixed[i]], STORE_OK);
        sorted[i] = keys[i];
    }
    sorted[6] = keys[7]; /* '/' is below '0' */
    sorted[7] = keys[6];
    list(battery, "order/", "", 100, sorted);
    list(battery, "order/", "", COUNT, sorted);
    list(battery, "order", "", 100, sorted);
    for (size_t i = 0; i < COUNT; i++)
        list(battery, "order/", sorted[i], 100, sorted + i + 1);
    for (size_t i = 0; i + 1 < COUNT; i++)
        list_cut(battery, "order/", i == 0 ? "" : sorted[i - 1], sorted[i]);
    for (size_t i = 0; i < COUNT; i++)
        battery_get(battery, keys[i], keys[i]);
}

void battery_listing_prefix_and_after(const struct store_battery *battery)
{
    static const char *const keys[] = {"pick/m/001",     "pick/m/002", "pick/m/010",
                                       "pick/m/floor-9", "pick/n/001", NULL};
    for (size_t i = 0; keys[i] != NULL; i++)
        battery_put(battery, STORE_PUT_IF_ABSENT, keys[i], "", STORE_OK);
    const char *const none[] = {NULL};
    const char *const versions[] = {keys[0], keys[1], NULL};
    list(battery, "pick/m/00", "", 100, versions);
    list(battery, "pick/m/002", "", 100, versions + 1);
    list(battery, "pick/m/003", "", 100, none);
    list(battery, "pick/m/002/", "", 100, none);
    list(battery, "pick/m", "pick/m/:", 100, (const char *const[]){keys[3], NULL});
    list(battery, "pick/m/", "pick/m/0015", 100,
         (const char *const[]){keys[1], keys[2], keys[3], NULL});
    list_cut(battery, "pick/m/", "pick/m/002", keys[2]);
    list_cut(battery, "pick/m/", "pick/l/zzz", keys[0]);
    list(battery, "pick/m/", "pick/n/", 100, none);
    list(battery, "pick/", "pick/m/zzz", 100, keys + 4);
    list(battery, "pick/n/", "pick/m/001", 100, keys + 4);
    list(battery, "pick/", "pick/m", 100, keys);
    list(battery, "pick/", "pick/m/", 100, keys);
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
            request_submit(battery, &requests[i], &waiting);
        }
        battery_wait(battery, &waiting);
        for (uint32_t i = 0; i < count; i++) {
            CU_ASSERT_EQUAL(requests[i].op.outcome, STORE_OK);
            store_op_deinit(&requests[i].op);
        }
    }
}

static void list_paged_keys(const struct store_battery *battery, uint32_t keys_max)
{
    struct request request;
    request_init(&request, STORE_LIST, "page/");
    request.op.list_keys_max = keys_max;
    uint32_t seen = 0;
    bool truncated = true;
    while (truncated) {
        request_expect(battery, &request, STORE_OK);
        const struct list_page *page = &request.op.page;
        uint32_t left = PAGED_KEYS - seen;
        CU_ASSERT_EQUAL_FATAL(page->count, left < keys_max ? left : keys_max);
        for (size_t i = 0; i < page->count; i++, seen++) {
            char key[STORE_KEY_MAX];
            snprintf(key, sizeof(key), "page/%05u", seen);
            CU_ASSERT_STRING_EQUAL(list_page_key(page, i), key);
            CU_ASSERT_EQUAL(page->object_bytes[i], seen % 7);
        }
        truncated = page->truncated;
        snprintf(request.op.after, STORE_KEY_MAX, "%s", list_page_key(page, page->count - 1));
        store_op_release(&request.op);
    }
    CU_ASSERT_EQUAL(seen, PAGED_KEYS);
    store_op_deinit(&request.op);
}

void battery_paging(const struct store_battery *battery)
{
    struct request *requests = calloc(BATCH, sizeof(*requests));
    CU_ASSERT_PTR_NOT_NULL_FATAL(requests);
    put_paged_keys(battery, requests);
    free(requests);
    list_paged_keys(battery, STORE_LIST_KEYS_MAX);
    list_paged_keys(battery, 401);
    list_paged_keys(battery, 999);
}
