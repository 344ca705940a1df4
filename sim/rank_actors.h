/* rank_actors.h - the ranks of a training job in a simulated run, one trainer (sim/trainer.h) each,
 * all alike but for their number. Running out of memory ends the program. */
#ifndef SIM_RANK_ACTORS_H
#define SIM_RANK_ACTORS_H

#include "sim/connection.h"
#include "sim/trainer.h"

#define RANK_ACTORS_MAX 65536

struct rank_actors_options {
    uint32_t count; /* 0: none */
    int64_t start_ns;
    int64_t step_ns; /* each step is used for so long */
    double step_jitter;
    uint64_t checkpoint_steps; /* between checkpoints; 0: none */
    int64_t save_ns;           /* a checkpoint is durable after up to so long */
    /* Rank, identity, slice and random stream are set by the run, from (seed, rank). */
    struct consumer_options consumer;
};

/* Told what happened; every callback is required. */
struct rank_observer {
    void *context;
    void (*given)(void *context, uint32_t rank, const struct consumer_delivery *delivery);
    void (*checkpointed)(void *context, uint32_t rank, uint64_t step);
    void (*request)(void *context, uint32_t rank, const struct consumer_answer *answer);
    void (*ended)(void *context, uint32_t rank, enum consumer_end end, const char *text);
};

/* What a run lends them. */
struct rank_world {
    struct connection_world connection;
    struct checkers *checkers; /* that follow ranks */
    /* Number of rank 0 with the store; its next life has `actors` more, and so on. */
    uint32_t first_actor;
    uint32_t actors;
    const struct rank_observer *observer; /* NULL: none */
};

struct rank_actors;

/* NULL if the options can be used, else what is wrong: one static line. */
MUST_USE const char *rank_actors_check(const struct rank_actors_options *options);
/* The options are borrowed. They start by themselves once the loop runs. */
struct rank_actors *rank_actors_open(const struct rank_actors_options *options,
                                     const struct rank_world *world);
void rank_actors_close(struct rank_actors *ranks);
/* NULL: its process is dead. */
const struct consumer *rank_actors_consumer(const struct rank_actors *ranks, uint32_t rank);

enum rank_return {
    RANK_GOES_ON,   /* from its newest checkpoint */
    RANK_GOES_BACK, /* to its oldest one */
};

/* The rank's process dies; once more while it is dead changes nothing. */
void rank_actors_kill(struct rank_actors *ranks, uint32_t rank);
/* Another process of the rank, which must be dead. */
void rank_actors_restart(struct rank_actors *ranks, uint32_t rank, enum rank_return from);

/* The first step that not all ranks were given yet. A rank that is dead or starting stands where it
 * was last. */
uint64_t rank_actors_slowest(const struct rank_actors *ranks);

#endif
