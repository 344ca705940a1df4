/* live_wrappers.c - see live_wrappers.h. Ours. */
#include "experiments/live/live_wrappers.h"

#include <stdlib.h>

#include "core/shape_store.h"
#include "experiments/trials/latency_config.h"

/* Keep the draws apart from the producer's own, which come from (seed, producer). */
#define SHAPE_DOMAIN UINT64_C(0x7368617065)
#define FAULT_DOMAIN UINT64_C(0x6661756c74)
#define BURST_DOMAIN UINT64_C(0x6275727374)

#define LATE_MIN_NS NS_PER_MS

struct live_wrappers {
    struct store *meter;
    struct store *shape; /* NULL: live.shape is off */
    struct store *fault; /* NULL: all of live.fault is 0 */
    struct fault_plan plan;
    struct latency latency[STORE_VERB_COUNT];
};

static int64_t profile_ns(void *context, enum store_verb verb, double unit, uint64_t bytes)
{
    const struct live_wrappers *wrappers = context;
    const struct latency *latency = &wrappers->latency[verb];
    return latency_ns(latency, latency_factor_at(latency, unit), bytes);
}

static struct store *open_shape(struct live_wrappers *wrappers,
                                const struct live_wrappers_options *options, struct loop *loop)
{
    const struct store_config *store = &options->config->store;
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++) {
        struct latency_options latency = {0};
        latency_options_of(&store->latency[verb], &latency);
        latency_init(&wrappers->latency[verb], &latency);
    }
    struct shape_store_options shape = {
        .inner = wrappers->meter,
        .loop = loop,
        .latency_ns = profile_ns,
        .context = wrappers,
        .apply_fraction = store->apply_fraction,
        .read_fraction = store->read_fraction > 0 ? store->read_fraction : store->apply_fraction,
        .random = random_stream_make(options->seed ^ SHAPE_DOMAIN, options->actor),
    };
    return shape_store_open(&shape);
}

static enum live_fault_class class_of(enum store_verb verb)
{
    switch (verb) {
    case STORE_GET:
    case STORE_LIST:
        return LIVE_FAULT_READ;
    case STORE_PUT:
    case STORE_DELETE:
        return LIVE_FAULT_WRITE;
    case STORE_PUT_IF_ABSENT:
    case STORE_VERB_COUNT:
        break;
    }
    return LIVE_FAULT_CREATE;
}

/* False: nothing is to go wrong. Bursts go by the seed alone, and meet all actors at once. */
static bool make_plan(const struct live_fault_config *config, uint64_t seed,
                      struct fault_plan *plan)
{
    double sum = config->burst;
    *plan = (struct fault_plan){
        .storms[0] = {.kind = config->burst > 0 ? FAULT_THROTTLED : FAULT_NONE,
                      .probability = config->burst,
                      .period_ns = config->burst_period_ns,
                      .longest_ns = config->burst_ns,
                      .seed = seed ^ BURST_DOMAIN},
        .delay_ns = config->delay_ns,
        .timeout_ns = config->timeout_ns,
        .late_min_ns = LATE_MIN_NS,
        .late_max_ns = config->late_ns,
    };
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++)
        for (int kind = 0; kind < FAULT_KIND_COUNT; kind++) {
            double probability = config->probability[class_of((enum store_verb)verb)][kind];
            plan->probability[verb][kind] = probability;
            sum += probability;
        }
    return sum > 0;
}

struct live_wrappers *live_wrappers_open(const struct live_wrappers_options *options,
                                         struct store *bytes, struct loop *loop)
{
    struct live_wrappers *wrappers = calloc(1, sizeof(*wrappers));
    assert(wrappers != NULL);
    const struct live_config *config = &options->config->live;
    struct meter_store_options meter = {
        .inner = bytes, .loop = loop, .answered = options->answered, .context = options->context};
    wrappers->meter = meter_store_open(&meter);
    if (config->shape == TOGGLE_ON)
        wrappers->shape = open_shape(wrappers, options, loop);
    if (make_plan(&config->fault, options->seed, &wrappers->plan)) {
        struct fault_store_options fault = {
            .inner = wrappers->shape != NULL ? wrappers->shape : wrappers->meter,
            .loop = loop,
            .plan = &wrappers->plan,
            .random = random_stream_make(options->seed ^ FAULT_DOMAIN, options->actor),
        };
        wrappers->fault = fault_store_open(&fault);
    }
    return wrappers;
}

/* From the lowest to the highest: the operations of each are held by the one above it. */
void live_wrappers_close(struct live_wrappers *wrappers)
{
    store_close(wrappers->meter);
    if (wrappers->shape != NULL)
        store_close(wrappers->shape);
    if (wrappers->fault != NULL)
        store_close(wrappers->fault);
    free(wrappers);
}

struct store *live_wrappers_store(const struct live_wrappers *wrappers)
{
    if (wrappers->fault != NULL)
        return wrappers->fault;
    return wrappers->shape != NULL ? wrappers->shape : wrappers->meter;
}

struct meter_counters live_wrappers_counters(const struct live_wrappers *wrappers)
{
    return meter_store_counters(wrappers->meter);
}
