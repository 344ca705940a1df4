/* name.c - formatting and parsing of object names. Layout: ours, after the paper's manifest and
 * TGB.
 *
 * Hand-written digits instead of snprintf: the simulator formats several keys for each handled
 * batch. */
#include "core/name.h"

#include <string.h>

#define VERSION_DIGITS 20
#define BUCKET_DIGITS 12
#define CONSUMER_DIGITS 10
#define RETIRED_SUFFIX "-retired"

static char *put_text(char *out, const char *text)
{
    size_t bytes = strlen(text);
    memcpy(out, text, bytes);
    return out + bytes;
}

static const char digit_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233"
    "34353637383940414243444546474849505152535455565758596061626364656667"
    "6869707172737475767778798081828384858687888990919293949596979899";

/* The value must have no more digits than that. */
static inline char *put_padded(char *out, uint64_t value, int digits)
{
    int left = digits;
    for (; left >= 2 && value > 0; left -= 2) {
        memcpy(out + left - 2, digit_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value > 0) {
        assert(left == 1 && value < 10);
        out[--left] = (char)('0' + value);
    }
    while (left > 0)
        out[--left] = '0';
    return out + digits;
}

static inline int digits_of(uint64_t value)
{
    int digits = 1;
    for (uint64_t bound = 10; digits < VERSION_DIGITS && value >= bound; bound *= 10)
        digits++;
    return digits;
}

static inline char *put_number(char *out, uint64_t value)
{
    return put_padded(out, value, digits_of(value));
}

static const char hex_pairs[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
                                "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
                                "404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f"
                                "606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f"
                                "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"
                                "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
                                "c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedf"
                                "e0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

static inline char *put_incarnation(char *out, const struct incarnation *incarnation)
{
    for (size_t i = 0; i < INCARNATION_BYTES; i++)
        memcpy(out + 2 * i, hex_pairs + 2 * incarnation->bytes[i], 2);
    return out + 2 * INCARNATION_BYTES;
}

void name_version(char key[STORE_KEY_MAX], uint64_t version)
{
    char *out = put_text(key, NAME_MANIFEST_PREFIX);
    *put_padded(out, version, VERSION_DIGITS) = '\0';
}

void name_floor(char key[STORE_KEY_MAX], struct floor floor)
{
    char *out = put_text(key, NAME_FLOOR_PREFIX);
    out = put_padded(out, UINT64_MAX - floor.version, VERSION_DIGITS);
    *out++ = '-';
    *put_padded(out, UINT64_MAX - floor.step, VERSION_DIGITS) = '\0';
}

void name_intent(char key[STORE_KEY_MAX], uint64_t step)
{
    char *out = put_text(key, NAME_INTENT_PREFIX);
    *put_padded(out, UINT64_MAX - step, VERSION_DIGITS) = '\0';
}

static char *put_consumer(char *out, uint32_t consumer)
{
    out = put_text(out, NAME_WATERMARK_PREFIX);
    out = put_padded(out, consumer, CONSUMER_DIGITS);
    *out++ = '/';
    return out;
}

void name_consumer(char key[STORE_KEY_MAX], uint32_t consumer)
{
    *put_consumer(key, consumer) = '\0';
}

void name_watermark(char key[STORE_KEY_MAX], const struct watermark_name *name)
{
    char *out = put_consumer(key, name->consumer);
    out = put_padded(out, name->number, VERSION_DIGITS);
    switch (name->part) {
    case WATERMARK_NUMBER:
        break;
    case WATERMARK_NUMBER_VALUE:
        *out++ = '-';
        out = put_padded(out, UINT64_MAX - name->step, VERSION_DIGITS);
        break;
    case WATERMARK_NUMBER_RETIRED:
        out = put_text(out, RETIRED_SUFFIX);
        break;
    }
    *out = '\0';
}

void name_tgb(char key[STORE_KEY_MAX], const struct tgb_name *name)
{
    char *out = put_text(key, NAME_TGB_PREFIX);
    out = put_padded(out, name->bucket, BUCKET_DIGITS);
    *out++ = '/';
    out = put_number(out, name->producer);
    *out++ = '-';
    out = put_number(out, name->epoch);
    *out++ = '-';
    out = put_incarnation(out, &name->incarnation);
    *out++ = '-';
    out = put_number(out, name->sequence);
    *out++ = '-';
    *put_number(out, name->end_offset) = '\0';
    static_assert(sizeof(NAME_TGB_PREFIX) + BUCKET_DIGITS + 1 + 10 + 1 + 10 + 1 +
                          2 * INCARNATION_BYTES + 1 + 20 + 1 + 20 <=
                      STORE_KEY_MAX,
                  "the longest TGB key fits");
}

static bool take_text(const char **in, const char *text)
{
    size_t bytes = strlen(text);
    if (strncmp(*in, text, bytes) != 0)
        return false;
    *in += bytes;
    return true;
}

/* `digits` 0: as many as there are, without leading zeros. */
static bool take_number(const char **in, int digits, uint64_t max, uint64_t *value)
{
    const char *start = *in;
    uint64_t number = 0;
    while (**in >= '0' && **in <= '9' && (digits == 0 || *in - start < digits)) {
        uint64_t digit = (uint64_t)(**in - '0');
        if (number > (max - digit) / 10)
            return false;
        number = number * 10 + digit;
        (*in)++;
    }
    if (*in == start || (digits != 0 && *in - start != digits))
        return false;
    if (digits == 0 && *start == '0' && *in - start > 1)
        return false;
    *value = number;
    return true;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_incarnation(const char **in, struct incarnation *incarnation)
{
    for (size_t i = 0; i < INCARNATION_BYTES; i++) {
        int high = hex_value((*in)[0]);
        int low = high < 0 ? -1 : hex_value((*in)[1]);
        if (low < 0)
            return false;
        incarnation->bytes[i] = (uint8_t)(high * 16 + low);
        *in += 2;
    }
    return true;
}

bool name_parse_version(const char *key, uint64_t *version)
{
    return take_text(&key, NAME_MANIFEST_PREFIX) &&
           take_number(&key, VERSION_DIGITS, NAME_COUNT_MAX, version) && *key == '\0';
}

bool name_parse_floor(const char *key, struct floor *floor)
{
    uint64_t version;
    uint64_t step;
    if (!take_text(&key, NAME_FLOOR_PREFIX) ||
        !take_number(&key, VERSION_DIGITS, UINT64_MAX, &version) || !take_text(&key, "-") ||
        !take_number(&key, VERSION_DIGITS, UINT64_MAX, &step) || *key != '\0' ||
        UINT64_MAX - version > NAME_COUNT_MAX || UINT64_MAX - step > NAME_COUNT_MAX)
        return false;
    *floor = (struct floor){.version = UINT64_MAX - version, .step = UINT64_MAX - step};
    return true;
}

bool name_parse_intent(const char *key, uint64_t *step)
{
    uint64_t inverted;
    if (!take_text(&key, NAME_INTENT_PREFIX) ||
        !take_number(&key, VERSION_DIGITS, UINT64_MAX, &inverted) || *key != '\0' ||
        UINT64_MAX - inverted > NAME_COUNT_MAX)
        return false;
    *step = UINT64_MAX - inverted;
    return true;
}

bool name_parse_watermark(const char *key, struct watermark_name *name)
{
    uint64_t consumer;
    uint64_t inverted = UINT64_MAX;
    struct watermark_name parsed = {.part = WATERMARK_NUMBER};
    if (!take_text(&key, NAME_WATERMARK_PREFIX) ||
        !take_number(&key, CONSUMER_DIGITS, UINT32_MAX, &consumer) || !take_text(&key, "/") ||
        !take_number(&key, VERSION_DIGITS, NAME_COUNT_MAX, &parsed.number) || parsed.number == 0)
        return false;
    if (take_text(&key, RETIRED_SUFFIX)) {
        parsed.part = WATERMARK_NUMBER_RETIRED;
    } else if (take_text(&key, "-")) {
        parsed.part = WATERMARK_NUMBER_VALUE;
        if (!take_number(&key, VERSION_DIGITS, UINT64_MAX, &inverted) ||
            UINT64_MAX - inverted > NAME_COUNT_MAX)
            return false;
    }
    if (*key != '\0')
        return false;
    parsed.consumer = (uint32_t)consumer;
    parsed.step = UINT64_MAX - inverted;
    *name = parsed;
    return true;
}

bool name_parse_tgb(const char *key, struct tgb_name *name)
{
    struct tgb_name parsed = {0};
    uint64_t producer;
    uint64_t epoch;
    if (!take_text(&key, NAME_TGB_PREFIX) ||
        !take_number(&key, BUCKET_DIGITS, NAME_COUNT_MAX / TGB_BUCKET_NS, &parsed.bucket) ||
        !take_text(&key, "/") || !take_number(&key, 0, UINT32_MAX, &producer) ||
        !take_text(&key, "-") || !take_number(&key, 0, UINT32_MAX, &epoch) ||
        !take_text(&key, "-") || !take_incarnation(&key, &parsed.incarnation) ||
        !take_text(&key, "-") || !take_number(&key, 0, UINT64_MAX, &parsed.sequence) ||
        !take_text(&key, "-") || !take_number(&key, 0, UINT64_MAX, &parsed.end_offset) ||
        *key != '\0')
        return false;
    parsed.producer = (uint32_t)producer;
    parsed.epoch = (uint32_t)epoch;
    *name = parsed;
    return true;
}
