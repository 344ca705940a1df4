/* s3_store.c - the store seam on S3: opening, with all that is asked of the environment, and
 * closing. An operation's way is in s3_call.c and s3_outcome.c. Ours. */
#include "backend/s3_store.h"

#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "backend/s3_private.h"

#define REGION_DEFAULT "us-east-1"

/* ---- the seam ---- */

static void s3_submit(struct store *base, struct store_op *op)
{
    s3_call_submit((struct s3_store *)base, op);
}

static void drop_all(struct s3_calls *calls)
{
    while (!TAILQ_EMPTY(calls))
        s3_call_drop(TAILQ_FIRST(calls));
}

static void s3_close(struct store *base)
{
    struct s3_store *store = (struct s3_store *)base;
    struct loop *loop = live_loop_base(store->loop);
    drop_all(&store->waiting);
    drop_all(&store->active);
    drop_all(&store->sleeping);
    drop_all(&store->ended);
    for (uint32_t i = 0; i < store->slot_count; i++) {
        s3_exchange_deinit(&store->slots[i]->exchange);
        s3_request_deinit(&store->slots[i]->request);
        free(store->slots[i]);
    }
    if (store->client != NULL)
        s3_client_close(store->client);
    s3_identity_close(store);
    loop_timer_cancel(loop, &store->hold_timer);
    loop_timer_cancel(loop, &store->ended_timer);
    free(store->slots);
    free(store);
}

struct s3_counters s3_store_counters(const struct store *base)
{
    return ((const struct s3_store *)base)->counters;
}

const char *s3_store_endpoint(const struct store *base)
{
    return ((const struct s3_store *)base)->address.endpoint;
}

/* ---- opening ---- */

/* The first that is there and not empty; borrowed. */
static const char *first_of(const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (texts[i] != NULL && texts[i][0] != '\0')
            return texts[i];
    return "";
}

static void fill_options(struct s3_options *options, const struct s3_options *given)
{
    if (given != NULL)
        *options = *given;
    options->endpoint = options->region = options->profile = options->ca_file = NULL;
    if (options->connections == 0)
        options->connections = S3_CONNECTIONS_DEFAULT;
    if (options->connections > S3_CONNECTIONS_MAX)
        options->connections = S3_CONNECTIONS_MAX;
    if (options->connect_ns == 0)
        options->connect_ns = S3_CONNECT_NS;
    if (options->attempt_ns == 0)
        options->attempt_ns = S3_ATTEMPT_NS;
    if (options->operation_ns == 0)
        options->operation_ns = S3_OPERATION_NS;
    if (options->idle_ns == 0)
        options->idle_ns = S3_IDLE_NS;
}

static enum open_result find_address(struct s3_store *store, const char *address,
                                     const struct s3_options *given, char error[STORE_ERROR_MAX])
{
    struct credentials_profile profile;
    enum open_result result = credentials_profile_find(given->profile, &profile, error);
    if (result != OPEN_OK)
        return result;
    const char *const endpoints[] = {given->endpoint, getenv("AWS_ENDPOINT_URL_S3"),
                                     getenv("AWS_ENDPOINT_URL"), profile.endpoint};
    const char *const regions[] = {given->region, getenv("AWS_REGION"),
                                   getenv("AWS_DEFAULT_REGION"), profile.region, REGION_DEFAULT};
    result = s3_address_parse(address, first_of(endpoints, 4), first_of(regions, 5), given->style,
                              &store->address, error);
    if (result == OPEN_OK && given->payload == S3_PAYLOAD_UNSIGNED && !store->address.tls) {
        snprintf(error, STORE_ERROR_MAX,
                 "%.150s: over http nothing but its signature protects a body; sign it, or use "
                 "https",
                 store->address.endpoint);
        return OPEN_BAD_INPUT;
    }
    return result;
}

/* Whether the file holds certificates: found out now rather than at the first request. */
static enum open_result check_ca_file(const char *path, char error[STORE_ERROR_MAX])
{
    X509_STORE *certificates = X509_STORE_new();
    assert(certificates != NULL);
    int loaded = X509_STORE_load_locations(certificates, path, NULL);
    X509_STORE_free(certificates);
    if (loaded == 1)
        return OPEN_OK;
    snprintf(error, STORE_ERROR_MAX,
             "%.160s: no certificates can be read from it; give a file in PEM form", path);
    return OPEN_FAILED;
}

static enum open_result open_client(struct s3_store *store, const struct s3_options *given,
                                    char error[STORE_ERROR_MAX])
{
    const char *const files[] = {given->ca_file, getenv("AWS_CA_BUNDLE")};
    const char *ca_file = first_of(files, 2);
    enum open_result result = OPEN_OK;
    if (store->address.tls && ca_file[0] != '\0')
        result = check_ca_file(ca_file, error);
    if (result != OPEN_OK)
        return result;
    const struct s3_client_options options = {
        .connections = store->options.connections,
        .connect_ns = store->options.connect_ns,
        .idle_ns = store->options.idle_ns,
    };
    return s3_client_open(&options, ca_file[0] != '\0' ? ca_file : NULL, store->loop,
                          &store->client, error);
}

static uint64_t draw_seed(void)
{
    uint64_t seed;
    ssize_t got = getrandom(&seed, sizeof(seed), 0);
    assert(got == (ssize_t)sizeof(seed));
    return seed;
}

enum open_result s3_store_open(const char *address, const struct s3_options *options,
                               struct live_loop *loop, struct store **store,
                               char error[STORE_ERROR_MAX])
{
    static const struct store_ops ops = {.submit = s3_submit, .close = s3_close};
    static const struct s3_options none;
    const struct s3_options *given = options != NULL ? options : &none;
    struct s3_store *made = calloc(1, sizeof(*made));
    assert(made != NULL);
    made->base.ops = &ops;
    made->loop = loop;
    TAILQ_INIT(&made->waiting);
    TAILQ_INIT(&made->active);
    TAILQ_INIT(&made->sleeping);
    TAILQ_INIT(&made->ended);
    timer_init(&made->hold_timer, s3_call_on_hold_end, made);
    timer_init(&made->ended_timer, s3_call_on_ended, made);
    fill_options(&made->options, given);
    made->slots = calloc(made->options.connections, sizeof(*made->slots));
    assert(made->slots != NULL);
    uint64_t seed = made->options.seed != 0 ? made->options.seed : draw_seed();
    s3_pace_init(&made->pace, random_stream_make(seed, 0), loop_now(live_loop_base(loop)));

    enum open_result result = find_address(made, address, given, error);
    if (result == OPEN_OK)
        result = s3_identity_open(&made->identity, given->profile, error);
    if (result == OPEN_OK)
        result = open_client(made, given, error);
    if (result != OPEN_OK) {
        s3_close(&made->base);
        return result;
    }
    *store = &made->base;
    return OPEN_OK;
}
