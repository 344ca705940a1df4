/* station.c - a shared link whose unit is one nanosecond of one processor. Ours. */
#include "sim/station.h"

#include <math.h>

const char *station_options_check(const struct station_options *options)
{
    if (!(options->cores <= 0.0 || (options->cores >= 1.0 && options->cores <= STATION_CORES_MAX)))
        return "the store's cores are neither 0 nor in 1..1024";
    for (size_t verb = 0; verb < STORE_VERB_COUNT; verb++) {
        const struct station_work *work = &options->work[verb];
        if (work->base_ns < 0 || work->base_ns > STATION_WORK_NS_MAX)
            return "the work of a request is negative or above an hour";
        if (!(work->byte_ns >= 0.0) || !isfinite(work->byte_ns))
            return "the work of a byte is negative or not finite";
    }
    return NULL;
}

void station_init(struct station *station, const struct station_options *options,
                  const struct link_options *link)
{
    assert(station_options_check(options) == NULL);
    struct link_options own = *link;
    station->options = *options;
    own.bytes_per_s = options->cores * (double)NS_PER_S;
    own.flow_bytes_per_s = (double)NS_PER_S;
    link_init(&station->link, &own);
}

void station_deinit(struct station *station)
{
    link_deinit(&station->link);
}

int64_t station_work_ns(const struct station *station, enum store_verb verb, uint64_t bytes)
{
    const struct station_work *work = &station->options.work[verb];
    double ns = (double)work->base_ns + (double)bytes * work->byte_ns;
    return ns < (double)STATION_WORK_NS_MAX ? (int64_t)ns : STATION_WORK_NS_MAX;
}

bool station_enter(struct station *station, struct station_visit *visit, int64_t work_ns)
{
    assert(work_ns >= 0);
    visit->started_ns = loop_now(station->link.loop);
    visit->work_ns = work_ns;
    link_start(&station->link, &visit->flow, (uint64_t)work_ns);
    if (link_finished(&station->link, &visit->flow))
        return false;
    link_await(&station->link, &visit->flow);
    return true;
}

int64_t station_excess_ns(const struct station *station, const struct station_visit *visit)
{
    int64_t took_ns = loop_now(station->link.loop) - visit->started_ns;
    return took_ns > visit->work_ns ? took_ns - visit->work_ns : 0;
}

void station_drop(struct station *station, struct station_visit *visit)
{
    link_drop(&station->link, &visit->flow);
}
