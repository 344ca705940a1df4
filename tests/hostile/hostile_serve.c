/* hostile_serve.c - one connection of the hostile server: read, record, find the rule, hold, apply,
 * answer. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <openssl/sha.h>

#include "tests/hostile/hostile_private.h"
#include "tests/hostile/hostile_reply.h"
#include "tests/hostile/hostile_signature.h"

#define SKEW_MAX_S 900
#define BODY_BYTES_MAX (UINT64_C(1) << 30)

/* One request in the making. */
struct exchange {
    struct hostile_connection *connection;
    struct hostile_server *server;
    struct hostile_wire *wire;
    struct hostile_request *request; /* whole, beside its record */
    size_t index;                    /* of the record */
    uint64_t ticket;                 /* a release counts from the record on, seen or not yet held */
    uint8_t *body;
    struct hostile_rule rule;
    const struct hostile_rule *taken; /* NULL: none */
    struct hostile_answer answer;
};

/* ---- waiting ---- */

static struct timespec in_ns(int64_t ns)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    int64_t sum = at.tv_nsec + ns;
    at.tv_sec += sum / NS_PER_S;
    at.tv_nsec = sum % NS_PER_S;
    return at;
}

/* With the lock. Returns early only at the stop. */
static void pause_ns(struct hostile_server *server, int64_t ns)
{
    struct timespec at = in_ns(ns);
    int result = 0;
    while (ns > 0 && result != ETIMEDOUT && !server->stopping)
        result = pthread_cond_timedwait(&server->changed, &server->lock, &at);
}

static uint32_t arrived_after(const struct hostile_server *server, size_t index,
                              struct hostile_match match)
{
    uint32_t count = 0;
    for (size_t i = index + 1; i < server->record_count; i++)
        count += hostile_matches(match, &server->records[i].request);
    return count;
}

static void hold(struct exchange *exchange)
{
    struct hostile_server *server = exchange->server;
    const struct hostile_rule *rule = &exchange->rule;
    while (!server->stopping) {
        bool free = rule->until_count > 0
                        ? arrived_after(server, exchange->index, rule->until) >= rule->until_count
                        : server->released > exchange->ticket;
        if (free)
            return;
        pthread_cond_wait(&server->changed, &server->lock);
    }
}

/* ---- recording and rules ---- */

static void record(struct exchange *exchange, const char *head, uint32_t on_connection)
{
    struct hostile_server *server = exchange->server;
    struct hostile_request *request = exchange->request;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    request->at_ns = now.tv_sec * NS_PER_S + now.tv_nsec;
    request->connection = exchange->connection->number;
    request->on_connection = on_connection;
    if (server->record_count == server->record_capacity) {
        server->record_capacity = server->record_capacity == 0 ? 64 : 2 * server->record_capacity;
        server->records =
            realloc(server->records, server->record_capacity * sizeof(*server->records));
        assert(server->records != NULL);
    }
    exchange->index = server->record_count++;
    exchange->ticket = server->released;
    struct hostile_record *kept = &server->records[exchange->index];
    *kept = (struct hostile_record){
        .request = *request, .target = strdup(request->target), .head = strdup(head)};
    pthread_cond_broadcast(&server->changed);
}

static void take_rule(struct exchange *exchange)
{
    struct hostile_server *server = exchange->server;
    for (size_t i = 0; i < server->rule_count; i++) {
        struct hostile_rule_state *state = &server->rules[i];
        if (!hostile_matches(state->rule.match, exchange->request))
            continue;
        if (state->matched++ < state->rule.skip)
            continue;
        if (state->rule.times > 0 && state->taken == state->rule.times)
            continue;
        state->taken++;
        exchange->rule = state->rule;
        exchange->taken = &exchange->rule;
        return;
    }
}

/* ---- refusing ---- */

static bool is_skewed(const struct hostile_server *server, const struct hostile_request *request)
{
    char text[32];
    struct tm parts = {0};
    if (!hostile_request_header(request, "x-amz-date", text, sizeof(text)) ||
        strptime(text, "%Y%m%dT%H%M%SZ", &parts) == NULL)
        return false;
    int64_t now_s = time(NULL) + server->options.clock_ahead_ns / NS_PER_S;
    int64_t off_s = (int64_t)timegm(&parts) - now_s;
    return off_s > SKEW_MAX_S || off_s < -SKEW_MAX_S;
}

static bool token_expired(const struct hostile_server *server,
                          const struct hostile_request *request)
{
    char token[8192] = "";
    (void)hostile_request_header(request, "x-amz-security-token", token, sizeof(token));
    return server->session_token != NULL && strcmp(token, server->session_token) != 0;
}

/* What an honest store refuses whatever it holds. */
static bool refuse(struct exchange *exchange)
{
    const struct hostile_request *request = exchange->request;
    struct hostile_answer *answer = &exchange->answer;
    char why[256], hash[128] = "";
    if (exchange->server->options.trust == HOSTILE_TRUST_ANYONE)
        return false;
    (void)hostile_request_header(request, "x-amz-content-sha256", hash, sizeof(hash));
    if (token_expired(exchange->server, request))
        hostile_answer_error(answer, 400, "ExpiredToken", "The provided token has expired.");
    else if (request->signature == HOSTILE_UNSIGNED)
        hostile_answer_error(answer, 403, "AccessDenied", "Access Denied");
    else if (hostile_signature_check(request, why) == HOSTILE_FORGED)
        hostile_answer_error(answer, 403, "SignatureDoesNotMatch", why);
    else if (is_skewed(exchange->server, request))
        hostile_answer_error(answer, 403, "RequestTimeTooSkewed",
                             "The difference between the request time and the current time is too "
                             "large.");
    else if (strncmp(hash, "STREAMING-", 10) == 0)
        hostile_answer_error(answer, 501, "NotImplemented", "chunks are not signed here");
    else if (strcmp(hash, "UNSIGNED-PAYLOAD") != 0 && strcmp(hash, request->body_hash) != 0)
        hostile_answer_error(answer, 400, "XAmzContentSHA256Mismatch",
                             "The provided 'x-amz-content-sha256' header does not match what was "
                             "computed.");
    return answer->status != 0;
}

/* ---- performing ---- */

static bool create_in_progress(const struct exchange *exchange)
{
    const struct hostile_server *server = exchange->server;
    for (size_t i = 0; i < server->record_count; i++) {
        const struct hostile_request *other = &server->records[i].request;
        if (i != exchange->index && other->status == 0 && other->verb == HOSTILE_CREATE &&
            strcmp(other->key, exchange->request->key) == 0)
            return true;
    }
    return false;
}

static void be_slow(struct exchange *exchange)
{
    struct hostile_server *server = exchange->server;
    if (exchange->request->verb != HOSTILE_CREATE)
        return;
    bool contended = server->options.contended_ns > 0 && create_in_progress(exchange);
    pause_ns(server, contended ? server->options.contended_ns : server->options.create_ns);
}

static void say(struct exchange *exchange)
{
    const struct hostile_rule *rule = &exchange->rule;
    hostile_answer_free(&exchange->answer);
    exchange->answer = (struct hostile_answer){.status = rule->status};
    if (rule->body != NULL)
        hostile_text_add(&exchange->answer.body, "%s", rule->body);
}

static void echo(struct exchange *exchange)
{
    char token[2048] = "", authorization[2048] = "", message[2][4200];
    const struct hostile_request *request = exchange->request;
    (void)hostile_request_header(request, "x-amz-security-token", token, sizeof(token));
    (void)hostile_request_header(request, "authorization", authorization, sizeof(authorization));
    const char *signature = strstr(authorization, "Signature=");
    snprintf(message[0], sizeof(message[0]), "%s %s", token, authorization);
    snprintf(message[1], sizeof(message[1]), "%s %s", signature != NULL ? signature : "", token);
    hostile_answer_free(&exchange->answer);
    exchange->answer = (struct hostile_answer){0};
    /* Both in turn: clients cut messages. */
    hostile_answer_error(&exchange->answer, exchange->rule.status, exchange->rule.body,
                         message[exchange->index % 2]);
}

/* With the lock. False: the server stops, and nothing is to be said. */
static bool perform(struct exchange *exchange)
{
    struct hostile_server *server = exchange->server;
    const struct hostile_rule *rule = &exchange->rule;
    if (rule->hold == HOSTILE_HOLD_FIRST)
        hold(exchange);
    be_slow(exchange);
    if (server->stopping)
        return false;
    struct hostile_record *kept = &server->records[exchange->index];
    if (rule->early == HOSTILE_EARLY_NOT && rule->apply != HOSTILE_APPLY_NOT && !refuse(exchange)) {
        hostile_answer_make(&server->objects, exchange->request, exchange->taken, exchange->body,
                            server->options.page_keys, &exchange->answer);
        kept->request.applied = exchange->answer.status < 300;
    }
    if (rule->reply == HOSTILE_SAY)
        say(exchange);
    if (rule->reply == HOSTILE_ECHO)
        echo(exchange);
    if (rule->hold == HOSTILE_HOLD_ANSWER)
        hold(exchange);
    pause_ns(server, rule->delay_ns);
    server->records[exchange->index].request.status =
        rule->reply <= HOSTILE_ECHO ? exchange->answer.status : -1;
    return !server->stopping;
}

/* ---- answering ---- */

/* False: the connection is to be closed. */
static bool send_answer(struct exchange *exchange)
{
    const struct hostile_rule *rule = &exchange->rule;
    struct hostile_wire *wire = exchange->wire;
    bool closing = rule->early != HOSTILE_EARLY_NOT || rule->coding == HOSTILE_UNTIL_END;
    struct hostile_reply_frame frame = {
        .rule = exchange->taken,
        .target = exchange->request->target,
        .clock_ahead_ns = exchange->server->options.clock_ahead_ns,
        .number = exchange->index,
        .closing = closing,
    };
    struct hostile_text bytes = {0};
    if (rule->interim != NULL)
        hostile_text_add(&bytes, "%s", rule->interim);
    hostile_reply_add(&bytes, &frame, &exchange->answer);
    if (rule->twice)
        hostile_reply_add(&bytes, &frame, &exchange->answer);
    int64_t end = (int64_t)bytes.bytes;
    int64_t stop = rule->cut_bytes > 0 ? rule->cut_bytes : end + rule->cut_bytes;
    bool cut = stop >= 0 && stop < end;
    size_t whole = (size_t)(cut ? stop : end);
    size_t first = rule->split_bytes > 0 && rule->split_bytes < whole ? rule->split_bytes : whole;
    bool sent = hostile_wire_write(wire, bytes.data, first);
    if (sent && first < whole) {
        hostile_wire_flush(wire);
        sent = hostile_wire_write(wire, bytes.data + first, whole - first);
    }
    hostile_text_free(&bytes);
    if (sent && rule->early == HOSTILE_EARLY_POLITE)
        hostile_wire_drain(wire);
    return sent && !cut && !closing && !rule->close_after;
}

static bool reply(struct exchange *exchange)
{
    switch (exchange->rule.reply) {
    case HOSTILE_OWN:
    case HOSTILE_SAY:
    case HOSTILE_ECHO:
        return send_answer(exchange);
    case HOSTILE_DROP:
        return false;
    case HOSTILE_RESET:
        hostile_wire_reset(exchange->wire);
        return false;
    case HOSTILE_SILENT:
        hostile_wire_wait_hang_up(exchange->wire);
        return false;
    }
    return false;
}

/* ---- reading ---- */

static bool read_body(struct exchange *exchange)
{
    struct hostile_request *request = exchange->request;
    char text[64] = "0";
    uint8_t digest[32];
    (void)hostile_request_header(request, "content-length", text, sizeof(text));
    uint64_t bytes = strtoull(text, NULL, 10);
    assert(bytes <= BODY_BYTES_MAX);
    exchange->body = malloc(bytes > 0 ? bytes : 1);
    assert(exchange->body != NULL);
    if (!hostile_wire_read(exchange->wire, exchange->body, bytes))
        return false;
    request->body_bytes = bytes;
    SHA256(exchange->body, bytes, digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        snprintf(request->body_hash + 2 * i, 3, "%02x", digest[i]);
    return true;
}

static void parse_head(struct hostile_request *request, const char *head, const char *bucket)
{
    char why[256];
    *request = (struct hostile_request){0};
    snprintf(request->head, sizeof(request->head), "%s", head);
    (void)sscanf(head, "%15s %4095s", request->method, request->target);
    request->signature = hostile_signature_check(request, why);
    hostile_answer_classify(request, bucket != NULL ? bucket : HOSTILE_BUCKET);
}

/* After the head; false: the connection is to be closed. */
static bool handle(struct exchange *exchange)
{
    struct hostile_server *server = exchange->server;
    struct hostile_request *request = exchange->request;
    bool whole = exchange->rule.early != HOSTILE_EARLY_NOT || read_body(exchange);
    pthread_mutex_lock(&server->lock);
    struct hostile_request *kept = &server->records[exchange->index].request;
    memcpy(kept->body_hash, request->body_hash, sizeof(kept->body_hash));
    kept->body_bytes = request->body_bytes;
    kept->status = whole ? 0 : -1;
    bool go_on = whole && perform(exchange);
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
    return go_on && reply(exchange);
}

static bool serve_one(struct hostile_connection *connection, struct hostile_wire *wire,
                      uint32_t on_connection)
{
    char head[HOSTILE_HEAD_MAX];
    if (!hostile_wire_wait(wire, connection->server->options.idle_close_ns) ||
        hostile_wire_read_head(wire, head) == 0)
        return false;
    struct exchange exchange = {
        .connection = connection, .server = connection->server, .wire = wire};
    exchange.request = malloc(sizeof(*exchange.request));
    assert(exchange.request != NULL);
    parse_head(exchange.request, head, connection->server->options.bucket);
    pthread_mutex_lock(&exchange.server->lock);
    record(&exchange, head, on_connection);
    take_rule(&exchange);
    pthread_mutex_unlock(&exchange.server->lock);
    bool go_on = handle(&exchange);
    hostile_answer_free(&exchange.answer);
    free(exchange.body);
    free(exchange.request);
    return go_on;
}

void hostile_serve(struct hostile_connection *connection)
{
    struct hostile_server *server = connection->server;
    struct hostile_wire *wire = malloc(sizeof(*wire));
    assert(wire != NULL);
    uint32_t count = 0;
    if (server->options.transport == HOSTILE_MUTE) {
        wire->fd = connection->fd;
        wire->tls = NULL;
        hostile_wire_wait_hang_up(wire);
    } else if (hostile_wire_open(wire, connection->fd, server->tls)) {
        while (serve_one(connection, wire, ++count))
            continue;
    }
    hostile_wire_close(wire);
    free(wire);
    pthread_mutex_lock(&server->lock);
    close(connection->fd);
    connection->fd = -1;
    pthread_mutex_unlock(&server->lock);
}
