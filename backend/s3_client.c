/* s3_client.c - libcurl tells which sockets it waits for and when it wants to be called; the live
 * loop does both. Ours, on libcurl's multi_socket interface.
 *
 * Sockets: between two requests libcurl lets go of a connection's socket without closing it. It
 * stays registered, for nothing, until it is closed, which goes through our callback: taking it up
 * again in the same round costs no call to the kernel.
 *
 * Batches: first libcurl reads what all ready sockets have, then all answers are judged and the
 * next requests signed, then libcurl sends those. Each of the three is much code; one request after
 * the other through all of it costs a quarter more time, spent on reading code again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backend/s3_client_private.h"

#define DUE_ROUNDS_MAX                                                                             \
    16 /* of libcurl being called again at once, before others get their turn                      \
        */

/* Of a descriptor that libcurl made. */
enum socket_state {
    SOCKET_UNKNOWN, /* not made by our callback: of the resolver */
    SOCKET_OPEN,
    SOCKET_WATCHED,
};

/* An option whose failure can only be our mistake, or no memory. */
#define SET_MULTI(multi, option, value)                                                            \
    do {                                                                                           \
        CURLMcode set_code = curl_multi_setopt(multi, option, value);                              \
        assert(set_code == CURLM_OK);                                                              \
    } while (0)

/* ---- sockets and time ---- */

static uint8_t *socket_state(struct s3_client *client, int fd)
{
    assert(fd >= 0 && fd < LIVE_LOOP_FD_MAX);
    if ((size_t)fd >= client->socket_capacity) {
        size_t capacity = client->socket_capacity == 0 ? 64 : client->socket_capacity;
        while (capacity <= (size_t)fd)
            capacity *= 2;
        client->sockets = realloc(client->sockets, capacity);
        assert(client->sockets != NULL);
        memset(client->sockets + client->socket_capacity, SOCKET_UNKNOWN,
               capacity - client->socket_capacity);
        client->socket_capacity = capacity;
    }
    return &client->sockets[fd];
}

curl_socket_t s3_client_on_socket_open(void *context, curlsocktype purpose,
                                       struct curl_sockaddr *address)
{
    (void)purpose;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0)
        return CURL_SOCKET_BAD;
    *socket_state(context, fd) = SOCKET_OPEN;
    return fd;
}

int s3_client_on_socket_close(void *context, curl_socket_t fd)
{
    struct s3_client *client = context;
    uint8_t *state = socket_state(client, fd);
    if (*state == SOCKET_WATCHED)
        live_loop_unwatch(client->loop, fd);
    *state = SOCKET_UNKNOWN;
    return close(fd);
}

static void act(struct s3_client *client, curl_socket_t fd, int events)
{
    int running;
    CURLMcode code = curl_multi_socket_action(client->multi, fd, events, &running);
    assert(code == CURLM_OK);
}

static void drive_soon(struct s3_client *client)
{
    struct loop *loop = live_loop_base(client->loop);
    if (client->batch.slot == 0)
        loop_timer_set(loop, &client->batch, loop_now(loop));
}

static void on_ready(int fd, unsigned ready, void *context)
{
    int events = ((ready & LIVE_READABLE) != 0 ? CURL_CSELECT_IN : 0) |
                 ((ready & LIVE_WRITABLE) != 0 ? CURL_CSELECT_OUT : 0);
    struct s3_client *client = context;
    assert(!client->driving);
    client->driving = true; /* a wish to be called at once is remembered, not set as a timer */
    act(client, fd, events);
    client->driving = false;
    drive_soon(client);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *socket_context)
{
    (void)easy;
    (void)socket_context;
    struct s3_client *client = context;
    uint8_t *state = socket_state(client, fd);
    unsigned wanted = 0;
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT)
        wanted |= LIVE_READABLE;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT)
        wanted |= LIVE_WRITABLE;
    if (wanted == 0 && *state == SOCKET_UNKNOWN) {
        live_loop_unwatch(client->loop, fd); /* closed next, behind our back */
        return 0;
    }
    live_loop_watch(client->loop, fd, wanted, on_ready, client);
    if (*state == SOCKET_OPEN)
        *state = SOCKET_WATCHED;
    return 0;
}

static int on_timeout_change(CURLM *multi, long timeout_ms, void *context)
{
    (void)multi;
    struct s3_client *client = context;
    struct loop *loop = live_loop_base(client->loop);
    client->due = timeout_ms == 0 && client->driving;
    if (timeout_ms < 0 || client->due)
        loop_timer_cancel(loop, &client->timer);
    else
        loop_timer_set(loop, &client->timer, loop_now(loop) + timeout_ms * NS_PER_MS);
    return 0;
}

/* ---- ends ---- */

static void take_ended(struct s3_client *client)
{
    int left;
    for (CURLMsg *message = curl_multi_info_read(client->multi, &left); message != NULL;
         message = curl_multi_info_read(client->multi, &left)) {
        assert(message->msg == CURLMSG_DONE);
        CURLcode code = message->data.result;
        void *private;
        CURLcode got = curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
        assert(got == CURLE_OK);
        struct s3_exchange *exchange = private;
        s3_exchange_end(exchange, code);
        exchange->done(exchange);
        if (client->closed)
            return;
    }
}

static void client_free(struct s3_client *client)
{
    CURLMcode code = curl_multi_cleanup(client->multi); /* closes connections: our callback */
    assert(code == CURLM_OK);
    curl_share_cleanup(client->share);
    curl_global_cleanup();
    loop_timer_cancel(live_loop_base(client->loop), &client->timer);
    loop_timer_cancel(live_loop_base(client->loop), &client->batch);
    free(client->sockets);
    free(client->ca_file);
    free(client);
}

/* Takes what has ended, and lets libcurl begin what that led to. */
static void drive(struct s3_client *client)
{
    int round = 0;
    assert(!client->driving);
    client->driving = true;
    for (; round < DUE_ROUNDS_MAX; round++) {
        take_ended(client);
        if (client->closed || !client->due)
            break;
        client->due = false;
        act(client, CURL_SOCKET_TIMEOUT, 0);
    }
    client->driving = false;
    if (client->closed)
        client_free(client);
    else if (round == DUE_ROUNDS_MAX)
        drive_soon(client);
}

static void on_batch(struct timer *timer, void *context)
{
    (void)timer;
    drive(context);
}

static void on_timeout(struct timer *timer, void *context)
{
    (void)timer;
    ((struct s3_client *)context)->due = true;
    drive(context);
}

/* ---- open and close ---- */

enum open_result s3_client_open(const struct s3_client_options *options, const char *ca_file,
                                struct live_loop *loop, struct s3_client **client,
                                char error[STORE_ERROR_MAX])
{
    assert(options->connections >= 1 && options->connections <= S3_CONNECTIONS_MAX);
    CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (code != CURLE_OK) {
        snprintf(error, STORE_ERROR_MAX, "libcurl does not start: %s; reinstall libcurl",
                 curl_easy_strerror(code));
        return OPEN_FAILED;
    }
    struct s3_client *made = calloc(1, sizeof(*made));
    assert(made != NULL);
    made->options = *options;
    made->loop = loop;
    if (ca_file != NULL) {
        made->ca_file = strdup(ca_file);
        assert(made->ca_file != NULL);
    }
    timer_init(&made->timer, on_timeout, made);
    timer_init(&made->batch, on_batch, made);
    made->multi = curl_multi_init();
    made->share = curl_share_init();
    assert(made->multi != NULL && made->share != NULL);
    CURLSHcode shared = curl_share_setopt(made->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
    assert(shared == CURLSHE_OK);
    SET_MULTI(made->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    SET_MULTI(made->multi, CURLMOPT_SOCKETDATA, made);
    SET_MULTI(made->multi, CURLMOPT_TIMERFUNCTION, on_timeout_change);
    SET_MULTI(made->multi, CURLMOPT_TIMERDATA, made);
    SET_MULTI(made->multi, CURLMOPT_MAXCONNECTS, (long)options->connections);
    *client = made;
    return OPEN_OK;
}

void s3_client_close(struct s3_client *client)
{
    assert(client->exchanges == 0);
    client->closed = true;
    if (!client->driving)
        client_free(client);
}
