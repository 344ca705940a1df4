/* consume_wire.c - see consume_wire.h: a struct as it is, between a process and its fork. Ours. */
#include "experiments/consume/consume_wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

static bool send_flags(int fd, const struct consume_message *message, int flags)
{
    ssize_t sent;
    do {
        sent = send(fd, message, sizeof(*message), flags | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent >= 0;
}

bool consume_wire_send(int fd, const struct consume_message *message)
{
    return send_flags(fd, message, 0);
}

void consume_wire_offer(int fd, const struct consume_message *message)
{
    (void)send_flags(fd, message, MSG_DONTWAIT);
}

/* Whether it is one that consume_wire_send sends. */
static bool message_valid(const struct consume_message *message)
{
    return (unsigned)message->kind < CONSUME_MESSAGE_COUNT &&
           (unsigned)message->end <= CONSUME_FAILED &&
           memchr(message->text, '\0', sizeof(message->text)) != NULL;
}

enum live_receive consume_wire_receive(int fd, struct consume_message *message)
{
    ssize_t got;
    do {
        got = recv(fd, message, sizeof(*message), MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return LIVE_NOTHING;
    if (got != (ssize_t)sizeof(*message) || !message_valid(message))
        return LIVE_HANG_UP;
    return LIVE_RECEIVED;
}
