/* name.h - the names of objects under one run prefix: formatting and parsing.
 *
 *   manifest/<20-digit version>                       immutable, by PUT If-None-Match: *
 *   manifest/floor-<20-digit max-version>-<20-digit max-step>   empty; max = 2^64-1, so that the
 * highest floor sorts first, and all of them after the versions
 *   intent/<20-digit max-step>                        empty; likewise the highest sorts first
 *   tgb/<bucket>/<producer>-<epoch>-<incarnation>-<sequence>-<end offset>   immutable, plain PUT
 *   watermark/<10-digit consumer>/<20-digit number>   by PUT If-None-Match: *; a random identity
 *   watermark/<consumer>/<number>-<20-digit max-step> empty; follows its number, the highest first
 *   watermark/<consumer>/<number>-retired             empty; follows the number's values
 *
 * bucket = seconds / 8 as 12 digits. Parsers accept exactly what the formatters write. */
#ifndef CORE_NAME_H
#define CORE_NAME_H

#include <stdbool.h>

#include "core/base.h"
#include "core/store.h"

#define NAME_MANIFEST_PREFIX "manifest/"
#define NAME_TGB_PREFIX "tgb/"
#define NAME_FLOOR_PREFIX NAME_MANIFEST_PREFIX "floor-"
#define NAME_INTENT_PREFIX "intent/"
#define NAME_WATERMARK_PREFIX "watermark/"
#define TGB_BUCKET_NS (8 * NS_PER_S)
/* Of versions, steps and a consumer's numbers: a key that claims more is nobody's, so that whoever
 * goes on from there can count on, and all readers see the same. */
#define NAME_COUNT_MAX ((uint64_t)INT64_MAX)

/* A floor: versions below `version` are gone or going, steps below `step` are given up. */
struct floor {
    uint64_t version;
    uint64_t step;
};

/* What a TGB's key says. */
struct tgb_name {
    uint64_t bucket; /* 8 s units of the producer's clock */
    uint64_t sequence;
    uint64_t end_offset; /* bytes of the producer's stream, this batch included */
    struct incarnation incarnation;
    uint32_t producer;
    uint32_t epoch;
};

enum watermark_part {
    WATERMARK_NUMBER,         /* a number is taken */
    WATERMARK_NUMBER_VALUE,   /* `step` and everything after it are needed */
    WATERMARK_NUMBER_RETIRED, /* the number has ended */
};

/* What a key below watermark/ says. */
struct watermark_name {
    uint32_t consumer;
    enum watermark_part part;
    uint64_t number;
    uint64_t step; /* WATERMARK_NUMBER_VALUE; else 0 */
};

void name_version(char key[STORE_KEY_MAX], uint64_t version);
void name_floor(char key[STORE_KEY_MAX], struct floor floor);
void name_intent(char key[STORE_KEY_MAX], uint64_t step);
void name_tgb(char key[STORE_KEY_MAX], const struct tgb_name *name);
void name_watermark(char key[STORE_KEY_MAX], const struct watermark_name *name);
/* The prefix of all keys of one consumer. */
void name_consumer(char key[STORE_KEY_MAX], uint32_t consumer);

bool name_parse_version(const char *key, uint64_t *version);
bool name_parse_floor(const char *key, struct floor *floor);
bool name_parse_intent(const char *key, uint64_t *step);
bool name_parse_tgb(const char *key, struct tgb_name *name);
bool name_parse_watermark(const char *key, struct watermark_name *name);

#endif
