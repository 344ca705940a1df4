/* event_queue_test.c - the heap beside its reference, and ties. */
#include "sim/event_queue.h"

#include <stdlib.h>

#include "core/random.h"
#include "tests/harness.h"

#define TIMERS 700
#define STEPS 200000

static void no_fire(struct timer *timer, void *context)
{
    (void)timer;
    (void)context;
}

/* One random step on both queues; times come from few values, so that ties are common. */
static bool step(struct event_queue *queues, struct timer timers[2][TIMERS],
                 struct random_stream *stream, int64_t *now_ns)
{
    size_t which = random_next(stream) % TIMERS;
    uint64_t action = random_next(stream) % 8;
    if (action < 4) {
        int64_t at_ns = *now_ns + (int64_t)(random_next(stream) % 50);
        for (size_t i = 0; i < 2; i++)
            event_queue_set(&queues[i], &timers[i][which], at_ns);
        return true;
    }
    if (action == 4) {
        for (size_t i = 0; i < 2; i++)
            if (timers[i][which].slot != 0)
                event_queue_cancel(&queues[i], &timers[i][which]);
        return event_queue_count(&queues[0]) == event_queue_count(&queues[1]);
    }
    int64_t until_ns = *now_ns + (int64_t)(random_next(stream) % 20);
    struct timer *first = event_queue_pop(&queues[0], until_ns);
    struct timer *second = event_queue_pop(&queues[1], until_ns);
    if (first == NULL || second == NULL) {
        *now_ns = until_ns;
        return first == second;
    }
    *now_ns = first->at_ns;
    return first - timers[0] == second - timers[1] && first->slot == 0 && second->slot == 0;
}

static void random_schedules_equal_the_reference(void)
{
    static struct timer timers[2][TIMERS];
    struct event_queue queues[2];
    event_queue_init(&queues[0], EVENT_QUEUE_HEAP);
    event_queue_init(&queues[1], EVENT_QUEUE_REFERENCE);
    for (size_t i = 0; i < TIMERS; i++) {
        timer_init(&timers[0][i], no_fire, NULL);
        timer_init(&timers[1][i], no_fire, NULL);
    }
    struct random_stream stream = random_stream_make(7, 1);
    int64_t now_ns = 0;
    unsigned differences = 0;
    for (size_t i = 0; i < STEPS; i++)
        differences += step(queues, timers, &stream, &now_ns) ? 0 : 1;
    CU_ASSERT_EQUAL(differences, 0);
    CU_ASSERT_EQUAL(event_queue_count(&queues[0]), event_queue_count(&queues[1]));
    event_queue_deinit(&queues[0]);
    event_queue_deinit(&queues[1]);
}

static void ties_pop_in_the_order_of_setting(void)
{
    static struct timer timers[100];
    for (int kind = EVENT_QUEUE_HEAP; kind <= EVENT_QUEUE_REFERENCE; kind++) {
        struct event_queue queue;
        event_queue_init(&queue, (enum event_queue_kind)kind);
        for (size_t i = 0; i < 100; i++) {
            timer_init(&timers[i], no_fire, NULL);
            event_queue_set(&queue, &timers[i], 5);
        }
        event_queue_set(&queue, &timers[0], 5); /* setting again moves it behind the others */
        unsigned wrong = 0;
        for (size_t i = 1; i <= 100; i++)
            wrong += event_queue_pop(&queue, 5) == &timers[i % 100] ? 0 : 1;
        CU_ASSERT_EQUAL(wrong, 0);
        CU_ASSERT_PTR_NULL(event_queue_pop(&queue, TIME_NEVER));
        event_queue_deinit(&queue);
    }
}

static void nothing_pops_before_its_time(void)
{
    struct event_queue queue;
    struct timer timer;
    event_queue_init(&queue, EVENT_QUEUE_HEAP);
    timer_init(&timer, no_fire, NULL);
    event_queue_set(&queue, &timer, 10);
    CU_ASSERT_PTR_NULL(event_queue_pop(&queue, 9));
    CU_ASSERT_PTR_EQUAL(event_queue_pop(&queue, 10), &timer);
    CU_ASSERT_EQUAL(event_queue_count(&queue), 0);
    event_queue_deinit(&queue);
}

const struct harness_test event_queue_tests[] = {
    HARNESS_TEST(random_schedules_equal_the_reference),
    HARNESS_TEST(ties_pop_in_the_order_of_setting),
    HARNESS_TEST(nothing_pops_before_its_time),
    {0},
};
