/* calibrate_workers.c - see calibrate_workers.h. Over a socket each process is given cells and
 * answers with what it counted, followed by its latencies. Ours. */
#include "experiments/calibrate/calibrate_workers.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/trials/progress.h"

#define POLL_MS 100
#define HANG_NS (90 * NS_PER_S) /* longer than any request may take */
#define GRACE_MS 3000           /* for a request in flight when all is to stop */

struct reply {
    bool measured;
    struct calibrate_result result; /* without the pointer */
    char error[CALIBRATE_ERROR_MAX];
};

static bool send_all(int fd, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0) {
        ssize_t sent = send(fd, at, bytes, MSG_NOSIGNAL);
        if (sent <= 0 && errno != EINTR)
            return false;
        if (sent > 0) {
            at += sent;
            bytes -= (size_t)sent;
        }
    }
    return true;
}

static bool receive_all(int fd, void *data, size_t bytes)
{
    char *at = data;
    while (bytes > 0) {
        ssize_t got = recv(fd, at, bytes, 0);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        if (got > 0) {
            at += got;
            bytes -= (size_t)got;
        }
    }
    return true;
}

/* ---- the child ---- */

static void stop_loop(void *context)
{
    live_loop_stop(context);
}

static void measure(struct live_session *session, const struct calibrate_cell *cell,
                    struct calibrate_client *client, struct reply *reply)
{
    struct calibrate_load_options options = {
        .store = session->store,
        .loop = live_session_loop(session),
        .cell = cell,
        .client = client,
        .ended = stop_loop,
        .context = session->loop,
    };
    struct calibrate_load *load = calibrate_load_open(&options);
    loop_run(options.loop, TIME_NEVER);
    reply->measured = calibrate_load_take(load, &reply->result, reply->error);
    calibrate_load_close(load);
}

/* Until the parent hangs up. */
static void serve(const struct calibrate_workers *workers, int fd, uint32_t number)
{
    struct live_session session;
    struct calibrate_client client = {.number = number};
    struct calibrate_cell cell;
    bool open = false;
    bool alive = true;
    while (alive && receive_all(fd, &cell, sizeof(cell))) {
        struct reply reply = {0};
        if (!open)
            open =
                live_session_open(workers->url, workers->options, &session, reply.error) == OPEN_OK;
        if (open)
            measure(&session, &cell, &client, &reply);
        alive = send_all(fd, &reply, sizeof(reply)) &&
                send_all(fd, reply.result.latencies_ns,
                         reply.result.count * sizeof(*reply.result.latencies_ns));
        calibrate_result_deinit(&reply.result);
    }
}

/* ---- the parent ---- */

static bool start_one(struct calibrate_workers *workers, uint32_t number)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return false;
    fflush(NULL); /* or both processes would write what is in the buffers */
    pid_t pid = fork();
    if (pid == 0) {
        for (uint32_t i = 0; i < number; i++)
            close(workers->items[i].fd);
        close(fds[0]);
        serve(workers, fds[1], number);
        /* Not closed in order: a request may hang in the store. */
        _exit(0);
    }
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        return false;
    }
    workers->items[number] = (struct calibrate_worker){.pid = pid, .fd = fds[0]};
    return true;
}

bool calibrate_workers_start(struct calibrate_workers *workers, char error[CALIBRATE_ERROR_MAX])
{
    for (uint32_t i = 0; i < CALIBRATE_CLIENTS_MAX; i++)
        workers->items[i].fd = -1;
    for (uint32_t i = 0; i < CALIBRATE_CLIENTS_MAX; i++) {
        if (start_one(workers, i))
            continue;
        snprintf(error, CALIBRATE_ERROR_MAX,
                 "cannot start %d processes: %s; raise the limit (ulimit -u, ulimit -n)",
                 CALIBRATE_CLIENTS_MAX, strerror(errno));
        calibrate_workers_stop(workers);
        return false;
    }
    return true;
}

/* False: the process is gone, or said that it failed. */
static bool take_reply(struct calibrate_worker *worker, struct calibrate_result *result,
                       char error[CALIBRATE_ERROR_MAX])
{
    struct reply reply;
    if (!receive_all(worker->fd, &reply, sizeof(reply))) {
        snprintf(error, CALIBRATE_ERROR_MAX, "a client's process (%d) ended without saying why",
                 (int)worker->pid);
        return false;
    }
    assert(reply.result.count <= CALIBRATE_REQUESTS_MAX);
    int64_t *latencies_ns = calloc(reply.result.count + 1, sizeof(*latencies_ns));
    assert(latencies_ns != NULL);
    bool whole = receive_all(worker->fd, latencies_ns, reply.result.count * sizeof(*latencies_ns));
    if (whole && reply.measured) {
        result->requests += reply.result.requests;
        result->successes += reply.result.successes;
        result->lost += reply.result.lost;
        result->lost_ns += reply.result.lost_ns;
        result->throttled += reply.result.throttled;
        result->unknown += reply.result.unknown;
        result->per_s += reply.result.per_s;
        calibrate_result_add(result, latencies_ns, reply.result.count);
    } else {
        snprintf(error, CALIBRATE_ERROR_MAX, "%s",
                 whole ? reply.error : "a client's process ended in the middle of its answer");
    }
    free(latencies_ns);
    return whole && reply.measured;
}

static enum calibrate_outcome gather(struct calibrate_workers *workers, uint32_t clients,
                                     struct live_signals *signals, struct calibrate_result *result,
                                     char error[CALIBRATE_ERROR_MAX])
{
    struct pollfd fds[CALIBRATE_CLIENTS_MAX];
    uint32_t waiting = clients;
    int64_t hang_ns = progress_now_ns() + HANG_NS;
    for (uint32_t i = 0; i < clients; i++)
        fds[i] = (struct pollfd){.fd = workers->items[i].fd, .events = POLLIN};
    while (waiting > 0) {
        if (live_signals_take(signals) > 0)
            return CALIBRATE_INTERRUPTED;
        if (progress_now_ns() > hang_ns) {
            snprintf(error, CALIBRATE_ERROR_MAX, "the store has not answered for %d s",
                     (int)(HANG_NS / NS_PER_S));
            return CALIBRATE_FAILED;
        }
        if (poll(fds, clients, POLL_MS) <= 0)
            continue;
        for (uint32_t i = 0; i < clients; i++) {
            if (fds[i].fd < 0 || fds[i].revents == 0)
                continue;
            if (!take_reply(&workers->items[i], result, error))
                return CALIBRATE_FAILED;
            fds[i].fd = -1;
            waiting--;
        }
    }
    return CALIBRATE_MEASURED;
}

enum calibrate_outcome calibrate_workers_measure(struct calibrate_workers *workers,
                                                 const struct calibrate_cell *cell,
                                                 struct live_signals *signals,
                                                 struct calibrate_result *result,
                                                 char error[CALIBRATE_ERROR_MAX])
{
    assert(cell->clients >= 1 && cell->clients <= CALIBRATE_CLIENTS_MAX);
    for (uint32_t i = 0; i < cell->clients; i++)
        if (!send_all(workers->items[i].fd, cell, sizeof(*cell))) {
            snprintf(error, CALIBRATE_ERROR_MAX, "a client's process (%d) is gone",
                     (int)workers->items[i].pid);
            return CALIBRATE_FAILED;
        }
    enum calibrate_outcome outcome = gather(workers, cell->clients, signals, result, error);
    calibrate_result_sort(result);
    return outcome;
}

/* True: it is gone. */
static bool reaped(struct calibrate_worker *worker, int flags)
{
    if (worker->fd >= 0 && waitpid(worker->pid, NULL, flags) == worker->pid)
        worker->fd = -1;
    return worker->fd < 0;
}

void calibrate_workers_stop(struct calibrate_workers *workers)
{
    uint32_t alive = CALIBRATE_CLIENTS_MAX;
    for (uint32_t i = 0; i < CALIBRATE_CLIENTS_MAX; i++)
        if (workers->items[i].fd >= 0)
            close(workers->items[i].fd);
    for (int waited_ms = 0; alive > 0 && waited_ms < GRACE_MS; waited_ms += POLL_MS) {
        alive = 0;
        for (uint32_t i = 0; i < CALIBRATE_CLIENTS_MAX; i++)
            alive += !reaped(&workers->items[i], WNOHANG);
        if (alive > 0)
            poll(NULL, 0, POLL_MS);
    }
    for (uint32_t i = 0; i < CALIBRATE_CLIENTS_MAX; i++)
        if (workers->items[i].fd >= 0) {
            kill(workers->items[i].pid, SIGKILL);
            (void)reaped(&workers->items[i], 0);
        }
}
