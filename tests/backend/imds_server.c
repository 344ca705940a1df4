/* imds_server.c - one connection after the other, one request on each. */
#include "tests/backend/imds_server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/backend/fixture.h"

#define REQUEST_MAX 4096
#define ROLES "GET /latest/meta-data/iam/security-credentials/"

struct serving {
    int listener;
    const struct imds_script *script;
    unsigned requests;
};

static void send_text(int connection, const char *text)
{
    size_t bytes = strlen(text);
    (void)!send(connection, text, bytes, MSG_NOSIGNAL);
}

static const char *choose_answer(const struct serving *serving, const char *request)
{
    static const char ttl[] = "\r\nX-aws-ec2-metadata-token-ttl-seconds: 21600\r\n";
    static const char token[] = "\r\nX-aws-ec2-metadata-token: tok\r\n";
    if (serving->script->fail_first && serving->requests == 1)
        return "HTTP/1.1 500 Internal Server Error\r\n\r\n";
    if (strncmp(request, "PUT /latest/api/token HTTP/1.1\r\n", 32) == 0)
        return strstr(request, ttl) != NULL ? serving->script->token
                                            : "HTTP/1.1 400 Bad Request\r\n\r\n";
    if (strstr(request, token) == NULL)
        return "HTTP/1.1 401 Unauthorized\r\n\r\n";
    if (strncmp(request, ROLES " HTTP/1.1\r\n", strlen(ROLES " HTTP/1.1\r\n")) == 0)
        return serving->script->role;
    return strncmp(request, ROLES "my%2Brole HTTP/1.1\r\n",
                   strlen(ROLES "my%2Brole HTTP/1.1\r\n")) == 0
               ? serving->script->keys
               : "HTTP/1.1 418 Wrong\r\n\r\n";
}

static void serve(struct serving *serving, int connection)
{
    char request[REQUEST_MAX];
    size_t used = 0;
    request[0] = '\0';
    while (strstr(request, "\r\n\r\n") == NULL && used + 1 < sizeof(request)) {
        ssize_t got = recv(connection, request + used, sizeof(request) - 1 - used, 0);
        if (got <= 0)
            return;
        used += (size_t)got;
        request[used] = '\0';
    }
    serving->requests++;
    while (serving->script->silent)
        pause();
    send_text(connection, choose_answer(serving, request));
    while (serving->script->endless && send(connection, request, used, MSG_NOSIGNAL) > 0)
        continue;
}

static int serve_all(void *context)
{
    struct serving *serving = context;
    for (;;) {
        int connection = accept(serving->listener, NULL, NULL);
        assert(connection >= 0);
        serve(serving, connection);
        close(connection);
    }
}

void imds_server_start(struct imds_server *server, const struct imds_script *script)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(address);
    struct serving serving = {.script = script};
    serving.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert(serving.listener >= 0);
    int done = bind(serving.listener, (struct sockaddr *)&address, sizeof(address));
    assert(done == 0);
    done = listen(serving.listener, 8);
    assert(done == 0);
    done = getsockname(serving.listener, (struct sockaddr *)&address, &bytes);
    assert(done == 0);
    snprintf(server->endpoint, sizeof(server->endpoint), "http://127.0.0.1:%u",
             (unsigned)ntohs(address.sin_port));
    server->pid = child_start(serve_all, &serving);
    close(serving.listener);
}

void imds_server_stop(struct imds_server *server)
{
    int killed = kill(server->pid, SIGKILL);
    assert(killed == 0);
    (void)child_wait(server->pid);
}
