/* hostile_private.h - what the files of the hostile server share. `lock` guards everything that
 * changes after the start; `changed` is signalled whenever a request came in or was answered, a
 * rule changed, something was let go, or the server stops. */
#ifndef TESTS_HOSTILE_HOSTILE_PRIVATE_H
#define TESTS_HOSTILE_HOSTILE_PRIVATE_H

#include <pthread.h>

#include "tests/hostile/hostile_objects.h"
#include "tests/hostile/hostile_server.h"
#include "tests/hostile/hostile_wire.h"

#define HOSTILE_CONNECTIONS_MAX 4096

struct hostile_record {
    struct hostile_request request; /* without target and head */
    char *target;
    char *head;
};

struct hostile_rule_state {
    struct hostile_rule rule;
    uint32_t matched;
    uint32_t taken;
};

struct hostile_connection {
    struct hostile_server *server;
    pthread_t thread;
    int fd; /* -1: closed */
    uint32_t number;
};

struct hostile_server {
    struct hostile_options options;
    char url[HOSTILE_URL_MAX];
    char ca_file[64];
    SSL_CTX *tls; /* NULL: plain */
    int listener;
    uint16_t port;
    pthread_t acceptor;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stopping;
    uint64_t released; /* calls of hostile_server_release */
    const char *session_token;
    size_t rule_count;
    struct hostile_rule_state rules[HOSTILE_RULES_MAX];
    size_t record_count;
    size_t record_capacity;
    struct hostile_record *records;
    struct hostile_objects objects;
    uint32_t connection_count;
    struct hostile_connection *connections[HOSTILE_CONNECTIONS_MAX];
};

bool hostile_matches(struct hostile_match match, const struct hostile_request *request);
/* Serves one connection to its end. */
void hostile_serve(struct hostile_connection *connection);

#endif
