/* battery_request.h - one operation of a case of the battery, and helpers that do one, wait, and
 * check the answer by CUnit. Blocking ones return when the operation was answered. */
#ifndef TESTS_BATTERY_REQUEST_H
#define TESTS_BATTERY_REQUEST_H

#include "tests/battery/store_battery.h"

/* Checks that `done` comes once, and never from inside submit. */
struct request {
    struct store_op op;
    uint32_t *waiting;
    bool submitting;
    uint32_t done_count;
};

/* Zeroes it, but for verb and key. */
void request_init(struct request *request, enum store_verb verb, const char *key);
/* The bytes are borrowed until the answer. */
void request_body(struct request *request, const void *data, uint64_t bytes);
/* Adds 1 to *waiting until the answer. Does not block. */
void request_submit(const struct store_battery *battery, struct request *request,
                    uint32_t *waiting);
/* Runs the loop until *waiting is 0. */
void battery_wait(const struct store_battery *battery, const uint32_t *waiting);
/* Submits, waits and checks the outcome; the answer stays in the request, for the caller to free by
 * store_op_deinit. */
void request_expect(const struct store_battery *battery, struct request *request,
                    enum store_outcome outcome);

/* Each does one operation and frees its answer. */
void battery_put(const struct store_battery *battery, enum store_verb verb, const char *key,
                 const char *text, enum store_outcome outcome);
void battery_get(const struct store_battery *battery, const char *key, const char *text);
void battery_get_range(const struct store_battery *battery, const char *key, uint64_t offset,
                       uint64_t bytes, const char *text, uint64_t object_bytes);
/* A GET that brings nothing, or a DELETE. */
void battery_simple(const struct store_battery *battery, enum store_verb verb, const char *key,
                    enum store_outcome outcome);

struct battery_listing {
    const char *prefix;
    const char *after;
    uint32_t keys_max;
    const char *const *expected; /* ends with NULL */
    bool truncated;
};
void battery_list(const struct store_battery *battery, const struct battery_listing *listing);

#endif
