/* lifecycle_retirer.c - who ends a consumer from outside. Ours. */
#include "tests/model/lifecycle_retirer.h"

#include <stdlib.h>
#include <string.h>

#include "tests/model/lifecycle_hash.h"
#include "tests/model/lifecycle_spec.h"

#define RETIRER_IDENTITY 200 /* no process has it */

static void follow(struct lifecycle *world, struct retirer_actor *retirer,
                   struct membership_effect effect)
{
    while (effect.kind == MEMBERSHIP_SLEEP)
        effect = membership_wake(retirer->machine);
    if (effect.kind == MEMBERSHIP_SUBMIT)
        return;
    if (effect.kind == MEMBERSHIP_DONE)
        spec_event(world, EVENT_RETIRED);
    else
        spec_broken(world, "a consumer cannot be retired: %s", retirer->machine->error);
    retirer_actor_close(retirer);
}

/* Its processes are no longer alone. */
void retirer_actor_start(struct lifecycle *world, uint32_t consumer)
{
    struct retirer_actor *retirer = &world->retirer;
    struct membership_options options = {.consumer = consumer,
                                         .mode = MEMBERSHIP_RETIRE,
                                         .identity = {.bytes = {RETIRER_IDENTITY}},
                                         .retry_ns = 1,
                                         .retry_max_ns = 1};
    const struct checkpoint_set none = {0};
    assert(retirer->machine == NULL);
    for (uint32_t i = 0; i < world->rank_count; i++)
        if (world->ranks[i].consumer == consumer)
            world->ranks[i].alone = false;
    retirer->consumer = consumer;
    retirer->machine = malloc(sizeof(*retirer->machine));
    assert(retirer->machine != NULL);
    membership_init(retirer->machine, &options, &none, random_stream_make(5, 0));
    follow(world, retirer, membership_start(retirer->machine));
}

struct store_op *retirer_actor_op(struct retirer_actor *retirer)
{
    return retirer->machine != NULL ? &retirer->machine->op : NULL;
}

void retirer_actor_answer(struct lifecycle *world, struct retirer_actor *retirer)
{
    follow(world, retirer, membership_answer(retirer->machine, 0));
}

void retirer_actor_copy(struct retirer_actor *to, const struct retirer_actor *from)
{
    *to = *from;
    if (from->machine == NULL)
        return;
    to->machine = malloc(sizeof(*to->machine));
    assert(to->machine != NULL);
    *to->machine = *from->machine;
    to->machine->op.page = (struct list_page){0};
    if (from->machine->op.body.data == from->machine->options.identity.bytes)
        to->machine->op.body.data = to->machine->options.identity.bytes;
}

void retirer_actor_close(struct retirer_actor *retirer)
{
    if (retirer->machine == NULL)
        return;
    membership_deinit(retirer->machine);
    free(retirer->machine);
    retirer->machine = NULL;
}

uint64_t retirer_actor_hash(const struct retirer_actor *retirer)
{
    if (retirer->machine == NULL)
        return 7;
    uint64_t hash = hash_membership(retirer->consumer, retirer->machine);
    return hash_request(hash, &retirer->machine->op);
}
