/* swarm.c - a world's course: beginning, faults, healing, end. Ours. */
#include "sim/swarm.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/memory.h"
#include "sim/swarm_private.h"

#define SWARM_DOMAIN UINT64_C(0x535741524d)
#define NOBODY UINT32_MAX
#define UNITS_PER_SLICE 8

/* ---- what the store applies ---- */

static void on_joined(void *context, const struct checked_version *checked)
{
    report_checker_version(&((struct swarm *)context)->report, checked);
}

static void check_upload(struct swarm *swarm, int64_t now_ns, uint32_t actor,
                         const struct store_op *op)
{
    if (strncmp(op->key, NAME_TGB_PREFIX, strlen(NAME_TGB_PREFIX)) != 0)
        return;
    if (op->verb == STORE_PUT)
        report_checker_upload(&swarm->report, now_ns, actor, op);
    else if (op->verb != STORE_GET && op->verb != STORE_LIST)
        violations_add(&swarm->checkers.violations, now_ns, actor, "key: %s of %s",
                       store_verb_name(op->verb), op->key);
}

static void on_applied(void *context, int64_t now_ns, uint32_t actor, const struct store_op *op,
                       enum store_outcome outcome)
{
    struct swarm *swarm = context;
    uint64_t joined = swarm->report.versions;
    uint64_t version;
    const char *what = "";
    swarm->inner_observer.applied(swarm->inner_observer.context, now_ns, actor, op, outcome);
    if (outcome == STORE_OK) {
        check_upload(swarm, now_ns, actor, op);
        if (op->verb == STORE_PUT_IF_ABSENT && name_parse_version(op->key, &version) &&
            swarm->report.versions == joined) {
            swarm->result->zombies++;
            what = ", below the floor";
        }
    }
    swarm_trace_applied(swarm, actor, op, outcome, what);
}

/* ---- healing ---- */

static void heal(struct timer *timer, void *context)
{
    (void)timer;
    struct swarm *swarm = context;
    swarm->healed = true;
    memset(swarm->plan.probability, 0, sizeof(swarm->plan.probability));
    memset(swarm->plan.storms, 0, sizeof(swarm->plan.storms));
    swarm_trace(swarm, NOBODY, "!! faults stop, the paused go on, the dead are restarted");
    uint32_t lives = swarm->life_count;
    bool runs[SWARM_PRODUCERS_MAX] = {false};
    for (uint32_t i = 0; i < lives; i++) {
        swarm_host_resume(&swarm->lives[i].host);
        runs[swarm->lives[i].producer] |= swarm_life_runs(&swarm->lives[i]);
    }
    for (uint32_t i = 0; i < swarm->demon_count; i++)
        swarm_host_resume(&swarm->demons[i].host);
    for (uint32_t producer = 0; producer < swarm->config->producers; producer++) {
        loop_timer_cancel(&swarm->loop.loop, &swarm->restarts[producer]);
        if (!runs[producer])
            swarm_life_start(swarm, producer, 0);
    }
}

/* ---- the end ---- */

static bool all_ended(const struct swarm *swarm)
{
    for (uint32_t i = 0; i < swarm->life_count; i++)
        if (swarm_life_runs(&swarm->lives[i]))
            return false;
    for (uint32_t producer = 0; producer < swarm->config->producers; producer++)
        if (swarm->restarts[producer].slot != 0)
            return false;
    return swarm->healed;
}

static void check_life(struct swarm *swarm, uint32_t number)
{
    struct swarm_life *life = &swarm->lives[number];
    struct violations *violations = &swarm->checkers.violations;
    const struct reported_life *reported = &swarm->report.lives[number];
    int64_t now_ns = swarm->loop.now_ns;
    if (life->driver == NULL)
        return;
    if (!life->ended) {
        violations_add(violations, now_ns, number,
                       "end: producer %" PRIu32 " goes on and on after the faults are over: won "
                       "%" PRIu64 ", lost %" PRIu64 ", %" PRIu64 " batches visible",
                       life->producer, reported->won, reported->lost, reported->visible);
        return;
    }
    if (life->end != PRODUCER_STOPPED && life->end != PRODUCER_FENCED)
        violations_add(violations, now_ns, number, "end: producer %" PRIu32 " ended %s: %s",
                       life->producer, producer_end_name(life->end), life->end_text);
    if (!report_checker_holds(&swarm->report, number))
        return;
    uint64_t sequence = swarm->report.streams[life->producer].count;
    uint32_t left = driver_producer(life->driver)->queue.count;
    if (life->end == PRODUCER_FENCED)
        violations_add(violations, now_ns, number,
                       "end: producer %" PRIu32 " was fenced and holds the epoch", life->producer);
    else if (left > 0 || (reported->visible > 0 && reported->visible_sequence != sequence))
        violations_add(violations, now_ns, number,
                       "end: producer %" PRIu32 " saw batch %" PRIu64 " visible and has %" PRIu32
                       " more; the chain has %" PRIu64,
                       life->producer, reported->visible_sequence, left, sequence);
}

/* Somebody must have come through for each producer. */
static void check_holders(struct swarm *swarm)
{
    for (uint32_t producer = 0; producer < swarm->config->producers; producer++) {
        bool found = false;
        for (uint32_t i = 0; i < swarm->life_count; i++)
            found |= swarm->lives[i].producer == producer && swarm->lives[i].driver != NULL &&
                     swarm->lives[i].end == PRODUCER_STOPPED &&
                     report_checker_holds(&swarm->report, i);
        if (!found)
            violations_add(&swarm->checkers.violations, swarm->loop.now_ns, NOBODY,
                           "end: nobody holds the epoch of producer %" PRIu32 " and is well",
                           producer);
    }
}

/* What is living is there: all versions from the floor on. */
static void check_store(struct swarm *swarm)
{
    uint64_t first = swarm->checkers.chain.floor.version;
    for (uint64_t version = first > 0 ? first : 1; version <= swarm->checkers.chain.version;
         version++) {
        char key[STORE_KEY_MAX];
        name_version(key, version);
        if (virtual_store_peek(swarm->store, key) == NULL)
            violations_add(&swarm->checkers.violations, swarm->loop.now_ns, NOBODY,
                           "floor: %s is living and gone", key);
    }
}

static void check_end(struct swarm *swarm)
{
    for (uint32_t i = 0; i < swarm->life_count; i++)
        check_life(swarm, i);
    if (swarm->checkers.violations.count > 0)
        return;
    check_holders(swarm);
    check_store(swarm);
}

/* ---- making and running ---- */

static struct latency_options latency_of(const struct swarm_config *config, double factor)
{
    return (struct latency_options){.shape = LATENCY_LOGNORMAL,
                                    .base_ns = (int64_t)((double)config->unit_ns * factor),
                                    .slope_ns = (double)config->unit_ns * 2e-4,
                                    .sigma = config->sigma};
}

static void make_world(struct swarm *swarm)
{
    const struct swarm_config *config = swarm->config;
    virtual_loop_init(&swarm->loop, EVENT_QUEUE_HEAP);
    checkers_init(&swarm->checkers);
    report_checker_init(&swarm->report, &swarm->checkers.violations);
    swarm->checkers.joined = on_joined;
    swarm->checkers.joined_context = swarm;
    swarm->inner_observer = checkers_observer(&swarm->checkers);
    struct virtual_store_options store = {
        .loop = &swarm->loop,
        .seed = config->limits.seed,
        .apply_fraction = config->apply_fraction,
        .observer = {.context = swarm, .applied = on_applied},
        .latency = {[STORE_GET] = latency_of(config, 0.7),
                    [STORE_PUT] = latency_of(config, 1.0),
                    [STORE_PUT_IF_ABSENT] = latency_of(config, 1.1),
                    [STORE_LIST] = latency_of(config, 0.9),
                    [STORE_DELETE] = latency_of(config, 0.8)},
    };
    swarm->store = virtual_store_open(&store);
    checkers_watch(&swarm->checkers, swarm->store);
    timer_init(&swarm->heal, heal, swarm);
    loop_timer_set(&swarm->loop.loop, &swarm->heal, config->phase1_ns);
}

static void take_result(struct swarm *swarm)
{
    const struct swarm_config *config = swarm->config;
    struct swarm_result *result = swarm->result;
    result->handled = swarm->loop.handled;
    result->digest = swarm->loop.digest;
    result->violations = swarm->checkers.violations;
    result->versions = swarm->report.versions;
    result->steps = swarm->checkers.steps.next_step - 1;
    result->lives = swarm->life_count;
    result->healed_in = (double)(swarm->loop.now_ns - config->phase1_ns) / (double)config->unit_ns;
}

void swarm_run(const struct swarm_options *options, struct swarm_result *result)
{
    struct swarm *swarm = memory_make(1, sizeof(*swarm));
    const struct swarm_config *config = options->config;
    *result = (struct swarm_result){0};
    swarm->options = options;
    swarm->config = config;
    swarm->result = result;
    swarm->plan = config->plan;
    swarm->random = random_stream_make(config->limits.seed ^ SWARM_DOMAIN, 0);
    make_world(swarm);
    for (uint32_t i = 0; i < config->producers; i++)
        swarm_life_start(swarm, i, 0);
    for (uint32_t i = 0; i < config->reclaimers; i++)
        swarm_demon_start(swarm);
    swarm_upset_begin(swarm);
    int64_t end_ns = config->phase1_ns + config->bound_ns;
    while (!all_ended(swarm) && swarm->loop.now_ns < end_ns &&
           swarm->checkers.violations.count == 0)
        loop_run(&swarm->loop.loop, swarm->loop.now_ns + UNITS_PER_SLICE * config->unit_ns);
    if (swarm->checkers.violations.count == 0)
        check_end(swarm);
    take_result(swarm);
    swarm_lives_close(swarm);
    virtual_store_close(swarm->store);
    report_checker_deinit(&swarm->report);
    checkers_deinit(&swarm->checkers);
    virtual_loop_deinit(&swarm->loop);
    free(swarm);
}
