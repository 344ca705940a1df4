/* driver_test.c - effects in their order, and callbacks that stop or close the driver. */
#include "core/driver.h"

#include <stdbool.h>
#include <stdlib.h>

#include "tests/core/world.h"
#include "tests/harness.h"

struct watcher {
    struct driver *driver;
    struct random_stream random;
    uint64_t attempts;
    uint64_t visible;
    uint64_t requests;
    uint64_t bytes;
    bool stop_at_attempt;
    bool stop_at_visible;
    bool close_at_end;
    bool ended;
};

static void on_attempt(void *context, uint32_t producer, const struct attempt *attempt,
                       const struct attempt_detail *detail)
{
    (void)attempt;
    (void)detail;
    struct watcher *watcher = context;
    CU_ASSERT_EQUAL(producer, 3);
    watcher->attempts++;
    if (watcher->stop_at_attempt && watcher->attempts == 2)
        driver_stop(watcher->driver);
}

static void on_visible(void *context, uint32_t producer, const struct batch *batch,
                       int64_t visible_ns)
{
    (void)producer;
    struct watcher *watcher = context;
    CU_ASSERT_EQUAL(batch->sequence, watcher->visible + 1);
    CU_ASSERT(visible_ns > batch->made_ns);
    watcher->visible++;
    if (watcher->stop_at_visible)
        driver_stop(watcher->driver);
}

static void on_request(void *context, uint32_t producer, enum store_verb verb,
                       enum store_outcome outcome, uint64_t bytes)
{
    (void)producer;
    (void)outcome;
    struct watcher *watcher = context;
    watcher->requests++;
    watcher->bytes += verb == STORE_PUT ? bytes : 0;
}

static void on_ended(void *context, uint32_t producer, enum producer_end end, const char *text)
{
    (void)producer;
    (void)text;
    struct watcher *watcher = context;
    CU_ASSERT_FALSE(watcher->ended);
    CU_ASSERT_EQUAL(end, PRODUCER_STOPPED);
    watcher->ended = true;
    if (watcher->close_at_end) {
        driver_close(watcher->driver);
        watcher->driver = NULL;
    }
}

static void run(struct watcher *watcher, uint64_t batches_max)
{
    struct world *world = world_open(1);
    struct producer_options producer = world_options(world, 3);
    producer.batches_max = batches_max;
    producer.commit.incarnation.bytes[0] = 1;
    struct producer_observer observer = {.context = watcher,
                                         .attempt = on_attempt,
                                         .visible = on_visible,
                                         .request = on_request,
                                         .ended = on_ended};
    struct driver_options options = {.store = scripted_store_port(world->store),
                                     .loop = &world->loop.loop,
                                     .observer = &observer,
                                     .producer = &producer};
    watcher->driver = driver_open(&options);
    driver_start(watcher->driver);
    while (!watcher->ended && manual_loop_step(&world->loop))
        continue;
    CU_ASSERT_TRUE(watcher->ended);
    uint64_t requests = scripted_store_requests(world->store, ANY_REQUEST);
    while (manual_loop_step(&world->loop))
        continue;
    CU_ASSERT_EQUAL(scripted_store_requests(world->store, ANY_REQUEST), requests);
    CU_ASSERT_EQUAL(watcher->requests, requests);
    if (watcher->driver != NULL)
        driver_close(watcher->driver);
    world_close(world);
}

static void observer_hears_of_every_request_and_batch(void)
{
    struct watcher watcher = {0};
    run(&watcher, 10);
    CU_ASSERT_EQUAL(watcher.visible, 10);
    CU_ASSERT_EQUAL(watcher.bytes, 10 * BATCH_BYTES);
}

static void observer_may_stop_from_any_callback(void)
{
    struct watcher at_attempt = {.stop_at_attempt = true};
    run(&at_attempt, 0);
    CU_ASSERT_EQUAL(at_attempt.attempts, 2);
    struct watcher at_visible = {.stop_at_visible = true};
    run(&at_visible, 0);
    CU_ASSERT_EQUAL(at_visible.attempts, 2);
}

static void observer_may_close_when_it_has_ended(void)
{
    struct watcher watcher = {.close_at_end = true};
    run(&watcher, 5);
    CU_ASSERT_EQUAL(watcher.visible, 5);
    struct watcher stopped = {.close_at_end = true, .stop_at_visible = true};
    run(&stopped, 0);
}

static void stop_before_anything_happened_ends_at_once(void)
{
    struct world *world = world_open(2);
    struct machine *machine = world_start(world, 0);
    driver_stop(machine->driver);
    CU_ASSERT_TRUE(machine->ended);
    CU_ASSERT_EQUAL(scripted_store_requests(world->store, ANY_REQUEST), 0);
    driver_stop(machine->driver);
    world_close(world);
}

const struct harness_test driver_tests[] = {
    HARNESS_TEST(observer_hears_of_every_request_and_batch),
    HARNESS_TEST(observer_may_stop_from_any_callback),
    HARNESS_TEST(observer_may_close_when_it_has_ended),
    HARNESS_TEST(stop_before_anything_happened_ends_at_once),
    {0},
};
