/* swarm_life.c - processes of a swarm: producers' lives and reclaimers, with all they stand on.
 * Ours. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/codec_store.h"
#include "sim/memory.h"
#include "sim/swarm_private.h"

#define FAULT_DOMAIN UINT64_C(0x4641554c54)

/* ---- hosts ---- */

/* That met the attempt in progress. */
static uint32_t all_faults(const struct swarm_life *life)
{
    return life->faults_ever | life->faults_now | life->faults_before[0] | life->faults_before[1];
}

static void on_fault(void *context, enum fault_moment moment, enum fault_kind kind,
                     const struct store_op *op)
{
    struct swarm_host *host = context;
    struct swarm *swarm = host->swarm;
    swarm_trace_fault(host, moment, kind, op);
    if (host->actor >= SWARM_LIVES_MAX || moment != FAULT_SUBMITTED || op->verb == STORE_PUT)
        return;
    struct swarm_life *life = &swarm->lives[host->actor];
    branch_probe_next(&life->probe, &driver_producer(life->driver)->commit, NEXT_SUBMITS,
                      all_faults(life), &swarm->result->coverage);
    if (kind != FAULT_NONE)
        life->faults_now |= UINT32_C(1) << kind;
}

static void resume_due(struct timer *timer, void *context)
{
    (void)timer;
    swarm_host_resume(context);
}

static void host_open(struct swarm_host *host, struct swarm *swarm, uint32_t actor)
{
    double part = random_unit(&swarm->random) * 2.0 - 1.0;
    int64_t offset_ns = (int64_t)((double)swarm->config->clock_spread_ns * part);
    /* Clocks begin late enough never to be negative. */
    offset_ns += swarm->config->clock_spread_ns;
    host->swarm = swarm;
    host->actor = actor;
    actor_loop_init(&host->loop, &swarm->loop.loop, offset_ns);
    timer_init(&host->resume, resume_due, host);
    host->client = virtual_store_client(swarm->store, actor);
    struct fault_store_options faults = {
        .inner = host->client,
        .loop = &swarm->loop.loop,
        .client_loop = &host->loop.loop,
        .plan = &swarm->plan,
        .shot = swarm->options->shot,
        .random = random_stream_make(swarm->config->limits.seed ^ FAULT_DOMAIN, actor),
        .watch = on_fault,
        .watch_context = host,
    };
    host->faults = fault_store_open(&faults);
}

void swarm_host_pause(struct swarm_host *host, int64_t for_ns)
{
    struct loop *loop = &host->swarm->loop.loop;
    swarm_trace(host->swarm, host->actor, "!! paused for %.6f s", (double)for_ns / NS_PER_S);
    actor_loop_pause(&host->loop);
    loop_timer_set(loop, &host->resume, loop_now(loop) + for_ns);
}

void swarm_host_resume(struct swarm_host *host)
{
    if (!host->loop.paused)
        return;
    swarm_trace(host->swarm, host->actor, "!! goes on");
    loop_timer_cancel(&host->swarm->loop.loop, &host->resume);
    actor_loop_resume(&host->loop);
}

static void host_kill(struct swarm_host *host)
{
    swarm_trace(host->swarm, host->actor, "!! dies");
    fault_store_cut(host->faults);
    actor_loop_kill(&host->loop);
    loop_timer_cancel(&host->swarm->loop.loop, &host->resume);
}

static void host_close(struct swarm_host *host)
{
    struct fault_counters counters = fault_store_counters(host->faults);
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++)
        host->swarm->result->hit[kind] += counters.hit[kind];
    store_close(host->client);
    store_close(host->faults);
    actor_loop_deinit(&host->loop);
}

/* ---- what producers report ---- */

static int64_t now_of(const struct swarm_life *life)
{
    return life->host.swarm->loop.now_ns;
}

static void look(struct swarm_life *life, enum branch_next next)
{
    struct swarm *swarm = life->host.swarm;
    uint32_t faults = all_faults(life);
    branch_probe_next(&life->probe, &driver_producer(life->driver)->commit, next, faults,
                      &swarm->result->coverage);
}

static void on_attempt(void *context, uint32_t producer, const struct attempt *attempt,
                       const struct attempt_detail *detail)
{
    (void)producer;
    struct swarm_life *life = context;
    struct swarm *swarm = life->host.swarm;
    look(life, NEXT_DECIDED);
    swarm_trace(swarm, life->host.actor,
                "== attempt %s: version %" PRIu64 ", epoch %" PRIu32 ", %" PRIu64 " batches",
                attempt->outcome == ATTEMPT_WON ? "won" : "lost", detail->version, detail->epoch,
                detail->batches);
    report_checker_attempt(&swarm->report, now_of(life), life->host.actor, attempt, detail);
    life->faults_before[1] = life->faults_before[0];
    life->faults_before[0] = life->faults_now;
    life->faults_now = 0;
}

static void on_visible(void *context, uint32_t producer, const struct batch *batch,
                       int64_t visible_ns)
{
    (void)producer;
    (void)visible_ns;
    struct swarm_life *life = context;
    report_checker_visible(&life->host.swarm->report, now_of(life), life->host.actor, batch);
}

static void on_request(void *context, uint32_t producer, enum store_verb verb,
                       enum store_outcome outcome, uint64_t bytes)
{
    (void)producer;
    (void)outcome;
    (void)bytes;
    struct swarm_life *life = context;
    if (verb != STORE_PUT)
        branch_probe_answered(&life->probe, &driver_producer(life->driver)->commit);
}

static void on_ended(void *context, uint32_t producer, enum producer_end end, const char *text)
{
    struct swarm_life *life = context;
    struct swarm *swarm = life->host.swarm;
    look(life, NEXT_ENDED);
    swarm_trace(swarm, life->host.actor, "== ended %s: %s", producer_end_name(end), text);
    life->ended = true;
    life->end = end;
    snprintf(life->end_text, sizeof(life->end_text), "%s", text);
    if (end == PRODUCER_FENCED) {
        swarm->result->fenced++;
        report_checker_fenced(&swarm->report, now_of(life), life->host.actor,
                              driver_producer(life->driver)->commit.epoch);
    }
    /* In phase 2 a supervisor looks after producers whose epoch a dead incarnation holds. */
    bool holds = report_checker_holds(&swarm->report, life->host.actor);
    bool alone = true;
    for (uint32_t i = 0; i < swarm->life_count; i++)
        alone &= swarm->lives[i].producer != producer || !swarm_life_runs(&swarm->lives[i]);
    if (swarm->healed ? alone && !holds : end == PRODUCER_STOPPED)
        swarm_restart_later(swarm, producer, 0);
}

/* ---- lives ---- */

void swarm_life_start(struct swarm *swarm, uint32_t producer, uint32_t faults)
{
    assert(swarm->life_count < SWARM_LIVES_MAX);
    uint32_t number = swarm->life_count++;
    struct swarm_life *life = &swarm->lives[number];
    struct producer_options options;
    swarm_config_producer(swarm->config, producer, number, &options);
    life->producer = producer;
    life->faults_ever = faults;
    uint32_t reported = report_checker_add(&swarm->report, producer, &options.commit.incarnation);
    assert(reported == number);
    host_open(&life->host, swarm, number);
    struct store *store = life->host.faults;
    if (swarm->config->bytes) {
        struct codec_store_options codec = {.payload = true};
        life->codec = codec_store_open(store, &codec);
        store = life->codec;
    }
    life->observer = (struct producer_observer){.context = life,
                                                .attempt = on_attempt,
                                                .visible = on_visible,
                                                .request = on_request,
                                                .ended = on_ended};
    struct driver_options driver = {.store = store,
                                    .loop = &life->host.loop.loop,
                                    .observer = &life->observer,
                                    .producer = &options};
    life->driver = driver_open(&driver);
    swarm_trace(swarm, number, "!! starts: %s, %s, policy %s, %" PRIu64 " batches of %" PRIu64 " B",
                options.mode == PRODUCER_INLINE ? "inline" : "background",
                options.commit.find == COMMIT_FIND_LIST ? "list" : "probe",
                options.policy_kind->name, options.batches_max, options.batch_bytes);
    driver_start(life->driver);
}

bool swarm_life_runs(const struct swarm_life *life)
{
    return life->driver != NULL && !life->ended;
}

/* The store forgets the sender before its operations go. */
void swarm_life_crash(struct swarm_life *life)
{
    host_kill(&life->host);
    if (life->codec != NULL)
        store_close(life->codec);
    driver_close(life->driver);
    life->codec = NULL;
    life->driver = NULL;
}

/* ---- reclaimers ---- */

void swarm_demon_start(struct swarm *swarm)
{
    if (swarm->demon_count == SWARM_DEMONS_MAX)
        return;
    uint32_t number = swarm->demon_count++;
    struct swarm_demon *demon = &swarm->demons[number];
    host_open(&demon->host, swarm, SWARM_DEMON_ACTOR + number);
    struct reclaimer_options options = {
        .store = demon->host.faults,
        .loop = &demon->host.loop.loop,
        .random = random_stream_make(random_next(&swarm->random), number),
        .behind = swarm->config->behind,
        .keep_steps = swarm->config->keep_steps,
        .gap_ns = swarm->config->reclaim_gap_ns,
    };
    demon->reclaimer = reclaimer_open(&options);
    reclaimer_start(demon->reclaimer);
}

static void demon_close(struct swarm_demon *demon)
{
    struct reclaimer_counters counters = reclaimer_counters(demon->reclaimer);
    demon->host.swarm->result->floors += counters.floors;
    demon->host.swarm->result->deleted += counters.deleted;
    reclaimer_close(demon->reclaimer);
    demon->reclaimer = NULL;
}

void swarm_demon_crash(struct swarm_demon *demon)
{
    host_kill(&demon->host);
    demon_close(demon);
}

void swarm_lives_close(struct swarm *swarm)
{
    for (uint32_t i = 0; i < swarm->life_count; i++) {
        struct swarm_life *life = &swarm->lives[i];
        if (life->driver != NULL)
            swarm_life_crash(life);
        host_close(&life->host);
    }
    for (uint32_t i = 0; i < swarm->demon_count; i++) {
        struct swarm_demon *demon = &swarm->demons[i];
        if (demon->reclaimer != NULL)
            swarm_demon_crash(demon);
        host_close(&demon->host);
    }
}
