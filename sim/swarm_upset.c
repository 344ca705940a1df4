/* swarm_upset.c - pauses, crashes, zombies and clock jumps, at random moments of phase 1; ranks are
 * rolled back, restored and retired, too. Ours. */
#include "sim/swarm_private.h"

#define RECLAIMER_SHARE 5 /* of so many crashes and pauses, one hits a reclaimer */
#define RANK_SHARE 3      /* of so many upsets of the common kinds, one hits a rank */
#define FENCED_SHARE 4    /* of so many producers that learn that they are fenced, one is paused */
#define HAND_SHARE 3      /* of so many hands that retire, one is locked out where some are */
#define ANEW_SHARE 8      /* of so many ranks that die, one has lost its disk */

static uint64_t draw(struct swarm *swarm, uint64_t below)
{
    return random_next(&swarm->random) % below;
}

int64_t swarm_draw_units(struct swarm *swarm, double low, double high)
{
    double unit_ns = (double)swarm->config->unit_ns;
    return swarm_draw_ns(&swarm->random, low * unit_ns, high * unit_ns);
}

uint32_t swarm_upset_bit(enum swarm_upset upset)
{
    return UINT32_C(1) << (FAULT_KIND_COUNT + (uint32_t)upset);
}

static void note(struct swarm *swarm, enum swarm_upset upset)
{
    swarm->result->hit[FAULT_KIND_COUNT + (uint32_t)upset]++;
}

/* NULL if nobody runs. */
static struct swarm_life *somebody(struct swarm *swarm)
{
    if (swarm->life_count == 0)
        return NULL;
    uint32_t first = (uint32_t)draw(swarm, swarm->life_count);
    for (uint32_t i = 0; i < swarm->life_count; i++) {
        struct swarm_life *life = &swarm->lives[(first + i) % swarm->life_count];
        if (swarm_life_runs(life))
            return life;
    }
    return NULL;
}

static struct swarm_demon *some_demon(struct swarm *swarm)
{
    for (uint32_t i = 0; i < swarm->demon_count; i++)
        if (swarm_demon_runs(&swarm->demons[i]) && draw(swarm, 2) == 0)
            return &swarm->demons[i];
    return NULL;
}

/* NULL if none runs. */
static struct swarm_rank_life *some_rank(struct swarm *swarm)
{
    if (swarm->rank_life_count == 0)
        return NULL;
    uint32_t first = (uint32_t)draw(swarm, swarm->rank_life_count);
    for (uint32_t i = 0; i < swarm->rank_life_count; i++) {
        uint32_t number = (first + i) % swarm->rank_life_count;
        if (swarm_rank_life_runs(&swarm->rank_lives[number]))
            return &swarm->rank_lives[number];
    }
    return NULL;
}

static void restart_due(struct timer *timer, void *context)
{
    struct swarm *swarm = context;
    uint32_t producer = (uint32_t)(timer - swarm->restarts);
    uint32_t limit = swarm->healed ? SWARM_LIVES_MAX : SWARM_LIVES_UPSET;
    if (swarm->life_count < limit)
        swarm_life_start(swarm, producer, swarm->restart_fault[producer]);
}

void swarm_restart_later(struct swarm *swarm, uint32_t producer, uint32_t fault)
{
    struct timer *timer = &swarm->restarts[producer];
    if (timer->slot != 0)
        return;
    swarm->restart_fault[producer] = fault;
    timer_init(timer, restart_due, swarm);
    loop_timer_set(&swarm->loop.loop, timer,
                   swarm->loop.now_ns + swarm_draw_units(swarm, 0.1, 100));
}

static void crash(struct swarm *swarm, struct swarm_life *life)
{
    struct swarm_demon *demon = some_demon(swarm);
    note(swarm, UPSET_CRASH);
    if (demon != NULL && draw(swarm, RECLAIMER_SHARE) == 0) {
        swarm_demon_crash(demon);
        swarm_demon_start(swarm);
        return;
    }
    uint32_t producer = life->producer;
    swarm_life_crash(life);
    swarm_restart_later(swarm, producer, swarm_upset_bit(UPSET_CRASH));
}

static void doom_due(struct timer *timer, void *context)
{
    (void)timer;
    struct swarm *swarm = context;
    struct swarm_life *life = &swarm->lives[swarm->doomed];
    if (!swarm->healed && swarm_life_runs(life))
        swarm_life_crash(life);
}

/* The next life dies soon, perhaps with its fencing version on the way, and nobody replaces it: the
 * one before it, which lives, must not believe that version if it lands where nobody looks. */
static void doom_next(struct swarm *swarm)
{
    swarm->doomed = swarm->life_count;
    timer_init(&swarm->doom, doom_due, swarm);
    loop_timer_set(&swarm->loop.loop, &swarm->doom,
                   swarm->loop.now_ns + swarm_draw_units(swarm, 2, 40));
}

static void zombie(struct swarm *swarm, struct swarm_life *life)
{
    if (swarm->life_count >= SWARM_LIVES_UPSET)
        return;
    note(swarm, UPSET_ZOMBIE);
    life->faults_ever |= swarm_upset_bit(UPSET_ZOMBIE);
    uint64_t way = draw(swarm, 4);
    if (way < 3)
        swarm_host_pause(&life->host, swarm_draw_units(swarm, 4, 1000));
    if (way < 2 && swarm->doom.slot == 0)
        doom_next(swarm);
    swarm_life_start(swarm, life->producer, swarm_upset_bit(UPSET_ZOMBIE));
}

/* Now and then it stands still meanwhile: what it then reads may be below the floor, and must not
 * end it before it has looked again. */
void swarm_upset_fenced(struct swarm_life *life)
{
    struct swarm *swarm = life->host.swarm;
    bool zombies = swarm->config->upset_weights[UPSET_ZOMBIE] > 0.0;
    if (zombies && !swarm->healed && draw(swarm, FENCED_SHARE) == 0)
        swarm_host_pause(&life->host, swarm_draw_units(swarm, 4, 300));
}

static void pause_one(struct swarm *swarm, struct swarm_life *life)
{
    struct swarm_demon *demon = some_demon(swarm);
    note(swarm, UPSET_PAUSE);
    if (demon != NULL && draw(swarm, RECLAIMER_SHARE) == 0) {
        swarm_host_pause(&demon->host, swarm_draw_units(swarm, 1, 300));
        return;
    }
    life->faults_now |= swarm_upset_bit(UPSET_PAUSE);
    swarm_host_pause(&life->host, swarm_draw_units(swarm, 1, 300));
}

static void jump(struct swarm *swarm, struct swarm_life *life)
{
    int64_t step_ns = swarm_draw_units(swarm, 0.1, 100);
    uint64_t way = draw(swarm, 5);
    note(swarm, UPSET_JUMP);
    if (way < 2)
        step_ns = -step_ns;
    if (way == 4)
        step_ns = swarm_draw_ns(&swarm->random, 1.0 * NS_PER_S, 1e5 * NS_PER_S);
    life->faults_now |= swarm_upset_bit(UPSET_JUMP);
    swarm_trace(swarm, life->host.actor, "!! clock jumps by %.6f s", (double)step_ns / NS_PER_S);
    actor_loop_jump(&life->host.loop, step_ns);
}

/* From now on it may not do all that it could. */
static void lock_out(struct swarm *swarm, struct swarm_host *host)
{
    static const char *const prefixes[] = {"",
                                           NAME_TGB_PREFIX,
                                           NAME_MANIFEST_PREFIX,
                                           NAME_MANIFEST_PREFIX,
                                           NAME_FLOOR_PREFIX,
                                           NAME_INTENT_PREFIX,
                                           NAME_WATERMARK_PREFIX};
    const uint64_t count = sizeof(prefixes) / sizeof(prefixes[0]);
    struct fault_refusal refusal = {.verbs = 1u << draw(swarm, STORE_VERB_COUNT),
                                    .prefix = prefixes[draw(swarm, count)]};
    if (draw(swarm, 4) == 0)
        refusal.verbs = (1u << STORE_VERB_COUNT) - 1;
    swarm_trace(swarm, host->actor, "!! is refused from now on: verbs 0x%x of %s*", refusal.verbs,
                refusal.prefix);
    swarm_host_lock_out(host, &refusal);
}

static void lock_out_one(struct swarm *swarm, struct swarm_life *life)
{
    struct swarm_demon *demon = some_demon(swarm);
    bool reclaims = demon != NULL && draw(swarm, RECLAIMER_SHARE) == 0;
    note(swarm, UPSET_LOCKOUT);
    if (!reclaims)
        life->faults_ever |= swarm_upset_bit(UPSET_LOCKOUT);
    lock_out(swarm, reclaims ? &demon->host : &life->host);
}

/* ---- ranks ---- */

/* A human's hand that may not do what it came for. */
static void lock_out_hand(struct swarm *swarm)
{
    if (swarm->config->upset_weights[UPSET_LOCKOUT] <= 0.0 || draw(swarm, HAND_SHARE) > 0)
        return;
    note(swarm, UPSET_LOCKOUT);
    lock_out(swarm, &swarm->retirers[swarm->retirer_count - 1].host);
}

static void crash_rank(struct swarm *swarm, struct swarm_rank_life *life)
{
    uint32_t rank = life->rank;
    bool anew = draw(swarm, ANEW_SHARE) == 0;
    swarm_rank_life_crash(life);
    swarm_rank_restart_later(swarm, rank, anew ? RETURN_ANEW : RETURN_AGAIN);
}

static void upset_rank(struct swarm *swarm, struct swarm_rank_life *life, enum swarm_upset upset)
{
    uint32_t rank = life->rank;
    note(swarm, upset);
    switch (upset) {
    case UPSET_PAUSE:
        swarm_host_pause(&life->host, swarm_draw_units(swarm, 1, 300));
        return;
    case UPSET_CRASH:
        crash_rank(swarm, life);
        return;
    case UPSET_ZOMBIE:
        if (draw(swarm, 3) > 0)
            swarm_host_pause(&life->host, swarm_draw_units(swarm, 4, 1000));
        swarm_rank_start(swarm, rank, RETURN_AGAIN);
        return;
    case UPSET_JUMP:
        actor_loop_jump(&life->host.loop, swarm_draw_units(swarm, 0.1, 100));
        return;
    case UPSET_LOCKOUT:
        lock_out(swarm, &life->host);
        return;
    case UPSET_ROLLBACK:
    case UPSET_RESTORE:
        /* Sometimes the one that is to be replaced lives on. */
        if (draw(swarm, 4) > 0)
            swarm_rank_life_crash(life);
        swarm_rank_start(swarm, rank, upset == UPSET_ROLLBACK ? RETURN_ROLLBACK : RETURN_RESTORE);
        return;
    case UPSET_RETIRE:
        swarm_retire_rank(swarm, rank);
        lock_out_hand(swarm);
        if (draw(swarm, 2) > 0)
            swarm_rank_life_crash(life);
        swarm_rank_restart_later(swarm, rank, RETURN_AGAIN);
        return;
    case UPSET_NEWCOMER:
        swarm->ambush = draw(swarm, 2) == 0 ? RECLAIM_LISTING : RECLAIM_READING_AGAIN;
        return;
    case UPSET_COUNT:
        return;
    }
}

static void newcomer_due(struct timer *timer, void *context)
{
    (void)timer;
    struct swarm *swarm = context;
    if (swarm->healed)
        return;
    uint32_t rank = (uint32_t)draw(swarm, swarm->config->ranks);
    bool anew = draw(swarm, 2) == 0;
    swarm->newcomer_waits = draw(swarm, 2) == 0;
    swarm_rank_crash(swarm, rank);
    swarm_rank_start(swarm, rank, anew ? RETURN_ANEW : RETURN_RESTORE);
}

void swarm_upset_newcomer(struct swarm *swarm)
{
    if (swarm->newcomer.slot != 0)
        return;
    timer_init(&swarm->newcomer, newcomer_due, swarm);
    loop_timer_set(&swarm->loop.loop, &swarm->newcomer,
                   swarm->loop.now_ns + swarm_draw_units(swarm, 0.5, 10));
}

/* ---- when ---- */

static void set_timer(struct swarm *swarm)
{
    double part = 2.0 * random_unit(&swarm->random);
    int64_t gap_ns = 1 + (int64_t)((double)swarm->config->upset_gap_ns * part);
    loop_timer_set(&swarm->loop.loop, &swarm->upset, swarm->loop.now_ns + gap_ns);
}

static enum swarm_upset choose(struct swarm *swarm)
{
    double sum = 0.0;
    int upset = 0;
    for (int i = 0; i < UPSET_COUNT; i++)
        sum += swarm->config->upset_weights[i];
    double draw = sum * random_unit(&swarm->random);
    while (upset < UPSET_COUNT && (draw -= swarm->config->upset_weights[upset]) >= 0.0)
        upset++;
    return (enum swarm_upset)upset;
}

static void upset_due(struct timer *timer, void *context)
{
    (void)timer;
    struct swarm *swarm = context;
    if (swarm->healed)
        return;
    struct swarm_life *life = somebody(swarm);
    enum swarm_upset upset = choose(swarm);
    struct swarm_rank_life *rank = some_rank(swarm);
    set_timer(swarm);
    if (upset == UPSET_COUNT)
        return; /* nothing is drawn in this world */
    if (rank != NULL && (upset >= UPSET_FIRST_OF_RANKS || draw(swarm, RANK_SHARE) == 0)) {
        upset_rank(swarm, rank, upset);
        return;
    }
    if (life == NULL)
        return;
    switch (upset) {
    case UPSET_PAUSE:
        pause_one(swarm, life);
        return;
    case UPSET_CRASH:
        crash(swarm, life);
        return;
    case UPSET_ZOMBIE:
        zombie(swarm, life);
        return;
    case UPSET_JUMP:
        jump(swarm, life);
        return;
    case UPSET_LOCKOUT:
        lock_out_one(swarm, life);
        return;
    case UPSET_ROLLBACK:
    case UPSET_RESTORE:
    case UPSET_RETIRE:
    case UPSET_NEWCOMER:
    case UPSET_COUNT:
        return;
    }
}

void swarm_upset_begin(struct swarm *swarm)
{
    timer_init(&swarm->upset, upset_due, swarm);
    set_timer(swarm);
}
