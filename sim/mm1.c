/* mm1.c - one server, Poisson arrivals, exponential services, first come first served. Textbook. */
#include "sim/mm1.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "core/random.h"
#include "sim/memory.h"
#include "sim/virtual_loop.h"

#define WAITING_FIRST 1024

struct mm1 {
    struct virtual_loop loop;
    struct timer arrival;
    struct timer departure;
    struct random_stream arrivals;
    struct random_stream services;
    struct mm1_options options;
    int64_t *waiting; /* a ring of arrival times; the first is in service */
    uint64_t head;
    uint64_t tail;
    uint64_t size;
    uint64_t arrived;
    uint64_t started;
    double sums[MM1_BATCHES];
    uint64_t counts[MM1_BATCHES];
};

static int64_t exponential_ns(struct random_stream *stream, double per_s)
{
    return (int64_t)(-log1p(-random_unit(stream)) / per_s * (double)NS_PER_S);
}

static void note_wait(struct mm1 *mm1, int64_t wait_ns)
{
    uint64_t warm_up = mm1->options.customers / 10;
    uint64_t customer = mm1->started++;
    if (customer < warm_up)
        return;
    uint64_t batch = (customer - warm_up) * MM1_BATCHES / (mm1->options.customers - warm_up);
    mm1->sums[batch] += (double)wait_ns / (double)NS_PER_S;
    mm1->counts[batch]++;
}

static void start_service(struct mm1 *mm1)
{
    int64_t now_ns = mm1->loop.now_ns;
    note_wait(mm1, now_ns - mm1->waiting[mm1->head % mm1->size]);
    int64_t service_ns = exponential_ns(&mm1->services, mm1->options.services_per_s);
    loop_timer_set(&mm1->loop.loop, &mm1->departure, now_ns + service_ns);
}

static void grow(struct mm1 *mm1)
{
    int64_t *larger = memory_make(2 * mm1->size, sizeof(*larger));
    for (uint64_t i = mm1->head; i < mm1->tail; i++)
        larger[i % (2 * mm1->size)] = mm1->waiting[i % mm1->size];
    free(mm1->waiting);
    mm1->waiting = larger;
    mm1->size *= 2;
}

static void arrive(struct timer *timer, void *context)
{
    struct mm1 *mm1 = context;
    if (mm1->tail - mm1->head == mm1->size)
        grow(mm1);
    mm1->waiting[mm1->tail++ % mm1->size] = timer->at_ns;
    if (mm1->tail - mm1->head == 1)
        start_service(mm1);
    if (++mm1->arrived < mm1->options.customers) {
        int64_t gap_ns = exponential_ns(&mm1->arrivals, mm1->options.arrivals_per_s);
        loop_timer_set(&mm1->loop.loop, timer, timer->at_ns + gap_ns);
    }
}

static void depart(struct timer *timer, void *context)
{
    (void)timer;
    struct mm1 *mm1 = context;
    mm1->head++;
    if (mm1->head < mm1->tail)
        start_service(mm1);
}

static void evaluate(const struct mm1 *mm1, struct mm1_result *result)
{
    double means[MM1_BATCHES];
    double sum = 0.0;
    uint64_t count = 0;
    for (size_t i = 0; i < MM1_BATCHES; i++) {
        means[i] = mm1->sums[i] / (double)mm1->counts[i];
        sum += mm1->sums[i];
        count += mm1->counts[i];
    }
    double quantile = gsl_cdf_tdist_Pinv(0.975, MM1_BATCHES - 1);
    double rho = mm1->options.arrivals_per_s / mm1->options.services_per_s;
    *result = (struct mm1_result){
        .wait_s = sum / (double)count,
        .wait_half_width = quantile * gsl_stats_sd(means, 1, MM1_BATCHES) / sqrt(MM1_BATCHES),
        .wait_exact_s = rho / (mm1->options.services_per_s - mm1->options.arrivals_per_s),
        .handled = mm1->loop.handled,
    };
}

void mm1_run(const struct mm1_options *options, struct mm1_result *result)
{
    assert(options->arrivals_per_s > 0.0);
    assert(options->services_per_s > options->arrivals_per_s);
    assert(options->customers >= 2 * MM1_BATCHES);
    struct mm1 *mm1 = memory_make(1, sizeof(*mm1));
    mm1->options = *options;
    mm1->arrivals = random_stream_make(options->seed, 0);
    mm1->services = random_stream_make(options->seed, 1);
    mm1->size = WAITING_FIRST;
    mm1->waiting = memory_make(mm1->size, sizeof(*mm1->waiting));
    virtual_loop_init(&mm1->loop, EVENT_QUEUE_HEAP);
    timer_init(&mm1->arrival, arrive, mm1);
    timer_init(&mm1->departure, depart, mm1);
    loop_timer_set(&mm1->loop.loop, &mm1->arrival, 0);
    loop_run(&mm1->loop.loop, TIME_NEVER);
    evaluate(mm1, result);
    virtual_loop_deinit(&mm1->loop);
    free(mm1->waiting);
    free(mm1);
}
