/* bench_s3_null.c - the cheapest HTTP server there can be: it reads a request to its end, whatever
 * it is, and sends bytes that were made before. Ours. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "experiments/bench_s3.h"
#include "experiments/cli.h"

#define HEAD_MAX (16 << 10)
#define EVENTS_MAX 64
#define DESCRIPTORS_MAX 1024

struct connection {
    int fd;
    uint64_t body_left; /* of the request that is read */
    size_t used;        /* of its head */
    char head[HEAD_MAX];
};

struct serving {
    int listener;
    int epoll;
    const char *get; /* the whole answer */
    size_t get_bytes;
    struct connection *connections[DESCRIPTORS_MAX];
};

static const char put_answer[] =
    "HTTP/1.1 200 OK\r\nETag: \"0123456789abcdef\"\r\nContent-Length: 0\r\n\r\n";

static void drop(struct serving *serving, struct connection *connection)
{
    close(connection->fd);
    serving->connections[connection->fd] = NULL;
    free(connection);
}

/* Blocks until all is sent: the client always reads. False: it is gone. */
static bool send_all(int fd, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t sent = send(fd, data, bytes, MSG_NOSIGNAL);
        if (sent < 0)
            return false;
        data += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

static bool answer(const struct serving *serving, const struct connection *connection)
{
    if (connection->head[0] == 'G')
        return send_all(connection->fd, serving->get, serving->get_bytes);
    return send_all(connection->fd, put_answer, sizeof(put_answer) - 1);
}

static uint64_t content_length(const char *head)
{
    const char *at = strcasestr(head, "\r\nContent-Length:");
    uint64_t bytes = 0;
    if (at == NULL)
        return 0;
    for (at += strlen("\r\nContent-Length:"); *at == ' '; at++)
        continue;
    for (; *at >= '0' && *at <= '9'; at++)
        bytes = bytes * 10 + (uint64_t)(*at - '0');
    return bytes;
}

/* False: drop it. */
static bool read_head(struct serving *serving, struct connection *connection)
{
    ssize_t got = recv(connection->fd, connection->head + connection->used,
                       HEAD_MAX - 1 - connection->used, MSG_DONTWAIT);
    if (got <= 0)
        return got < 0 && errno == EAGAIN;
    connection->used += (size_t)got;
    connection->head[connection->used] = '\0';
    const char *end = memmem(connection->head, connection->used, "\r\n\r\n", 4);
    if (end == NULL)
        return connection->used < HEAD_MAX - 1;
    uint64_t head_bytes = (uint64_t)(end + 4 - connection->head);
    uint64_t body_bytes = content_length(connection->head);
    uint64_t have = connection->used - head_bytes;
    if (have > body_bytes)
        return false;
    connection->body_left = body_bytes - have;
    connection->used = 0;
    return connection->body_left > 0 || answer(serving, connection);
}

static bool read_body(struct serving *serving, struct connection *connection)
{
    static char sink[256 << 10];
    uint64_t wanted = connection->body_left < sizeof(sink) ? connection->body_left : sizeof(sink);
    ssize_t got = recv(connection->fd, sink, wanted, MSG_DONTWAIT);
    if (got <= 0)
        return got < 0 && errno == EAGAIN;
    connection->body_left -= (uint64_t)got;
    return connection->body_left > 0 || answer(serving, connection);
}

static void welcome(struct serving *serving)
{
    const int on = 1;
    int fd = accept4(serving->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    assert(fd < DESCRIPTORS_MAX);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    struct connection *connection = calloc(1, sizeof(*connection));
    assert(connection != NULL);
    connection->fd = fd;
    serving->connections[fd] = connection;
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    int added = epoll_ctl(serving->epoll, EPOLL_CTL_ADD, fd, &event);
    assert(added == 0);
}

static void look_after(struct serving *serving, int fd)
{
    struct connection *connection = serving->connections[fd];
    bool good =
        connection->body_left > 0 ? read_body(serving, connection) : read_head(serving, connection);
    if (!good)
        drop(serving, connection);
}

_Noreturn static void serve(struct serving *serving)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = serving->listener};
    serving->epoll = epoll_create1(EPOLL_CLOEXEC);
    assert(serving->epoll >= 0);
    int added = epoll_ctl(serving->epoll, EPOLL_CTL_ADD, serving->listener, &event);
    assert(added == 0);
    for (;;) {
        struct epoll_event events[EVENTS_MAX];
        int count = epoll_wait(serving->epoll, events, EVENTS_MAX, -1);
        for (int i = 0; i < count; i++)
            if (events[i].data.fd == serving->listener)
                welcome(serving);
            else
                look_after(serving, events[i].data.fd);
    }
}

static char *make_answer(const uint8_t *data, uint64_t bytes, size_t *answer_bytes)
{
    char head[256];
    int head_bytes =
        snprintf(head, sizeof(head),
                 "HTTP/1.1 200 OK\r\nETag: \"0123456789abcdef\"\r\n"
                 "x-amz-meta-xxh3: %016" PRIx64 "\r\nContent-Length: %" PRIu64 "\r\n\r\n",
                 (uint64_t)XXH3_64bits(data, bytes), bytes);
    *answer_bytes = (size_t)head_bytes + bytes;
    char *whole = malloc(*answer_bytes);
    assert(whole != NULL);
    memcpy(whole, head, (size_t)head_bytes);
    memcpy(whole + head_bytes, data, bytes);
    return whole;
}

bool bench_null_start(struct bench_null *server, const uint8_t *data, uint64_t bytes)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t address_bytes = sizeof(address);
    struct serving serving = {.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (serving.listener < 0 ||
        bind(serving.listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(serving.listener, BENCH_S3_CONCURRENCY_MAX) != 0 ||
        getsockname(serving.listener, (struct sockaddr *)&address, &address_bytes) != 0) {
        cli_error(CLI_FAILED, "bench: no port on 127.0.0.1: %s", strerror(errno));
        return false;
    }
    snprintf(server->endpoint, sizeof(server->endpoint), "http://127.0.0.1:%u",
             (unsigned)ntohs(address.sin_port));
    pid_t parent = getpid();
    server->pid = fork();
    if (server->pid == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
            _exit(1);
        serving.get = make_answer(data, bytes, &serving.get_bytes);
        serve(&serving);
    }
    close(serving.listener);
    if (server->pid < 0)
        cli_error(CLI_FAILED, "bench: no process: %s", strerror(errno));
    return server->pid > 0;
}

void bench_null_stop(const struct bench_null *server)
{
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
}
