/* meter_store.h - a store over any store that counts what goes through it and tells how long each
 * operation took. It changes nothing of what is asked and answered; the simulator's and live runs'
 * alike. Ours. */
#ifndef CORE_METER_STORE_H
#define CORE_METER_STORE_H

#include "core/loop.h"
#include "core/store.h"

/* One operation that the inner store has answered. */
struct meter_answer {
    enum store_verb verb;
    enum store_outcome outcome;
    uint64_t bytes;     /* of the body that was sent, or of the result that came */
    int64_t latency_ns; /* from submit to answer, by the loop's clock */
};

struct meter_counters {
    uint64_t submitted[STORE_VERB_COUNT];
    uint64_t answered[STORE_VERB_COUNT][STORE_OUTCOME_COUNT];
    uint64_t bytes[STORE_VERB_COUNT]; /* of those that were answered, whatever the outcome */
    uint32_t in_flight;
    uint32_t in_flight_max;
};

struct meter_store_options {
    struct store *inner; /* borrowed, not closed */
    struct loop *loop;   /* borrowed: its clock */
    /* Told of every answer just before the sender is, from inside the loop; NULL: nobody. */
    void (*answered)(void *context, const struct meter_answer *answer);
    void *context;
};

/* Closed by store_close, with nothing in flight or after `inner` was closed. */
struct store *meter_store_open(const struct meter_store_options *options);
struct meter_counters meter_store_counters(const struct store *store);

#endif
