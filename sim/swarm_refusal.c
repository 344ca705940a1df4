/* swarm_refusal.c - who is refused a request for good asks for nothing more, ends and says why; and
 * nobody ends so who was not refused. Ours. */
#include <stdio.h>
#include <string.h>

#include "sim/swarm_private.h"

bool swarm_refusal_is(enum fault_kind kind)
{
    return kind >= FAULT_FIRST_FINAL && kind < FAULT_FIRST_OF_DAMAGE;
}

static bool round_goes_on(const struct swarm_demon *demon)
{
    const struct reclaim *reclaim = reclaim_driver_machine(demon->driver);
    return reclaim->phase != RECLAIM_ENDING || reclaim->report.end == RECLAIM_DONE;
}

/* Whether its process goes by the answer: one that is ending anyway does not, and a rank's value
 * that is not deleted is harmless. */
static bool is_heard(const struct swarm_host *host, const struct store_op *op)
{
    const struct swarm *swarm = host->swarm;
    switch (host->kind) {
    case HOST_PRODUCER:
        return driver_producer(swarm->lives[host->actor].driver)->phase < PRODUCER_STOPPING;
    case HOST_RANK:
        return op->verb != STORE_DELETE &&
               trainer_consumer(swarm->rank_lives[host->actor - SWARM_RANK_ACTOR].trainer)->phase <
                   CONSUMER_STOPPING;
    case HOST_RETIRER:
        return op->verb != STORE_DELETE;
    case HOST_RECLAIMER:
        return round_goes_on(&swarm->demons[host->actor - SWARM_DEMON_ACTOR]);
    }
    return false;
}

void swarm_refusal_answered(struct swarm_host *host, const struct store_op *op)
{
    if (!is_heard(host, op))
        return;
    host->refusals++;
    host->refused_upload = op->verb == STORE_PUT;
    if (host->kind == HOST_RANK)
        trainer_refused(host->swarm->rank_lives[host->actor - SWARM_RANK_ACTOR].trainer);
}

/* A producer whose upload was refused still learns what becomes of the version that it sent. */
void swarm_refusal_sends(struct swarm_host *host, const struct store_op *op)
{
    bool decides = host->kind == HOST_PRODUCER && host->refused_upload && op->verb != STORE_PUT;
    if (host->refusals > 0 && !decides)
        violations_add(&host->swarm->checkers.violations, host->swarm->loop.now_ns, host->actor,
                       "refusal: %s %s is asked for by a process that was refused before",
                       store_verb_name(op->verb), op->key);
}

/* As core/fault_store.c words it; consumers' own words say "refused", too. */
static bool says_by_what(const char *text)
{
    char word[32];
    snprintf(word, sizeof(word), ": fault %s", fault_kind_name(FAULT_REFUSED));
    return strstr(text, word) != NULL;
}

void swarm_refusal_ended(const struct swarm_host *host, bool failed, const char *text)
{
    struct violations *violations = &host->swarm->checkers.violations;
    int64_t now_ns = host->swarm->loop.now_ns;
    bool says = text == NULL || says_by_what(text);
    if (failed && host->refusals == 0)
        violations_add(violations, now_ns, host->actor,
                       "end: a process that was refused nothing ends so: %s", text ? text : "");
    else if (!failed && host->refusals > 0)
        violations_add(violations, now_ns, host->actor,
                       "refusal: a process that was refused ends otherwise: %s", text ? text : "");
    else if (failed && !says)
        violations_add(violations, now_ns, host->actor,
                       "refusal: a process that was refused does not say by what: %s", text);
}
