/* hostile_server.c - starting, stopping, rules and records of the hostile server; a thread for
 * every connection (hostile_serve.c). */
#include "tests/hostile/hostile_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fnmatch.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "tests/hostile/hostile_private.h"

#define BACKLOG 256

/* ---- threads ---- */

static void *serve(void *context)
{
    struct hostile_connection *connection = context;
    hostile_serve(connection);
    return NULL;
}

/* Signals belong to the test's own threads. */
static void thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(thread, NULL, run, context);
    assert(failure == 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void *accept_all(void *context)
{
    struct hostile_server *server = context;
    for (;;) {
        int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
        pthread_mutex_lock(&server->lock);
        if (server->stopping) {
            pthread_mutex_unlock(&server->lock);
            if (fd >= 0)
                close(fd);
            return NULL;
        }
        if (fd >= 0) {
            struct hostile_connection *connection = malloc(sizeof(*connection));
            assert(connection != NULL && server->connection_count < HOSTILE_CONNECTIONS_MAX);
            *connection = (struct hostile_connection){
                .server = server, .fd = fd, .number = server->connection_count + 1};
            server->connections[server->connection_count++] = connection;
            thread_start(&connection->thread, serve, connection);
        }
        pthread_mutex_unlock(&server->lock);
    }
}

/* ---- start and stop ---- */

static int listen_at(const char *host, uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(*port)};
    int parsed = inet_pton(AF_INET, host, &address.sin_addr);
    assert(parsed == 1);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert(fd >= 0);
    int one = 1;
    socklen_t size = sizeof(address);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        int failure = errno;
        close(fd);
        errno = failure;
        return -1;
    }
    *port = ntohs(address.sin_port);
    return fd;
}

struct hostile_server *hostile_server_start(const struct hostile_options *options)
{
    const char *host = options->host != NULL ? options->host : "127.0.0.1";
    uint16_t port = options->port;
    int listener = listen_at(host, &port);
    if (listener < 0)
        return NULL;
    struct hostile_server *server = calloc(1, sizeof(*server));
    assert(server != NULL);
    server->options = *options;
    server->session_token = options->session_token;
    server->listener = listener;
    server->port = port;
    bool tls = options->transport == HOSTILE_HTTPS;
    snprintf(server->url, sizeof(server->url), "%s://%s:%u", tls ? "https" : "http", host, port);
    snprintf(server->ca_file, sizeof(server->ca_file), "/tmp/lakestream-test-ca-XXXXXX");
    if (tls)
        server->tls = hostile_wire_tls(host, server->ca_file);
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->changed, NULL);
    thread_start(&server->acceptor, accept_all, server);
    return server;
}

static void hang_up(struct hostile_server *server)
{
    pthread_mutex_lock(&server->lock);
    server->stopping = true;
    pthread_cond_broadcast(&server->changed);
    shutdown(server->listener, SHUT_RDWR);
    for (uint32_t i = 0; i < server->connection_count; i++)
        if (server->connections[i]->fd >= 0)
            shutdown(server->connections[i]->fd, SHUT_RDWR);
    pthread_mutex_unlock(&server->lock);
}

void hostile_server_stop(struct hostile_server *server)
{
    hang_up(server);
    pthread_join(server->acceptor, NULL);
    for (uint32_t i = 0; i < server->connection_count; i++) {
        pthread_join(server->connections[i]->thread, NULL);
        free(server->connections[i]);
    }
    close(server->listener);
    if (server->tls != NULL) {
        SSL_CTX_free(server->tls);
        unlink(server->ca_file);
    }
    for (size_t i = 0; i < server->record_count; i++) {
        free(server->records[i].target);
        free(server->records[i].head);
    }
    free(server->records);
    hostile_objects_deinit(&server->objects);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

const char *hostile_server_url(const struct hostile_server *server)
{
    return server->url;
}

uint16_t hostile_server_port(const struct hostile_server *server)
{
    return server->port;
}

const char *hostile_server_ca_file(const struct hostile_server *server)
{
    assert(server->tls != NULL);
    return server->ca_file;
}

/* ---- rules ---- */

bool hostile_matches(struct hostile_match match, const struct hostile_request *request)
{
    return (match.verb == HOSTILE_ANY || match.verb == request->verb) &&
           (match.key == NULL || fnmatch(match.key, request->key, 0) == 0);
}

void hostile_server_rule(struct hostile_server *server, const struct hostile_rule *rule)
{
    pthread_mutex_lock(&server->lock);
    assert(server->rule_count < HOSTILE_RULES_MAX);
    server->rules[server->rule_count++] = (struct hostile_rule_state){.rule = *rule};
    pthread_mutex_unlock(&server->lock);
}

void hostile_server_rules_clear(struct hostile_server *server)
{
    pthread_mutex_lock(&server->lock);
    server->rule_count = 0;
    pthread_mutex_unlock(&server->lock);
}

void hostile_server_release(struct hostile_server *server)
{
    pthread_mutex_lock(&server->lock);
    server->released++;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

void hostile_server_require_token(struct hostile_server *server, const char *session_token)
{
    pthread_mutex_lock(&server->lock);
    server->session_token = session_token;
    pthread_mutex_unlock(&server->lock);
}

/* ---- records ---- */

size_t hostile_server_requests(struct hostile_server *server)
{
    pthread_mutex_lock(&server->lock);
    size_t count = server->record_count;
    pthread_mutex_unlock(&server->lock);
    return count;
}

bool hostile_server_request(struct hostile_server *server, size_t index,
                            struct hostile_request *request)
{
    pthread_mutex_lock(&server->lock);
    bool there = index < server->record_count;
    if (there) {
        const struct hostile_record *record = &server->records[index];
        *request = record->request;
        snprintf(request->target, sizeof(request->target), "%s", record->target);
        snprintf(request->head, sizeof(request->head), "%s", record->head);
    }
    pthread_mutex_unlock(&server->lock);
    return there;
}

size_t hostile_server_count(struct hostile_server *server, struct hostile_match match, int status)
{
    size_t count = 0;
    pthread_mutex_lock(&server->lock);
    for (size_t i = 0; i < server->record_count; i++) {
        const struct hostile_request *request = &server->records[i].request;
        if (hostile_matches(match, request) &&
            (status == HOSTILE_WHATEVER || request->status == status))
            count++;
    }
    pthread_mutex_unlock(&server->lock);
    return count;
}

bool hostile_request_header(const struct hostile_request *request, const char *name, char *value,
                            size_t capacity)
{
    size_t name_bytes = strlen(name);
    for (const char *line = strchr(request->head, '\n'); line != NULL; line = strchr(line, '\n')) {
        line++;
        if (strncasecmp(line, name, name_bytes) != 0 || line[name_bytes] != ':')
            continue;
        const char *at = line + name_bytes + 1;
        at += strspn(at, " \t");
        snprintf(value, capacity, "%.*s", (int)strcspn(at, "\r\n"), at);
        return true;
    }
    return false;
}

uint32_t hostile_server_connections(struct hostile_server *server)
{
    pthread_mutex_lock(&server->lock);
    uint32_t count = server->connection_count;
    pthread_mutex_unlock(&server->lock);
    return count;
}

/* ---- objects ---- */

void hostile_server_put(struct hostile_server *server, const char *key, const void *data,
                        size_t bytes)
{
    pthread_mutex_lock(&server->lock);
    hostile_objects_put(&server->objects, key, data, bytes, "");
    pthread_mutex_unlock(&server->lock);
}

uint8_t *hostile_server_get(struct hostile_server *server, const char *key, size_t *bytes)
{
    uint8_t *copy = NULL;
    pthread_mutex_lock(&server->lock);
    const struct hostile_object *object = hostile_objects_find(&server->objects, key);
    if (object != NULL) {
        copy = malloc(object->bytes > 0 ? object->bytes : 1);
        assert(copy != NULL);
        memcpy(copy, object->data, object->bytes);
        *bytes = object->bytes;
    }
    pthread_mutex_unlock(&server->lock);
    return copy;
}

bool hostile_server_delete(struct hostile_server *server, const char *key)
{
    pthread_mutex_lock(&server->lock);
    bool deleted = hostile_objects_delete(&server->objects, key);
    pthread_mutex_unlock(&server->lock);
    return deleted;
}

bool hostile_server_next_key(struct hostile_server *server, const char *prefix, const char *after,
                             char key[HOSTILE_KEY_MAX])
{
    pthread_mutex_lock(&server->lock);
    const struct hostile_objects *objects = &server->objects;
    size_t at = hostile_objects_at(objects, strcmp(after, prefix) > 0 ? after : prefix);
    if (at < objects->count && strcmp(objects->items[at].key, after) == 0)
        at++;
    bool there =
        at < objects->count && strncmp(objects->items[at].key, prefix, strlen(prefix)) == 0;
    if (there)
        snprintf(key, HOSTILE_KEY_MAX, "%s", objects->items[at].key);
    pthread_mutex_unlock(&server->lock);
    return there;
}
