/* create_queue.c - waits and convoys of contending creates. Ours: the mean-field form of a queue
 * (a wait for each other request in flight, not a server with a line) costs no event and keeps a
 * lone client exactly as it is. */
#include "sim/create_queue.h"

#include <math.h>

const char *create_queue_options_check(const struct create_queue_options *options)
{
    if (options->wait_ns < 0 || options->collision_ns < 0)
        return "a time of the create queue is negative";
    if (!(options->collision >= 0.0 && options->collision <= 1.0))
        return "the collision share of creates is not in 0..1";
    if (!(options->refused_early >= 0.0 && options->refused_early <= 1.0))
        return "the share that refused creates are spared is not in 0..1";
    return NULL;
}

static double others(const struct create_queue *queue)
{
    assert(queue->in_flight > 0);
    return (double)(queue->in_flight - 1);
}

int64_t create_queue_wait_ns(const struct create_queue *queue)
{
    if (queue->options.wait_ns == 0)
        return 0;
    return (int64_t)(others(queue) * (double)queue->options.wait_ns);
}

int64_t create_queue_rest_ns(const struct create_queue *queue, int64_t rest_ns,
                             enum store_outcome outcome, struct random_stream *stream)
{
    const struct create_queue_options *options = &queue->options;
    if (outcome == STORE_EXISTS && options->refused_early > 0.0)
        rest_ns = (int64_t)((1.0 - options->refused_early) * (double)rest_ns);
    if (options->collision <= 0.0)
        return rest_ns;
    /* Always two draws, so that a create's fate does not move the draws of later ones. */
    double chance = random_unit(stream);
    double delay = -log1p(-random_unit(stream)) * (double)options->collision_ns;
    if (chance >= options->collision * others(queue))
        return rest_ns;
    return rest_ns + (int64_t)(delay * others(queue));
}
