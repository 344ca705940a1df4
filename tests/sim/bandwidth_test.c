/* bandwidth_test.c - processor sharing beside its reference, to the nanosecond, and beside hand
 * calculations. */
#include "sim/bandwidth.h"

#include <stdlib.h>

#include "core/random.h"
#include "sim/virtual_loop.h"
#include "tests/harness.h"

#define FLOWS 4000
#define GB 1.0e9

/* One link on a loop of its own with flows that start at given times and note when they end. */
struct transfer {
    struct bench *bench;
    struct timer start;
    struct flow flow;
    uint64_t bytes;
    int64_t ended_ns;
    bool lazy; /* asks later instead of waiting at once */
    bool drops;
    struct timer look;
};

struct bench {
    struct virtual_loop loop;
    struct link link;
    struct transfer transfers[FLOWS];
};

static void ended(struct flow *flow)
{
    struct transfer *transfer = flow->user;
    transfer->ended_ns = transfer->bench->loop.now_ns;
}

static void look(struct timer *timer, void *context)
{
    (void)timer;
    struct transfer *transfer = context;
    struct link *link = &transfer->bench->link;
    if (transfer->drops)
        link_drop(link, &transfer->flow);
    else if (link_finished(link, &transfer->flow))
        transfer->ended_ns = transfer->bench->loop.now_ns;
    else
        link_await(link, &transfer->flow);
}

static void start(struct timer *timer, void *context)
{
    struct transfer *transfer = context;
    link_start(&transfer->bench->link, &transfer->flow, transfer->bytes);
    int64_t wait_ns = transfer->lazy ? (int64_t)transfer->bytes / 2 : 0;
    loop_timer_set(&transfer->bench->loop.loop, &transfer->look, timer->at_ns + wait_ns);
}

static struct bench *bench_open(enum link_kind kind, double bytes_per_s)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    virtual_loop_init(&bench->loop, EVENT_QUEUE_HEAP);
    struct link_options options = {
        .loop = &bench->loop.loop, .kind = kind, .bytes_per_s = bytes_per_s, .done = ended};
    link_init(&bench->link, &options);
    return bench;
}

static void bench_add(struct bench *bench, size_t index, int64_t at_ns, uint64_t bytes)
{
    struct transfer *transfer = &bench->transfers[index];
    transfer->bench = bench;
    transfer->bytes = bytes;
    transfer->ended_ns = -1;
    transfer->flow.user = transfer;
    timer_init(&transfer->start, start, transfer);
    timer_init(&transfer->look, look, transfer);
    loop_timer_set(&bench->loop.loop, &transfer->start, at_ns);
}

static void bench_close(struct bench *bench)
{
    link_deinit(&bench->link);
    virtual_loop_deinit(&bench->loop);
    free(bench);
}

static struct bench *random_bench(enum link_kind kind, uint64_t seed, double load)
{
    struct bench *bench = bench_open(kind, GB);
    struct random_stream stream = random_stream_make(seed, 0);
    int64_t at_ns = 0;
    for (size_t i = 0; i < FLOWS; i++) {
        uint64_t bytes = random_next(&stream) % 8 == 0 ? 4096 : random_next(&stream) % 100000;
        bench_add(bench, i, at_ns, bytes);
        bench->transfers[i].lazy = random_next(&stream) % 2 == 0;
        bench->transfers[i].drops = random_next(&stream) % 50 == 0;
        if (random_next(&stream) % 8 != 0) /* else at the same instant */
            at_ns += (int64_t)(random_unit(&stream) * 100000.0 / load);
    }
    loop_run(&bench->loop.loop, TIME_NEVER);
    return bench;
}

static void times_equal_the_reference(void)
{
    const double loads[] = {0.3, 0.9, 3.0};
    for (size_t l = 0; l < HARNESS_COUNT(loads); l++) {
        struct bench *fast = random_bench(LINK_VIRTUAL_TIME, l, loads[l]);
        struct bench *slow = random_bench(LINK_REFERENCE, l, loads[l]);
        unsigned differences = 0;
        unsigned ends = 0;
        for (size_t i = 0; i < FLOWS; i++) {
            differences += fast->transfers[i].ended_ns == slow->transfers[i].ended_ns ? 0 : 1;
            ends += fast->transfers[i].ended_ns >= 0 ? 1 : 0;
        }
        CU_ASSERT_EQUAL(differences, 0);
        CU_ASSERT_EQUAL(fast->loop.digest, slow->loop.digest);
        CU_ASSERT_TRUE(ends > FLOWS * 9 / 10);
        bench_close(fast);
        bench_close(slow);
    }
}

static void two_overlapping_flows(void)
{
    /* 1 byte a ns. A: 1,000 bytes at 0; B: 1,000 at 500. Both are served at half the rate from 500
     * on; A lacks 500 and ends at 1,500; B lacks 500 then and ends at 2,000. */
    struct bench *bench = bench_open(LINK_VIRTUAL_TIME, GB);
    bench_add(bench, 0, 0, 1000);
    bench_add(bench, 1, 500, 1000);
    loop_run(&bench->loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench->transfers[0].ended_ns, 1500);
    CU_ASSERT_EQUAL(bench->transfers[1].ended_ns, 2000);
    bench_close(bench);
}

static void many_equal_flows_end_together(void)
{
    struct bench *bench = bench_open(LINK_VIRTUAL_TIME, GB);
    for (size_t i = 0; i < 100; i++)
        bench_add(bench, i, 0, 1000);
    loop_run(&bench->loop.loop, TIME_NEVER);
    for (size_t i = 0; i < 100; i++)
        CU_ASSERT_EQUAL(bench->transfers[i].ended_ns, 100000);
    bench_close(bench);
}

static void work_is_conserved(void)
{
    /* The link never idles while it has work: the last end is the sum of all work. */
    struct bench *bench = bench_open(LINK_VIRTUAL_TIME, GB);
    uint64_t bytes = 0;
    for (size_t i = 0; i < FLOWS; i++) {
        bench_add(bench, i, (int64_t)i, 1000 + i);
        bytes += 1000 + i;
    }
    loop_run(&bench->loop.loop, TIME_NEVER);
    CU_ASSERT_TRUE(llabs(bench->loop.now_ns - (int64_t)bytes) <= 50);
    bench_close(bench);
}

static void unlimited_links_cost_no_event(void)
{
    struct bench *bench = bench_open(LINK_VIRTUAL_TIME, 0.0);
    bench_add(bench, 0, 10, 1000000);
    loop_run(&bench->loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench->transfers[0].ended_ns, 10);
    CU_ASSERT_EQUAL(bench->loop.handled, 2);
    bench_close(bench);
}

static void nobody_waits_no_event(void)
{
    struct bench *bench = bench_open(LINK_VIRTUAL_TIME, GB);
    bench_add(bench, 0, 0, 1000000);
    bench->transfers[0].lazy = true;
    bench_add(bench, 1, 2000000, 1000);
    bench->transfers[1].lazy = true;
    loop_run(&bench->loop.loop, TIME_NEVER);
    /* Asked at half time, the first waited for its end; the second's answer came in time. */
    CU_ASSERT_EQUAL(bench->transfers[0].ended_ns, 1000000);
    CU_ASSERT_EQUAL(bench->transfers[1].ended_ns, 2001000);
    bench_close(bench);
}

const struct harness_test bandwidth_tests[] = {
    HARNESS_TEST(times_equal_the_reference),
    HARNESS_TEST(two_overlapping_flows),
    HARNESS_TEST(many_equal_flows_end_together),
    HARNESS_TEST(work_is_conserved),
    HARNESS_TEST(unlimited_links_cost_no_event),
    HARNESS_TEST(nobody_waits_no_event),
    {0},
};
