/* probe_test.c - what a probe says of stores: of one that keeps its word, and of those that break
 * it, each in one way. All in virtual time. */
#include "experiments/probe/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/virtual_store.h"
#include "tests/harness.h"

#define ROUNDS 6

/* ---- a store with a flaw ---- */

enum flaw {
    FLAW_NONE,
    FLAW_IGNORES_HEADER, /* every create replaces */
    FLAW_NO_CREATES,     /* 501 */
    FLAW_TWO_WIN,        /* one create, in the race, replaces */
    FLAW_LOSES_WINNER,   /* stores something else than the winner sent */
    FLAW_LATE_WINNER,    /* in the race, who wins is told that the key exists */
    FLAW_BUSY,           /* the first creates of the race are not decided */
    FLAW_ANSWERS_LOST,   /* every second create is applied, and not answered */
    FLAW_NOBODY_WINS,    /* creates of the race are refused */
    FLAW_IGNORES_RANGE,
    FLAW_FAILS_PAST_END,
    FLAW_IGNORES_AFTER,
    FLAW_LISTS_SHORT, /* says of every page that it is the last */
    FLAW_LISTS_LATE,  /* what was just written is not listed */
    FLAW_KEEPS_DELETED,
    FLAW_NO_DELETES,
    FLAW_SHORT_KEYS,
    FLAW_UNREACHABLE,
    FLAW_INTERRUPTED, /* not a flaw: the user gives up during the race */
};

struct flawed {
    struct store store;
    struct store *inner;
    enum flaw flaw;
    bool interrupted;
    uint32_t creates; /* in the race */
    uint64_t puts;
};

/* One operation, while the inner store has it. */
struct flawed_call {
    struct flawed *flawed;
    void (*done)(struct store_op *op, void *context);
    void *context;
    enum store_verb verb;
    uint64_t range_offset;
    uint64_t range_bytes;
    struct body body;
    char after[STORE_KEY_MAX];
    bool answers; /* `outcome`, whatever the inner store says */
    enum store_outcome outcome;
    const char *error;
};

static void answer(struct flawed_call *call, enum store_outcome outcome, const char *error)
{
    call->answers = true;
    call->outcome = outcome;
    call->error = error;
}

static void spoil_answer(struct flawed *flawed, struct flawed_call *call, struct store_op *op)
{
    bool race = strstr(op->key, "/race/") != NULL;
    if (flawed->flaw == FLAW_LATE_WINNER && race && call->verb == STORE_PUT_IF_ABSENT)
        op->outcome = STORE_EXISTS;
    if (flawed->flaw == FLAW_LISTS_SHORT)
        op->page.truncated = false;
    if (flawed->flaw == FLAW_LISTS_LATE && strstr(op->key, "/fresh/5") != NULL)
        op->page.count = 0;
    if (call->answers) {
        store_op_release(op);
        op->outcome = call->outcome;
        snprintf(op->error, sizeof(op->error), "%s", call->error);
    }
}

static void on_inner_done(struct store_op *op, void *context)
{
    struct flawed_call *call = context;
    op->verb = call->verb;
    op->range_offset = call->range_offset;
    op->range_bytes = call->range_bytes;
    op->body = call->body;
    memcpy(op->after, call->after, sizeof(op->after));
    op->done = call->done;
    op->context = call->context;
    spoil_answer(call->flawed, call, op);
    free(call);
    op->done(op, op->context);
}

/* Changes a create of the race before it is applied. */
static void spoil_race(struct flawed *flawed, struct flawed_call *call, struct store_op *op)
{
    static uint8_t other[] = "nobody's";
    uint32_t number = flawed->creates++;
    if (flawed->flaw == FLAW_INTERRUPTED && number == PROBE_WRITERS + 1)
        flawed->interrupted = true;
    if (flawed->flaw == FLAW_TWO_WIN && number == 2 * PROBE_WRITERS + 20)
        op->verb = STORE_PUT;
    if (flawed->flaw == FLAW_LOSES_WINNER)
        op->body = (struct body){.kind = BODY_BYTES, .bytes = sizeof(other), .data = other};
    if (flawed->flaw == FLAW_BUSY && number < 2 * PROBE_WRITERS) {
        op->verb = STORE_GET;
        answer(call, STORE_BUSY, "");
    }
    if (flawed->flaw == FLAW_NOBODY_WINS) {
        op->verb = STORE_GET;
        answer(call, STORE_EXISTS, "");
    }
}

static void spoil_create(struct flawed *flawed, struct flawed_call *call, struct store_op *op)
{
    if (flawed->flaw == FLAW_IGNORES_HEADER)
        op->verb = STORE_PUT;
    if (flawed->flaw == FLAW_NO_CREATES) {
        op->verb = STORE_GET;
        answer(call, STORE_FAILED, "501 NotImplemented from http://s: no conditional creates");
    }
    if (flawed->flaw == FLAW_ANSWERS_LOST && flawed->puts++ % 2 == 0)
        answer(call, STORE_UNKNOWN, "no answer in time");
    if (strstr(op->key, "/race/") != NULL)
        spoil_race(flawed, call, op);
}

static void spoil_request(struct flawed *flawed, struct flawed_call *call, struct store_op *op)
{
    bool range = op->verb == STORE_GET && (op->range_offset > 0 || op->range_bytes > 0);
    if (op->verb == STORE_PUT_IF_ABSENT)
        spoil_create(flawed, call, op);
    if (range && flawed->flaw == FLAW_IGNORES_RANGE)
        op->range_offset = op->range_bytes = 0;
    if (range && flawed->flaw == FLAW_FAILS_PAST_END && op->range_offset >= 1000)
        answer(call, STORE_FAILED, "416 InvalidRange");
    if (flawed->flaw == FLAW_IGNORES_AFTER)
        op->after[0] = '\0';
    if (op->verb == STORE_DELETE && flawed->flaw == FLAW_KEEPS_DELETED) {
        op->verb = STORE_GET;
        answer(call, STORE_OK, "");
    }
    if (op->verb == STORE_DELETE && flawed->flaw == FLAW_NO_DELETES) {
        op->verb = STORE_GET;
        answer(call, STORE_FAILED, "403 AccessDenied: s3:DeleteObject");
    }
    if (flawed->flaw == FLAW_UNREACHABLE)
        answer(call, STORE_UNKNOWN, "no connection");
    if (op->verb == STORE_PUT && flawed->flaw == FLAW_SHORT_KEYS && strlen(op->key) > 100) {
        op->verb = STORE_GET;
        answer(call, STORE_FAILED, "400 KeyTooLongError");
    }
}

static void flawed_submit(struct store *store, struct store_op *op)
{
    struct flawed *flawed = (struct flawed *)store;
    struct flawed_call *call = calloc(1, sizeof(*call));
    assert(call != NULL);
    *call = (struct flawed_call){.flawed = flawed,
                                 .done = op->done,
                                 .context = op->context,
                                 .verb = op->verb,
                                 .range_offset = op->range_offset,
                                 .range_bytes = op->range_bytes,
                                 .body = op->body};
    memcpy(call->after, op->after, sizeof(call->after));
    spoil_request(flawed, call, op);
    op->done = on_inner_done;
    op->context = call;
    store_submit(flawed->inner, op);
}

static void flawed_close(struct store *store)
{
    (void)store;
}

/* ---- the world ---- */

struct world {
    struct virtual_loop loop;
    struct virtual_store *virtual_store;
    struct flawed flawed;
    struct probe_report report;
};

static void world_open(struct world *world, enum flaw flaw)
{
    static const struct store_ops ops = {.submit = flawed_submit, .close = flawed_close};
    struct virtual_store_options options = {.seed = 1, .apply_fraction = 0.5};
    memset(world, 0, sizeof(*world));
    virtual_loop_init(&world->loop, EVENT_QUEUE_HEAP);
    options.loop = &world->loop;
    for (size_t i = 0; i < STORE_VERB_COUNT; i++)
        options.latency[i] = (struct latency_options){
            .shape = LATENCY_LOGNORMAL, .base_ns = 20 * NS_PER_MS, .sigma = 0.3};
    world->virtual_store = virtual_store_open(&options);
    world->flawed = (struct flawed){
        .store = {&ops}, .inner = virtual_store_client(world->virtual_store, 1), .flaw = flaw};
}

static void world_close(struct world *world)
{
    store_close(world->flawed.inner);
    virtual_store_close(world->virtual_store);
    virtual_loop_deinit(&world->loop);
}

static const char *const names[] = {"http://a", "http://b"};

static struct probe_options options_of(struct world *world, struct store *const *stores,
                                       size_t count)
{
    return (struct probe_options){.loop = &world->loop.loop,
                                  .stores = stores,
                                  .names = names,
                                  .store_count = count,
                                  .rounds = ROUNDS,
                                  .seed = 42,
                                  .interrupted = &world->flawed.interrupted};
}

/* ---- tests ---- */

static void a_good_store_is_fit_and_left_empty(void)
{
    struct world world;
    world_open(&world, FLAW_NONE);
    struct store *stores[] = {&world.flawed.store, world.flawed.inner};
    struct probe_options options = options_of(&world, stores, 2);
    probe_run(&options, &world.report);
    CU_ASSERT(world.report.fit);
    CU_ASSERT_FALSE(world.report.interrupted);
    CU_ASSERT_STRING_EQUAL(world.report.prefix, "probe-000000000000002a/");
    for (unsigned i = 0; i < PROBE_CHECK_COUNT; i++) {
        const struct probe_result *result = &world.report.results[i];
        CU_ASSERT_EQUAL(result->verdict, i == PROBE_CLOCK ? PROBE_SKIPPED : PROBE_GOOD);
        CU_ASSERT(i == PROBE_CLOCK || result->took_ns > 0);
    }
    CU_ASSERT_PTR_NOT_NULL(
        strstr(world.report.results[PROBE_RACE].text, "6 rounds of 32 writers: one won each"));
    CU_ASSERT_EQUAL(virtual_store_objects(world.virtual_store), 0);
    world_close(&world);
}

static void flaws_are_found_and_named(void)
{
    static const struct {
        enum flaw flaw;
        enum probe_check check;
        enum probe_verdict verdict;
        const char *words;
    } cases[] = {
        {FLAW_IGNORES_HEADER, PROBE_CREATE, PROBE_UNFIT,
         "ignores If-None-Match: both of two creates on one key were accepted"},
        {FLAW_IGNORES_HEADER, PROBE_RACE, PROBE_UNFIT,
         "32 of 32 writers won one key, in round 1: the store ignores If-None-Match"},
        {FLAW_NO_CREATES, PROBE_CREATE, PROBE_UNFIT, "501 NotImplemented"},
        {FLAW_NO_CREATES, PROBE_RACE, PROBE_UNFIT, "501 NotImplemented"},
        {FLAW_TWO_WIN, PROBE_RACE, PROBE_UNFIT, "2 of 32 writers won one key, in round 3"},
        {FLAW_LOSES_WINNER, PROBE_RACE, PROBE_UNFIT, "no writer's body is stored"},
        {FLAW_LATE_WINNER, PROBE_RACE, PROBE_NOTED, "some who won were told that the key exists"},
        {FLAW_BUSY, PROBE_RACE, PROBE_GOOD, "64 answers decided nothing"},
        {FLAW_ANSWERS_LOST, PROBE_CREATE, PROBE_GOOD, "refused"},
        {FLAW_ANSWERS_LOST, PROBE_RACE, PROBE_GOOD, "96 answers decided nothing"},
        {FLAW_NOBODY_WINS, PROBE_RACE, PROBE_UNFIT, "nobody won a key, in round 1: 32 writers"},
        {FLAW_IGNORES_RANGE, PROBE_RANGE, PROBE_UNFIT, "a range of 1 bytes at 0, of 1000"},
        {FLAW_FAILS_PAST_END, PROBE_RANGE, PROBE_UNFIT, "416 InvalidRange"},
        {FLAW_IGNORES_AFTER, PROBE_LIST, PROBE_UNFIT, "a listing shows"},
        {FLAW_LISTS_SHORT, PROBE_LIST, PROBE_UNFIT, "a listing of 1001 keys ends after 1000"},
        {FLAW_LISTS_LATE, PROBE_FRESH, PROBE_UNFIT,
         "fresh/5 was just written, and a listing lacks"},
        {FLAW_KEEPS_DELETED, PROBE_DELETE, PROBE_UNFIT, "was deleted, and is still read"},
        {FLAW_NO_DELETES, PROBE_DELETE, PROBE_NOTED, "s3:DeleteObject"},
        {FLAW_NO_DELETES, PROBE_CLEAN, PROBE_NOTED, "are left below probe-000000000000002a/"},
        {FLAW_SHORT_KEYS, PROBE_KEYS, PROBE_UNFIT, "a key of 159 bytes"},
        {FLAW_UNREACHABLE, PROBE_REACH, PROBE_UNFIT, "no connection"},
        {FLAW_UNREACHABLE, PROBE_RACE, PROBE_SKIPPED, ""},
    };
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        struct world world;
        world_open(&world, cases[i].flaw);
        struct store *stores[] = {&world.flawed.store};
        struct probe_options options = options_of(&world, stores, 1);
        probe_run(&options, &world.report);
        const struct probe_result *result = &world.report.results[cases[i].check];
        bool unfit = probe_unfit(&world.report) < PROBE_CHECK_COUNT;
        if (result->verdict != cases[i].verdict || strstr(result->text, cases[i].words) == NULL)
            fprintf(stderr, "\ncase %zu: %s, '%s' lacks '%s'\n", i,
                    probe_verdict_name(result->verdict), result->text, cases[i].words);
        CU_ASSERT_EQUAL(result->verdict, cases[i].verdict);
        CU_ASSERT_PTR_NOT_NULL(strstr(result->text, cases[i].words));
        CU_ASSERT_EQUAL(world.report.fit, !unfit);
        CU_ASSERT(cases[i].verdict != PROBE_UNFIT || unfit);
        bool kept = cases[i].flaw == FLAW_NO_DELETES || cases[i].flaw == FLAW_KEEPS_DELETED;
        CU_ASSERT_EQUAL(virtual_store_objects(world.virtual_store) > 0, kept);
        world_close(&world);
    }
}

/* Two stores behind what is said to be one. */
static void endpoints_of_two_stores_are_found(void)
{
    struct world world;
    world_open(&world, FLAW_NONE);
    struct virtual_store_options other = {.seed = 2, .apply_fraction = 0.5, .loop = &world.loop};
    for (size_t i = 0; i < STORE_VERB_COUNT; i++)
        other.latency[i].base_ns = 20 * NS_PER_MS;
    struct virtual_store *second = virtual_store_open(&other);
    struct store *stores[] = {world.flawed.inner, virtual_store_client(second, 1)};
    struct probe_options options = options_of(&world, stores, 2);
    options.scope = PROBE_BRIEF;
    probe_run(&options, &world.report);
    CU_ASSERT_FALSE(world.report.fit);
    CU_ASSERT_EQUAL(probe_unfit(&world.report), PROBE_CREATE);
    const char *create = world.report.results[PROBE_CREATE].text;
    CU_ASSERT_PTR_NOT_NULL(strstr(create, "both of two creates on one key were accepted"));
    const char *race = world.report.results[PROBE_RACE].text;
    CU_ASSERT_PTR_NOT_NULL(strstr(race, "2 of 32 writers won one key, in round 1: http://"));
    CU_ASSERT_PTR_NOT_NULL(strstr(race, "do not heed each other's"));
    CU_ASSERT_EQUAL(world.report.results[PROBE_LIST].verdict, PROBE_SKIPPED);
    CU_ASSERT_EQUAL(virtual_store_objects(world.virtual_store), 0);
    CU_ASSERT_EQUAL(virtual_store_objects(second), 0);
    store_close(stores[1]);
    virtual_store_close(second);
    world_close(&world);
}

static void interruptions_clean_up(void)
{
    struct world world;
    world_open(&world, FLAW_INTERRUPTED);
    struct store *stores[] = {&world.flawed.store};
    struct probe_options options = options_of(&world, stores, 1);
    probe_run(&options, &world.report);
    CU_ASSERT(world.report.interrupted);
    CU_ASSERT_FALSE(world.report.fit);
    CU_ASSERT_EQUAL(probe_unfit(&world.report), PROBE_CHECK_COUNT);
    CU_ASSERT_EQUAL(world.report.results[PROBE_RANGE].verdict, PROBE_SKIPPED);
    CU_ASSERT_EQUAL(world.report.results[PROBE_CLEAN].verdict, PROBE_GOOD);
    CU_ASSERT_EQUAL(virtual_store_objects(world.virtual_store), 0);
    world_close(&world);
}

static int64_t an_hour_behind(const struct store *store)
{
    (void)store;
    return -3600 * NS_PER_S;
}

static void clocks_are_compared(void)
{
    struct world world;
    world_open(&world, FLAW_NONE);
    struct store *stores[] = {&world.flawed.store};
    struct probe_options options = options_of(&world, stores, 1);
    options.skew_ns = an_hour_behind;
    probe_run(&options, &world.report);
    const struct probe_result *result = &world.report.results[PROBE_CLOCK];
    CU_ASSERT_EQUAL(result->verdict, PROBE_NOTED);
    CU_ASSERT_PTR_NOT_NULL(strstr(result->text, "3600.0 s behind this machine's"));
    CU_ASSERT(world.report.fit);
    world_close(&world);
}

const struct harness_test probe_tests[] = {HARNESS_TEST(a_good_store_is_fit_and_left_empty),
                                           HARNESS_TEST(flaws_are_found_and_named),
                                           HARNESS_TEST(endpoints_of_two_stores_are_found),
                                           HARNESS_TEST(interruptions_clean_up),
                                           HARNESS_TEST(clocks_are_compared),
                                           {0}};
