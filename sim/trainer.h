/* trainer.h - one rank of a training job: a consumer, the application that uses its steps, and the
 * disk that its checkpoints are kept on.
 *
 * The application uses each step for a while, and asks for a checkpoint every so many steps, and of
 * the step where it begins if it keeps none, as a rank of `lakestream consume` does. A save takes a
 * while too, and is durable all at once; when the process dies meanwhile, it may or may not have
 * come to be. The disk survives its processes. It is fenced: it refuses checkpoints of a lower
 * number than any that it has seen, and the process that sent them ends. Ours. */
#ifndef SIM_TRAINER_H
#define SIM_TRAINER_H

#include "core/consumer_driver.h"
#include "sim/checkers.h"

/* Zeroed: nothing was kept yet. */
struct trainer_disk {
    struct checkpoint_set set;
    uint64_t number; /* the highest that was saved under */
};

/* Told what happened, after the checkers were; every callback is required. */
struct trainer_observer {
    void *context;
    /* Allowed to run from `step` on. */
    void (*running)(void *context, uint64_t step);
    void (*given)(void *context, const struct consumer_delivery *delivery);
    void (*saved)(void *context, const struct checkpoint_set *set); /* durable */
    void (*refused)(void *context);                                 /* a save */
    void (*checkpointed)(void *context, uint64_t step);             /* and published */
    void (*request)(void *context, const struct consumer_answer *answer);
    void (*ended)(void *context, enum consumer_end end, const char *text);
};

struct trainer_options {
    struct store *store;       /* borrowed */
    struct loop *loop;         /* borrowed: the process's */
    struct loop *world;        /* borrowed: true time, for the checkers */
    struct checkers *checkers; /* borrowed; they follow ranks */
    struct trainer_disk *disk; /* borrowed */
    struct trainer_observer observer;
    /* Complete; its checkpoints are those to go back to, which the disk need not hold any more. */
    struct consumer_options consumer;
    struct random_stream random;
    int64_t step_ns;           /* a step is used for so long */
    double step_jitter;        /* step_ns *= uniform [1 - jitter, 1 + jitter) */
    uint64_t checkpoint_steps; /* asks for a checkpoint after so many; 0: never */
    int64_t save_ns;           /* a save takes up to so long; drawn */
};

struct trainer;

struct trainer *trainer_open(const struct trainer_options *options);
void trainer_start(struct trainer *trainer);
/* Asks for a clean end; `ended` follows. */
void trainer_stop(struct trainer *trainer);
/* The store is about to refuse it a request for good: it may end so. */
void trainer_refused(struct trainer *trainer);
/* The process dies: a save on its way comes to be, or not. The store has forgotten it before. */
void trainer_crash(struct trainer *trainer);
/* After `ended`, or after trainer_crash, or when the store was closed before. */
void trainer_close(struct trainer *trainer);
const struct consumer *trainer_consumer(const struct trainer *trainer);
/* Checkpoints are on their way to the disk. */
bool trainer_saves(const struct trainer *trainer);

#endif
