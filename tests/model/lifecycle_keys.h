/* lifecycle_keys.h - every key that a search ever met, as a small number, so that a store is a set
 * of bits. Numbers are given at first sight and stay for the life of the process. */
#ifndef TESTS_MODEL_LIFECYCLE_KEYS_H
#define TESTS_MODEL_LIFECYCLE_KEYS_H

#include "core/name.h"

#define KEYS_MAX 1024
#define KEYS_WORDS (KEYS_MAX / 64)

enum key_kind {
    KEY_VERSION,
    KEY_FLOOR,
    KEY_INTENT,
    KEY_TGB,
    KEY_WATERMARK,
};

/* What a key says, parsed once. */
struct key {
    char text[STORE_KEY_MAX];
    enum key_kind kind;
    uint64_t version;
    struct floor floor;
    uint64_t intent;
    struct tgb_name tgb;
    struct watermark_name watermark;
};

/* The key must be one that the core's formatters write. */
uint32_t keys_number(const char *text);
const struct key *keys_at(uint32_t number);
uint32_t keys_count(void);
/* The numbers in the order of a listing: the key of keys_in_order(0) sorts first. */
uint32_t keys_in_order(uint32_t position);
/* The first position whose key sorts after `text`. */
uint32_t keys_after(const char *text);

#endif
