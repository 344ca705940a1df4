/* search.h - tries every order of events of a world, depth first, for one that breaks a promise.
 *
 * A world is a value that can be copied: what a kind of world must offer is below. Method: search
 * over copies with a table of visited states (64-bit hashes; with n states a collision hides one
 * with probability about n^2 / 2^65). */
#ifndef TESTS_MODEL_SEARCH_H
#define TESTS_MODEL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base.h"

#define WORLD_CHOICES_MAX 128
#define WORLD_TEXT_MAX 200
#define WORLD_EVENTS_MAX 24

/* What happens next: of a kind, to something. */
struct choice {
    uint32_t kind;
    uint32_t index;
};

struct world_kind {
    size_t world_bytes;
    void (*open)(void *world, const void *bounds);
    void (*close)(void *world);
    void (*copy)(void *to, const void *from);
    /* True: *choice commutes with everything else that ever can happen (a partial order reduction:
     * trying nothing else hides no outcome), and belongs to the step before it. May be NULL. */
    bool (*forced)(const void *world, struct choice *choice);
    /* What can happen: all of it, or one choice that commutes as above. */
    uint32_t (*choices)(const void *world, struct choice choices[WORLD_CHOICES_MAX]);
    void (*step)(void *world, struct choice choice);
    /* What is broken; empty: nothing. */
    const char *(*problem)(const void *world);
    /* Of everything that what follows can depend on. */
    uint64_t (*hash)(const void *world);
    /* One line for a trace. */
    void (*describe)(const void *world, struct choice choice, char text[WORLD_TEXT_MAX]);
    /* Bit n: event n of event_names happened in the last step. */
    uint64_t (*events)(const void *world);
    const char *event_names[WORLD_EVENTS_MAX]; /* the first NULL ends them */
};

struct search_result {
    bool good; /* nothing found */
    bool exhausted;
    uint64_t states;
    uint64_t steps;
    uint32_t depth;
    uint64_t events[WORLD_EVENTS_MAX];
};

/* Searches to the end, for `seconds` at most; prints the way to a broken promise. */
void search_run(const struct world_kind *kind, const void *bounds, long seconds,
                struct search_result *result);

#endif
