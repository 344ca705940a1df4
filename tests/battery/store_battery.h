/* store_battery.h - what every filling of the store seam must do, whoever fills it: one table of
 * cases on a store that takes BODY_BYTES.
 *
 * Every case works below a prefix of its own name, expects nothing there, and removes nothing of
 * others', so that all of them may run on one store; a second run needs a fresh store or prefix. A
 * case blocks until its operations are done. */
#ifndef TESTS_BATTERY_STORE_BATTERY_H
#define TESTS_BATTERY_STORE_BATTERY_H

#include "core/loop.h"
#include "core/store.h"

/* A store over plain folders cannot hold both "a" and "a/b". Our names never ask for that. */
enum battery_nesting {
    BATTERY_KEYS_NEST,
    BATTERY_KEYS_FLAT, /* the second is refused, and harms nothing */
};

/* All borrowed; zero is the default of what may be left out. */
struct store_battery {
    struct store *store;
    struct loop *loop;
    /* Runs the loop until *waiting is 0; it goes down as operations are done. NULL: loop_run. */
    void (*run_until_done)(void *context, const uint32_t *waiting);
    void *context;
    enum battery_nesting nesting;
    /* Ends of keys that not every filling can hold, but this one; ends with NULL; NULL: none. */
    const char *const *more_keys;
};

struct store_battery_case {
    const char *name;
    void (*run)(const struct store_battery *battery);
};

/* Ends with {0}. */
extern const struct store_battery_case store_battery_cases[];

/* Runs all cases, inside a CUnit test. */
void store_battery_run(const struct store_battery *battery);

#endif
