/* probe_call.c - see probe_call.h. Ours. */
#include "experiments/probe/probe_call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACK_OFF_NS (50 * NS_PER_MS) /* doubled with each try */
#define PATIENCE_NS (10 * NS_PER_S)  /* then the last answer counts */

static void remember(struct probe *probe, const char *key)
{
    for (size_t i = probe->key_count; i > 0; i--) /* the latest are the likeliest */
        if (strcmp(probe->keys[i - 1], key) == 0)
            return;
    if (probe->key_count == probe->key_capacity) {
        probe->key_capacity = probe->key_capacity > 0 ? 2 * probe->key_capacity : 64;
        probe->keys = realloc(probe->keys, probe->key_capacity * sizeof(*probe->keys));
        assert(probe->keys != NULL);
    }
    snprintf(probe->keys[probe->key_count++], STORE_KEY_MAX, "%s", key);
}

void probe_call_init(struct probe *probe, struct probe_call *call, enum store_verb verb,
                     size_t store, const char *name)
{
    *call = (struct probe_call){.probe = probe, .store = store % probe->options->store_count};
    store_op_init(&call->op);
    call->op.verb = verb;
    call->op.list_keys_max = STORE_LIST_KEYS_MAX;
    int written = snprintf(call->op.key, STORE_KEY_MAX, "%s%s", probe->report->prefix, name);
    assert(written > 0 && written < STORE_KEY_MAX);
    if (verb == STORE_PUT || verb == STORE_PUT_IF_ABSENT)
        remember(probe, call->op.key);
}

void probe_call_body(struct probe_call *call, const void *data, uint64_t bytes)
{
    call->op.body =
        (struct body){.kind = BODY_BYTES, .bytes = bytes, .data = (uint8_t *)(uintptr_t)data};
}

static void stop(struct probe *probe)
{
    if (probe->options->stop != NULL)
        probe->options->stop(probe->options->context);
}

static void on_done(struct store_op *op, void *context)
{
    struct probe_call *call = context;
    struct probe *probe = call->probe;
    (void)op;
    call->took_ns = loop_now(probe->options->loop) - call->sent_ns;
    assert(probe->waiting > 0);
    if (--probe->waiting == 0)
        stop(probe);
}

void probe_send(struct probe *probe, struct probe_call *calls, size_t count)
{
    assert(probe->waiting == 0);
    probe->waiting = count;
    for (size_t i = 0; i < count; i++) {
        struct probe_call *call = &calls[i];
        store_op_release(&call->op);
        call->op.done = on_done;
        call->op.context = call;
        call->sent_ns = loop_now(probe->options->loop);
        store_submit(probe->options->stores[call->store], &call->op);
    }
    if (count > 0)
        loop_run(probe->options->loop, TIME_NEVER);
    assert(probe->waiting == 0);
}

static void on_timer(struct timer *timer, void *context)
{
    (void)timer;
    stop(context);
}

void probe_back_off(struct probe *probe, uint32_t tries)
{
    struct loop *loop = probe->options->loop;
    double factor = random_factor(&probe->random, 0.5) * (double)(UINT64_C(1) << tries);
    timer_init(&probe->timer, on_timer, probe);
    loop_timer_set(loop, &probe->timer, loop_now(loop) + (int64_t)(factor * BACK_OFF_NS));
    loop_run(loop, TIME_NEVER);
}

void probe_send_surely(struct probe *probe, struct probe_call *call)
{
    int64_t until_ns = loop_now(probe->options->loop) + PATIENCE_NS;
    probe_send(probe, call, 1);
    for (uint32_t tries = 1; probe_undecided(call->op.outcome) && tries < PROBE_TRIES_MAX &&
                             loop_now(probe->options->loop) < until_ns;
         tries++) {
        probe_back_off(probe, tries);
        probe_send(probe, call, 1);
    }
}

bool probe_undecided(enum store_outcome outcome)
{
    return outcome == STORE_UNKNOWN || outcome == STORE_BUSY || outcome == STORE_THROTTLED;
}

const char *probe_call_text(const struct probe_call *call)
{
    return call->op.error[0] != '\0' ? call->op.error : store_outcome_text(call->op.outcome);
}

bool probe_call_holds(const struct probe_call *call, const void *data, uint64_t bytes)
{
    const struct body *body = &call->op.result;
    return call->op.outcome == STORE_OK && body->kind == BODY_BYTES && body->bytes == bytes &&
           (bytes == 0 || memcmp(body->data, data, bytes) == 0);
}

bool probe_interrupted(const struct probe *probe)
{
    return probe->options->interrupted != NULL && *probe->options->interrupted;
}

void probe_say(struct probe_result *result, enum probe_verdict verdict, const char *format, ...)
{
    if (result->verdict == PROBE_UNFIT)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(result->text, sizeof(result->text), format, arguments);
    va_end(arguments);
    result->verdict = verdict;
}

const char *probe_at(const struct probe *probe, size_t store, char text[STORE_ERROR_MAX])
{
    const struct probe_options *options = probe->options;
    text[0] = '\0';
    if (options->store_count > 1)
        snprintf(text, STORE_ERROR_MAX, " at %s", options->names[store % options->store_count]);
    return text;
}
