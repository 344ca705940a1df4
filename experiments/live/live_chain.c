/* live_chain.c - see live_chain.h. Ours. */
#include "experiments/live/live_chain.h"

#include <string.h>

#define RETRY_NS (50 * NS_PER_MS)
#define RETRY_MAX_NS (2 * NS_PER_S)

void live_chain_init(struct live_session *session, struct chain_reader *reader)
{
    struct chain_reader_options options = {.retry_ns = RETRY_NS, .retry_max_ns = RETRY_MAX_NS};
    int64_t most_ns = session->patience_ns / CHAIN_RETRIES_MAX + 1; /* for all retries in a row */
    if (session->patience_ns > 0 && most_ns < RETRY_NS)
        options = (struct chain_reader_options){.retry_ns = most_ns, .retry_max_ns = most_ns};
    uint64_t seed = (uint64_t)loop_now(live_session_loop(session));
    chain_reader_init(reader, &options, random_stream_make(seed, 0));
}

enum chain_effect_kind live_chain_read(struct live_session *session, struct chain_reader *reader)
{
    struct loop *loop = live_session_loop(session);
    struct chain_effect effect = chain_reader_begin(reader);
    while (effect.kind == CHAIN_SUBMIT || effect.kind == CHAIN_SLEEP) {
        if (effect.kind == CHAIN_SUBMIT) {
            live_session_do(session, session->store, &reader->op);
            effect = chain_reader_answer(reader, loop_now(loop));
        } else {
            live_loop_hold(session->loop);
            loop_run(loop, effect.until_ns);
            live_loop_unhold(session->loop);
            effect = chain_reader_wake(reader);
        }
    }
    return effect.kind;
}

bool live_chain_end(struct live_session *session, uint64_t *next_step, char error[STORE_ERROR_MAX])
{
    struct chain_reader reader;
    live_chain_init(session, &reader);
    bool read = live_chain_read(session, &reader) != CHAIN_FAILED;
    *next_step = reader.known != NULL ? reader.known->next_step : 1;
    if (!read)
        memcpy(error, reader.error, sizeof(reader.error));
    chain_reader_deinit(&reader);
    return read;
}
