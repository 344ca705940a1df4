/* member_host.c - see member_host.h. Ours. */
#include "tests/core/member_host.h"

#include <string.h>

#include "tests/harness.h"

#define STEPS_MAX 100000

void host_init(struct host *host)
{
    *host = (struct host){0};
    manual_loop_init(&host->loop);
    host->store = scripted_store_open(&host->loop, 10 * NS_PER_MS);
}

void host_deinit(struct host *host)
{
    while (manual_loop_step(&host->loop))
        continue;
    scripted_store_close(host->store);
}

static void follow(struct life *life, struct membership_effect effect)
{
    struct host *host = life->host;
    if (effect.kind == MEMBERSHIP_SAVE) {
        host->durable = life->membership.checkpoints;
        host->saves++;
        effect = membership_saved(&life->membership);
    }
    if (effect.kind == MEMBERSHIP_SUBMIT) {
        store_submit(life->port, &life->membership.op);
        return;
    }
    if (effect.kind == MEMBERSHIP_SLEEP) {
        loop_timer_set(&host->loop.loop, &life->timer, effect.until_ns);
        return;
    }
    life->end = effect.kind;
    life->ended = true;
}

static void answered(struct store_op *op, void *context)
{
    (void)op;
    struct life *life = context;
    follow(life, membership_answer(&life->membership, life->host->loop.now_ns));
}

static void slept(struct timer *timer, void *context)
{
    (void)timer;
    struct life *life = context;
    follow(life, membership_wake(&life->membership));
}

struct membership_options life_options(uint8_t identity)
{
    return (struct membership_options){.consumer = CONSUMER,
                                       .identity = {.bytes = {identity}},
                                       .retry_ns = 5 * NS_PER_MS,
                                       .retry_max_ns = 50 * NS_PER_MS};
}

void life_init(struct life *life, struct host *host, const struct membership_options *options)
{
    *life = (struct life){.host = host, .port = scripted_store_port(host->store)};
    membership_init(&life->membership, options, &host->durable,
                    random_stream_make(1, options->identity.bytes[0]));
    life->membership.op.done = answered;
    life->membership.op.context = life;
    timer_init(&life->timer, slept, life);
}

static enum membership_effect_kind until_end(struct life *life)
{
    for (uint32_t i = 0; i < STEPS_MAX && !life->ended; i++)
        if (!manual_loop_step(&life->host->loop))
            break;
    CU_ASSERT_FATAL(life->ended);
    return life->end;
}

enum membership_effect_kind life_start(struct life *life)
{
    follow(life, membership_start(&life->membership));
    return until_end(life);
}

/* Starts a process that is given a start_step or a rollback_step. */
enum membership_effect_kind life_start_at(struct life *life, struct host *host, uint8_t identity,
                                          uint64_t start_step, uint64_t rollback_step)
{
    struct membership_options options = life_options(identity);
    options.start_step = start_step;
    options.rollback_step = rollback_step;
    life_init(life, host, &options);
    return life_start(life);
}

/* As the caller of the machine does it: the set durable first, then published. */
enum membership_effect_kind life_checkpoint(struct life *life, uint64_t step, uint32_t kept)
{
    struct checkpoint_set *set = &life->membership.checkpoints;
    while (set->count >= kept) {
        memmove(set->items, set->items + 1, (set->count - 1) * sizeof(set->items[0]));
        set->count--;
    }
    set->items[set->count++] = (struct checkpoint){.step = step, .number = life->membership.number};
    life->host->durable = *set;
    life->ended = false;
    follow(life, membership_publish(&life->membership));
    return until_end(life);
}

enum membership_effect_kind life_check(struct life *life)
{
    life->ended = false;
    follow(life, membership_check(&life->membership));
    return until_end(life);
}

static struct watermark_name own_name(enum watermark_part part, uint64_t number, uint64_t step)
{
    return (struct watermark_name){
        .consumer = CONSUMER, .part = part, .number = number, .step = step};
}

void host_put(struct host *host, enum watermark_part part, uint64_t number, uint64_t step)
{
    struct watermark_name name = own_name(part, number, step);
    scripted_store_put_watermark(host->store, &name);
}

bool host_has(struct host *host, enum watermark_part part, uint64_t number, uint64_t step)
{
    struct watermark_name name = own_name(part, number, step);
    return scripted_store_has_watermark(host->store, &name);
}

bool host_has_value(struct host *host, uint64_t number, uint64_t step)
{
    return host_has(host, WATERMARK_NUMBER_VALUE, number, step);
}

void host_put_intent(struct host *host, uint64_t step)
{
    scripted_store_put_intent(host->store, step);
}

void host_script(struct host *host, struct rule rule)
{
    scripted_store_script(host->store, &rule);
}
