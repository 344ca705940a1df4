/* reclaim_swarm_test.c - random worlds of reclaimers: consumers that keep checkpoints, roll back,
 * crash and start again; producers that upload ahead and are fenced; requests that are lost or land
 * late. Nothing that is held or may still be committed goes; in the end nothing else is left. */
#include <stdlib.h>
#include <string.h>

#include "core/membership.h"
#include "tests/core/yard.h"
#include "tests/harness.h"

#define WORLDS 100
#define CONSUMERS 3
#define PRODUCERS 3
#define RECLAIMERS 3
#define KEPT 2
#define PORTS_UPSET 200
#define PORTS_MAX 250
#define UPSETS 400
#define AHEAD 3
#define HEAL_ROUNDS 40

struct swarm;

/* One host of a consumer, with the process that it runs, if any. */
struct host {
    struct swarm *swarm;
    uint32_t consumer;
    struct checkpoint_set durable;
    uint32_t port; /* 0: no process */
    struct store *store;
    struct membership membership;
    struct timer timer;
    bool working; /* the machine is at work */
    bool running; /* its start was allowed */
    uint64_t allowed;
    uint64_t number; /* of the life that was allowed last; 0: none was */
};

struct reclaimer {
    struct reclaim_observer observer;
    struct reclaim_driver *driver; /* NULL: dead */
    uint32_t port;
    uint64_t rounds;
    struct reclaim_report report;
};

struct swarm {
    struct yard *yard;
    struct random_stream random;
    uint32_t ports;
    uint32_t ports_max;
    uint32_t identity;
    struct host hosts[CONSUMERS];
    struct reclaimer reclaimers[RECLAIMERS];
    uint32_t epoch[PRODUCERS];
    uint64_t uploaded[PRODUCERS]; /* sequence; all above the committed one are undecided */
};

static uint64_t draw(struct swarm *swarm, uint64_t bound)
{
    return random_next(&swarm->random) % bound;
}

static struct store *take_port(struct swarm *swarm, uint32_t *port)
{
    *port = ++swarm->ports;
    return scripted_store_port(swarm->yard->store);
}

/* ---- what must be there ---- */

/* UINT64_MAX: nothing. */
static uint64_t hold_of(const struct host *host)
{
    if (host->durable.count > 0)
        return host->durable.items[0].step;
    return host->running ? host->membership.first_step : UINT64_MAX;
}

static uint64_t lowest_hold(const struct swarm *swarm)
{
    uint64_t hold = UINT64_MAX;
    for (uint32_t i = 0; i < CONSUMERS; i++) {
        uint64_t own = hold_of(&swarm->hosts[i]);
        hold = own < hold ? own : hold;
    }
    return hold;
}

static void check_steps(struct swarm *swarm)
{
    uint64_t hold = lowest_hold(swarm);
    CU_ASSERT(scripted_store_floor(swarm->yard->store).step <= hold);
    for (uint64_t step = hold; step < swarm->yard->newest->next_step; step++)
        CU_ASSERT_TRUE(yard_has_step(swarm->yard, step));
}

/* ---- consumers ---- */

static void follow(struct host *host, struct membership_effect effect)
{
    struct yard *yard = host->swarm->yard;
    host->working = true;
    switch (effect.kind) {
    case MEMBERSHIP_SUBMIT:
        store_submit(host->store, &host->membership.op);
        return;
    case MEMBERSHIP_SLEEP:
        loop_timer_set(&yard->loop.loop, &host->timer, effect.until_ns);
        return;
    case MEMBERSHIP_SAVE:
        check_steps(host->swarm);
        host->durable = host->membership.checkpoints;
        follow(host, membership_saved(&host->membership));
        return;
    case MEMBERSHIP_ALLOWED:
        host->running = true;
        host->allowed++;
        host->number = host->membership.number;
        break;
    case MEMBERSHIP_REFUSED:
    case MEMBERSHIP_DONE:
    case MEMBERSHIP_SUPERSEDED:
    case MEMBERSHIP_ENDED:
    case MEMBERSHIP_FAILED:
        break;
    }
    host->working = false;
    CU_ASSERT(effect.kind == MEMBERSHIP_ALLOWED || effect.kind == MEMBERSHIP_DONE ||
              effect.kind == MEMBERSHIP_REFUSED);
}

static void on_answer(struct store_op *op, void *context)
{
    (void)op;
    struct host *host = context;
    follow(host, membership_answer(&host->membership, host->swarm->yard->loop.now_ns));
}

static void on_timer(struct timer *timer, void *context)
{
    (void)timer;
    struct host *host = context;
    follow(host, membership_wake(&host->membership));
}

static void host_die(struct host *host)
{
    if (host->port == 0)
        return;
    check_steps(host->swarm);
    scripted_store_cut(host->swarm->yard->store, host->port);
    loop_timer_cancel(&host->swarm->yard->loop.loop, &host->timer);
    membership_deinit(&host->membership);
    host->port = 0;
    host->working = false;
    host->running = false;
}

/* Goes on from its checkpoints; without any it is a newcomer. Or, retiring, gives its place up; or
 * an older process retires its own number, which must not matter to what is kept. */
static void host_start(struct host *host, enum membership_mode mode)
{
    struct swarm *swarm = host->swarm;
    if (swarm->ports == swarm->ports_max)
        return;
    if (mode == MEMBERSHIP_RETIRE)
        host->durable.count = 0;
    uint64_t older = mode == MEMBERSHIP_RETIRE_OWN ? 1 + draw(swarm, host->number - 1) : 0;
    struct membership_options options = {.consumer = host->consumer,
                                         .mode = mode,
                                         .number = older,
                                         .retry_ns = NS_PER_MS,
                                         .retry_max_ns = 20 * NS_PER_MS};
    options.identity.bytes[0] = (uint8_t)++swarm->identity;
    if (host->durable.count > 1 && draw(swarm, 3) == 0)
        options.rollback_step = host->durable.items[0].step;
    host->store = take_port(swarm, &host->port);
    membership_init(&host->membership, &options, &host->durable,
                    random_stream_make(swarm->identity, host->consumer));
    host->membership.op.done = on_answer;
    host->membership.op.context = host;
    follow(host, membership_start(&host->membership));
}

/* Durable first, then published. */
static void host_checkpoint(struct host *host, uint64_t step)
{
    struct checkpoint_set *set = &host->membership.checkpoints;
    if (set->count > 0 && step <= set->items[set->count - 1].step)
        return;
    check_steps(host->swarm);
    if (set->count == KEPT)
        memmove(set->items, set->items + 1, --set->count * sizeof(set->items[0]));
    set->items[set->count++] = (struct checkpoint){.step = step, .number = host->membership.number};
    host->durable = *set;
    follow(host, membership_publish(&host->membership));
}

static enum membership_mode draw_mode(const struct host *host)
{
    if (draw(host->swarm, 2) == 0)
        return MEMBERSHIP_RETIRE;
    bool older = host->number > 1 && draw(host->swarm, 4) == 0;
    return older ? MEMBERSHIP_RETIRE_OWN : MEMBERSHIP_RUN;
}

static void host_act(struct host *host)
{
    struct swarm *swarm = host->swarm;
    uint64_t choice = draw(swarm, 6);
    if (host->port != 0 && (choice == 0 || (!host->running && !host->working))) {
        host_die(host);
    } else if (host->port == 0) {
        host_start(host, draw_mode(host));
    } else if (host->running && !host->working) {
        uint64_t from = host->durable.count > 0 ? host->durable.items[host->durable.count - 1].step
                                                : host->membership.first_step;
        if (from < swarm->yard->newest->next_step)
            host_checkpoint(host, from + 1 + draw(swarm, swarm->yard->newest->next_step - from));
    }
}

/* ---- producers ---- */

static uint64_t committed(const struct swarm *swarm, uint32_t producer)
{
    const struct producer_state *state = manifest_state_find(swarm->yard->newest, producer);
    return state != NULL ? state->last_sequence : 0;
}

static void producer_act(struct swarm *swarm, uint32_t producer)
{
    struct yard *yard = swarm->yard;
    uint64_t done = committed(swarm, producer);
    uint64_t ahead = swarm->uploaded[producer] - done;
    uint64_t choice = draw(swarm, 10);
    if (choice == 0) { /* what it had uploaded is an orphan from here on */
        yard_fence(yard, producer);
        swarm->epoch[producer]++;
        swarm->uploaded[producer] = done;
    } else if (choice < 6 && ahead < AHEAD) {
        struct tgb_name name =
            yard_name(yard, producer, swarm->epoch[producer], ++swarm->uploaded[producer]);
        yard_upload(yard, &name);
    } else if (ahead > 0) {
        uint32_t batches = 1 + (uint32_t)draw(swarm, ahead);
        for (uint64_t sequence = done + 1; sequence <= done + batches; sequence++) {
            struct tgb_name name = yard_name(yard, producer, swarm->epoch[producer], sequence);
            CU_ASSERT_TRUE(yard_has_tgb(yard, &name));
        }
        yard_commit(yard, producer, batches);
    }
}

/* ---- reclaimers ---- */

static void on_request(void *context, enum store_verb verb, enum store_outcome outcome,
                       uint64_t bytes)
{
    (void)context;
    (void)verb;
    (void)outcome;
    (void)bytes;
}

static void on_round(void *context, const struct reclaim_report *report, const char *error)
{
    (void)error;
    struct reclaimer *reclaimer = context;
    reclaimer->report = *report;
    reclaimer->rounds++;
    CU_ASSERT(report->end != RECLAIM_REFUSED);
    CU_ASSERT_EQUAL(report->foreign, 0);
}

static void on_ended(void *context)
{
    (void)context;
}

static void reclaimer_start(struct swarm *swarm, struct reclaimer *reclaimer)
{
    if (swarm->ports == swarm->ports_max)
        return;
    struct reclaim_options options = swarm->yard->options;
    options.random = random_stream_make(draw(swarm, UINT64_MAX), 1);
    options.behind = draw(swarm, 4);
    options.full_every = 1 + (uint32_t)draw(swarm, 3);
    options.marker_grace_ns = 2 * NS_PER_S;
    reclaimer->observer = (struct reclaim_observer){
        .context = reclaimer, .request = on_request, .round = on_round, .ended = on_ended};
    struct reclaim_driver_options driver = {.store = take_port(swarm, &reclaimer->port),
                                            .loop = &swarm->yard->loop.loop,
                                            .observer = &reclaimer->observer,
                                            .reclaim = &options,
                                            .period_ns = 20 * NS_PER_MS,
                                            .jitter = RECLAIM_JITTER};
    reclaimer->driver = reclaim_driver_open(&driver);
    reclaim_driver_start(reclaimer->driver);
}

static void reclaimer_die(struct swarm *swarm, struct reclaimer *reclaimer)
{
    scripted_store_cut(swarm->yard->store, reclaimer->port);
    reclaim_driver_close(reclaimer->driver);
    reclaimer->driver = NULL;
}

static void reclaimer_act(struct swarm *swarm, struct reclaimer *reclaimer)
{
    if (reclaimer->driver == NULL)
        reclaimer_start(swarm, reclaimer);
    else if (draw(swarm, 8) == 0)
        reclaimer_die(swarm, reclaimer);
}

/* ---- worlds ---- */

static void swarm_init(struct swarm *swarm, uint64_t seed)
{
    *swarm = (struct swarm){
        .yard = yard_open(), .ports_max = PORTS_UPSET, .random = random_stream_make(seed, 9)};
    for (uint32_t i = 0; i < CONSUMERS; i++) {
        swarm->hosts[i].swarm = swarm;
        swarm->hosts[i].consumer = i;
        timer_init(&swarm->hosts[i].timer, on_timer, &swarm->hosts[i]);
    }
    for (uint32_t i = 0; i < PRODUCERS; i++)
        swarm->epoch[i] = 1;
}

static void swarm_deinit(struct swarm *swarm)
{
    for (uint32_t i = 0; i < CONSUMERS; i++)
        host_die(&swarm->hosts[i]);
    for (uint32_t i = 0; i < RECLAIMERS; i++)
        if (swarm->reclaimers[i].driver != NULL)
            reclaimer_die(swarm, &swarm->reclaimers[i]);
    yard_close(swarm->yard);
}

static void run_for(struct swarm *swarm, int64_t ns)
{
    loop_run(&swarm->yard->loop.loop, swarm->yard->loop.now_ns + ns);
}

static void upset(struct swarm *swarm)
{
    for (int i = 0; i < UPSETS; i++) {
        uint64_t actor = draw(swarm, 12);
        if (actor < 6)
            producer_act(swarm, (uint32_t)actor % PRODUCERS);
        else if (actor < 11)
            host_act(&swarm->hosts[actor % CONSUMERS]);
        else
            reclaimer_act(swarm, &swarm->reclaimers[draw(swarm, RECLAIMERS)]);
        run_for(swarm, (int64_t)draw(swarm, 40 * NS_PER_MS));
        check_steps(swarm);
    }
}

/* All consumers run and have used everything; a new reclaimer does its work. */
static void heal(struct swarm *swarm)
{
    scripted_store_calm(swarm->yard->store);
    scripted_store_apply_late(swarm->yard->store);
    swarm->ports_max = PORTS_MAX;
    for (int i = 0; i < HEAL_ROUNDS; i++) {
        for (uint32_t c = 0; c < CONSUMERS; c++) {
            struct host *host = &swarm->hosts[c];
            uint64_t next_step = swarm->yard->newest->next_step;
            if (host->port != 0 && !host->running && !host->working)
                host_die(host);
            if (host->port == 0)
                host_start(host, MEMBERSHIP_RUN);
            else if (host->running && !host->working)
                host_checkpoint(host, next_step - 1 + (uint64_t)i % 2);
            run_for(swarm, 200 * NS_PER_MS);
        }
    }
    for (uint32_t i = 0; i < RECLAIMERS; i++)
        if (swarm->reclaimers[i].driver != NULL)
            reclaimer_die(swarm, &swarm->reclaimers[i]);
    swarm->yard->options.full_every = 1;
    reclaimer_start(swarm, &swarm->reclaimers[0]);
    run_for(swarm, 6 * NS_PER_S);
}

static void expect_nothing_else_left(struct swarm *swarm)
{
    const struct reclaim_report *report = &swarm->reclaimers[0].report;
    uint64_t next_step = swarm->yard->newest->next_step;
    uint64_t undecided = 0;
    for (uint32_t i = 0; i < PRODUCERS; i++)
        undecided += swarm->uploaded[i] - committed(swarm, i);
    CU_ASSERT_EQUAL(report->end, RECLAIM_DONE);
    CU_ASSERT_EQUAL(report->undecided, undecided);
    CU_ASSERT_EQUAL(report->consumers, CONSUMERS);
    CU_ASSERT_EQUAL(report->floor.step, lowest_hold(swarm));
    CU_ASSERT_EQUAL(report->live, next_step - report->floor.step);
    CU_ASSERT_EQUAL(scripted_store_count(swarm->yard->store, NAME_FLOOR_PREFIX), 1);
    CU_ASSERT_EQUAL(scripted_store_count(swarm->yard->store, NAME_INTENT_PREFIX), 1);
    CU_ASSERT_EQUAL(scripted_store_count(swarm->yard->store, NAME_TGB_PREFIX),
                    report->live + undecided);
}

static void random_worlds_keep_what_is_held_and_leave_nothing_else(void)
{
    static const struct store_faults faults = {.unknown_applied = 0.03,
                                               .unknown_dropped = 0.03,
                                               .unknown_late = 0.03,
                                               .busy = 0.01,
                                               .throttled = 0.03,
                                               .read_unknown = 0.05};
    uint64_t allowed = 0;
    uint64_t rounds = 0;
    uint64_t given_up = 0;
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct swarm *swarm = malloc(sizeof(*swarm));
        assert(swarm != NULL);
        swarm_init(swarm, seed);
        scripted_store_disturb(swarm->yard->store, &faults, random_stream_make(seed, 2));
        upset(swarm);
        given_up += scripted_store_floor(swarm->yard->store).step;
        heal(swarm);
        expect_nothing_else_left(swarm);
        for (uint32_t i = 0; i < CONSUMERS; i++)
            allowed += swarm->hosts[i].allowed;
        for (uint32_t i = 0; i < RECLAIMERS; i++)
            rounds += swarm->reclaimers[i].rounds;
        swarm_deinit(swarm);
        free(swarm);
    }
    CU_ASSERT(allowed > 10 * WORLDS);
    CU_ASSERT(rounds > 100 * WORLDS);
    CU_ASSERT(given_up > 20 * WORLDS); /* while all went on */
}

const struct harness_test reclaim_swarm_tests[] = {
    HARNESS_TEST(random_worlds_keep_what_is_held_and_leave_nothing_else),
    {0},
};
