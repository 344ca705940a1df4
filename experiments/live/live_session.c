/* live_session.c - see live_session.h. Ours. */
#include "experiments/live/live_session.h"

#include "core/codec_store.h"

enum open_result live_session_open(const char *url, const struct live_session_options *options,
                                   struct live_session *session, char error[STORE_ERROR_MAX])
{
    struct live_loop_options loop_options = {.workers = options->workers};
    struct store_url_options url_options = {.directory = {.access = options->access,
                                                          .sync = options->sync,
                                                          .temp_age_ns = options->temp_age_ns},
                                            .s3 = options->s3};
    struct codec_store_options codec_options = {.payload = true, .mesh = options->mesh};
    *session = (struct live_session){0};
    enum open_result result = live_loop_open(&loop_options, &session->loop, error);
    if (result != OPEN_OK)
        return result;
    result = store_open_url(url, &url_options, session->loop, &session->bytes, error);
    if (result != OPEN_OK) {
        live_loop_close(session->loop);
        return result;
    }
    struct store *inner = session->bytes;
    if (options->wrappers != NULL) {
        session->wrappers =
            live_wrappers_open(options->wrappers, session->bytes, live_session_loop(session));
        inner = live_wrappers_store(session->wrappers);
    }
    session->store = codec_store_open(inner, &codec_options);
    return OPEN_OK;
}

/* The inner store goes first: it drops what is in flight, which the others' calls hold. */
void live_session_close(struct live_session *session)
{
    store_close(session->bytes);
    if (session->wrappers != NULL)
        live_wrappers_close(session->wrappers);
    store_close(session->store);
    live_loop_close(session->loop);
    *session = (struct live_session){0};
}

struct loop *live_session_loop(const struct live_session *session)
{
    return live_loop_base(session->loop);
}

void live_session_slice(struct live_session *session, struct tgb_mesh mesh)
{
    codec_store_slice(session->store, mesh);
}

static void stop_waiting(struct store_op *op, void *context)
{
    struct live_session *session = context;
    (void)op;
    live_loop_stop(session->loop);
}

void live_session_do(struct live_session *session, struct store *store, struct store_op *op)
{
    op->done = stop_waiting;
    op->context = session;
    store_submit(store, op);
    loop_run(live_session_loop(session), TIME_NEVER);
}

const char *live_session_error(const struct store_op *op)
{
    return op->error[0] != '\0' ? op->error : store_outcome_text(op->outcome);
}
