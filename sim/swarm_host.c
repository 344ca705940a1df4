/* swarm_host.c - a process of a swarm: its time, its connection, and what is wrong with both. Ours.
 */
#include "core/codec_store.h"
#include "core/name.h"
#include "sim/swarm_private.h"

#define FAULT_DOMAIN UINT64_C(0x4641554c54)

static void on_fault(void *context, enum fault_moment moment, enum fault_kind kind,
                     const struct store_op *op)
{
    struct swarm_host *host = context;
    struct swarm_plane *plane = &host->swarm->result->plane;
    swarm_trace_fault(host, moment, kind, op);
    if (moment == FAULT_ANSWERED && swarm_refusal_is(kind))
        swarm_refusal_answered(host, op);
    if (moment == FAULT_ANSWERED && host->kind == HOST_RECLAIMER)
        swarm_demon_is_answered(host->swarm, host->actor, op);
    if (moment != FAULT_SUBMITTED)
        return;
    swarm_refusal_sends(host, op);
    switch (host->kind) {
    case HOST_PRODUCER:
        swarm_life_sends(&host->swarm->lives[host->actor], kind, op);
        return;
    case HOST_RANK:
        swarm_rank_sends(host, op);
        swarm_plane_note(plane, PLANE_RANK, kind, op);
        return;
    case HOST_RETIRER:
        swarm_plane_note(plane, PLANE_RANK, kind, op);
        return;
    case HOST_RECLAIMER:
        swarm_plane_note(plane, PLANE_RECLAIMER, kind, op);
        swarm_demon_sends(host->swarm, host->actor, op);
        return;
    }
}

static void resume_due(struct timer *timer, void *context)
{
    (void)timer;
    swarm_host_resume(context);
}

void swarm_host_open(struct swarm_host *host, struct swarm *swarm, enum swarm_host_kind kind,
                     uint32_t actor)
{
    double part = random_unit(&swarm->random) * 2.0 - 1.0;
    int64_t offset_ns = (int64_t)((double)swarm->config->clock_spread_ns * part);
    /* Clocks begin late enough never to be negative. */
    offset_ns += swarm->config->clock_spread_ns;
    host->swarm = swarm;
    host->kind = kind;
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
        .damage_prefix = swarm->config->bytes != 0 ? NAME_TGB_PREFIX : NULL,
        .watch = on_fault,
        .watch_context = host,
    };
    host->faults = fault_store_open(&faults);
    if (swarm->config->bytes != 0) {
        struct codec_store_options codec = {.payload = true, .mesh = swarm->config->mesh};
        host->codec = codec_store_open(host->faults, &codec);
    }
}

struct store *swarm_host_store(const struct swarm_host *host)
{
    return host->codec != NULL ? host->codec : host->faults;
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

void swarm_host_lock_out(struct swarm_host *host, const struct fault_refusal *refusal)
{
    fault_store_refuse(host->faults, refusal);
}

void swarm_host_kill(struct swarm_host *host)
{
    swarm_trace(host->swarm, host->actor, "!! dies");
    fault_store_cut(host->faults);
    actor_loop_kill(&host->loop);
    loop_timer_cancel(&host->swarm->loop.loop, &host->resume);
    if (host->codec != NULL)
        store_close(host->codec);
    host->codec = NULL;
}

void swarm_host_close(struct swarm_host *host)
{
    struct fault_counters counters = fault_store_counters(host->faults);
    for (int kind = 0; kind < FAULT_KIND_COUNT; kind++)
        host->swarm->result->hit[kind] += counters.hit[kind];
    store_close(host->client);
    store_close(host->faults);
    actor_loop_deinit(&host->loop);
}
