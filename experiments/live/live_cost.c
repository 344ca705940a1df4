/* live_cost.c - see live_cost.h. Ours. */
#include "experiments/live/live_cost.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "experiments/trials/simulate.h"

/* About ten seconds of one core. */
#define EVENTS_MAX 10e6
/* The start that tells how many events a run has. */
#define LOOK_NS (60 * NS_PER_S)
/* A directory on a local disk, roughly: enough for how often producers try. */
#define FILE_BASE_NS (2 * NS_PER_MS)
#define FILE_RATE 500e6

static bool is_directory(const char *url)
{
    return strncmp(url, "file://", strlen("file://")) == 0;
}

/* ---- caps ---- */

struct live_cap live_cap_of(const struct experiment *experiment)
{
    struct live_cap cap = {.dollars = 1e300, .bytes = UINT64_MAX, .requests = UINT64_MAX};
    for (size_t i = 0; i < experiment->arm_count; i++) {
        const struct live_config *live = &experiment->arms[i].config.live;
        cap.dollars = live->cap_dollars < cap.dollars ? live->cap_dollars : cap.dollars;
        cap.bytes = live->cap_bytes < cap.bytes ? live->cap_bytes : cap.bytes;
        cap.requests = live->cap_requests < cap.requests ? live->cap_requests : cap.requests;
    }
    return cap;
}

double live_cost_dollars(const struct config *config, const char *url,
                         const uint64_t requests[STORE_VERB_COUNT])
{
    double dollars = 0;
    for (int verb = 0; verb < STORE_VERB_COUNT && !is_directory(url); verb++)
        dollars += (double)requests[verb] * config_price(config, (enum store_verb)verb) / 1000;
    return dollars;
}

void live_cost_add(struct live_cost *sum, const struct live_cost *part, uint64_t times)
{
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++)
        sum->requests[verb] += part->requests[verb] * times;
    sum->up_bytes += part->up_bytes * times;
    sum->down_bytes += part->down_bytes * times;
    sum->dollars += part->dollars * (double)times;
}

uint64_t live_cost_requests(const struct live_cost *cost)
{
    uint64_t sum = 0;
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++)
        sum += cost->requests[verb];
    return sum;
}

struct live_cost live_cost_of_ranks(const struct live_cost *before, const struct live_cost *own,
                                    uint32_t ranks)
{
    struct live_cost sum = *before;
    assert(ranks > 0);
    live_cost_add(&sum, own, ranks);
    return sum;
}

bool live_cost_exceeds(const struct live_cost *cost, const struct live_cap *cap,
                       char text[LIVE_COST_TEXT_MAX])
{
    uint64_t requests = live_cost_requests(cost);
    uint64_t bytes = cost->up_bytes + cost->down_bytes;
    if (cost->dollars > cap->dollars)
        snprintf(text, LIVE_COST_TEXT_MAX, "%.4g dollars are more than live.cap_dollars (%g)",
                 cost->dollars, cap->dollars);
    else if (bytes > cap->bytes)
        snprintf(text, LIVE_COST_TEXT_MAX, "%.4g GB are more than live.cap_bytes (%.4g GB)",
                 (double)bytes / 1e9, (double)cap->bytes / 1e9);
    else if (requests > cap->requests)
        snprintf(text, LIVE_COST_TEXT_MAX,
                 "%" PRIu64 " requests are more than live.cap_requests (%" PRIu64 ")", requests,
                 cap->requests);
    else
        return false;
    return true;
}

void live_cost_print(const struct live_cost *cost, char text[LIVE_COST_TEXT_MAX])
{
    size_t used = (size_t)snprintf(text, LIVE_COST_TEXT_MAX, "%" PRIu64 " requests (",
                                   live_cost_requests(cost));
    const char *separator = "";
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++) {
        if (cost->requests[verb] == 0)
            continue;
        used +=
            (size_t)snprintf(text + used, LIVE_COST_TEXT_MAX - used, "%s%" PRIu64 " %s", separator,
                             cost->requests[verb], store_verb_name((enum store_verb)verb));
        separator = ", ";
    }
    snprintf(text + used, LIVE_COST_TEXT_MAX - used, "), %.4g MB up, %.4g MB down, %.2g dollars",
             (double)cost->up_bytes / 1e6, (double)cost->down_bytes / 1e6, cost->dollars);
}

/* ---- before the start ---- */

static void take_for_directory(struct simulation_options *options)
{
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++)
        options->store.latency[verb] = (struct latency_options){
            .base_ns = FILE_BASE_NS, .slope_ns = 1e9 / FILE_RATE, .shape = LATENCY_CONSTANT};
}

/* What grows with the manifest grows with the square of the time. */
static void scale(struct live_cost *cost, const struct simulation_result *result, double times)
{
    const struct virtual_store_counters *store = &result->store;
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++) {
        double bytes = (double)store->bytes[verb] * times * (verb == STORE_PUT ? 1 : times);
        bool down = verb == STORE_GET || verb == STORE_LIST;
        cost->requests[verb] = (uint64_t)((double)store->requests[verb] * times);
        *(down ? &cost->down_bytes : &cost->up_bytes) += (uint64_t)bytes;
    }
}

enum live_estimate live_cost_estimate(const struct config *config, const char *url, uint64_t seed,
                                      struct live_cost *cost, char error[LIVE_COST_TEXT_MAX])
{
    struct simulation_options options;
    struct simulation_result result;
    int64_t whole_ns = config->run.duration_ns;
    *cost = (struct live_cost){0};
    simulate_options_of(config, seed, &options);
    if (is_directory(url))
        take_for_directory(&options);
    const char *wrong = simulation_options_check(&options);
    if (wrong != NULL) {
        snprintf(error, LIVE_COST_TEXT_MAX, "%s", wrong);
        return LIVE_ESTIMATE_UNKNOWN;
    }
    options.duration_ns = whole_ns < LOOK_NS ? whole_ns : LOOK_NS;
    simulation_run(&options, &result);
    double events = (double)result.handled * (double)whole_ns / (double)options.duration_ns;
    int64_t duration_ns = whole_ns;
    if (events > EVENTS_MAX)
        duration_ns = (int64_t)((double)whole_ns * EVENTS_MAX / events);
    if (duration_ns > options.duration_ns) {
        options.duration_ns = duration_ns;
        simulation_run(&options, &result);
    }
    scale(cost, &result, (double)whole_ns / (double)options.duration_ns);
    cost->dollars = live_cost_dollars(config, url, cost->requests);
    return options.duration_ns == whole_ns ? LIVE_ESTIMATE_WHOLE : LIVE_ESTIMATE_SCALED;
}
