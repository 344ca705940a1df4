/* actor_loop_test.c - pauses, deaths and wrong clocks. */
#include "sim/actor_loop.h"

#include "sim/virtual_loop.h"
#include "tests/harness.h"

struct bench {
    struct virtual_loop loop;
    struct actor_loop actor;
    struct timer timers[3];
    int fired[3]; /* in which order; 0: not */
    int count;
    int64_t fired_ns; /* by the inner clock, the last */
};

static void fire(struct timer *timer, void *context)
{
    struct bench *bench = context;
    bench->fired[timer - bench->timers] = ++bench->count;
    bench->fired_ns = bench->loop.now_ns;
}

static void bench_open(struct bench *bench, int64_t offset_ns)
{
    *bench = (struct bench){0};
    virtual_loop_init(&bench->loop, EVENT_QUEUE_HEAP);
    actor_loop_init(&bench->actor, &bench->loop.loop, offset_ns);
    for (int i = 0; i < 3; i++)
        timer_init(&bench->timers[i], fire, bench);
}

static void set(struct bench *bench, int index, int64_t after_ns)
{
    struct loop *loop = &bench->actor.loop;
    loop_timer_set(loop, &bench->timers[index], loop_now(loop) + after_ns);
}

static void bench_close(struct bench *bench)
{
    actor_loop_deinit(&bench->actor);
    virtual_loop_deinit(&bench->loop);
}

static void timers_fire_in_their_order(void)
{
    struct bench bench;
    bench_open(&bench, 1000);
    set(&bench, 0, 20);
    set(&bench, 1, 10);
    set(&bench, 2, 10);
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT(bench.fired[1] == 1 && bench.fired[2] == 2 && bench.fired[0] == 3);
    CU_ASSERT_EQUAL(loop_now(&bench.actor.loop), 1020);
    bench_close(&bench);
}

static void a_pause_holds_timers_back(void)
{
    struct bench bench;
    bench_open(&bench, 0);
    set(&bench, 0, 20);
    set(&bench, 1, 10);
    actor_loop_pause(&bench.actor);
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench.count, 0);
    bench.loop.now_ns = 100;
    actor_loop_resume(&bench.actor);
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT(bench.fired[1] == 1 && bench.fired[0] == 2 && bench.fired_ns == 100);
    bench_close(&bench);
}

static void the_dead_do_nothing(void)
{
    struct bench bench;
    bench_open(&bench, 0);
    set(&bench, 0, 20);
    actor_loop_kill(&bench.actor);
    CU_ASSERT_EQUAL(bench.timers[0].slot, 0);
    set(&bench, 1, 20);
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench.count, 0);
    bench_close(&bench);
}

static void the_clock_never_runs_backwards(void)
{
    struct bench bench;
    bench_open(&bench, 0);
    set(&bench, 0, 100);
    actor_loop_jump(&bench.actor, 60);
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench.fired_ns, 40);
    actor_loop_jump(&bench.actor, -1000);
    CU_ASSERT_EQUAL(loop_now(&bench.actor.loop), 100);
    set(&bench, 1, 5); /* when the clock, which stands still until 1040, shows 105 */
    loop_run(&bench.loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(bench.fired_ns, 1045);
    bench_close(&bench);
}

const struct harness_test actor_loop_tests[] = {
    HARNESS_TEST(timers_fire_in_their_order),
    HARNESS_TEST(a_pause_holds_timers_back),
    HARNESS_TEST(the_dead_do_nothing),
    HARNESS_TEST(the_clock_never_runs_backwards),
    {0},
};
