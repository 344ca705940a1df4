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
    else if (op->verb != STORE_GET && op->verb != STORE_LIST &&
             !(op->verb == STORE_DELETE && actor >= SWARM_DEMON_ACTOR))
        violations_add(&swarm->checkers.violations, now_ns, actor, "key: %s of %s",
                       store_verb_name(op->verb), op->key);
}

static void on_applied(void *context, int64_t now_ns, uint32_t actor, const struct store_op *op,
                       enum store_outcome outcome)
{
    struct swarm *swarm = context;
    uint64_t joined = swarm->report.versions;
    uint64_t version;
    struct floor floor;
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
    if (op->verb == STORE_PUT && outcome == STORE_OK && name_parse_floor(op->key, &floor))
        swarm->result->floors++;
    swarm_trace_applied(swarm, actor, op, outcome, what);
}

/* ---- healing ---- */

static void heal_host(struct swarm_host *host)
{
    static const struct fault_refusal none;
    swarm_host_lock_out(host, &none);
    swarm_host_resume(host);
}

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
        heal_host(&swarm->lives[i].host);
        runs[swarm->lives[i].producer] |= swarm_life_runs(&swarm->lives[i]);
    }
    for (uint32_t i = 0; i < swarm->rank_life_count; i++)
        heal_host(&swarm->rank_lives[i].host);
    for (uint32_t i = 0; i < swarm->retirer_count; i++)
        heal_host(&swarm->retirers[i].host);
    for (uint32_t i = 0; i < swarm->demon_count; i++)
        heal_host(&swarm->demons[i].host);
    for (uint32_t producer = 0; producer < swarm->config->producers; producer++) {
        loop_timer_cancel(&swarm->loop.loop, &swarm->restarts[producer]);
        if (!runs[producer])
            swarm_life_start(swarm, producer, 0);
    }
    for (uint32_t rank = 0; rank < swarm->config->ranks; rank++)
        if (!swarm_rank_runs(swarm, rank))
            swarm_rank_restart_later(swarm, rank, RETURN_AGAIN);
}

/* ---- the end ---- */

static bool producers_ended(const struct swarm *swarm)
{
    for (uint32_t i = 0; i < swarm->life_count; i++)
        if (swarm_life_runs(&swarm->lives[i]))
            return false;
    for (uint32_t producer = 0; producer < swarm->config->producers; producer++)
        if (swarm->restarts[producer].slot != 0)
            return false;
    return swarm->healed;
}

/* Brings phase 2 to its end, step by step; true when it is over. */
static bool settle(struct swarm *swarm)
{
    if (!producers_ended(swarm))
        return false;
    swarm_ranks_settle(swarm);
    if (!swarm_ranks_done(swarm))
        return false;
    if (swarm->config->ranks == 0 || swarm->config->reclaimers == 0)
        return true;
    if (swarm->final_demon == SWARM_DEMONS_MAX)
        swarm_demon_start_final(swarm);
    return reclaim_driver_machine(swarm->demons[swarm->final_demon].driver)->rounds >
           SWARM_FINAL_ROUNDS;
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
    if (config->ranks > 0) {
        checkers_follow_ranks(&swarm->checkers, tgb_mesh_slices(config->mesh));
        swarm->checkers.reclaim.declared = config->ranks;
    }
    swarm->final_demon = SWARM_DEMONS_MAX;
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
    result->rank_lives = swarm->rank_life_count;
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
    for (uint32_t i = 0; i < config->ranks; i++)
        if (i == config->late_rank)
            swarm_rank_restart_in(swarm, i, RETURN_AGAIN, config->late_ns);
        else
            swarm_rank_start(swarm, i, RETURN_AGAIN);
    for (uint32_t i = 0; i < config->reclaimers; i++)
        swarm_demon_start(swarm);
    swarm_upset_begin(swarm);
    int64_t end_ns = config->phase1_ns + config->bound_ns;
    while (!settle(swarm) && swarm->loop.now_ns < end_ns && swarm->checkers.violations.count == 0)
        loop_run(&swarm->loop.loop, swarm->loop.now_ns + UNITS_PER_SLICE * config->unit_ns);
    if (swarm->checkers.violations.count == 0)
        swarm_check_end(swarm);
    take_result(swarm);
    swarm_lives_close(swarm);
    swarm_ranks_close(swarm);
    swarm_demons_close(swarm);
    virtual_store_close(swarm->store);
    report_checker_deinit(&swarm->report);
    checkers_deinit(&swarm->checkers);
    virtual_loop_deinit(&swarm->loop);
    free(swarm);
}
