/* batch_queue_test.c - the ring beside a plain array; readiness; its maximum. */
#include "core/batch_queue.h"

#include "core/random.h"
#include "tests/harness.h"

static struct batch batch_of(uint64_t sequence)
{
    return (struct batch){.sequence = sequence, .end_offset = 10 * sequence, .bytes = 10};
}

static void only_the_uploaded_front_is_ready(void)
{
    struct batch_queue queue;
    batch_queue_init(&queue);
    for (uint64_t i = 5; i < 9; i++) {
        struct batch batch = batch_of(i);
        *batch_queue_push(&queue, batch.sequence) = batch;
    }
    batch_queue_uploaded(&queue, 6, 66);
    batch_queue_uploaded(&queue, 8, 88);
    CU_ASSERT_EQUAL(queue.ready, 0);
    batch_queue_uploaded(&queue, 5, 55);
    CU_ASSERT_EQUAL(queue.ready, 2);
    batch_queue_uploaded(&queue, 7, 77);
    CU_ASSERT_EQUAL(queue.ready, 4);
    struct batch front = batch_queue_pop(&queue);
    CU_ASSERT_EQUAL(front.sequence, 5);
    CU_ASSERT_EQUAL(front.checksum, 55);
    CU_ASSERT_EQUAL(queue.ready, 3);
    CU_ASSERT_PTR_NULL(batch_queue_find(&queue, 5));
    CU_ASSERT_PTR_NULL(batch_queue_find(&queue, 9));
    CU_ASSERT_EQUAL(batch_queue_find(&queue, 8)->checksum, 88);
    batch_queue_deinit(&queue);
    CU_ASSERT_PTR_NULL(batch_queue_find(&queue, 6));
}

static void random_steps_equal_a_plain_array(void)
{
    static bool uploaded[200000];
    struct batch_queue queue;
    struct random_stream stream = random_stream_make(1, 1);
    batch_queue_init(&queue);
    uint64_t first = 1;
    uint64_t next = 1;
    for (int i = 0; i < 200000; i++) {
        uint64_t action = random_next(&stream) % 8;
        if (action < 3 && queue.count < 300) {
            struct batch batch = batch_of(next++);
            *batch_queue_push(&queue, batch.sequence) = batch;
        } else if (action < 7 && next > first) {
            uint64_t sequence = first + random_next(&stream) % (next - first);
            if (!uploaded[sequence])
                batch_queue_uploaded(&queue, sequence, sequence);
            uploaded[sequence] = true;
        }
        while (action == 7 && next > first && uploaded[first]) {
            CU_ASSERT_EQUAL(batch_queue_pop(&queue).sequence, first);
            first++;
        }
        CU_ASSERT_EQUAL(queue.count, next - first);
        uint64_t ready = first;
        while (ready < next && uploaded[ready])
            ready++;
        CU_ASSERT_EQUAL(queue.ready, ready - first);
    }
    batch_queue_deinit(&queue);
}

static void holds_exactly_its_maximum(void)
{
    struct batch_queue queue;
    batch_queue_init(&queue);
    for (uint64_t i = 1; i <= PRODUCER_PENDING_MAX; i++) {
        CU_ASSERT_FALSE(batch_queue_full(&queue));
        struct batch batch = batch_of(i);
        *batch_queue_push(&queue, batch.sequence) = batch;
    }
    CU_ASSERT_TRUE(batch_queue_full(&queue));
    CU_ASSERT_EQUAL(batch_queue_at(&queue, PRODUCER_PENDING_MAX - 1)->sequence,
                    PRODUCER_PENDING_MAX);
    batch_queue_deinit(&queue);
}

const struct harness_test batch_queue_tests[] = {
    HARNESS_TEST(only_the_uploaded_front_is_ready),
    HARNESS_TEST(random_steps_equal_a_plain_array),
    HARNESS_TEST(holds_exactly_its_maximum),
    {0},
};
