/* probe_call.h - the requests of a probe: several at once, waited for together; what they wrote is
 * remembered, so that it can be removed. */
#ifndef EXPERIMENTS_PROBE_PROBE_CALL_H
#define EXPERIMENTS_PROBE_PROBE_CALL_H

#include "core/random.h"
#include "experiments/probe/probe.h"

struct probe {
    const struct probe_options *options;
    struct probe_report *report;
    struct random_stream random;
    struct timer timer;
    size_t waiting;              /* calls in flight */
    char (*keys)[STORE_KEY_MAX]; /* written, perhaps; each once */
    size_t key_count;
    size_t key_capacity;
};

struct probe_call {
    struct store_op op;
    struct probe *probe;
    size_t store; /* index */
    int64_t sent_ns;
    int64_t took_ns;
};

/* `name` is a key below the probe's prefix. The call borrows a body that is set afterwards. */
void probe_call_init(struct probe *probe, struct probe_call *call, enum store_verb verb,
                     size_t store, const char *name);
void probe_call_body(struct probe_call *call, const void *data, uint64_t bytes);
/* Sends them all and waits for all answers. */
void probe_send(struct probe *probe, struct probe_call *calls, size_t count);
/* Sends one, and again, after a back-off, while there is no answer that says anything: a create may
 * then be answered EXISTS by its own. */
void probe_send_surely(struct probe *probe, struct probe_call *call);
/* Waits between tries; `tries` counts from 1. */
void probe_back_off(struct probe *probe, uint32_t tries);
#define PROBE_TRIES_MAX 7
/* UNKNOWN, BUSY and THROTTLED say nothing about the key. */
bool probe_undecided(enum store_outcome outcome);
/* What an answer says, for people. */
const char *probe_call_text(const struct probe_call *call);
/* The result holds exactly these bytes. */
bool probe_call_holds(const struct probe_call *call, const void *data, uint64_t bytes);

bool probe_interrupted(const struct probe *probe);
/* Sets the result, unless it is unfit already: the first reason is the one to tell. */
__attribute__((format(printf, 3, 4))) void
probe_say(struct probe_result *result, enum probe_verdict verdict, const char *format, ...);
/* The store's name behind " at ", or nothing where there is only one. */
const char *probe_at(const struct probe *probe, size_t store, char text[STORE_ERROR_MAX]);

#endif
