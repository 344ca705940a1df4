/* battery_bounds.c - an object that is longer than its reader takes is not given to it. Ours. */
#include <CUnit/CUnit.h>
#include <stdlib.h>
#include <string.h>

#include "tests/battery/battery_cases.h"
#include "tests/battery/battery_request.h"

#define CLAIM_BYTES 8 /* of a head: how long it says the object is, as this machine writes it */

static uint64_t claimed(const uint8_t *head)
{
    uint64_t bytes;
    memcpy(&bytes, head, CLAIM_BYTES);
    return bytes;
}

/* An object of so many bytes whose head says `claim`. */
static void store_object(const struct store_battery *battery, const char *key, uint64_t bytes,
                         uint64_t claim)
{
    struct request request;
    uint8_t *data = calloc(bytes, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    memcpy(data, &claim, CLAIM_BYTES);
    request_init(&request, STORE_PUT, key);
    request_body(&request, data, bytes);
    request_expect(battery, &request, STORE_OK);
    store_op_deinit(&request.op);
    free(data);
}

/* A part of the object within the bound; 0 bytes: it is refused, as damaged. */
static void expect(const struct store_battery *battery, const char *key, uint64_t offset,
                   struct object_bound bound, uint64_t bytes)
{
    struct request request;
    request_init(&request, STORE_GET, key);
    request.op.range_offset = offset;
    request.op.bound = bound;
    request_expect(battery, &request, bytes > 0 ? STORE_OK : STORE_FAILED);
    CU_ASSERT_EQUAL(request.op.result.bytes, bytes);
    CU_ASSERT_EQUAL(request.op.damaged, bytes == 0);
    CU_ASSERT_EQUAL(strstr(request.op.error, key) != NULL, bytes == 0);
    store_op_deinit(&request.op);
}

void battery_longer_than_asked_for(const struct store_battery *battery)
{
    const struct object_bound small = {0};
    store_object(battery, "bound/small", OBJECT_SMALL_BYTES, 0);
    store_object(battery, "bound/large", OBJECT_SMALL_BYTES + 1, 0);
    expect(battery, "bound/small", 0, small, OBJECT_SMALL_BYTES);
    expect(battery, "bound/large", 0, small, 0);
    expect(battery, "bound/large", 1, small, OBJECT_SMALL_BYTES); /* the rest fits */
    for (uint64_t more = 0; more < 2; more++) {
        struct object_bound bound = {.bytes_max = OBJECT_SMALL_BYTES + more};
        expect(battery, "bound/large", 0, bound, more * (OBJECT_SMALL_BYTES + 1));
        bound.bytes_max = OBJECT_SMALL_BYTES - 1 + more;
        expect(battery, "bound/small", 0, bound, more * OBJECT_SMALL_BYTES);
    }
    struct request request; /* who asks for a part has said how much */
    request_init(&request, STORE_GET, "bound/large");
    request.op.range_bytes = OBJECT_SMALL_BYTES + 1;
    request.op.bound.bytes_max = 1;
    request_expect(battery, &request, STORE_OK);
    CU_ASSERT_EQUAL(request.op.result.bytes, OBJECT_SMALL_BYTES + 1);
    store_op_deinit(&request.op);
}

void battery_as_long_as_its_head_says(const struct store_battery *battery)
{
    const uint64_t bytes = 3 * OBJECT_SMALL_BYTES;
    const struct object_bound bound = {.bytes_max = 2 * bytes, .claimed = claimed};
    const struct object_bound tight = {.bytes_max = bytes - 1, .claimed = claimed};
    store_object(battery, "claim/right", bytes, bytes);
    expect(battery, "claim/right", 0, bound, bytes);
    expect(battery, "claim/right", 0, tight, 0);
    const uint64_t wrong[] = {0, 1, bytes - 1, bytes + 1, 2 * bytes + 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        store_object(battery, "claim/wrong", bytes, wrong[i]);
        expect(battery, "claim/wrong", 0, bound, 0);
    }
    store_object(battery, "claim/small", OBJECT_SMALL_BYTES, 1); /* its reader will tell */
    expect(battery, "claim/small", 0, bound, OBJECT_SMALL_BYTES);
    battery_put(battery, STORE_PUT, "claim/short", "shorter than a head", STORE_OK);
    expect(battery, "claim/short", 0, bound, strlen("shorter than a head"));
}
