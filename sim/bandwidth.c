/* bandwidth.c - processor sharing in virtual time, and its scanning reference. Ours.
 *
 * Departures are processed late: when something arrives, asks or waits. They happen at their own
 * instants all the same, as nothing else changes a flow's share. */
#include "sim/bandwidth.h"

#include "sim/memory.h"

#define UNITS_PER_BYTE 1048576.0
#define FLOWS_FIRST 8

/* ---- the set of active flows: one interface, two fillings ---- */

static inline bool ends_before(const struct flow *a, const struct flow *b)
{
    int64_t difference = (int64_t)(a->units - b->units);
    return difference < 0 || (difference == 0 && a->order < b->order);
}

static inline void place(struct link *link, uint32_t index, struct flow *flow)
{
    link->flows[index] = flow;
    flow->position = index;
}

static void heap_up(struct link *link, uint32_t index, struct flow *flow)
{
    for (; index > 0 && ends_before(flow, link->flows[(index - 1) / 2]); index = (index - 1) / 2)
        place(link, index, link->flows[(index - 1) / 2]);
    place(link, index, flow);
}

static void heap_down(struct link *link, uint32_t index, struct flow *flow)
{
    for (;;) {
        uint32_t child = 2 * index + 1;
        if (child >= link->count)
            break;
        if (child + 1 < link->count && ends_before(link->flows[child + 1], link->flows[child]))
            child++;
        if (ends_before(flow, link->flows[child]))
            break;
        place(link, index, link->flows[child]);
        index = child;
    }
    place(link, index, flow);
}

static void set_add(struct link *link, struct flow *flow, uint64_t units)
{
    if (link->count == link->capacity) {
        link->capacity = link->capacity == 0 ? FLOWS_FIRST : link->capacity * 2;
        link->flows = memory_resize(link->flows, link->capacity, sizeof(struct flow *));
    }
    uint32_t index = link->count++;
    switch (link->kind) {
    case LINK_VIRTUAL_TIME:
        flow->units = link->clock + units;
        heap_up(link, index, flow);
        break;
    case LINK_REFERENCE:
        flow->units = units;
        place(link, index, flow);
        break;
    }
}

static void set_remove(struct link *link, struct flow *flow)
{
    uint32_t index = flow->position;
    struct flow *last = link->flows[--link->count];
    if (last == flow)
        return;
    switch (link->kind) {
    case LINK_VIRTUAL_TIME:
        if (index > 0 && ends_before(last, link->flows[(index - 1) / 2]))
            heap_up(link, index, last);
        else
            heap_down(link, index, last);
        break;
    case LINK_REFERENCE:
        place(link, index, last);
        break;
    }
}

/* The flow that ends first; the set is not empty. */
static struct flow *set_first(const struct link *link)
{
    struct flow *first = link->flows[0];
    switch (link->kind) {
    case LINK_VIRTUAL_TIME:
        break;
    case LINK_REFERENCE:
        for (uint32_t i = 1; i < link->count; i++)
            if (ends_before(link->flows[i], first))
                first = link->flows[i];
        break;
    }
    return first;
}

/* What the flow still lacks; 0 or less: nothing. */
static int64_t set_lacks(const struct link *link, const struct flow *flow)
{
    switch (link->kind) {
    case LINK_VIRTUAL_TIME:
        return (int64_t)(flow->units - link->clock);
    case LINK_REFERENCE:
        return (int64_t)flow->units;
    }
    return 0;
}

/* Gives every active flow so many units. */
static void set_serve(struct link *link, uint64_t units)
{
    switch (link->kind) {
    case LINK_VIRTUAL_TIME:
        link->clock += units;
        break;
    case LINK_REFERENCE:
        for (uint32_t i = 0; i < link->count; i++)
            link->flows[i]->units -= units;
        break;
    }
}

/* ---- time ---- */

static inline uint64_t units_in(const struct link *link, int64_t span_ns)
{
    return (uint64_t)((double)span_ns * link->flow_units_per_ns);
}

/* The shortest span in which a flow receives so many units. */
static int64_t span_of(const struct link *link, int64_t units)
{
    if (units <= 0)
        return 0;
    double span = (double)units / link->flow_units_per_ns;
    if (span >= 9.0e18)
        return TIME_NEVER;
    int64_t span_ns = (int64_t)span;
    while (units_in(link, span_ns) < (uint64_t)units)
        span_ns++;
    return span_ns;
}

/* When the first flow ends if nothing arrives. */
static int64_t first_end(const struct link *link)
{
    int64_t span_ns = span_of(link, set_lacks(link, set_first(link)));
    return span_ns >= TIME_NEVER - link->clock_ns ? TIME_NEVER : link->clock_ns + span_ns;
}

static void count_changed(struct link *link)
{
    if (link->count == 0)
        return;
    link->flow_units_per_ns = link->units_per_ns / (double)link->count;
    if (link->cap_units_per_ns > 0.0 && link->flow_units_per_ns > link->cap_units_per_ns)
        link->flow_units_per_ns = link->cap_units_per_ns;
}

static void move_clock(struct link *link, int64_t at_ns)
{
    if (link->count > 0)
        set_serve(link, units_in(link, at_ns - link->clock_ns));
    link->clock_ns = at_ns;
}

static void deliver(struct link *link, struct flow *flow)
{
    flow->state = FLOW_DELIVERED;
    flow->next = NULL;
    *link->delivered_tail = flow;
    link->delivered_tail = &flow->next;
}

/* Takes off all flows that ended by now. The clock stays at the last departure: asking changes no
 * rounding. */
static void depart(struct link *link, int64_t now_ns)
{
    while (link->count > 0) {
        int64_t end_ns = first_end(link);
        if (end_ns > now_ns)
            break;
        move_clock(link, end_ns);
        struct flow *flow;
        while (link->count > 0 && set_lacks(link, flow = set_first(link)) <= 0) {
            set_remove(link, flow);
            if (flow->state == FLOW_AWAITED)
                deliver(link, flow);
            else
                flow->state = FLOW_IDLE;
        }
        count_changed(link);
    }
}

/* The timer is set while somebody waits, and then for the next departure, whoever departs. */
static void schedule(struct link *link)
{
    if (link->awaited == 0) {
        loop_timer_cancel(link->loop, &link->timer);
        return;
    }
    int64_t at_ns = link->delivered != NULL ? loop_now(link->loop) : first_end(link);
    if (link->timer.slot == 0 || link->timer.at_ns != at_ns)
        loop_timer_set(link->loop, &link->timer, at_ns);
}

static void fire(struct timer *timer, void *context)
{
    (void)timer;
    struct link *link = context;
    depart(link, loop_now(link->loop));
    while (link->delivered != NULL) {
        struct flow *flow = link->delivered;
        link->delivered = flow->next;
        if (link->delivered == NULL)
            link->delivered_tail = &link->delivered;
        flow->state = FLOW_IDLE;
        link->awaited--;
        link->done(flow);
    }
    schedule(link);
}

/* ---- interface ---- */

void link_init(struct link *link, const struct link_options *options)
{
    assert(options->bytes_per_s >= 0.0);
    assert(options->flow_bytes_per_s >= 0.0);
    *link = (struct link){
        .loop = options->loop,
        .kind = options->kind,
        .units_per_ns = options->bytes_per_s * UNITS_PER_BYTE / (double)NS_PER_S,
        .cap_units_per_ns = options->flow_bytes_per_s * UNITS_PER_BYTE / (double)NS_PER_S,
        .done = options->done,
    };
    link->delivered_tail = &link->delivered;
    timer_init(&link->timer, fire, link);
}

void link_deinit(struct link *link)
{
    assert(link->awaited == 0);
    loop_timer_cancel(link->loop, &link->timer);
    free(link->flows);
    *link = (struct link){0};
}

void link_start(struct link *link, struct flow *flow, uint64_t bytes)
{
    assert(flow->state == FLOW_IDLE);
    assert(bytes <= LINK_FLOW_BYTES_MAX);
    if (link->units_per_ns <= 0.0 || bytes == 0)
        return;
    int64_t now_ns = loop_now(link->loop);
    depart(link, now_ns);
    move_clock(link, now_ns);
    flow->order = link->next_order++;
    flow->state = FLOW_ACTIVE;
    set_add(link, flow, bytes * (uint64_t)UNITS_PER_BYTE);
    count_changed(link);
    if (link->awaited > 0)
        schedule(link);
}

bool link_finished(struct link *link, struct flow *flow)
{
    if (flow->state == FLOW_ACTIVE)
        depart(link, loop_now(link->loop));
    return flow->state == FLOW_IDLE;
}

void link_await(struct link *link, struct flow *flow)
{
    assert(flow->state == FLOW_ACTIVE);
    flow->state = FLOW_AWAITED;
    link->awaited++;
    schedule(link);
}

static void undeliver(struct link *link, struct flow *flow)
{
    struct flow **place_of = &link->delivered;
    while (*place_of != flow)
        place_of = &(*place_of)->next;
    *place_of = flow->next;
    if (*place_of == NULL)
        link->delivered_tail = place_of;
}

void link_drop(struct link *link, struct flow *flow)
{
    enum flow_state state = flow->state;
    if (state == FLOW_ACTIVE || state == FLOW_AWAITED) {
        depart(link, loop_now(link->loop));
        move_clock(link, loop_now(link->loop));
    }
    switch (flow->state) {
    case FLOW_IDLE:
        return;
    case FLOW_ACTIVE:
    case FLOW_AWAITED:
        link->awaited -= flow->state == FLOW_AWAITED ? 1 : 0;
        set_remove(link, flow);
        count_changed(link);
        break;
    case FLOW_DELIVERED:
        link->awaited--;
        undeliver(link, flow);
        break;
    }
    flow->state = FLOW_IDLE;
    schedule(link);
}
