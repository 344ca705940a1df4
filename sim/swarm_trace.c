/* swarm_trace.c - what happened, one line each. Ours. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "sim/swarm_private.h"

#define LINE_MAX_BYTES 512

void swarm_trace(struct swarm *swarm, uint32_t actor, const char *format, ...)
{
    if (swarm->options->trace == NULL)
        return;
    char text[LINE_MAX_BYTES];
    char who[32] = "world";
    if (actor < SWARM_LIVES_MAX)
        snprintf(who, sizeof(who), "p%" PRIu32 "/life%" PRIu32, swarm->lives[actor].producer,
                 actor);
    else if (actor < SWARM_RETIRER_ACTOR)
        snprintf(who, sizeof(who), "rank%" PRIu32 "/life%" PRIu32,
                 swarm->rank_lives[actor - SWARM_RANK_ACTOR].rank, actor - SWARM_RANK_ACTOR);
    else if (actor < SWARM_DEMON_ACTOR)
        snprintf(who, sizeof(who), "hand%" PRIu32, actor - SWARM_RETIRER_ACTOR);
    else if (actor < UINT32_MAX)
        snprintf(who, sizeof(who), "reclaimer%" PRIu32, actor - SWARM_DEMON_ACTOR);
    int used = snprintf(text, sizeof(text), "%15.6f %-12s ",
                        (double)swarm->loop.now_ns / (double)NS_PER_S, who);
    assert(used > 0 && used < LINE_MAX_BYTES);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, sizeof(text) - (size_t)used, format, arguments);
    va_end(arguments);
    swarm->options->trace(swarm->options->trace_context, text);
}

void swarm_trace_applied(struct swarm *swarm, uint32_t actor, const struct store_op *op,
                         enum store_outcome outcome, const char *what)
{
    if (swarm->options->trace == NULL || op->verb == STORE_GET || op->verb == STORE_LIST)
        return;
    swarm_trace(swarm, actor, "    applied %s %s: %s%s", store_verb_name(op->verb), op->key,
                store_outcome_name(outcome), what);
}

void swarm_trace_fault(struct swarm_host *host, enum fault_moment moment, enum fault_kind kind,
                       const struct store_op *op)
{
    struct swarm *swarm = host->swarm;
    if (swarm->options->trace == NULL)
        return;
    const char *verb = store_verb_name(op->verb);
    const char *fault = kind == FAULT_NONE ? "" : fault_kind_name(kind);
    switch (moment) {
    case FAULT_SUBMITTED:
        swarm_trace(swarm, host->actor, "-> %s %s%s%s %s", verb, op->key,
                    op->after[0] ? " after " : "", op->after, fault);
        return;
    case FAULT_ANSWERED:
        swarm_trace(swarm, host->actor, "<- %s %s: %s %s", verb, op->key,
                    store_outcome_name(op->outcome), fault);
        return;
    case FAULT_LANDED:
        swarm_trace(swarm, host->actor, "    landed %s %s: %s, nobody waits (%s)", verb, op->key,
                    store_outcome_name(op->outcome), fault_kind_name(kind));
        return;
    }
}
