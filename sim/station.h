/* station.h - the processors that all requests to a virtual store share: its own, and those of the
 * clients where both run on one machine.
 *
 * Off by default. A request takes work: so many nanoseconds of one processor, by its verb and its
 * bytes. The requests at the station share its processors equally, none gets more than one: up to
 * `cores` of them at a time go on as if alone, more hold each other up. What is known of a request
 * is its latency when it is alone (latency.h), of which its work is a part; the station only tells
 * how much longer than its work a visit took.
 *
 * Method: egalitarian processor sharing (bandwidth.h) with a cap for each visit. Mean times at such
 * a station do not depend on the distribution of work, only on its mean. Ours; fitted by
 * `lakestream calibrate`. */
#ifndef SIM_STATION_H
#define SIM_STATION_H

#include "core/store.h"
#include "sim/bandwidth.h"

#define STATION_CORES_MAX 1024
#define STATION_WORK_NS_MAX (INT64_C(3600) * NS_PER_S)

struct station_work {
    int64_t base_ns;
    double byte_ns; /* for each byte */
};

struct station_options {
    double cores; /* 1..STATION_CORES_MAX, need not be whole; 0: no station */
    struct station_work work[STORE_VERB_COUNT];
};

struct station_visit {
    struct flow flow;
    int64_t started_ns;
    int64_t work_ns;
};

struct station {
    struct station_options options;
    struct link link;
};

/* NULL if the options can be used, else what is wrong: one static line. */
MUST_USE const char *station_options_check(const struct station_options *options);
/* `done` is called, from inside the loop, when the flow of a visit is finished. The station must
 * stay where it is. */
void station_init(struct station *station, const struct station_options *options,
                  const struct link_options *link);
/* Nobody may be waiting. */
void station_deinit(struct station *station);

/* At most STATION_WORK_NS_MAX. */
int64_t station_work_ns(const struct station *station, enum store_verb verb, uint64_t bytes);
/* Begins a visit now. True: `done` will be called; false: there is nothing to wait for. */
bool station_enter(struct station *station, struct station_visit *visit, int64_t work_ns);
/* How much longer than alone the visit took that is finished now. */
int64_t station_excess_ns(const struct station *station, const struct station_visit *visit);
/* Ends a visit early; allowed in every state. */
void station_drop(struct station *station, struct station_visit *visit);

#endif
