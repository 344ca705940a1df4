/* live_wire.c - see live_wire.h: SOCK_SEQPACKET between a process and its fork, so that structs go
 * over it as they are. Ours. */
#include "experiments/live/live_wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define HEADER_BYTES offsetof(struct live_message, payload)

bool live_wire_make(int fds[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0;
}

static bool send_flags(int fd, const struct live_message *message, int flags)
{
    assert(message->payload_bytes <= LIVE_PAYLOAD_MAX);
    ssize_t sent;
    do {
        sent = send(fd, message, HEADER_BYTES + message->payload_bytes, flags | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent >= 0;
}

bool live_wire_send(int fd, const struct live_message *message)
{
    return send_flags(fd, message, 0);
}

void live_wire_offer(int fd, const struct live_message *message)
{
    (void)send_flags(fd, message, MSG_DONTWAIT);
}

bool live_wire_send_record(int fd, const uint8_t *bytes, size_t size)
{
    struct live_message message = {.kind = LIVE_RECORD, .record_bytes = size};
    for (size_t offset = 0; offset < size; offset += message.payload_bytes) {
        size_t here = size - offset < LIVE_PAYLOAD_MAX ? size - offset : LIVE_PAYLOAD_MAX;
        message.record_offset = offset;
        message.payload_bytes = (uint32_t)here;
        memcpy(message.payload, bytes + offset, here);
        if (!live_wire_send(fd, &message))
            return false;
    }
    return true;
}

/* Whether a message of `size` bytes is one that live_wire_send sends. */
static bool message_valid(const struct live_message *message, size_t size)
{
    if (size < HEADER_BYTES || message->payload_bytes > LIVE_PAYLOAD_MAX ||
        size != HEADER_BYTES + message->payload_bytes)
        return false;
    if ((unsigned)message->kind > LIVE_ENDED || (unsigned)message->end > LIVE_END_UNDECIDED)
        return false;
    /* All but a record's is text, with its NUL. */
    return message->kind == LIVE_RECORD || message->payload_bytes == 0 ||
           message->payload[message->payload_bytes - 1] == '\0';
}

enum live_receive live_wire_receive(int fd, struct live_message *message)
{
    ssize_t got;
    do {
        got = recv(fd, message, sizeof(*message), MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return LIVE_NOTHING;
    if (got < 0 || !message_valid(message, (size_t)got))
        return LIVE_HANG_UP;
    if (message->payload_bytes < LIVE_PAYLOAD_MAX)
        message->payload[message->payload_bytes] = '\0';
    return LIVE_RECEIVED;
}

void live_counts_add(struct live_counts *sum, const struct live_counts *part)
{
    sum->attempts += part->attempts;
    sum->won += part->won;
    sum->batches += part->batches;
    sum->bytes += part->bytes;
    for (int verb = 0; verb < STORE_VERB_COUNT; verb++)
        sum->requests[verb] += part->requests[verb];
    sum->up_bytes += part->up_bytes;
    sum->down_bytes += part->down_bytes;
}

void live_message_text(struct live_message *message, const char *text)
{
    size_t length = strnlen(text, LIVE_PAYLOAD_MAX - 1);
    memcpy(message->payload, text, length);
    message->payload[length] = '\0';
    message->payload_bytes = (uint32_t)length + 1;
}
