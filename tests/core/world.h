/* world.h - producers on one scripted store and one manual loop; what scenarios are told in.
 *
 * Latency 10 ms, a batch of 100 bytes every 10 ms, gaps of 20 ms: an attempt takes 40 ms. All that
 * machines report is checked against the history of the chain. */
#ifndef TESTS_CORE_WORLD_H
#define TESTS_CORE_WORLD_H

#include "core/driver.h"
#include "tests/core/history.h"
#include "tests/core/manual_loop.h"
#include "tests/core/scripted_store.h"

#define MACHINES_MAX 64
#define FOREIGNER                                                                                  \
    99 /* the producer of versions that scenarios write behind the machines' backs                 \
        */
#define BATCH_BYTES 100

struct world;

struct machine {
    struct world *world;
    uint32_t producer;
    uint32_t port;
    struct incarnation incarnation;
    struct producer_observer observer;
    struct store *codec;   /* NULL: manifests travel as references */
    struct driver *driver; /* NULL: dead */
    uint64_t won;
    uint64_t lost;
    struct attempt attempt; /* the last decided */
    struct attempt_detail detail;
    struct commit_counters counters; /* sums over attempts */
    uint64_t visible;
    uint64_t visible_sequence;
    bool ended;
    enum producer_end end;
    char end_text[PRODUCER_END_TEXT_MAX];
};

struct world {
    struct manual_loop loop;
    struct scripted_store *store;
    struct history history;
    struct random_stream random;
    uint32_t machine_count;
    struct machine machines[MACHINES_MAX];
};

struct world *world_open(uint64_t seed);
/* Machines may be in flight. Fails the test if anything wrong was seen. */
void world_close(struct world *world);

struct producer_options world_options(struct world *world, uint32_t producer);
/* With a new incarnation, unless the options hold one. */
struct machine *world_start(struct world *world, uint32_t producer);
struct machine *world_start_with(struct world *world, const struct producer_options *options,
                                 bool codec);
/* Producer 0 has won its fencing attempt, and will end after so many batches; 0: never. */
struct machine *world_start_fenced(struct world *world, uint64_t batches_max);
void world_crash(struct machine *machine);
void world_check_counts(const struct machine *machine, uint64_t won, uint64_t lost);

/* Each runs until it is so, and fails the test if it does not come to that. */
void world_until_attempts(struct machine *machine, uint64_t decided);
void world_until_visible(struct machine *machine, uint64_t batches);
void world_until_ended(struct machine *machine);
void world_until_ns(struct world *world, int64_t ns);

void world_script(struct world *world, struct rule rule);

/* For `before` of a rule; the context is the world. */
void world_foreign_commit(struct scripted_store *store, void *world);
/* Floor at the newest version, and all versions below it deleted. */
void world_floor_to_newest(struct scripted_store *store, void *world);
/* Both, three commits first: whatever was newest is gone. */
void world_chain_moves_on(struct scripted_store *store, void *world);
/* Another incarnation fences producer 0: a higher epoch. */
void world_take_over(struct scripted_store *store, void *world);
/* A version after the newest one, in which the producer's state is as given. */
void world_commit_state(struct world *world, const struct producer_state *state);

#endif
