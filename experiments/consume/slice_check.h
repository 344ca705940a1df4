/* slice_check.h - whether a rank was given the bytes that the producer made: of synthetic payload
 * every byte is known (core/tgb_payload.h). */
#ifndef EXPERIMENTS_SLICE_CHECK_H
#define EXPERIMENTS_SLICE_CHECK_H

#include <stdbool.h>

#include "core/consumer.h"

#define SLICE_CHECK_TEXT_MAX 512

struct slice_check {
    bool synthetic;  /* else nothing is known of the bytes but their checksums */
    uint32_t slices; /* of a TGB; 0: plain */
    uint32_t slice;
};

/* False: `error` names the step, the object and the first byte that is wrong. */
MUST_USE bool slice_check_run(const struct slice_check *check,
                              const struct consumer_delivery *delivery,
                              char error[SLICE_CHECK_TEXT_MAX]);

/* The most bytes that a synthetic TGB of so many slices can have (0: plain). */
uint64_t slice_check_tgb_max(uint32_t slices);

/* What the slice of an entry must be: its raw bytes, and their XXH3-64. False: a TGB of this size
 * cannot have so many slices. */
struct slice_expected {
    uint64_t offset; /* in the payload */
    uint64_t bytes;
    uint64_t checksum;
};
MUST_USE bool slice_expected_of(const struct slice_check *check, uint32_t producer,
                                uint64_t sequence, uint64_t tgb_bytes,
                                struct slice_expected *expected);

#endif
