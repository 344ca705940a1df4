/* name_test.c - names of objects: exact strings, round trips, hostile strings, order. */
#include "core/name.h"

#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "tests/harness.h"

static void names_are_exactly_these(void)
{
    char key[STORE_KEY_MAX];
    name_version(key, 42);
    CU_ASSERT_STRING_EQUAL(key, "manifest/00000000000000000042");
    name_floor(key, (struct floor){.version = 1, .step = 0});
    CU_ASSERT_STRING_EQUAL(key, "manifest/floor-18446744073709551614-18446744073709551615");
    struct tgb_name name = {
        .bucket = 217, .sequence = 9, .end_offset = 1000, .producer = 3, .epoch = 2};
    name.incarnation.bytes[0] = 0xab;
    name.incarnation.bytes[15] = 0x01;
    name_tgb(key, &name);
    CU_ASSERT_STRING_EQUAL(key, "tgb/000000000217/3-2-ab000000000000000000000000000001-9-1000");
}

static void consumers_names_are_exactly_these(void)
{
    char key[STORE_KEY_MAX];
    name_intent(key, 7);
    CU_ASSERT_STRING_EQUAL(key, "intent/18446744073709551608");
    name_consumer(key, UINT32_MAX);
    CU_ASSERT_STRING_EQUAL(key, "watermark/4294967295/");
    struct watermark_name name = {.consumer = 12, .number = 3, .step = 7};
    name_watermark(key, &name);
    CU_ASSERT_STRING_EQUAL(key, "watermark/0000000012/00000000000000000003");
    name.part = WATERMARK_NUMBER_VALUE;
    name_watermark(key, &name);
    CU_ASSERT_STRING_EQUAL(key, "watermark/0000000012/00000000000000000003-18446744073709551608");
    name.part = WATERMARK_NUMBER_RETIRED;
    name_watermark(key, &name);
    CU_ASSERT_STRING_EQUAL(key, "watermark/0000000012/00000000000000000003-retired");
}

/* Small numbers, large ones and all between, up to the bound. */
static uint64_t any(struct random_stream *stream)
{
    uint64_t value = random_next(stream) & NAME_COUNT_MAX;
    return value >> (random_next(stream) % 64);
}

static void names_round_trip(void)
{
    struct random_stream stream = random_stream_make(1, 1);
    char key[STORE_KEY_MAX];
    for (int i = 0; i < 20000; i++) {
        uint64_t version = any(&stream);
        uint64_t parsed = 0;
        name_version(key, version);
        CU_ASSERT(name_parse_version(key, &parsed) && parsed == version);
        struct floor floor = {.version = any(&stream), .step = any(&stream)};
        struct floor parsed_floor;
        CU_ASSERT_FALSE(name_parse_floor(key, &parsed_floor));
        name_floor(key, floor);
        CU_ASSERT(name_parse_floor(key, &parsed_floor) && parsed_floor.version == floor.version &&
                  parsed_floor.step == floor.step);
        CU_ASSERT_FALSE(name_parse_version(key, &parsed));
        struct tgb_name name = {.bucket = any(&stream) % (NAME_COUNT_MAX / TGB_BUCKET_NS + 1),
                                .sequence = any(&stream),
                                .end_offset = any(&stream),
                                .incarnation = random_incarnation(&stream),
                                .producer = (uint32_t)any(&stream),
                                .epoch = (uint32_t)any(&stream)};
        struct tgb_name parsed_name;
        memset(&parsed_name, 0, sizeof(parsed_name));
        name_tgb(key, &name);
        CU_ASSERT_TRUE(name_parse_tgb(key, &parsed_name));
        CU_ASSERT(memcmp(&name, &parsed_name, sizeof(name)) == 0);
    }
}

static void consumers_names_round_trip(void)
{
    struct random_stream stream = random_stream_make(1, 2);
    char key[STORE_KEY_MAX];
    char prefix[STORE_KEY_MAX];
    for (int i = 0; i < 20000; i++) {
        uint64_t step = any(&stream);
        uint64_t parsed = 0;
        name_intent(key, step);
        CU_ASSERT(name_parse_intent(key, &parsed) && parsed == step);
        struct watermark_name name = {.consumer = (uint32_t)any(&stream),
                                      .part = (enum watermark_part)(random_next(&stream) % 3),
                                      .number = any(&stream)};
        if (name.number == 0)
            name.number = NAME_COUNT_MAX;
        if (name.part == WATERMARK_NUMBER_VALUE)
            name.step = step;
        struct watermark_name parsed_name = {0};
        CU_ASSERT_FALSE(name_parse_watermark(key, &parsed_name));
        name_watermark(key, &name);
        CU_ASSERT_TRUE(name_parse_watermark(key, &parsed_name));
        CU_ASSERT(name.consumer == parsed_name.consumer && name.part == parsed_name.part &&
                  name.number == parsed_name.number && name.step == parsed_name.step);
        CU_ASSERT_FALSE(name_parse_intent(key, &parsed));
        name_consumer(prefix, name.consumer);
        CU_ASSERT(strncmp(key, prefix, strlen(prefix)) == 0);
    }
}

static const char *const hostile[] = {
    "",
    "manifest/",
    "manifest/1",
    "manifest/0000000000000000004",
    "manifest/000000000000000000042",
    "manifest/0000000000000000004x",
    "manifest/ 0000000000000000042",
    "manifest/-0000000000000000042",
    "manifest/99999999999999999999",
    "manifest/18446744073709551616",
    "manifest/09223372036854775808",
    "Manifest/00000000000000000042",
    "manifest/00000000000000000042/",
    "manifest/floor-",
    "manifest/floor-18446744073709551614",
    "manifest/floor-18446744073709551614-",
    "manifest/floor-18446744073709551616-18446744073709551615",
    "manifest/floor-18446744073709551614-18446744073709551615-",
    "manifest/floor-1-1",
    "manifest/floor-09223372036854775807-18446744073709551614",
    "manifest/floor-18446744073709551614-09223372036854775807",
    "intent/09223372036854775807",
    "watermark/0000000012/00000000000000000000",
    "watermark/0000000012/09223372036854775808",
    "watermark/0000000012/09223372036854775808-retired",
    "watermark/0000000012/00000000000000000003-09223372036854775807",
    "tgb/001152921505/3-2-ab000000000000000000000000000001-9-1000",
    "tgb/",
    "tgb/000000000217",
    "tgb/000000000217/3-2-ab000000000000000000000000000001-9",
    "tgb/000000000217/3-2-AB000000000000000000000000000001-9-1000",
    "tgb/000000000217/3-2-ab00000000000000000000000000001-9-1000",
    "tgb/000000000217/3-2-ab0000000000000000000000000000011-9-1000",
    "tgb/000000000217/03-2-ab000000000000000000000000000001-9-1000",
    "tgb/000000000217/4294967296-2-ab000000000000000000000000000001-9-1000",
    "tgb/000000000217/3-2-ab000000000000000000000000000001-9-18446744073709551616",
    "tgb/000000000217/3-2-ab000000000000000000000000000001-9-1000 ",
    "tgb/00000000217/3-2-ab000000000000000000000000000001-9-1000",
    "tgb/000000000217/--ab000000000000000000000000000001-9-1000",
    "intent/",
    "intent/1",
    "intent/018446744073709551608",
    "intent/18446744073709551616",
    "intent/18446744073709551608-",
    "watermark/0000000012/",
    "watermark/12/00000000000000000003",
    "watermark/4294967296/00000000000000000003",
    "watermark/0000000012/3",
    "watermark/0000000012/00000000000000000003/",
    "watermark/0000000012/00000000000000000003-",
    "watermark/0000000012/00000000000000000003-7",
    "watermark/0000000012/00000000000000000003-18446744073709551616",
    "watermark/0000000012/00000000000000000003-18446744073709551608x",
    "watermark/0000000012/00000000000000000003-Retired",
    "watermark/0000000012/00000000000000000003-retired-",
    "watermark/0000000012-00000000000000000003",
};

static void strings_that_no_formatter_writes_are_refused(void)
{
    for (size_t i = 0; i < HARNESS_COUNT(hostile); i++) {
        uint64_t version;
        struct floor floor;
        struct tgb_name name;
        CU_ASSERT_FALSE(name_parse_version(hostile[i], &version));
        CU_ASSERT_FALSE(name_parse_floor(hostile[i], &floor));
        uint64_t step;
        struct watermark_name watermark;
        CU_ASSERT_FALSE(name_parse_tgb(hostile[i], &name));
        CU_ASSERT_FALSE(name_parse_intent(hostile[i], &step));
        CU_ASSERT_FALSE(name_parse_watermark(hostile[i], &watermark));
    }
}

/* Cut anywhere, or with any byte changed: refused, or what the formatter writes for what is read.
 */
static void damaged_names_are_refused_or_read_as_written(void)
{
    struct tgb_name name = {
        .bucket = 217, .sequence = 987, .end_offset = 12345, .producer = 31, .epoch = 2};
    char key[STORE_KEY_MAX];
    char again[STORE_KEY_MAX];
    name_tgb(key, &name);
    size_t bytes = strlen(key);
    for (size_t i = 0; i < bytes; i++) {
        char old = key[i];
        for (int c = 0; c < 256; c++) {
            struct tgb_name parsed;
            key[i] = (char)c;
            if (!name_parse_tgb(key, &parsed))
                continue;
            name_tgb(again, &parsed);
            CU_ASSERT_STRING_EQUAL(again, key);
        }
        key[i] = old;
    }
}

static void order_is_versions_then_the_highest_floor(void)
{
    static const uint64_t numbers[] = {0,         1, 9, 10, 99, 1000, 1ULL << 40, UINT64_MAX - 1,
                                       UINT64_MAX};
    char lower[STORE_KEY_MAX];
    char higher[STORE_KEY_MAX];
    for (size_t i = 0; i + 1 < HARNESS_COUNT(numbers); i++) {
        name_version(lower, numbers[i]);
        name_version(higher, numbers[i + 1]);
        CU_ASSERT(strcmp(lower, higher) < 0);
        CU_ASSERT(strcmp(higher, NAME_FLOOR_PREFIX) < 0);
        struct floor low = {.version = numbers[i], .step = UINT64_MAX};
        struct floor high = {.version = numbers[i + 1], .step = 0};
        name_floor(lower, low);
        name_floor(higher, high);
        CU_ASSERT(strcmp(higher, lower) < 0);
        CU_ASSERT(strcmp(NAME_FLOOR_PREFIX, higher) < 0);
        name_floor(lower, (struct floor){.version = 5, .step = numbers[i]});
        name_floor(higher, (struct floor){.version = 5, .step = numbers[i + 1]});
        CU_ASSERT(strcmp(higher, lower) < 0);
    }
}

/* What a scan of watermarks and the one-key LIST of intents rely on. */
static void order_of_a_consumer_is_number_by_number(void)
{
    static const struct watermark_name rising[] = {
        {.consumer = 2, .part = WATERMARK_NUMBER, .number = 9},
        {.consumer = 2, .part = WATERMARK_NUMBER_VALUE, .number = 9, .step = UINT64_MAX},
        {.consumer = 2, .part = WATERMARK_NUMBER_VALUE, .number = 9, .step = 10},
        {.consumer = 2, .part = WATERMARK_NUMBER_VALUE, .number = 9, .step = 9},
        {.consumer = 2, .part = WATERMARK_NUMBER_VALUE, .number = 9, .step = 0},
        {.consumer = 2, .part = WATERMARK_NUMBER_RETIRED, .number = 9},
        {.consumer = 2, .part = WATERMARK_NUMBER, .number = 10},
        {.consumer = 2, .part = WATERMARK_NUMBER_VALUE, .number = UINT64_MAX, .step = 3},
        {.consumer = 10, .part = WATERMARK_NUMBER, .number = 1},
    };
    char lower[STORE_KEY_MAX];
    char higher[STORE_KEY_MAX];
    for (size_t i = 0; i + 1 < HARNESS_COUNT(rising); i++) {
        name_watermark(lower, &rising[i]);
        name_watermark(higher, &rising[i + 1]);
        CU_ASSERT(strcmp(lower, higher) < 0);
    }
    name_intent(lower, 10);
    name_intent(higher, 9);
    CU_ASSERT(strcmp(lower, higher) < 0);
}

const struct harness_test name_tests[] = {
    HARNESS_TEST(names_are_exactly_these),
    HARNESS_TEST(consumers_names_are_exactly_these),
    HARNESS_TEST(names_round_trip),
    HARNESS_TEST(consumers_names_round_trip),
    HARNESS_TEST(strings_that_no_formatter_writes_are_refused),
    HARNESS_TEST(damaged_names_are_refused_or_read_as_written),
    HARNESS_TEST(order_is_versions_then_the_highest_floor),
    HARNESS_TEST(order_of_a_consumer_is_number_by_number),
    {0},
};
