/* swarm_demon.c - reclaimers of a swarm. Ours. */
#include <inttypes.h>

#include "sim/swarm_private.h"

static bool is_in_round(const struct swarm_demon *demon)
{
    return demon->driver != NULL && reclaim_driver_machine(demon->driver)->phase != RECLAIM_IDLE;
}

static void on_request(void *context, enum store_verb verb, enum store_outcome outcome,
                       uint64_t bytes)
{
    (void)context;
    (void)verb;
    (void)outcome;
    (void)bytes;
}

static void note_report(struct swarm_demon *demon, const struct reclaim_report *report)
{
    struct swarm *swarm = demon->host.swarm;
    uint64_t *turns = swarm->result->plane.turns;
    bool raised = report->floor.step > demon->floor_step && demon->floor_step > 0;
    turns[TURN_FLOOR_RAISED] += raised;
    turns[TURN_FLOOR_KEPT] += !raised && report->versions + report->tgbs > 0;
    turns[TURN_RANK_MISSING] += report->missing > 0;
    turns[TURN_UNDECIDED_LEFT] += report->undecided > 0;
    turns[TURN_ROUND_REFUSED] += report->end == RECLAIM_REFUSED;
    turns[TURN_ORPHAN_DELETED] += report->orphans > 0;
    turns[TURN_MARKER_DELETED] += report->markers > 0;
    for (uint32_t i = 0; i < swarm->demon_count; i++)
        turns[TURN_ROUNDS_OVERLAP] += &swarm->demons[i] != demon && is_in_round(&swarm->demons[i]);
    demon->floor_step = report->floor.step;
    swarm->result->deleted += report->versions;
    swarm->result->reclaimed += report->tgbs;
    swarm->result->rounds++;
}

static void on_round(void *context, const struct reclaim_report *report, const char *error)
{
    struct swarm_demon *demon = context;
    struct swarm *swarm = demon->host.swarm;
    swarm_trace(swarm, demon->host.actor,
                "== round %s: floor %" PRIu64 "-%" PRIu64 ", %" PRIu64 " versions, %" PRIu64
                " TGBs deleted, %" PRIu64 " undecided, %" PRIu32 " ranks missing%s%s",
                reclaim_end_name(report->end), report->floor.version, report->floor.step,
                report->versions, report->tgbs, report->undecided, report->missing,
                error[0] != '\0' ? ": " : "", error);
    note_report(demon, report);
    swarm_refusal_ended(&demon->host, report->end == RECLAIM_REFUSED, error);
    if (report->end == RECLAIM_REFUSED)
        reclaim_driver_stop(demon->driver); /* as `lakestream gc --loop` */
    demon->swept += report->end == RECLAIM_DONE;
    if (report->end == RECLAIM_DONE && report->missing == 0 &&
        report->consumers == swarm->config->ranks)
        demon->clean++;
}

static void final_restart_due(struct timer *timer, void *context)
{
    (void)timer;
    swarm_demon_start_final(context);
}

/* It was refused: another one follows. */
static void on_ended(void *context)
{
    struct swarm_demon *demon = context;
    struct swarm *swarm = demon->host.swarm;
    demon->ended = true;
    if (demon != &swarm->demons[swarm->final_demon]) {
        swarm_demon_start(swarm);
        return;
    }
    timer_init(&swarm->final_restart, final_restart_due, swarm);
    loop_timer_set(&swarm->loop.loop, &swarm->final_restart, swarm->loop.now_ns);
}

static void start(struct swarm *swarm, const struct reclaim_options *options, int64_t first_ns,
                  int64_t period_ns)
{
    assert(swarm->demon_count < SWARM_DEMONS_MAX);
    uint32_t number = swarm->demon_count++;
    struct swarm_demon *demon = &swarm->demons[number];
    swarm_host_open(&demon->host, swarm, HOST_RECLAIMER, SWARM_DEMON_ACTOR + number);
    demon->observer = (struct reclaim_observer){
        .context = demon, .request = on_request, .round = on_round, .ended = on_ended};
    struct reclaim_driver_options driver = {.store = swarm_host_store(&demon->host),
                                            .loop = &demon->host.loop.loop,
                                            .observer = &demon->observer,
                                            .reclaim = options,
                                            .first_ns = first_ns,
                                            .period_ns = period_ns,
                                            .jitter = RECLAIM_JITTER};
    demon->driver = reclaim_driver_open(&driver);
    reclaim_driver_start(demon->driver);
}

void swarm_demon_start(struct swarm *swarm)
{
    struct reclaim_options options;
    const struct swarm_config *config = swarm->config;
    if (swarm->demon_count == SWARM_DEMONS_MAX - 1)
        return; /* the last one cleans up */
    swarm_config_reclaimer(config, swarm->demon_count, &options);
    double part = random_unit(&swarm->random);
    start(swarm, &options, (int64_t)((double)config->reclaim_gap_ns * part),
          config->reclaim_gap_ns);
}

void swarm_demon_start_final(struct swarm *swarm)
{
    struct reclaim_options options;
    const struct swarm_config *config = swarm->config;
    for (uint32_t i = 0; i < swarm->demon_count; i++)
        if (swarm->demons[i].driver != NULL)
            swarm_demon_crash(&swarm->demons[i]);
    swarm->final_demon = swarm->demon_count;
    swarm_config_reclaimer(config, swarm->demon_count, &options);
    options.behind = 0;
    options.grace_ns = 0;
    options.marker_grace_ns = 0;
    options.full_every = 1;
    /* By then what was late has landed. */
    int64_t first_ns = config->plan.late_max_ns + config->plan.delay_ns + 8 * config->unit_ns;
    start(swarm, &options, first_ns, config->unit_ns);
}

void swarm_demon_sends(struct swarm *swarm, uint32_t actor, const struct store_op *op)
{
    struct swarm_demon *demon = &swarm->demons[actor - SWARM_DEMON_ACTOR];
    struct floor floor;
    if (swarm->config->ranks > 0 && op->verb == STORE_PUT && name_parse_floor(op->key, &floor))
        reclaim_checker_sends(&swarm->checkers.reclaim, swarm->loop.now_ns, actor, &floor);
    enum reclaim_phase phase = reclaim_driver_machine(demon->driver)->phase;
    if (phase != swarm->ambush || phase == RECLAIM_IDLE || op->verb != STORE_LIST)
        return;
    swarm->ambush = RECLAIM_IDLE;
    swarm_host_pause(&demon->host, swarm_draw_units(swarm, 10, 300));
    swarm_upset_newcomer(swarm);
}

void swarm_demon_is_answered(struct swarm *swarm, uint32_t actor, const struct store_op *op)
{
    const struct swarm_demon *demon = &swarm->demons[actor - SWARM_DEMON_ACTOR];
    if (op->verb != STORE_LIST || op->outcome != STORE_OK || swarm->config->ranks == 0)
        return;
    enum reclaim_phase phase = reclaim_driver_machine(demon->driver)->phase;
    if (phase == RECLAIM_READING || phase == RECLAIM_READING_AGAIN)
        reclaim_checker_shown(&swarm->checkers.reclaim, actor, &op->page);
}

bool swarm_demon_runs(const struct swarm_demon *demon)
{
    return demon->driver != NULL && !demon->ended;
}

void swarm_demon_crash(struct swarm_demon *demon)
{
    demon->host.swarm->result->plane.turns[TURN_DIED_IN_ROUND] += is_in_round(demon);
    swarm_host_kill(&demon->host);
    reclaim_driver_close(demon->driver);
    demon->driver = NULL;
}

void swarm_demons_close(struct swarm *swarm)
{
    for (uint32_t i = 0; i < swarm->demon_count; i++) {
        struct swarm_demon *demon = &swarm->demons[i];
        if (demon->driver != NULL)
            swarm_demon_crash(demon);
        swarm_host_close(&demon->host);
    }
}
