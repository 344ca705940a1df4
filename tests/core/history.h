/* history.h - what a chain may become, checked whenever a version comes into being.
 *
 * A version is living if it is created above the floor; below it is a zombie, which nobody may
 * believe. The living versions must be dense, one a name, each built on the one before: nothing but
 * its own author's state and entries changes, sequences and offsets go on without a gap, epochs
 * rise by one with no batch, and what is named was uploaded. */
#ifndef TESTS_CORE_HISTORY_H
#define TESTS_CORE_HISTORY_H

#include "core/manifest.h"
#include "tests/core/scripted_store.h"

#define HISTORY_PRODUCERS_MAX 128
#define HISTORY_LIVES_MAX 256

struct committed_batch {
    struct incarnation incarnation;
    uint64_t end_offset;
};

struct stream {
    size_t count;
    size_t capacity;
    struct committed_batch *batches; /* by sequence - 1 */
};

struct life {
    struct incarnation incarnation;
    uint64_t versions;
};

struct history {
    struct scripted_store *store; /* borrowed */
    struct store_watch watch;
    struct manifest *newest;
    struct stream streams[HISTORY_PRODUCERS_MAX];
    struct life lives[HISTORY_LIVES_MAX];
    uint32_t life_count;
    uint64_t zombies;
    uint64_t floor_step; /* highest that any floor named: a lower floor's step counts too */
    char problem[256];   /* the first; empty: none */
};

/* Watches the store from now on. */
void history_init(struct history *history, struct scripted_store *store);
void history_deinit(struct history *history);
/* Living versions of an incarnation. */
uint64_t history_versions_of(const struct history *history, const struct incarnation *incarnation);
/* NULL: the chain does not hold it. */
const struct committed_batch *history_batch(const struct history *history, uint32_t producer,
                                            uint64_t sequence);
__attribute__((format(printf, 2, 3))) void history_problem(struct history *history,
                                                           const char *format, ...);

#endif
