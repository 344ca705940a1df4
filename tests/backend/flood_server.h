/* flood_server.h - an HTTP server on loopback whose answer goes on and on, whatever was asked: what
 * it says first is a test's, and zeros follow until the client hangs up or enough were sent. A
 * thread; failures end the test by assert. */
#ifndef TESTS_BACKEND_FLOOD_SERVER_H
#define TESTS_BACKEND_FLOOD_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/base.h"

#define FLOOD_URL_MAX 64

/* All borrowed. */
struct flood {
    const char *head;  /* from the status line to the empty line */
    const void *begin; /* of the body; sent as it is */
    size_t begin_bytes;
    bool chunked;        /* the zeros, in chunks */
    uint64_t bytes_most; /* of zeros */
};

struct flood_server {
    char url[FLOOD_URL_MAX];
    struct flood flood;
    int listener;
    int wake[2]; /* a byte ends it */
    pthread_t thread;
    atomic_uint connections;
    atomic_uint hung_up;             /* connections that the client closed within an answer */
    atomic_uint_fast64_t sent_bytes; /* that the kernel took, in all */
};

void flood_server_start(struct flood_server *server, const struct flood *flood);
/* Waits for the connection in progress, if any: close the client first. */
void flood_server_stop(struct flood_server *server);

#endif
