/* live_request_test.c - requests that are sent again, on a store that answers as it is told. */
#include "experiments/live/live_request.h"

#include <stdio.h>

#include "tests/harness.h"

/* Answers `failure` so many times, then OK. */
struct reluctant_store {
    struct store store;
    struct loop *loop;
    struct timer timer;
    struct store_op *op;
    enum store_outcome failure;
    uint32_t failures;
    uint32_t requests;
    int64_t first_ns;
    int64_t last_ns;
};

static void answer(struct timer *timer, void *context)
{
    struct reluctant_store *store = context;
    struct store_op *op = store->op;
    (void)timer;
    store->last_ns = loop_now(store->loop);
    if (store->requests++ == 0)
        store->first_ns = store->last_ns;
    op->outcome = store->requests <= store->failures ? store->failure : STORE_OK;
    if (op->outcome == STORE_UNKNOWN)
        snprintf(op->error, sizeof(op->error), "no answer %u", store->requests);
    op->done(op, op->context);
}

static void reluctant_submit(struct store *base, struct store_op *op)
{
    struct reluctant_store *store = (struct reluctant_store *)base;
    store->op = op;
    loop_timer_set(store->loop, &store->timer, 0);
}

static const struct store_ops reluctant_ops = {.submit = reluctant_submit};

/* The outcome of one request. */
static enum store_outcome request(struct reluctant_store *store, int64_t patience_ns)
{
    char error[STORE_ERROR_MAX] = "";
    struct live_session session = {.bytes = &store->store, .patience_ns = patience_ns};
    struct live_loop_options options = {.workers = 1};
    enum open_result opened = live_loop_open(&options, &session.loop, error);
    CU_ASSERT_EQUAL_FATAL(opened, OPEN_OK);
    store->store.ops = &reluctant_ops;
    store->loop = live_session_loop(&session);
    timer_init(&store->timer, answer, store);
    struct store_op op;
    store_op_init(&op);
    live_request(&session, &op);
    enum store_outcome outcome = op.outcome;
    CU_ASSERT_EQUAL(op.error[0] != '\0', outcome == STORE_UNKNOWN);
    store_op_deinit(&op);
    live_loop_close(session.loop);
    return outcome;
}

static void answers_that_say_nothing_are_asked_for_again(void)
{
    static const enum store_outcome failures[] = {STORE_UNKNOWN, STORE_BUSY, STORE_THROTTLED};
    for (size_t i = 0; i < HARNESS_COUNT(failures); i++) {
        struct reluctant_store store = {.failure = failures[i], .failures = 3};
        CU_ASSERT_EQUAL(request(&store, 0), STORE_OK);
        CU_ASSERT_EQUAL(store.requests, 4);
    }
}

static void refusals_are_final(void)
{
    static const enum store_outcome failures[] = {STORE_FAILED, STORE_EXISTS, STORE_NOT_FOUND};
    for (size_t i = 0; i < HARNESS_COUNT(failures); i++) {
        struct reluctant_store store = {.failure = failures[i], .failures = 3};
        CU_ASSERT_EQUAL(request(&store, 0), failures[i]);
        CU_ASSERT_EQUAL(store.requests, 1);
    }
}

/* Without back-off there would be thousands of requests. */
static void patience_ends_and_backs_off(void)
{
    struct reluctant_store store = {.failure = STORE_UNKNOWN, .failures = UINT32_MAX};
    CU_ASSERT_EQUAL(request(&store, 400 * NS_PER_MS), STORE_UNKNOWN);
    CU_ASSERT(store.requests >= 2 && store.requests < 100);
    CU_ASSERT(store.last_ns - store.first_ns < 5 * NS_PER_S);
}

const struct harness_test live_request_tests[] = {
    HARNESS_TEST(answers_that_say_nothing_are_asked_for_again),
    HARNESS_TEST(refusals_are_final),
    HARNESS_TEST(patience_ends_and_backs_off),
    {0},
};
