/* consumer_driver_test.c - what the observer hears, and what it may ask for from a callback. */
#include "core/consumer_driver.h"

#include "tests/core/rank_rig.h"
#include "tests/harness.h"

static const struct tgb_mesh mesh_4 = {.data = 4, .context = 1};

static void observer_hears_of_every_request(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_BYTES);
    rig_commit(&rig, 20);
    rig_script(&rig, (struct rule){.kind = READ_TGB, .times = 3, ANSWER(STORE_UNKNOWN)});
    struct rank rank;
    struct consumer_options options = rig_options(&rig, 0);
    rank_open(&rank, &rig, &options);
    rank.checkpoint_every = 3;
    rank_start(&rank);
    rank_until_taken(&rank, 20);
    consumer_driver_stop(rank.driver);
    rank_until_ended(&rank);
    const struct consumer_counters *counters = &rank_machine(&rank)->counters;
    uint64_t requests = 0;
    for (int i = 0; i < CONSUMER_REQUEST_COUNT; i++) {
        CU_ASSERT_EQUAL(rank.answers[i], counters->requests[i]);
        requests += rank.answers[i];
    }
    CU_ASSERT_EQUAL(requests, scripted_store_requests(rig.store, ANY_REQUEST));
    CU_ASSERT_EQUAL(counters->requests[CONSUMER_REQUEST_SLICE], 23);
    CU_ASSERT_EQUAL(rank.slice_wait_ns, 10 * NS_PER_MS);
    CU_ASSERT_EQUAL(counters->bytes[CONSUMER_REQUEST_CHAIN], manifest_encoded_bytes(rig.newest));
    rank_close(&rank);
    rig_deinit(&rig);
}

/* A driver that is told to do things from inside its callbacks. */
struct puppet {
    struct rig rig;
    struct rank rank;
    struct consumer_observer plain; /* the rig's */
    struct consumer_observer observer;
    uint64_t stop_at; /* in the callback of this step */
    bool stop_when_running;
    bool stop_in_save;
    bool close_at_end;
};

static void puppet_running(void *context, uint32_t consumer, uint64_t step)
{
    struct puppet *puppet = context;
    puppet->plain.running(&puppet->rank, consumer, step);
    if (puppet->stop_when_running)
        consumer_driver_stop(puppet->rank.driver);
}

static void puppet_ready(void *context, uint32_t consumer, const struct consumer_delivery *delivery)
{
    struct puppet *puppet = context;
    uint64_t step = delivery->step;
    puppet->plain.ready(&puppet->rank, consumer, delivery);
    if (step == puppet->stop_at)
        consumer_driver_stop(puppet->rank.driver);
}

static void puppet_save(void *context, uint32_t consumer, const struct checkpoint_set *checkpoints)
{
    struct puppet *puppet = context;
    puppet->plain.save(&puppet->rank, consumer, checkpoints);
    if (puppet->stop_in_save)
        consumer_driver_stop(puppet->rank.driver);
}

static void puppet_checkpointed(void *context, uint32_t consumer, uint64_t step)
{
    struct puppet *puppet = context;
    puppet->plain.checkpointed(&puppet->rank, consumer, step);
}

static void puppet_request(void *context, uint32_t consumer, const struct consumer_answer *answer)
{
    struct puppet *puppet = context;
    puppet->plain.request(&puppet->rank, consumer, answer);
}

static void puppet_ended(void *context, uint32_t consumer, enum consumer_end end, const char *text)
{
    struct puppet *puppet = context;
    puppet->plain.ended(&puppet->rank, consumer, end, text);
    if (puppet->close_at_end)
        rank_close(&puppet->rank);
}

/* Until it ends. */
static void run(struct puppet *puppet)
{
    rig_init(&puppet->rig, mesh_4, BODY_LENGTH);
    rig_commit(&puppet->rig, 200);
    struct consumer_options options = rig_options(&puppet->rig, 0);
    rank_open(&puppet->rank, &puppet->rig, &options);
    puppet->rank.checkpoint_every = 7;
    puppet->plain = puppet->rank.observer;
    puppet->rank.observer = (struct consumer_observer){.context = puppet,
                                                       .running = puppet_running,
                                                       .ready = puppet_ready,
                                                       .save = puppet_save,
                                                       .checkpointed = puppet_checkpointed,
                                                       .request = puppet_request,
                                                       .ended = puppet_ended};
    rank_start(&puppet->rank);
    rank_until_ended(&puppet->rank);
    CU_ASSERT_EQUAL(puppet->rank.end, CONSUMER_STOPPED);
    CU_ASSERT_FALSE(manual_loop_step(&puppet->rig.loop));
    if (!puppet->close_at_end)
        rank_close(&puppet->rank);
    rig_deinit(&puppet->rig);
}

static void observer_may_stop_from_any_callback(void)
{
    struct puppet running = {.stop_when_running = true};
    run(&running);
    CU_ASSERT_EQUAL(running.rank.taken, 0);
    struct puppet ready = {.stop_at = 33};
    run(&ready);
    CU_ASSERT_EQUAL(ready.rank.taken, 33);
    struct puppet save = {.stop_in_save = true};
    run(&save);
    CU_ASSERT_EQUAL(save.rig.saves, 1);
    CU_ASSERT(save.rank.taken >= 6);
}

static void observer_may_close_when_it_has_ended(void)
{
    struct puppet ready = {.stop_at = 50, .close_at_end = true};
    run(&ready);
    struct puppet running = {.stop_when_running = true, .close_at_end = true};
    run(&running);
}

static void stop_before_anything_was_answered(void)
{
    struct rig rig;
    rig_init(&rig, mesh_4, BODY_LENGTH);
    struct rank rank;
    rank_begin(&rank, &rig, 0);
    consumer_driver_stop(rank.driver);
    CU_ASSERT_FALSE(rank.ended); /* a request is under way */
    rank_until_ended(&rank);
    CU_ASSERT_EQUAL(scripted_store_requests(rig.store, ANY_REQUEST), 1);
    rank_close(&rank);
    rig_deinit(&rig);
}

const struct harness_test consumer_driver_tests[] = {
    HARNESS_TEST(observer_hears_of_every_request),
    HARNESS_TEST(observer_may_stop_from_any_callback),
    HARNESS_TEST(observer_may_close_when_it_has_ended),
    HARNESS_TEST(stop_before_anything_was_answered),
    {0},
};
