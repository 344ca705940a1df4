/* manifest_codec_test.c - bytes: exact size, round trip, and every kind of damage. */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "core/manifest.h"
#include "tests/core/chains.h"
#include "tests/harness.h"

struct encoded {
    uint64_t bytes;
    uint8_t *data;
};

/* In a block of exactly its size, so that a sanitized build sees every byte too many. */
static struct encoded encode(const struct manifest *manifest)
{
    struct encoded encoded = {.bytes = manifest_encoded_bytes(manifest)};
    encoded.data = malloc(encoded.bytes);
    assert(encoded.data != NULL);
    uint64_t checksum = manifest_encode(manifest, encoded.data);
    uint64_t trailer;
    memcpy(&trailer, encoded.data + encoded.bytes - sizeof(trailer), sizeof(trailer));
    CU_ASSERT_EQUAL(trailer, checksum);
    return encoded;
}

/* A copy of exactly `bytes`, decoded. */
static enum manifest_error decode(const uint8_t *data, uint64_t bytes, struct manifest **manifest)
{
    uint8_t *copy = malloc(bytes > 0 ? bytes : 1);
    assert(copy != NULL);
    memcpy(copy, data, bytes);
    enum manifest_error error = manifest_decode(copy, bytes, manifest);
    free(copy);
    return error;
}

static void thousands_of_random_manifests_round_trip(void)
{
    struct random_stream stream = random_stream_make(1, 1);
    for (int i = 0; i < 5000; i++) {
        struct manifest *manifest = chain_random(&stream);
        struct encoded encoded = encode(manifest);
        struct manifest *decoded = NULL;
        CU_ASSERT_EQUAL(decode(encoded.data, encoded.bytes, &decoded), MANIFEST_OK);
        CU_ASSERT_PTR_NOT_NULL_FATAL(decoded);
        CU_ASSERT_TRUE(chain_equal(manifest, decoded));
        struct encoded again = encode(decoded);
        CU_ASSERT_EQUAL(decoded->checksum, manifest_encode(manifest, encoded.data));
        CU_ASSERT(again.bytes == encoded.bytes &&
                  memcmp(again.data, encoded.data, encoded.bytes) == 0);
        manifest_release(manifest);
        manifest_release(decoded);
        free(encoded.data);
        free(again.data);
    }
}

static void expect_part(const struct manifest *whole, const struct encoded *encoded,
                        struct manifest_part wanted)
{
    struct manifest *part = NULL;
    CU_ASSERT_EQUAL_FATAL(manifest_decode_part(encoded->data, encoded->bytes, wanted, &part),
                          MANIFEST_OK);
    CU_ASSERT(part->first_step == whole->first_step && part->next_step == whole->next_step);
    CU_ASSERT_EQUAL(part->checksum, manifest_encode(whole, encoded->data));
    CU_ASSERT_EQUAL(manifest_encoded_bytes(part), encoded->bytes);
    CU_ASSERT_EQUAL(manifest_state_count(part), manifest_state_count(whole));
    uint64_t held = 0;
    for (uint64_t step = whole->first_step - 1; step <= whole->next_step; step++) {
        const struct manifest_entry *entry = manifest_entry_find(part, step);
        const struct manifest_entry *same = manifest_entry_find(whole, step);
        bool asked = step >= wanted.first_step && step < wanted.next_step;
        CU_ASSERT_FATAL((entry != NULL) == (same != NULL && asked));
        held += entry != NULL;
        CU_ASSERT(entry == NULL || memcmp(entry, same, sizeof(*entry)) == 0);
    }
    CU_ASSERT_EQUAL(part->held.next_step - part->held.first_step, held);
    CU_ASSERT_EQUAL(manifest_whole(part), held == manifest_live_entries(whole));
    manifest_release(part);
}

static void part_holds_what_was_asked_for(void)
{
    struct random_stream stream = random_stream_make(2, 1);
    for (int i = 0; i < 500; i++) {
        struct manifest *whole = chain_random(&stream);
        struct encoded encoded = encode(whole);
        uint64_t span = manifest_live_entries(whole) + 6;
        struct manifest_part wanted = {
            .first_step = whole->first_step - 1 + random_next(&stream) % span,
            .next_step = whole->first_step - 1 + random_next(&stream) % span};
        expect_part(whole, &encoded, wanted);
        expect_part(whole, &encoded, (struct manifest_part){.next_step = UINT64_MAX});
        manifest_release(whole);
        free(encoded.data);
    }
}

/* Damage in an entry that is not asked for, under a right checksum. */
static void part_believes_nothing_beside_it_either(void)
{
    struct random_stream stream = random_stream_make(3, 1);
    struct manifest *genesis = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    struct manifest *whole = chain_append(genesis, &stream, 1, 4, 1);
    struct encoded encoded = encode(whole);
    memset(encoded.data + MANIFEST_HEADER_BYTES, 0, MANIFEST_ENTRY_BYTES_MIN);
    uint64_t checksum = XXH3_64bits(encoded.data, encoded.bytes - sizeof(checksum));
    memcpy(encoded.data + encoded.bytes - sizeof(checksum), &checksum, sizeof(checksum));
    struct manifest_part wanted = {.first_step = 3, .next_step = 4};
    struct manifest *part = NULL;
    CU_ASSERT_EQUAL(manifest_decode_part(encoded.data, encoded.bytes, wanted, &part),
                    MANIFEST_BAD_FIELD);
    CU_ASSERT_PTR_NULL(part);
    manifest_release(whole);
    manifest_release(genesis);
    free(encoded.data);
}

static struct encoded small(struct manifest **manifest)
{
    struct random_stream stream = random_stream_make(2, 1);
    struct manifest *genesis = manifest_genesis(72);
    struct manifest *second = chain_append(genesis, &stream, 1, 2, 0);
    *manifest = chain_append(second, &stream, 9, 1, 2);
    manifest_release(second);
    manifest_release(genesis);
    return encode(*manifest);
}

/* Must be refused, and leave the result alone. */
static void check_refused(const uint8_t *data, uint64_t bytes)
{
    struct manifest untouched = {0};
    struct manifest *result = &untouched;
    CU_ASSERT_NOT_EQUAL(decode(data, bytes, &result), MANIFEST_OK);
    CU_ASSERT_PTR_EQUAL(result, &untouched);
}

static void every_truncation_and_extension_is_refused(void)
{
    struct manifest *manifest;
    struct encoded encoded = small(&manifest);
    for (uint64_t bytes = 0; bytes < encoded.bytes; bytes++)
        check_refused(encoded.data, bytes);
    uint8_t *longer = calloc(1, encoded.bytes + 200);
    memcpy(longer, encoded.data, encoded.bytes);
    for (uint64_t bytes = encoded.bytes + 1; bytes <= encoded.bytes + 200; bytes++)
        check_refused(longer, bytes);
    free(longer);
    free(encoded.data);
    manifest_release(manifest);
}

static void every_flipped_bit_is_refused(void)
{
    struct manifest *manifest;
    struct encoded encoded = small(&manifest);
    for (uint64_t bit = 0; bit < 8 * encoded.bytes; bit++) {
        encoded.data[bit / 8] ^= (uint8_t)(1 << (bit % 8));
        check_refused(encoded.data, encoded.bytes);
        encoded.data[bit / 8] ^= (uint8_t)(1 << (bit % 8));
    }
    free(encoded.data);
    manifest_release(manifest);
}

static void seal(struct encoded encoded)
{
    uint64_t checksum = XXH3_64bits(encoded.data, encoded.bytes - MANIFEST_TRAILER_BYTES);
    memcpy(encoded.data + encoded.bytes - MANIFEST_TRAILER_BYTES, &checksum, sizeof(checksum));
}

/* Damage under a valid checksum: refused, or a manifest that encodes to just these bytes. */
static bool decodes_to_itself_or_not(struct encoded encoded)
{
    struct manifest *decoded = NULL;
    seal(encoded);
    if (decode(encoded.data, encoded.bytes, &decoded) != MANIFEST_OK)
        return decoded == NULL;
    struct encoded again = encode(decoded);
    bool same = again.bytes == encoded.bytes && memcmp(again.data, encoded.data, again.bytes) == 0;
    manifest_release(decoded);
    free(again.data);
    return same;
}

static void damage_under_a_valid_checksum_is_harmless(void)
{
    struct manifest *manifest;
    struct encoded encoded = small(&manifest);
    uint8_t *original = malloc(encoded.bytes);
    memcpy(original, encoded.data, encoded.bytes);
    for (uint64_t bit = 0; bit < 8 * (encoded.bytes - MANIFEST_TRAILER_BYTES); bit++) {
        encoded.data[bit / 8] ^= (uint8_t)(1 << (bit % 8));
        CU_ASSERT_TRUE(decodes_to_itself_or_not(encoded));
        memcpy(encoded.data, original, encoded.bytes);
    }
    struct random_stream stream = random_stream_make(3, 1);
    for (int i = 0; i < 100000; i++) {
        for (uint64_t changes = 1 + random_next(&stream) % 3; changes > 0; changes--) {
            uint64_t at = random_next(&stream) % (encoded.bytes - MANIFEST_TRAILER_BYTES);
            static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
            encoded.data[at] = values[random_next(&stream) % 5];
        }
        CU_ASSERT_TRUE(decodes_to_itself_or_not(encoded));
        memcpy(encoded.data, original, encoded.bytes);
    }
    free(original);
    free(encoded.data);
    manifest_release(manifest);
}

static void header_says_how_long_it_is(void)
{
    struct random_stream stream = random_stream_make(6, 1);
    for (int i = 0; i < 500; i++) {
        struct manifest *manifest = chain_random(&stream);
        struct encoded encoded = encode(manifest);
        CU_ASSERT_EQUAL(manifest_bytes_claimed(encoded.data), encoded.bytes);
        encoded.data[random_next(&stream) % 8] ^= 1; /* of the magic */
        CU_ASSERT_EQUAL(manifest_bytes_claimed(encoded.data), 0);
        manifest_release(manifest);
        free(encoded.data);
    }
}

struct field {
    const char *name;
    size_t offset;
    size_t bytes;
    uint64_t value;
};

static void impossible_fields_are_refused(void)
{
    static const struct field fields[] = {
        {"magic", 0, 4, 0x12345678},
        {"layout", 8, 4, 2},
        {"entry_bytes too small", 12, 4, MANIFEST_ENTRY_BYTES_MIN - 1},
        {"entry_bytes zero", 12, 4, 0},
        {"entry_bytes too large", 12, 4, MANIFEST_ENTRY_BYTES_MAX + 1},
        {"entry_bytes huge", 12, 4, UINT32_MAX},
        {"version zero", 16, 8, 0},
        {"version of another", 16, 8, 77},
        {"base of another", 56, 8, 1},
        {"first_step zero", 72, 8, 0},
        {"first_step at the end", 72, 8, UINT64_MAX},
        {"entries huge", 80, 8, UINT64_MAX},
        {"entries that wrap", 80, 8, UINT64_MAX / 72},
        {"entries of 4 GiB", 80, 8, (UINT64_C(4) << 30) / 72},
        {"one entry more", 80, 8, 3},
        {"states huge", 88, 4, UINT32_MAX},
        {"states at most", 88, 4, MANIFEST_STATES_MAX},
        {"one state less", 88, 4, 1},
        {"reserved", 92, 4, 1},
        {"epoch of an entry at the end", 116, 4, (uint64_t)MANIFEST_EPOCH_MAX + 1},
        {"sequence of an entry at the end", 128, 8, MANIFEST_COUNT_MAX + 1},
        {"offset of an entry at the end", 136, 8, MANIFEST_COUNT_MAX + 1},
        {"epoch of a state at the end", 244, 4, (uint64_t)MANIFEST_EPOCH_MAX + 1},
        {"offset of a state at the end", 264, 8, MANIFEST_COUNT_MAX + 1},
        {"sequence of a state at the end", 272, 8, MANIFEST_COUNT_MAX + 1},
    };
    struct manifest *manifest;
    struct encoded encoded = small(&manifest);
    CU_ASSERT_EQUAL(manifest_live_entries(manifest), 2);
    CU_ASSERT_EQUAL(manifest_state_count(manifest), 2);
    CU_ASSERT_EQUAL(manifest->entry_bytes, 72);
    for (size_t i = 0; i < HARNESS_COUNT(fields); i++) {
        struct encoded hostile = encode(manifest);
        memcpy(hostile.data + fields[i].offset, &fields[i].value, fields[i].bytes);
        seal(hostile);
        check_refused(hostile.data, hostile.bytes);
        free(hostile.data);
    }
    free(encoded.data);
    manifest_release(manifest);
}

static void genesis_has_one_encoding(void)
{
    struct manifest *genesis = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    struct encoded encoded = encode(genesis);
    for (uint64_t at = 16; at < MANIFEST_HEADER_BYTES; at++) {
        encoded.data[at] ^= 1;
        seal(encoded);
        check_refused(encoded.data, encoded.bytes);
        encoded.data[at] ^= 1;
    }
    free(encoded.data);
    manifest_release(genesis);
}

const struct harness_test manifest_codec_tests[] = {
    HARNESS_TEST(thousands_of_random_manifests_round_trip),
    HARNESS_TEST(part_holds_what_was_asked_for),
    HARNESS_TEST(part_believes_nothing_beside_it_either),
    HARNESS_TEST(every_truncation_and_extension_is_refused),
    HARNESS_TEST(every_flipped_bit_is_refused),
    HARNESS_TEST(damage_under_a_valid_checksum_is_harmless),
    HARNESS_TEST(header_says_how_long_it_is),
    HARNESS_TEST(impossible_fields_are_refused),
    HARNESS_TEST(genesis_has_one_encoding),
    {0},
};
