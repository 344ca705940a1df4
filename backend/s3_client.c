/* s3_client.c - libcurl tells which sockets it waits for and when it wants to be called; the live
 * loop does both. Ours, on libcurl's multi_socket interface.
 *
 * Once only: libcurl sends a request again by itself when a kept-alive connection dies. Before a
 * request goes out it asks the prerequest callback, each time anew: there a request that must not
 * be sent twice is stopped, whether it has a body or not. Its body is not rewound either, once it
 * began to go out (before that it is: libcurl may remember, wrongly, to rewind for a request that
 * its handle carried before).
 *
 * Sockets: between two requests libcurl lets go of a connection's socket without closing it. It
 * stays registered, for nothing, until it is closed, which goes through our callback: taking it up
 * again in the same round costs no call to the kernel.
 *
 * Proxies: https goes through the environment's proxy where there is one (HTTPS_PROXY, NO_PROXY):
 * a tunnel, in which TLS protects the request from being answered or sent twice. http never does.
 */
#include "backend/s3_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DUE_ROUNDS_MAX                                                                             \
    16 /* of libcurl being called again at once, before others get their turn                      \
        */
#define BUFFER_BYTES 65536L
#define ANSWER_BYTES_FIRST ((uint64_t)4 << 10)
#define ANSWER_BYTES_TRUSTED ((uint64_t)64 << 20) /* allocated because a server said so */
#define ANSWER_BYTES_KEPT ((uint64_t)64 << 10)
#define DATE_BYTES_MAX 64

/* Of a descriptor that libcurl made. */
enum socket_state {
    SOCKET_UNKNOWN, /* not made by our callback: of the resolver */
    SOCKET_OPEN,
    SOCKET_WATCHED,
};

struct s3_client {
    struct s3_client_options options;
    char *ca_file;
    struct live_loop *loop;
    CURLM *multi;
    CURLSH *share; /* TLS sessions */
    struct timer timer;
    bool due; /* libcurl wants to be called at once */
    bool driving;
    bool closed;               /* from inside `done` */
    char date[DATE_BYTES_MAX]; /* the last Date line, which is the same for a second */
    size_t date_bytes;
    int64_t date_ns;
    uint32_t exchanges;
    uint8_t *sockets; /* enum socket_state by descriptor */
    size_t socket_capacity;
};

/* Options whose failure can only be our mistake, or no memory. */
#define SET(easy, option, value)                                                                   \
    do {                                                                                           \
        CURLcode set_code = curl_easy_setopt(easy, option, value);                                 \
        assert(set_code == CURLE_OK);                                                              \
    } while (0)
#define SET_MULTI(multi, option, value)                                                            \
    do {                                                                                           \
        CURLMcode set_code = curl_multi_setopt(multi, option, value);                              \
        assert(set_code == CURLM_OK);                                                              \
    } while (0)

/* ---- the answer as it comes ---- */

static void take_date(struct s3_exchange *exchange, const char *line, size_t bytes)
{
    struct s3_client *client = exchange->client;
    if (bytes != client->date_bytes || memcmp(line, client->date, bytes) != 0) {
        s3_headers_line(&exchange->answer_headers, line, bytes);
        client->date_ns = exchange->answer_headers.date_ns;
        client->date_bytes = bytes;
        memcpy(client->date, line, bytes);
    }
    exchange->answer_headers.date_ns = client->date_ns;
}

static size_t on_header(char *line, size_t size, size_t count, void *context)
{
    struct s3_exchange *exchange = context;
    size_t bytes = size * count;
    exchange->header_bytes += bytes;
    if (exchange->header_bytes > S3_HEADER_BYTES_MAX) {
        exchange->too_large = true;
        return 0;
    }
    if (bytes > 5 && memcmp(line, "HTTP/", 5) == 0)
        exchange->status = 0; /* an interim answer (100) may have come before */
    if (bytes > 5 && bytes <= DATE_BYTES_MAX && strncasecmp(line, "Date:", 5) == 0)
        take_date(exchange, line, bytes);
    else
        s3_headers_line(&exchange->answer_headers, line, bytes);
    return bytes;
}

static int status_of(const struct s3_exchange *exchange)
{
    long status = 0;
    CURLcode code = curl_easy_getinfo(exchange->easy, CURLINFO_RESPONSE_CODE, &status);
    assert(code == CURLE_OK);
    return status > 0 && status < 1000 ? (int)status : 0;
}

static void reserve_answer(struct s3_exchange *exchange, uint64_t bytes)
{
    if (bytes <= exchange->answer_capacity)
        return;
    uint64_t capacity = 2 * exchange->answer_capacity;
    int64_t length = exchange->answer_headers.content_length;
    if (length >= (int64_t)bytes && (uint64_t)length <= ANSWER_BYTES_TRUSTED)
        capacity = (uint64_t)length;
    if (capacity < ANSWER_BYTES_FIRST)
        capacity = ANSWER_BYTES_FIRST;
    while (capacity < bytes)
        capacity *= 2;
    exchange->answer = realloc(exchange->answer, capacity);
    assert(exchange->answer != NULL);
    exchange->answer_capacity = capacity;
}

static size_t on_answer(char *data, size_t size, size_t count, void *context)
{
    struct s3_exchange *exchange = context;
    uint64_t bytes = size * count;
    if (exchange->status == 0)
        exchange->status = status_of(exchange);
    uint64_t keep = bytes;
    if (exchange->status / 100 == 2) {
        if (bytes > exchange->answer_bytes_max - exchange->answer_bytes) {
            exchange->too_large = true;
            return 0;
        }
    } else if (keep > S3_ERROR_BYTES_MAX - exchange->answer_bytes) {
        keep = S3_ERROR_BYTES_MAX - exchange->answer_bytes;
    }
    reserve_answer(exchange, exchange->answer_bytes + keep);
    memcpy(exchange->answer + exchange->answer_bytes, data, keep);
    exchange->answer_bytes += keep;
    return bytes;
}

/* ---- the request as it goes ---- */

static int on_start(void *context, char *remote_ip, char *local_ip, int remote_port, int local_port)
{
    (void)remote_ip;
    (void)local_ip;
    (void)remote_port;
    (void)local_port;
    struct s3_exchange *exchange = context;
    exchange->starts++;
    if (exchange->starts > 1 && exchange->resend == S3_RESEND_NEVER)
        return CURL_PREREQFUNC_ABORT;
    exchange->body_sent = 0;
    exchange->header_bytes = 0;
    return CURL_PREREQFUNC_OK;
}

static size_t on_body(char *buffer, size_t size, size_t count, void *context)
{
    struct s3_exchange *exchange = context;
    uint64_t left = exchange->body_bytes - exchange->body_sent;
    size_t bytes = left < size * count ? (size_t)left : size * count;
    if (bytes > 0)
        memcpy(buffer, exchange->body + exchange->body_sent, bytes);
    exchange->body_sent += bytes;
    return bytes;
}

static int on_seek(void *context, curl_off_t offset, int origin)
{
    struct s3_exchange *exchange = context;
    if (exchange->starts > 0 && exchange->resend == S3_RESEND_NEVER)
        return CURL_SEEKFUNC_FAIL;
    if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > exchange->body_bytes)
        return CURL_SEEKFUNC_FAIL;
    exchange->body_sent = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

/* ---- sockets and time ---- */

static void drive(struct s3_client *client, curl_socket_t fd, int events);

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

static curl_socket_t on_socket_open(void *context, curlsocktype purpose,
                                    struct curl_sockaddr *address)
{
    (void)purpose;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0)
        return CURL_SOCKET_BAD;
    *socket_state(context, fd) = SOCKET_OPEN;
    return fd;
}

static int on_socket_close(void *context, curl_socket_t fd)
{
    struct s3_client *client = context;
    uint8_t *state = socket_state(client, fd);
    if (*state == SOCKET_WATCHED)
        live_loop_unwatch(client->loop, fd);
    *state = SOCKET_UNKNOWN;
    return close(fd);
}

static void on_ready(int fd, unsigned ready, void *context)
{
    int events = ((ready & LIVE_READABLE) != 0 ? CURL_CSELECT_IN : 0) |
                 ((ready & LIVE_WRITABLE) != 0 ? CURL_CSELECT_OUT : 0);
    drive(context, fd, events);
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

static void on_timeout(struct timer *timer, void *context)
{
    (void)timer;
    drive(context, CURL_SOCKET_TIMEOUT, 0);
}

/* ---- the end of an exchange ---- */

static bool tls_died(const struct s3_exchange *exchange)
{
    /* Reset or closed during the handshake: the other side went away, which says nothing about
     * certificates. */
    long os_error = 0;
    CURLcode code = curl_easy_getinfo(exchange->easy, CURLINFO_OS_ERRNO, &os_error);
    assert(code == CURLE_OK);
    return os_error == ECONNRESET || os_error == EPIPE ||
           strstr(exchange->text, "Connection reset") != NULL ||
           strstr(exchange->text, "SSL_ERROR_SYSCALL") != NULL ||
           strstr(exchange->text, "unexpected eof") != NULL;
}

static enum s3_transport transport_of(const struct s3_exchange *exchange, CURLcode code)
{
    if (exchange->too_large)
        return S3_TRANSPORT_TOO_LARGE;
    if (code == CURLE_OK)
        return S3_TRANSPORT_OK;
    if (code == CURLE_OPERATION_TIMEDOUT)
        return S3_TRANSPORT_TIMEOUT;
    if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
        code == CURLE_COULDNT_RESOLVE_PROXY)
        return S3_TRANSPORT_REFUSED;
    bool tls = code == CURLE_SSL_CONNECT_ERROR || code == CURLE_PEER_FAILED_VERIFICATION ||
               code == CURLE_SSL_CACERT_BADFILE || code == CURLE_SSL_CERTPROBLEM ||
               code == CURLE_SSL_CIPHER || code == CURLE_SSL_ISSUER_ERROR;
    return tls && !tls_died(exchange) ? S3_TRANSPORT_TLS : S3_TRANSPORT_BROKEN;
}

/* What libcurl counts as sent is not asked: it is enough that it began. */
static enum s3_sent sent_of(const struct s3_exchange *exchange)
{
    return exchange->starts == 0 ? S3_NOT_SENT : S3_MAYBE_SENT;
}

static void conclude(struct s3_exchange *exchange, enum s3_transport transport, CURLcode code)
{
    exchange->transport = transport;
    exchange->sent = sent_of(exchange);
    exchange->status = status_of(exchange);
    long connects = 0;
    (void)curl_easy_getinfo(exchange->easy, CURLINFO_NUM_CONNECTS, &connects);
    exchange->connected = connects > 0;
    if (transport != S3_TRANSPORT_OK && exchange->text[0] == '\0' && code != CURLE_OK)
        snprintf(exchange->text, sizeof(exchange->text), "%s", curl_easy_strerror(code));
    CURLMcode removed = curl_multi_remove_handle(exchange->client->multi, exchange->easy);
    assert(removed == CURLM_OK);
    exchange->in_flight = false;
}

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
        conclude(exchange, transport_of(exchange, code), code);
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
    free(client->sockets);
    free(client->ca_file);
    free(client);
}

static void drive(struct s3_client *client, curl_socket_t fd, int events)
{
    assert(!client->driving);
    client->driving = true;
    for (int round = 0; !client->closed && round < DUE_ROUNDS_MAX; round++) {
        client->due = false;
        int running;
        CURLMcode code = curl_multi_socket_action(client->multi, fd, events, &running);
        assert(code == CURLM_OK);
        take_ended(client);
        if (!client->due)
            break;
        fd = CURL_SOCKET_TIMEOUT;
        events = 0;
    }
    client->driving = false;
    if (client->closed) {
        client_free(client);
        return;
    }
    struct loop *loop = live_loop_base(client->loop);
    if (client->due)
        loop_timer_set(loop, &client->timer, loop_now(loop));
}

/* ---- exchanges ---- */

static void set_up(struct s3_exchange *exchange)
{
    CURL *easy = exchange->easy;
    const struct s3_client *client = exchange->client;
    SET(easy, CURLOPT_PRIVATE, exchange);
    SET(easy, CURLOPT_ERRORBUFFER, exchange->text);
    SET(easy, CURLOPT_SHARE, client->share);
    SET(easy, CURLOPT_NOSIGNAL, 1L);
    SET(easy, CURLOPT_QUICK_EXIT, 1L); /* do not wait for a resolver's thread on cancel */
    SET(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    SET(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(easy, CURLOPT_PATH_AS_IS, 1L);
    SET(easy, CURLOPT_PROXY, "");
    SET(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(easy, CURLOPT_TCP_NODELAY, 1L);
    SET(easy, CURLOPT_BUFFERSIZE, BUFFER_BYTES);
    SET(easy, CURLOPT_UPLOAD_BUFFERSIZE, BUFFER_BYTES);
    SET(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)(client->options.connect_ns / NS_PER_MS));
    /* libcurl counts whole seconds and lets one more pass. */
    long idle_s = (long)(client->options.idle_ns / NS_PER_S);
    if (idle_s >= 2)
        SET(easy, CURLOPT_MAXAGE_CONN, idle_s - 1);
    else
        SET(easy, CURLOPT_FORBID_REUSE, 1L);
    SET(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (client->ca_file != NULL) {
        SET(easy, CURLOPT_CAINFO, client->ca_file);
        SET(easy, CURLOPT_CAPATH, NULL);
    }
    SET(easy, CURLOPT_OPENSOCKETFUNCTION, on_socket_open);
    SET(easy, CURLOPT_OPENSOCKETDATA, exchange->client);
    SET(easy, CURLOPT_CLOSESOCKETFUNCTION, on_socket_close);
    SET(easy, CURLOPT_CLOSESOCKETDATA, exchange->client);
    SET(easy, CURLOPT_PREREQFUNCTION, on_start);
    SET(easy, CURLOPT_PREREQDATA, exchange);
    SET(easy, CURLOPT_HEADERFUNCTION, on_header);
    SET(easy, CURLOPT_HEADERDATA, exchange);
    SET(easy, CURLOPT_WRITEFUNCTION, on_answer);
    SET(easy, CURLOPT_WRITEDATA, exchange);
    SET(easy, CURLOPT_READFUNCTION, on_body);
    SET(easy, CURLOPT_READDATA, exchange);
    SET(easy, CURLOPT_SEEKFUNCTION, on_seek);
    SET(easy, CURLOPT_SEEKDATA, exchange);
}

void s3_exchange_init(struct s3_exchange *exchange, struct s3_client *client)
{
    memset(exchange, 0, sizeof(*exchange));
    exchange->client = client;
    exchange->easy = curl_easy_init();
    assert(exchange->easy != NULL);
    client->exchanges++;
    set_up(exchange);
    exchange->method_set = S3_METHOD_GET; /* as a new handle's */
}

void s3_exchange_deinit(struct s3_exchange *exchange)
{
    if (exchange->in_flight)
        s3_exchange_cancel(exchange);
    curl_easy_cleanup(exchange->easy);
    free(exchange->answer);
    assert(exchange->client->exchanges > 0);
    exchange->client->exchanges--;
    memset(exchange, 0, sizeof(*exchange));
}

static void set_method(struct s3_exchange *exchange)
{
    if (exchange->method == exchange->method_set)
        return;
    exchange->method_set = exchange->method;
    switch (exchange->method) {
    case S3_METHOD_GET:
        SET(exchange->easy, CURLOPT_HTTPGET, 1L);
        SET(exchange->easy, CURLOPT_CUSTOMREQUEST, NULL);
        break;
    case S3_METHOD_PUT:
        SET(exchange->easy, CURLOPT_UPLOAD, 1L);
        SET(exchange->easy, CURLOPT_CUSTOMREQUEST, NULL);
        break;
    case S3_METHOD_DELETE:
        SET(exchange->easy, CURLOPT_HTTPGET, 1L);
        SET(exchange->easy, CURLOPT_CUSTOMREQUEST, "DELETE");
        break;
    }
}

static void forget_answer(struct s3_exchange *exchange)
{
    exchange->status = 0;
    exchange->text[0] = '\0';
    exchange->too_large = false;
    exchange->answer_bytes = 0;
    exchange->header_bytes = 0;
    exchange->body_sent = 0;
    exchange->starts = 0;
    s3_headers_clear(&exchange->answer_headers);
    if (exchange->answer_capacity > ANSWER_BYTES_KEPT) {
        free(exchange->answer);
        exchange->answer = NULL;
        exchange->answer_capacity = 0;
    }
}

void s3_exchange_send(struct s3_exchange *exchange)
{
    assert(!exchange->in_flight);
    assert(exchange->done != NULL);
    assert(exchange->body_bytes <= INT64_MAX);
    forget_answer(exchange);
    set_method(exchange);
    SET(exchange->easy, CURLOPT_URL, exchange->url);
    SET(exchange->easy, CURLOPT_HTTPHEADER, exchange->headers);
    bool tls = strncmp(exchange->url, "https:", 6) == 0;
    if (tls != exchange->tls_set) {
        exchange->tls_set = tls;
        SET(exchange->easy, CURLOPT_PROXY, tls ? NULL : "");
    }
    if (exchange->method == S3_METHOD_PUT)
        SET(exchange->easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)exchange->body_bytes);
    exchange->in_flight = true;
    CURLMcode added = curl_multi_add_handle(exchange->client->multi, exchange->easy);
    assert(added == CURLM_OK);
}

void s3_exchange_cancel(struct s3_exchange *exchange)
{
    assert(exchange->in_flight);
    conclude(exchange, S3_TRANSPORT_TIMEOUT, CURLE_OK);
}

uint8_t *s3_exchange_take(struct s3_exchange *exchange)
{
    uint8_t *answer = exchange->answer;
    if (answer == NULL)
        answer = malloc(1);
    assert(answer != NULL);
    exchange->answer = NULL;
    exchange->answer_capacity = 0;
    exchange->answer_bytes = 0;
    return answer;
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
