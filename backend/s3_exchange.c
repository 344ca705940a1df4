/* s3_exchange.c - one HTTP request on a libcurl handle (s3_client.h); its answer is taken by
 * s3_receive.c.
 *
 * Once only: libcurl sends a request again by itself when a kept-alive connection dies. Before a
 * request goes out it asks the prerequest callback, each time anew: there a request that must not
 * be sent twice is stopped, whether it has a body or not. Its body is not rewound either, once it
 * began to go out (before that it is: libcurl may remember, wrongly, to rewind for a request that
 * its handle carried before).
 *
 * Proxies: https goes through the environment's proxy where there is one (HTTPS_PROXY, NO_PROXY):
 * a tunnel, in which TLS protects the request from being answered or sent twice. http never does.
 * Ours, on libcurl. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "backend/s3_client_private.h"

#define BUFFER_BYTES 65536L

/* Options whose failure can only be our mistake, or no memory. */
#define SET(easy, option, value)                                                                   \
    do {                                                                                           \
        CURLcode set_code = curl_easy_setopt(easy, option, value);                                 \
        assert(set_code == CURLE_OK);                                                              \
    } while (0)

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
    exchange->status = s3_receive_status(exchange);
    long connects = 0;
    (void)curl_easy_getinfo(exchange->easy, CURLINFO_NUM_CONNECTS, &connects);
    exchange->connected = connects > 0;
    if (exchange->refused[0] != '\0')
        snprintf(exchange->text, sizeof(exchange->text), "%s", exchange->refused);
    if (transport != S3_TRANSPORT_OK && exchange->text[0] == '\0' && code != CURLE_OK)
        snprintf(exchange->text, sizeof(exchange->text), "%s", curl_easy_strerror(code));
    CURLMcode removed = curl_multi_remove_handle(exchange->client->multi, exchange->easy);
    assert(removed == CURLM_OK);
    exchange->in_flight = false;
}

void s3_exchange_end(struct s3_exchange *exchange, CURLcode code)
{
    conclude(exchange, transport_of(exchange, code), code);
}

/* ---- from init to deinit ---- */

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
    SET(easy, CURLOPT_OPENSOCKETFUNCTION, s3_client_on_socket_open);
    SET(easy, CURLOPT_OPENSOCKETDATA, exchange->client);
    SET(easy, CURLOPT_CLOSESOCKETFUNCTION, s3_client_on_socket_close);
    SET(easy, CURLOPT_CLOSESOCKETDATA, exchange->client);
    SET(easy, CURLOPT_PREREQFUNCTION, on_start);
    SET(easy, CURLOPT_PREREQDATA, exchange);
    SET(easy, CURLOPT_HEADERFUNCTION, s3_receive_header);
    SET(easy, CURLOPT_HEADERDATA, exchange);
    SET(easy, CURLOPT_WRITEFUNCTION, s3_receive_body);
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
    curl_url_cleanup(exchange->origin);
    free(exchange->host_set);
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

/* libcurl takes a URL to pieces, and puts it together again, for each request: what stays the same
 * from request to request is given in pieces, once. A host that libcurl does not take fails the
 * transfer, with its words. */
static void set_origin(struct s3_exchange *exchange)
{
    if (exchange->origin != NULL && exchange->tls == exchange->tls_set &&
        strcmp(exchange->host, exchange->host_set) == 0)
        return;
    char *url;
    int bytes = asprintf(&url, "%s://%s/", exchange->tls ? "https" : "http", exchange->host);
    CURLU *origin = curl_url();
    assert(bytes > 0 && origin != NULL);
    (void)curl_url_set(origin, CURLUPART_URL, url, 0);
    free(url);
    SET(exchange->easy, CURLOPT_CURLU, origin);
    SET(exchange->easy, CURLOPT_PROXY, exchange->tls ? NULL : "");
    SET(exchange->easy, CURLOPT_NOPROXY, exchange->tls ? NULL : "*");
    curl_url_cleanup(exchange->origin);
    free(exchange->host_set);
    exchange->origin = origin;
    exchange->tls_set = exchange->tls;
    exchange->host_set = strdup(exchange->host);
    assert(exchange->host_set != NULL);
}

void s3_exchange_send(struct s3_exchange *exchange)
{
    assert(!exchange->in_flight);
    assert(exchange->done != NULL);
    assert(exchange->body_bytes <= INT64_MAX);
    assert(exchange->target[0] == '/');
    s3_receive_clear(exchange);
    exchange->body_sent = 0;
    exchange->starts = 0;
    set_method(exchange);
    set_origin(exchange);
    SET(exchange->easy, CURLOPT_REQUEST_TARGET, exchange->target);
    SET(exchange->easy, CURLOPT_HTTPHEADER, exchange->headers);
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
