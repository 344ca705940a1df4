/* flood_server.c - one connection after the other, requests on each until it is closed. */
#include "tests/backend/flood_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)64 << 10)
#define REQUEST_MAX 16384

static bool send_all(struct flood_server *server, int connection, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        ssize_t sent = send(connection, at, bytes, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        at += sent;
        bytes -= (size_t)sent;
        atomic_fetch_add(&server->sent_bytes, (uint64_t)sent);
    }
    return true;
}

static bool send_zeros(struct flood_server *server, int connection)
{
    static const char zeros[PIECE_BYTES];
    char size[16];
    int size_bytes = snprintf(size, sizeof(size), "%zx\r\n", PIECE_BYTES);
    for (uint64_t sent = 0; sent < server->flood.bytes_most; sent += PIECE_BYTES) {
        if (server->flood.chunked && !send_all(server, connection, size, (size_t)size_bytes))
            return false;
        if (!send_all(server, connection, zeros, sizeof(zeros)) ||
            (server->flood.chunked && !send_all(server, connection, "\r\n", 2)))
            return false;
    }
    return true;
}

/* False: the client is gone. */
static bool read_request(int connection)
{
    char request[REQUEST_MAX];
    size_t used = 0;
    do {
        ssize_t got = recv(connection, request + used, sizeof(request) - 1 - used, 0);
        if (got <= 0)
            return false;
        used += (size_t)got;
        request[used] = '\0';
    } while (strstr(request, "\r\n\r\n") == NULL && used + 1 < sizeof(request));
    return true;
}

static void serve(struct flood_server *server, int connection)
{
    const struct flood *flood = &server->flood;
    while (read_request(connection)) {
        if (send_all(server, connection, flood->head, strlen(flood->head)) &&
            send_all(server, connection, flood->begin, flood->begin_bytes) &&
            send_zeros(server, connection))
            continue;
        atomic_fetch_add(&server->hung_up, 1);
        return;
    }
}

static void *serve_all(void *context)
{
    struct flood_server *server = context;
    for (;;) {
        struct pollfd ready[2] = {{.fd = server->listener, .events = POLLIN},
                                  {.fd = server->wake[0], .events = POLLIN}};
        int count = poll(ready, 2, -1);
        assert(count > 0);
        if (ready[1].revents != 0)
            return NULL;
        int connection = accept(server->listener, NULL, NULL);
        assert(connection >= 0);
        atomic_fetch_add(&server->connections, 1);
        serve(server, connection);
        close(connection);
    }
}

void flood_server_start(struct flood_server *server, const struct flood *flood)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(address);
    memset(server, 0, sizeof(*server));
    server->flood = *flood;
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert(server->listener >= 0);
    int done = bind(server->listener, (struct sockaddr *)&address, sizeof(address));
    assert(done == 0);
    done = listen(server->listener, 8);
    assert(done == 0);
    done = getsockname(server->listener, (struct sockaddr *)&address, &bytes);
    assert(done == 0);
    done = pipe(server->wake);
    assert(done == 0);
    snprintf(server->url, sizeof(server->url), "http://127.0.0.1:%u",
             (unsigned)ntohs(address.sin_port));
    done = pthread_create(&server->thread, NULL, serve_all, server);
    assert(done == 0);
}

void flood_server_stop(struct flood_server *server)
{
    ssize_t written = write(server->wake[1], "", 1);
    assert(written == 1);
    int done = pthread_join(server->thread, NULL);
    assert(done == 0);
    close(server->wake[0]);
    close(server->wake[1]);
    close(server->listener);
}
