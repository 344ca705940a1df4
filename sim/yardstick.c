/* yardstick.c - timers that set themselves again after a lognormal time. Ours. */
#include "sim/yardstick.h"

#include "core/random.h"
#include "sim/latency.h"
#include "sim/memory.h"
#include "sim/virtual_loop.h"

struct yardstick {
    struct virtual_loop loop;
    struct latency latency;
    struct random_stream stream;
    uint64_t events_left;
};

static void fire(struct timer *timer, void *context)
{
    struct yardstick *yardstick = context;
    if (yardstick->events_left == 0)
        return;
    yardstick->events_left--;
    double factor = latency_factor(&yardstick->latency, &yardstick->stream);
    int64_t wait_ns = latency_ns(&yardstick->latency, factor, 0);
    loop_timer_set(&yardstick->loop.loop, timer, timer->at_ns + wait_ns);
}

void yardstick_run(const struct yardstick_options *options, int64_t (*clock_ns)(void),
                   struct yardstick_result *result)
{
    assert(options->timers > 0 && options->events >= options->timers);
    struct yardstick *yardstick = memory_make(1, sizeof(*yardstick));
    struct timer *timers = memory_make(options->timers, sizeof(*timers));
    struct latency_options latency = {
        .shape = LATENCY_LOGNORMAL, .base_ns = 60 * NS_PER_MS, .sigma = 0.29};
    latency_init(&yardstick->latency, &latency);
    virtual_loop_init(&yardstick->loop, EVENT_QUEUE_HEAP);
    yardstick->stream = random_stream_make(options->seed, 0);
    yardstick->events_left = options->events - options->timers;
    for (uint32_t i = 0; i < options->timers; i++) {
        timer_init(&timers[i], fire, yardstick);
        loop_timer_set(&yardstick->loop.loop, &timers[i], (int64_t)i);
    }
    int64_t started_ns = clock_ns();
    loop_run(&yardstick->loop.loop, TIME_NEVER);
    int64_t spent_ns = clock_ns() - started_ns;
    *result = (struct yardstick_result){
        .ns_per_event = (double)spent_ns / (double)yardstick->loop.handled,
        .handled = yardstick->loop.handled,
        .digest = yardstick->loop.digest,
    };
    virtual_loop_deinit(&yardstick->loop);
    free(timers);
    free(yardstick);
}
