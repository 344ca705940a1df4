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

#include "core/xxh3.h"
#include "experiments/bench_s3.h"
#include "experiments/cli.h"

#define HEAD_MAX (16 << 10)
#define EVENTS_MAX 64
#define DESCRIPTORS_MAX 1024
#define RANGE_HEADER "\r\nRange: bytes="

struct connection {
    int fd;
    uint64_t body_left; /* of the request that is read */
    size_t used;        /* of its head */
    char head[HEAD_MAX];
};

struct serving {
    int listener;
    int epoll;
    const uint8_t *data; /* of every object */
    uint64_t bytes;
    uint64_t checksum;
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
static bool send_all(int fd, const void *data, size_t bytes, int flags)
{
    const char *at = data;
    while (bytes > 0) {
        ssize_t sent = send(fd, at, bytes, MSG_NOSIGNAL | flags);
        if (sent < 0)
            return false;
        at += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

/* Digits from *at on; moves it behind them. */
static uint64_t take_number(const char **at)
{
    uint64_t number = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        number = number * 10 + (uint64_t)(**at - '0');
    return number;
}

/* Bytes [first, first + count). */
struct piece {
    uint64_t first;
    uint64_t count;
};

/* What a range names, where one is asked for that lies in the object; else false. */
static bool piece_of(const struct serving *serving, const char *head, struct piece *piece)
{
    const char *at = strcasestr(head, RANGE_HEADER);
    if (at == NULL)
        return false;
    at += strlen(RANGE_HEADER);
    uint64_t first = take_number(&at);
    if (*at++ != '-')
        return false;
    uint64_t last = take_number(&at);
    if (first > last || last >= serving->bytes)
        return false;
    *piece = (struct piece){.first = first, .count = last - first + 1};
    return true;
}

static bool answer_get(const struct serving *serving, const struct connection *connection)
{
    char head[256];
    struct piece piece = {.first = 0, .count = serving->bytes};
    int head_bytes;
    if (piece_of(serving, connection->head, &piece))
        head_bytes =
            snprintf(head, sizeof(head),
                     "HTTP/1.1 206 Partial Content\r\nETag: \"0123456789abcdef\"\r\n"
                     "Content-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64
                     "\r\nContent-Length: %" PRIu64 "\r\n\r\n",
                     piece.first, piece.first + piece.count - 1, serving->bytes, piece.count);
    else
        head_bytes =
            snprintf(head, sizeof(head),
                     "HTTP/1.1 200 OK\r\nETag: \"0123456789abcdef\"\r\n"
                     "x-amz-meta-xxh3: %016" PRIx64 "\r\nContent-Length: %" PRIu64 "\r\n\r\n",
                     serving->checksum, serving->bytes);
    return send_all(connection->fd, head, (size_t)head_bytes, MSG_MORE) &&
           send_all(connection->fd, serving->data + piece.first, piece.count, 0);
}

static bool answer(const struct serving *serving, const struct connection *connection)
{
    if (connection->head[0] == 'G')
        return answer_get(serving, connection);
    return send_all(connection->fd, put_answer, sizeof(put_answer) - 1, 0);
}

static uint64_t content_length(const char *head)
{
    const char *at = strcasestr(head, "\r\nContent-Length:");
    if (at == NULL)
        return 0;
    for (at += strlen("\r\nContent-Length:"); *at == ' '; at++)
        continue;
    return take_number(&at);
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
        serving.data = data;
        serving.bytes = bytes;
        serving.checksum = XXH3_64bits(data, bytes);
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
