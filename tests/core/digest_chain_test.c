/* digest_chain_test.c - the chain's definition, byte by byte, and that nothing in it is forgotten.
 */
#include "core/digest_chain.h"

#include <string.h>
#include <xxhash.h>

#include "tests/harness.h"

static void link_is_xxh3_of_24_little_endian_bytes(void)
{
    const uint8_t bytes[24] = {8, 7, 6, 5, 4,    3,    2,    1,    0x0c, 0x0b, 0x0a, 0,
                               0, 0, 0, 0, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11};
    CU_ASSERT_EQUAL(digest_chain_next(UINT64_C(0x0102030405060708), UINT64_C(0x0a0b0c),
                                      UINT64_C(0x1112131415161718)),
                    XXH3_64bits(bytes, sizeof(bytes)));
}

static void slice_is_its_bytes(void)
{
    const uint8_t bytes[] = "a slice";
    CU_ASSERT_EQUAL(digest_chain_slice(bytes, sizeof(bytes)), XXH3_64bits(bytes, sizeof(bytes)));
    CU_ASSERT_NOT_EQUAL(digest_chain_slice(bytes, 3), digest_chain_slice(bytes, 4));
}

static void order_step_and_slice_all_count(void)
{
    uint64_t base = digest_chain_next(0, 1, 2);
    CU_ASSERT_NOT_EQUAL(digest_chain_next(1, 1, 2), base);
    CU_ASSERT_NOT_EQUAL(digest_chain_next(0, 2, 2), base);
    CU_ASSERT_NOT_EQUAL(digest_chain_next(0, 1, 3), base);
    CU_ASSERT_NOT_EQUAL(digest_chain_next(digest_chain_next(0, 1, 2), 2, 3),
                        digest_chain_next(digest_chain_next(0, 2, 3), 1, 2));
}

static void length_stands_for_all_that_names_the_slice(void)
{
    struct tgb_name tgb = {.producer = 1, .epoch = 2, .sequence = 3};
    uint64_t base = digest_chain_length(&tgb, 4, 5);
    CU_ASSERT_EQUAL(digest_chain_length(&tgb, 4, 5), base);
    CU_ASSERT_NOT_EQUAL(digest_chain_length(&tgb, 5, 5), base);
    CU_ASSERT_NOT_EQUAL(digest_chain_length(&tgb, 4, 6), base);
    struct tgb_name others[] = {tgb, tgb, tgb};
    others[0].producer++;
    others[1].epoch++;
    others[2].sequence++;
    for (size_t i = 0; i < HARNESS_COUNT(others); i++)
        CU_ASSERT_NOT_EQUAL(digest_chain_length(&others[i], 4, 5), base);
}

const struct harness_test digest_chain_tests[] = {
    HARNESS_TEST(link_is_xxh3_of_24_little_endian_bytes),
    HARNESS_TEST(slice_is_its_bytes),
    HARNESS_TEST(order_step_and_slice_all_count),
    HARNESS_TEST(length_stands_for_all_that_names_the_slice),
    {0},
};
