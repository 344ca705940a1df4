/* swarm_rank.c - ranks of a swarm: their lives, what they are started from, and how they end. Ours.
 */
#include <inttypes.h>

#include "sim/swarm_private.h"

#define TRAINER_DOMAIN UINT64_C(0x545241494e)
#define RETIRER_DOMAIN UINT64_C(0x524554495245)

static uint64_t *turns_of(const struct swarm_rank_life *life)
{
    return life->host.swarm->result->plane.turns;
}

static struct swarm_rank *rank_of(struct swarm_rank_life *life)
{
    return &life->host.swarm->ranks[life->rank];
}

bool swarm_rank_life_runs(const struct swarm_rank_life *life)
{
    return life->trainer != NULL && !life->ended;
}

bool swarm_rank_runs(const struct swarm *swarm, uint32_t rank)
{
    for (uint32_t i = 0; i < swarm->rank_life_count; i++)
        if (swarm->rank_lives[i].rank == rank && swarm_rank_life_runs(&swarm->rank_lives[i]))
            return true;
    return false;
}

/* ---- restarts ---- */

static void restart_due(struct timer *timer, void *context)
{
    (void)timer;
    struct swarm *swarm = context;
    for (uint32_t rank = 0; rank < SWARM_RANKS_MAX; rank++)
        if (timer == &swarm->ranks[rank].restart)
            swarm_rank_start(swarm, rank, swarm->ranks[rank].restart_from);
}

void swarm_rank_restart_in(struct swarm *swarm, uint32_t rank, enum swarm_return from,
                           int64_t after_ns)
{
    struct timer *timer = &swarm->ranks[rank].restart;
    swarm->ranks[rank].restart_from = from;
    timer_init(timer, restart_due, swarm);
    loop_timer_set(&swarm->loop.loop, timer, swarm->loop.now_ns + after_ns);
}

void swarm_rank_restart_later(struct swarm *swarm, uint32_t rank, enum swarm_return from)
{
    if (swarm->ranks[rank].restart.slot == 0)
        swarm_rank_restart_in(swarm, rank, from, swarm_draw_units(swarm, 0.1, 100));
}

/* ---- what trainers report ---- */

static void on_running(void *context, uint64_t step)
{
    struct swarm_rank_life *life = context;
    const struct membership *membership = &trainer_consumer(life->trainer)->membership;
    uint64_t *turns = turns_of(life);
    swarm_trace(life->host.swarm, life->host.actor,
                "== runs as number %" PRIu64 " from step %" PRIu64 ", %" PRIu32 " checkpoints kept",
                membership->number, step, membership->checkpoints.count);
    if (membership->checkpoints.count > 0 && rank_of(life)->disk.number < membership->number)
        violations_add(&life->host.swarm->checkers.violations, life->host.swarm->loop.now_ns,
                       life->host.actor,
                       "reader: rank %" PRIu32 " runs as number %" PRIu64
                       " on checkpoints that bear number %" PRIu64,
                       life->rank, membership->number, rank_of(life)->disk.number);
    if (life->oldest == 0)
        turns[TURN_ALLOWED_NEW]++;
    else
        turns[membership->intent_checked ? TURN_ALLOWED_CHECKED : TURN_ALLOWED_AT_ONCE]++;
    turns[TURN_RESTORED] += life->from == RETURN_RESTORE;
    turns[TURN_ROLLED_BACK] += membership->checkpoints.count < membership->found.count;
}

static void on_given(void *context, const struct consumer_delivery *delivery)
{
    struct swarm_rank_life *life = context;
    const struct consumer *consumer = trainer_consumer(life->trainer);
    uint64_t budget = consumer->options.prefetch_bytes;
    uint64_t most = budget > delivery->entry.tgb_bytes ? budget : delivery->entry.tgb_bytes;
    swarm_trace(life->host.swarm, life->host.actor, "== is given step %" PRIu64, delivery->step);
    life->host.swarm->result->given++;
    if (consumer->window_bytes > most)
        violations_add(&life->host.swarm->checkers.violations, life->host.swarm->loop.now_ns,
                       life->host.actor,
                       "reader: rank %" PRIu32 " has %" PRIu64 " bytes ahead; its budget is "
                       "%" PRIu64,
                       life->rank, consumer->window_bytes, budget);
}

static void on_saved(void *context, const struct checkpoint_set *set)
{
    struct swarm_rank_life *life = context;
    struct swarm_rank *rank = rank_of(life);
    const struct membership *membership = &trainer_consumer(life->trainer)->membership;
    const struct rank_hold *hold = rank_holds_of(&life->host.swarm->checkers.holds, life->rank);
    life->superseded = hold->highest > membership->number;
    life->published = membership->published;
    swarm_trace(life->host.swarm, life->host.actor,
                "== %" PRIu32 " checkpoints are durable, the oldest at step %" PRIu64, set->count,
                set->items[0].step);
    rank->backups[rank->backup_count++ % SWARM_BACKUPS_MAX] = *set;
}

static void on_refused(void *context)
{
    struct swarm_rank_life *life = context;
    turns_of(life)[TURN_SAVE_REFUSED]++;
}

static void on_checkpointed(void *context, uint64_t step)
{
    struct swarm_rank_life *life = context;
    const struct membership *membership = &trainer_consumer(life->trainer)->membership;
    swarm_trace(life->host.swarm, life->host.actor, "== checkpoint at step %" PRIu64, step);
    /* It has listed its numbers since. */
    if (life->superseded && membership->published > life->published)
        violations_add(&life->host.swarm->checkers.violations, life->host.swarm->loop.now_ns,
                       life->host.actor,
                       "reader: rank %" PRIu32 " goes on as number %" PRIu64
                       ", which was superseded before it published step %" PRIu64,
                       life->rank, membership->number, membership->published);
}

static void on_request(void *context, const struct consumer_answer *answer)
{
    (void)context;
    (void)answer;
}

/* A rank that is refused what is on its disk lost it to a human's hand, or to a process that was
 * started from something younger. Another may have saved it anew since it was read. */
static void check_refusal(struct swarm_rank_life *life)
{
    struct swarm *swarm = life->host.swarm;
    const struct checkpoint_set *set = &rank_of(life)->disk.set;
    const struct rank_hold *hold = rank_holds_of(&swarm->checkers.holds, life->rank);
    bool own = life->from == RETURN_AGAIN || life->from == RETURN_ROLLBACK;
    const struct membership *membership = &trainer_consumer(life->trainer)->membership;
    bool by_hand = hold->retired >= checkpoint_lowest_number(&membership->found);
    if (own && !by_hand && hold->kept && hold->most <= life->oldest && set->count > 0 &&
        set->items[0].step == life->oldest)
        violations_add(&swarm->checkers.violations, swarm->loop.now_ns, life->host.actor,
                       "reader: rank %" PRIu32 " is refused its checkpoints from step %" PRIu64
                       " on, which nobody retired",
                       life->rank, life->oldest);
}

static bool was_given_all(const struct swarm_rank_life *life)
{
    const struct committed_order *order = &life->host.swarm->checkers.order;
    const struct consumer *consumer = trainer_consumer(life->trainer);
    return consumer->phase != CONSUMER_STARTING && consumer->cursor > order->count;
}

static void note_end(struct swarm_rank_life *life, enum consumer_end end)
{
    uint64_t *turns = turns_of(life);
    const struct consumer *consumer = trainer_consumer(life->trainer);
    turns[TURN_SUPERSEDED] += end == CONSUMER_SUPERSEDED;
    turns[TURN_STORE_FAILED] += end == CONSUMER_STORE_FAILED;
    turns[TURN_RETIRED] += end == CONSUMER_RETIRED;
    turns[TURN_REFUSED_KEPT] += end == CONSUMER_REFUSED && life->oldest > 0;
    turns[TURN_SLICE_MISSING] += consumer->counters.missing;
    turns[TURN_CHAIN_INVALID] += consumer->chain.invalid;
}

static void on_ended(void *context, enum consumer_end end, const char *text)
{
    struct swarm_rank_life *life = context;
    struct swarm *swarm = life->host.swarm;
    swarm_trace(swarm, life->host.actor, "== ended %s: %s", consumer_end_name(end), text);
    life->ended = true;
    swarm_refusal_ended(&life->host, end == CONSUMER_STORE_FAILED, text);
    note_end(life, end);
    if (end == CONSUMER_REFUSED)
        check_refusal(life);
    if (swarm->healed && end == CONSUMER_STOPPED && was_given_all(life)) {
        rank_of(life)->done = true;
        return;
    }
    if (swarm_rank_runs(swarm, life->rank))
        return;
    bool anew = end == CONSUMER_REFUSED && life->from != RETURN_RESTORE;
    swarm_rank_restart_later(swarm, life->rank, anew ? RETURN_ANEW : RETURN_AGAIN);
}

/* ---- lives ---- */

static const struct checkpoint_set *set_of(struct swarm *swarm, uint32_t rank,
                                           enum swarm_return from)
{
    static const struct checkpoint_set none;
    struct swarm_rank *known = &swarm->ranks[rank];
    uint32_t backups =
        known->backup_count < SWARM_BACKUPS_MAX ? known->backup_count : SWARM_BACKUPS_MAX;
    if (from == RETURN_ANEW)
        return &none;
    if (from == RETURN_RESTORE && backups > 0)
        return &known->backups[random_next(&swarm->random) % backups];
    return &known->disk.set;
}

static struct trainer_options options_of(struct swarm_rank_life *life,
                                         const struct checkpoint_set *set)
{
    struct swarm *swarm = life->host.swarm;
    const struct swarm_config *config = swarm->config;
    uint32_t number = life->host.actor - SWARM_RANK_ACTOR;
    struct trainer_options options = {
        .store = swarm_host_store(&life->host),
        .loop = &life->host.loop.loop,
        .world = &swarm->loop.loop,
        .checkers = &swarm->checkers,
        .disk = &swarm->ranks[life->rank].disk,
        .observer = {.context = life,
                     .running = on_running,
                     .given = on_given,
                     .saved = on_saved,
                     .refused = on_refused,
                     .checkpointed = on_checkpointed,
                     .request = on_request,
                     .ended = on_ended},
        .random = random_stream_make(config->limits.seed ^ TRAINER_DOMAIN, number),
        .step_ns = config->step_ns,
        .step_jitter = 0.5,
        .checkpoint_steps = config->checkpoint_steps,
        .save_ns = config->save_ns,
    };
    swarm_config_rank(config, life->rank, number, &options.consumer);
    options.consumer.checkpoints = *set;
    if (life->from == RETURN_ROLLBACK && set->count > 0)
        options.consumer.membership.rollback_step =
            set->items[random_next(&swarm->random) % set->count].step;
    return options;
}

void swarm_rank_start(struct swarm *swarm, uint32_t rank, enum swarm_return from)
{
    static const char *const froms[] = {"its disk", "an older checkpoint", "a backup", "nothing"};
    uint32_t limit = swarm->healed ? SWARM_RANK_LIVES_MAX : SWARM_RANK_LIVES_UPSET;
    if (swarm->rank_life_count >= limit)
        return;
    uint32_t number = swarm->rank_life_count++;
    struct swarm_rank_life *life = &swarm->rank_lives[number];
    const struct checkpoint_set *set = set_of(swarm, rank, from);
    life->rank = rank;
    life->from = from;
    life->oldest = set->count > 0 ? set->items[0].step : 0;
    swarm_host_open(&life->host, swarm, HOST_RANK, SWARM_RANK_ACTOR + number);
    if (from == RETURN_ANEW)
        swarm->ranks[rank].disk.set.count = 0;
    if (set->count == 0)
        rank_holds_abandoned(&swarm->checkers.holds, rank);
    struct trainer_options options = options_of(life, set);
    swarm_trace(swarm, life->host.actor, "!! starts from %s, at step %" PRIu64, froms[from],
                life->oldest);
    life->trainer = trainer_open(&options);
    trainer_start(life->trainer);
}

void swarm_rank_life_crash(struct swarm_rank_life *life)
{
    turns_of(life)[TURN_DIED_SAVING] += !life->ended && trainer_saves(life->trainer);
    swarm_host_kill(&life->host);
    trainer_crash(life->trainer);
    trainer_close(life->trainer);
    life->trainer = NULL;
}

void swarm_rank_sends(struct swarm_host *host, const struct store_op *op)
{
    struct swarm *swarm = host->swarm;
    if (!swarm->newcomer_waits || swarm->healed || op->verb != STORE_PUT_IF_ABSENT)
        return;
    swarm->newcomer_waits = false;
    swarm_host_pause(host, swarm_draw_units(swarm, 10, 1000));
}

void swarm_rank_crash(struct swarm *swarm, uint32_t rank)
{
    for (uint32_t i = 0; i < swarm->rank_life_count; i++)
        if (swarm->rank_lives[i].rank == rank && swarm_rank_life_runs(&swarm->rank_lives[i]))
            swarm_rank_life_crash(&swarm->rank_lives[i]);
}

/* ---- phase 2 ---- */

void swarm_ranks_settle(struct swarm *swarm)
{
    for (uint32_t i = 0; i < swarm->life_count; i++)
        if (swarm_life_runs(&swarm->lives[i]))
            return;
    for (uint32_t i = 0; i < swarm->rank_life_count; i++) {
        struct swarm_rank_life *life = &swarm->rank_lives[i];
        if (swarm_rank_life_runs(life) && was_given_all(life))
            trainer_stop(life->trainer);
    }
}

bool swarm_ranks_done(const struct swarm *swarm)
{
    for (uint32_t rank = 0; rank < swarm->config->ranks; rank++)
        if (!swarm->ranks[rank].done || swarm->ranks[rank].restart.slot != 0 ||
            swarm_rank_runs(swarm, rank))
            return false;
    for (uint32_t i = 0; i < swarm->retirer_count; i++)
        if (!swarm->retirers[i].ended)
            return false;
    return true;
}

/* ---- a human's hand ---- */

static void on_retired(void *context, enum membership_effect_kind end)
{
    struct swarm_retirer *retirer = context;
    struct swarm *swarm = retirer->host.swarm;
    retirer->ended = true;
    swarm_refusal_ended(&retirer->host, end == MEMBERSHIP_FAILED, NULL);
    swarm_trace(swarm, retirer->host.actor, "== %s",
                end == MEMBERSHIP_DONE ? "retired" : "gives up");
}

void swarm_retire_rank(struct swarm *swarm, uint32_t rank)
{
    if (swarm->retirer_count == SWARM_RETIRERS_MAX)
        return;
    uint32_t number = swarm->retirer_count++;
    struct swarm_retirer *retirer = &swarm->retirers[number];
    uint64_t seed = swarm->config->limits.seed ^ RETIRER_DOMAIN;
    struct random_stream identity = random_stream_make(seed, 2 * number);
    struct consumer_options like;
    swarm_config_rank(swarm->config, rank, number, &like);
    swarm_host_open(&retirer->host, swarm, HOST_RETIRER, SWARM_RETIRER_ACTOR + number);
    struct retirer_options options = {
        .store = swarm_host_store(&retirer->host),
        .loop = &retirer->host.loop.loop,
        .membership = {.consumer = rank,
                       .mode = MEMBERSHIP_RETIRE,
                       .identity = random_incarnation(&identity),
                       .retry_ns = like.retry_ns,
                       .retry_max_ns = like.retry_max_ns},
        .random = random_stream_make(seed, 2 * number + 1),
        .ended = on_retired,
        .context = retirer,
    };
    swarm_trace(swarm, retirer->host.actor, "!! retires rank %" PRIu32, rank);
    retirer->retirer = retirer_open(&options);
    retirer_start(retirer->retirer);
}

void swarm_ranks_close(struct swarm *swarm)
{
    for (uint32_t i = 0; i < swarm->rank_life_count; i++) {
        struct swarm_rank_life *life = &swarm->rank_lives[i];
        if (life->trainer != NULL)
            swarm_rank_life_crash(life);
        swarm_host_close(&life->host);
    }
    for (uint32_t i = 0; i < swarm->retirer_count; i++) {
        struct swarm_retirer *retirer = &swarm->retirers[i];
        swarm_host_kill(&retirer->host);
        retirer_close(retirer->retirer);
        swarm_host_close(&retirer->host);
    }
}
