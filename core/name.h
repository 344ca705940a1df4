/* name.h - the names of objects under one run prefix: formatting and parsing.
 *
 *   manifest/<20-digit version>                       immutable, by PUT If-None-Match: *
 *   manifest/floor-<20-digit max-version>-<20-digit max-step>   empty; max = 2^64-1, so that the
 * highest floor sorts first, and all of them after the versions
 *   tgb/<bucket>/<producer>-<epoch>-<incarnation>-<sequence>-<end offset>   immutable, plain PUT
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
#define TGB_BUCKET_NS (8 * NS_PER_S)

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

void name_version(char key[STORE_KEY_MAX], uint64_t version);
void name_floor(char key[STORE_KEY_MAX], struct floor floor);
void name_tgb(char key[STORE_KEY_MAX], const struct tgb_name *name);

bool name_parse_version(const char *key, uint64_t *version);
bool name_parse_floor(const char *key, struct floor *floor);
bool name_parse_tgb(const char *key, struct tgb_name *name);

#endif
