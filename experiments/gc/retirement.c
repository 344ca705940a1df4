/* retirement.c - see retirement.h. The machines of core on a session, one operation at a time.
 * Ours. */
#include "experiments/gc/retirement.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "core/driver.h"
#include "core/membership.h"
#include "experiments/live/live_chain.h"
#include "experiments/trials/producer_config.h"

#define RETRY_NS (50 * NS_PER_MS)
#define RETRY_MAX_NS (2 * NS_PER_S)
#define NO_BATCH_NS (24 * 3600 * NS_PER_S) /* longer than an epoch takes to be committed */

static void pause_until(struct live_session *session, int64_t until_ns)
{
    live_loop_hold(session->loop);
    loop_run(live_session_loop(session), until_ns);
    live_loop_unhold(session->loop);
}

/* ---- a consumer ---- */

static enum retirement conclude_consumer(const struct membership *membership,
                                         enum membership_effect_kind kind,
                                         char text[RETIREMENT_TEXT_MAX])
{
    uint32_t consumer = membership->options.consumer;
    switch (kind) {
    case MEMBERSHIP_DONE:
    case MEMBERSHIP_ENDED: /* by somebody else */
        return RETIREMENT_DONE;
    case MEMBERSHIP_REFUSED:
        snprintf(text, RETIREMENT_TEXT_MAX, "there is no consumer %u", consumer);
        return RETIREMENT_UNKNOWN;
    case MEMBERSHIP_FAILED:
    case MEMBERSHIP_SUPERSEDED:
    case MEMBERSHIP_SUBMIT:
    case MEMBERSHIP_SLEEP:
    case MEMBERSHIP_SAVE:
    case MEMBERSHIP_ALLOWED:
        break;
    }
    snprintf(text, RETIREMENT_TEXT_MAX, "%s", membership->error);
    return RETIREMENT_FAILED;
}

static enum retirement retire(struct live_session *session, struct membership_options *options,
                              char text[RETIREMENT_TEXT_MAX])
{
    struct loop *loop = live_session_loop(session);
    struct membership membership;
    const struct checkpoint_set none = {0};
    options->retry_ns = RETRY_NS;
    options->retry_max_ns = RETRY_MAX_NS;
    uint64_t seed = (uint64_t)loop_now(loop);
    membership_init(&membership, options, &none, random_stream_make(seed, options->consumer));
    struct membership_effect effect = membership_start(&membership);
    while (effect.kind == MEMBERSHIP_SUBMIT || effect.kind == MEMBERSHIP_SLEEP) {
        if (effect.kind == MEMBERSHIP_SUBMIT) {
            live_session_do(session, session->store, &membership.op);
            effect = membership_answer(&membership, loop_now(loop));
        } else {
            pause_until(session, effect.until_ns);
            effect = membership_wake(&membership);
        }
    }
    enum retirement result = conclude_consumer(&membership, effect.kind, text);
    membership_deinit(&membership);
    return result;
}

enum retirement retirement_of_consumer(struct live_session *session, uint32_t consumer,
                                       uint32_t declared, char text[RETIREMENT_TEXT_MAX])
{
    struct membership_options options = {.consumer = consumer,
                                         .mode = consumer < declared ? MEMBERSHIP_RETIRE_DECLARED
                                                                     : MEMBERSHIP_RETIRE};
    if (getrandom(&options.identity, INCARNATION_BYTES, 0) == INCARNATION_BYTES)
        return retire(session, &options, text);
    snprintf(text, RETIREMENT_TEXT_MAX, "the system gave no random bytes: %s", strerror(errno));
    return RETIREMENT_FAILED;
}

enum retirement retirement_of_number(struct live_session *session, uint32_t consumer,
                                     uint64_t number, char text[RETIREMENT_TEXT_MAX])
{
    struct membership_options options = {
        .consumer = consumer, .mode = MEMBERSHIP_RETIRE_OWN, .number = number};
    return retire(session, &options, text);
}

/* ---- a producer ---- */

/* The epoch of a producer in a version that counts; 0: it never committed. False: `text` says why
 * there is none. */
static bool find_epoch(struct live_session *session, uint32_t producer, uint32_t *epoch,
                       char text[RETIREMENT_TEXT_MAX])
{
    struct chain_reader reader;
    live_chain_init(session, &reader);
    enum chain_effect_kind kind = live_chain_read(session, &reader);
    *epoch = 0;
    if (kind == CHAIN_FAILED)
        snprintf(text, RETIREMENT_TEXT_MAX, "%s", reader.error);
    else if (reader.known != NULL && manifest_state_find(reader.known, producer) != NULL)
        *epoch = manifest_state_find(reader.known, producer)->epoch;
    chain_reader_deinit(&reader);
    return kind != CHAIN_FAILED;
}

struct fencing {
    struct live_session *session;
    struct driver *driver;
    uint32_t epoch; /* that was committed; 0: none yet */
    bool fenced;
    char *text; /* RETIREMENT_TEXT_MAX */
};

static void on_attempt(void *context, uint32_t producer, const struct attempt *attempt,
                       const struct attempt_detail *detail)
{
    struct fencing *fencing = context;
    (void)producer;
    (void)attempt;
    if (detail->epoch == 0 || fencing->epoch != 0)
        return;
    fencing->epoch = detail->epoch;
    driver_stop(fencing->driver);
}

static void on_visible(void *context, uint32_t producer, const struct batch *batch,
                       int64_t visible_ns)
{
    (void)context;
    (void)producer;
    (void)batch;
    (void)visible_ns;
}

static void on_request(void *context, uint32_t producer, enum store_verb verb,
                       enum store_outcome outcome, uint64_t bytes)
{
    (void)context;
    (void)producer;
    (void)verb;
    (void)outcome;
    (void)bytes;
}

static void on_ended(void *context, uint32_t producer, enum producer_end end, const char *text)
{
    struct fencing *fencing = context;
    (void)producer;
    fencing->fenced = end == PRODUCER_FENCED;
    if (end != PRODUCER_STOPPED)
        snprintf(fencing->text, RETIREMENT_TEXT_MAX, "%s", text);
    live_loop_stop(fencing->session->loop);
}

/* Runs a producer that makes nothing until its epoch is committed. */
static void fence(struct fencing *fencing, const struct producer_options *producer)
{
    const struct producer_observer observer = {
        .context = fencing,
        .attempt = on_attempt,
        .visible = on_visible,
        .request = on_request,
        .ended = on_ended,
    };
    struct driver_options options = {
        .store = fencing->session->store,
        .loop = live_session_loop(fencing->session),
        .observer = &observer,
        .producer = producer,
    };
    fencing->driver = driver_open(&options);
    driver_start(fencing->driver);
    loop_run(options.loop, TIME_NEVER);
    driver_close(fencing->driver);
}

enum retirement retirement_of_producer(struct live_session *session, const struct config *config,
                                       uint32_t producer, uint32_t *epoch,
                                       char text[RETIREMENT_TEXT_MAX])
{
    struct fencing fencing = {.session = session, .text = text};
    struct producer_options options;
    uint64_t seed = (uint64_t)loop_now(live_session_loop(session));
    text[0] = '\0';
    if (!find_epoch(session, producer, epoch, text))
        return RETIREMENT_FAILED;
    if (*epoch == 0) {
        snprintf(text, RETIREMENT_TEXT_MAX, "producer %u never committed anything", producer);
        return RETIREMENT_UNKNOWN;
    }
    producer_options_of(config, producer, seed, &options);
    options.batch_ns = NO_BATCH_NS;
    options.batch_jitter = 0;
    if (getrandom(&options.commit.incarnation, INCARNATION_BYTES, 0) != INCARNATION_BYTES) {
        snprintf(text, RETIREMENT_TEXT_MAX, "the system gave no random bytes: %s", strerror(errno));
        return RETIREMENT_FAILED;
    }
    fence(&fencing, &options);
    *epoch = fencing.epoch;
    if (fencing.epoch != 0)
        return RETIREMENT_DONE;
    if (fencing.fenced)
        snprintf(text, RETIREMENT_TEXT_MAX,
                 "producer %u was started by another process meanwhile: it is in use", producer);
    return RETIREMENT_FAILED;
}
