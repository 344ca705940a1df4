/* bandwidth.h - a link whose capacity is shared equally by the transfers on it, up to what one of
 * them can take.
 *
 * A flow is embedded in and owned by its user, who starts it, may ask whether it is finished, and
 * may wait for it: `done` is then called once, from inside the loop, at the nanosecond at which it
 * is finished. A flow that nobody waits for costs no event. The link borrows its loop. Units: bytes
 * and nanoseconds. Nothing here fails; running out of memory ends the program.
 *
 * Method: egalitarian processor sharing in virtual time (as in fair queueing: Demers, Keshav,
 * Shenker 1989). The virtual clock counts what every flow has received since the link was made; a
 * flow is finished when the clock reaches its start + size, so arrivals and departures cost O(log
 * flows). The clock is an integer in units of 2^-20 byte which moves at arrivals and departures
 * only: the reference, which keeps what each flow still lacks and scans them all, has equal times
 * to the nanosecond. */
#ifndef SIM_BANDWIDTH_H
#define SIM_BANDWIDTH_H

#include <stdbool.h>

#include "core/base.h"
#include "core/loop.h"

#define LINK_FLOW_BYTES_MAX (UINT64_C(1) << 42)

enum link_kind {
    LINK_VIRTUAL_TIME,
    LINK_REFERENCE, /* slow and obvious, for comparisons */
};

enum flow_state {
    FLOW_IDLE, /* never started, finished, or dropped */
    FLOW_ACTIVE,
    FLOW_AWAITED,   /* active, and `done` will be called */
    FLOW_DELIVERED, /* awaited and finished, `done` follows at this instant */
};

struct flow {
    uint64_t units; /* clock reading at its end; the reference: units still to come */
    uint64_t order; /* insertion number: breaks ties */
    struct flow *next;
    uint32_t position; /* in the link's array */
    enum flow_state state;
    void *user;
};

struct link {
    struct loop *loop;
    enum link_kind kind;
    double units_per_ns;     /* capacity; 0: unlimited */
    double cap_units_per_ns; /* of one flow; 0: the capacity */
    double flow_units_per_ns;
    uint64_t clock;   /* wraps; live flows are within half its range */
    int64_t clock_ns; /* when the clock was moved last */
    uint64_t next_order;
    struct flow **flows;
    uint32_t count;
    uint32_t capacity;
    uint32_t awaited;       /* flows in the states AWAITED and DELIVERED */
    struct flow *delivered; /* first come first; done is due */
    struct flow **delivered_tail;
    void (*done)(struct flow *flow);
    struct timer timer;
};

struct link_options {
    struct loop *loop;
    enum link_kind kind;
    double bytes_per_s;      /* 0: unlimited, every flow is finished as it starts */
    double flow_bytes_per_s; /* what one flow gets at most; 0: all that there is */
    void (*done)(struct flow *flow);
};

/* The link must stay where it is. */
void link_init(struct link *link, const struct link_options *options);
/* No flow may be active. */
void link_deinit(struct link *link);

/* Starts a transfer at the loop's now. The flow must be idle. Never calls `done`. */
void link_start(struct link *link, struct flow *flow, uint64_t bytes);
/* True if the flow is finished by now (or never started). */
bool link_finished(struct link *link, struct flow *flow);
/* Asks for `done`; the flow must be active, as link_finished has just found. */
void link_await(struct link *link, struct flow *flow);
/* Takes the flow off the link; allowed in every state. */
void link_drop(struct link *link, struct flow *flow);

#endif
