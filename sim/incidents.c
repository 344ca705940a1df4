/* incidents.c - see incidents.h. Ours. */
#include "sim/incidents.h"

#include "sim/memory.h"

struct scheduled {
    struct incidents *owner;
    const struct incident *incident;
    struct timer begin;
    struct timer over;
};

struct incidents {
    struct incidents_options options;
    struct scheduled items[]; /* options.count */
};

const char *incident_kind_name(enum incident_kind kind)
{
    static const char *const names[] = {
#define X(code, name, text) name,
        INCIDENT_KINDS(X)
#undef X
    };
    assert(kind < INCIDENT_KIND_COUNT);
    return names[kind];
}

static void begin_due(struct timer *timer, void *context)
{
    const struct scheduled *item = context;
    const struct incidents_options *options = &item->owner->options;
    (void)timer;
    options->begin(options->context, item->incident);
}

static void over_due(struct timer *timer, void *context)
{
    const struct scheduled *item = context;
    const struct incidents_options *options = &item->owner->options;
    (void)timer;
    options->over(options->context, item->incident);
}

struct incidents *incidents_open(const struct incidents_options *options)
{
    struct incidents *incidents =
        memory_make(1, sizeof(*incidents) + options->count * sizeof(incidents->items[0]));
    incidents->options = *options;
    for (uint32_t i = 0; i < options->count; i++) {
        struct scheduled *item = &incidents->items[i];
        const struct incident *incident = &options->incidents[i];
        item->owner = incidents;
        item->incident = incident;
        timer_init(&item->begin, begin_due, item);
        timer_init(&item->over, over_due, item);
        loop_timer_set(options->loop, &item->begin, incident->at_ns);
        loop_timer_set(options->loop, &item->over, incident->at_ns + incident->for_ns);
    }
    return incidents;
}

void incidents_close(struct incidents *incidents)
{
    for (uint32_t i = 0; i < incidents->options.count; i++) {
        loop_timer_cancel(incidents->options.loop, &incidents->items[i].begin);
        loop_timer_cancel(incidents->options.loop, &incidents->items[i].over);
    }
    free(incidents);
}

void incidents_plan_none(struct fault_plan *plan, const struct outage *outage)
{
    *plan = (struct fault_plan){.timeout_ns = outage->timeout_ns,
                                .delay_ns = 1,
                                .late_min_ns = outage->timeout_ns + 1,
                                .late_max_ns = outage->timeout_ns + 1};
}

void incidents_plan_outage(struct fault_plan *plan, const struct outage *outage)
{
    incidents_plan_none(plan, outage);
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++) {
        plan->probability[verb][FAULT_ERROR] = outage->errors;
        plan->probability[verb][FAULT_LOST_REQUEST] = 1.0 - outage->errors;
    }
}
