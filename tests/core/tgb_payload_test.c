/* tgb_payload_test.c - synthetic payloads: the same from every offset, and every difference is
 * seen. */
#include "core/tgb_payload.h"

#include <string.h>
#include <xxhash.h>

#include "core/random.h"
#include "tests/harness.h"

#define BYTES 10000

static void any_part_equals_that_part_of_the_whole(void)
{
    static uint8_t whole[BYTES];
    static uint8_t part[BYTES];
    struct random_stream stream = random_stream_make(1, 1);
    tgb_payload_fill(3, 17, 0, BYTES, whole);
    for (int i = 0; i < 2000; i++) {
        uint64_t offset = random_next(&stream) % BYTES;
        uint64_t count = random_next(&stream) % (BYTES - offset + 1);
        if (i % 2)
            count %= 20;
        memset(part, 0xee, sizeof(part));
        tgb_payload_fill(3, 17, offset, count, part);
        CU_ASSERT_EQUAL(memcmp(part, whole + offset, count), 0);
        CU_ASSERT(count == BYTES || part[count] == 0xee);
    }
}

static void producers_and_sequences_differ(void)
{
    uint8_t a[64];
    uint8_t b[64];
    tgb_payload_fill(3, 17, 0, sizeof(a), a);
    tgb_payload_fill(3, 18, 0, sizeof(b), b);
    CU_ASSERT_NOT_EQUAL(memcmp(a, b, sizeof(a)), 0);
    tgb_payload_fill(17, 3, 0, sizeof(b), b);
    CU_ASSERT_NOT_EQUAL(memcmp(a, b, sizeof(a)), 0);
}

static void check_finds_the_first_difference(void)
{
    static uint8_t bytes[BYTES];
    static const uint64_t at[] = {0, 1, 7, 8, 4095, 4096, 4097, 8191, BYTES - 1};
    tgb_payload_fill(1, 2, 0, BYTES, bytes);
    CU_ASSERT_EQUAL(tgb_payload_check(1, 2, BYTES, bytes), BYTES);
    CU_ASSERT_EQUAL(tgb_payload_check(1, 2, 0, bytes), 0);
    for (size_t i = 0; i < HARNESS_COUNT(at); i++) {
        bytes[at[i]] ^= 0x10;
        CU_ASSERT_EQUAL(tgb_payload_check(1, 2, BYTES, bytes), at[i]);
        bytes[at[i]] ^= 0x10;
    }
}

static void hash_is_that_of_the_bytes(void)
{
    static uint8_t bytes[BYTES];
    static const uint64_t counts[] = {0, 1, 7, 4095, 4096, 4097, BYTES};
    for (size_t i = 0; i < HARNESS_COUNT(counts); i++) {
        tgb_payload_fill(1, 2, 13 * i, counts[i], bytes);
        CU_ASSERT_EQUAL(tgb_payload_hash(1, 2, 13 * i, counts[i]), XXH3_64bits(bytes, counts[i]));
    }
}

const struct harness_test tgb_payload_tests[] = {
    HARNESS_TEST(any_part_equals_that_part_of_the_whole),
    HARNESS_TEST(producers_and_sequences_differ),
    HARNESS_TEST(check_finds_the_first_difference),
    HARNESS_TEST(hash_is_that_of_the_bytes),
    {0},
};
