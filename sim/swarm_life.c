/* swarm_life.c - producers' lives in a swarm. Ours. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/swarm_private.h"

/* That met the attempt in progress. */
static uint32_t all_faults(const struct swarm_life *life)
{
    return life->faults_ever | life->faults_now | life->faults_before[0] | life->faults_before[1];
}

/* It reads a version, and the chain has a higher epoch of its producer by now. */
static bool learns_that_it_is_fenced(const struct swarm_life *life)
{
    const struct commit *commit = &driver_producer(life->driver)->commit;
    return commit->phase == COMMIT_READING && commit->epoch > 0 &&
           life->host.swarm->report.streams[life->producer].epoch > commit->epoch;
}

void swarm_life_sends(struct swarm_life *life, enum fault_kind kind, const struct store_op *op)
{
    if (op->verb == STORE_PUT)
        return;
    if (learns_that_it_is_fenced(life))
        swarm_upset_fenced(life);
    branch_probe_next(&life->probe, &driver_producer(life->driver)->commit, NEXT_SUBMITS,
                      all_faults(life), &life->host.swarm->result->coverage);
    if (kind != FAULT_NONE)
        life->faults_now |= UINT32_C(1) << kind;
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
    bool failed = end == PRODUCER_STORE_FAILED;
    swarm_refusal_ended(&life->host, failed, text);
    bool alone = true;
    for (uint32_t i = 0; i < swarm->life_count; i++)
        alone &= swarm->lives[i].producer != producer || !swarm_life_runs(&swarm->lives[i]);
    if (swarm->healed ? alone && (failed || !holds) : failed || end == PRODUCER_STOPPED)
        swarm_restart_later(swarm, producer, failed ? swarm_upset_bit(UPSET_LOCKOUT) : 0);
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
    swarm_host_open(&life->host, swarm, HOST_PRODUCER, number);
    life->observer = (struct producer_observer){.context = life,
                                                .attempt = on_attempt,
                                                .visible = on_visible,
                                                .request = on_request,
                                                .ended = on_ended};
    struct driver_options driver = {.store = swarm_host_store(&life->host),
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

void swarm_life_crash(struct swarm_life *life)
{
    swarm_host_kill(&life->host);
    driver_close(life->driver);
    life->driver = NULL;
}

void swarm_lives_close(struct swarm *swarm)
{
    for (uint32_t i = 0; i < swarm->life_count; i++) {
        struct swarm_life *life = &swarm->lives[i];
        if (life->driver != NULL)
            swarm_life_crash(life);
        swarm_host_close(&life->host);
    }
}
