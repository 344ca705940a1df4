/* incidents.h - what is made to happen in a simulated run: deaths, rollbacks and outages, at times
 * that are given beforehand. (Random ones are the swarm's, sim/swarm.h.) */
#ifndef SIM_INCIDENTS_H
#define SIM_INCIDENTS_H

#include "core/fault_store.h"
#include "core/loop.h"

/* code, name, what happens */
#define INCIDENT_KINDS(X)                                                                          \
    X(INCIDENT_PRODUCER, "producer",                                                               \
      "producers die, and start again as other incarnations once it is over")                      \
    X(INCIDENT_RANK, "rank", "ranks die, and go on from their newest checkpoints")                 \
    X(INCIDENT_ROLLBACK, "rollback", "ranks die, and go back to their oldest checkpoints")         \
    X(INCIDENT_OUTAGE, "outage", "no request is applied: each is refused, or never answered")

enum incident_kind {
#define X(code, name, text) code,
    INCIDENT_KINDS(X)
#undef X
    INCIDENT_KIND_COUNT
};

struct incident {
    enum incident_kind kind;
    int64_t at_ns;
    int64_t for_ns; /* > 0 */
    uint32_t first; /* process, of those of its kind; of an outage 0 */
    uint32_t count;
};

/* What happens to requests in an outage. */
struct outage {
    double errors;      /* 0..1: this share is answered by an error, the rest never */
    int64_t timeout_ns; /* > 0: ... and given up after so long */
};

const char *incident_kind_name(enum incident_kind kind);

/* Told when an incident begins and when it is over; both are required. */
struct incidents_options {
    const struct incident *incidents; /* borrowed */
    uint32_t count;
    struct loop *loop; /* borrowed */
    void (*begin)(void *context, const struct incident *incident);
    void (*over)(void *context, const struct incident *incident);
    void *context;
};

struct incidents;

/* Sets the timers of all of them. Running out of memory ends the program. */
struct incidents *incidents_open(const struct incidents_options *options);
void incidents_close(struct incidents *incidents);

/* Makes the plan that of an outage, or of none. */
void incidents_plan_outage(struct fault_plan *plan, const struct outage *outage);
void incidents_plan_none(struct fault_plan *plan, const struct outage *outage);

#endif
