/* live_wire.h - what a producer's process and the parent of a live run tell each other over a
 * socket that keeps messages whole.
 *
 * The parent says START; its end of the socket hanging up means: stop. The child says READY,
 * RESUMED once its epoch is committed, PROGRESS and RECORD now and then, and ENDED as the last. */
#ifndef EXPERIMENTS_LIVE_WIRE_H
#define EXPERIMENTS_LIVE_WIRE_H

#include <stdbool.h>

#include "core/store.h"

#define LIVE_PAYLOAD_MAX 16384

enum live_message_kind {
    LIVE_READY,    /* at_ns: the child's now; the store is open */
    LIVE_START,    /* at_ns: when the run starts */
    LIVE_RESUMED,  /* epoch, sequence, offset: where the stream goes on */
    LIVE_PROGRESS, /* counts */
    LIVE_RECORD,   /* payload: a part of the serialized recorder, which replaces the one before */
    LIVE_ENDED,    /* end, counts, sequence, offset, memory_bytes; payload: why */
};

/* How a producer's process came to its end. */
enum live_end {
    LIVE_END_DONE,      /* the run's time was over */
    LIVE_END_ASKED,     /* the parent hung up */
    LIVE_END_SIGNAL,    /* SIGINT or SIGTERM */
    LIVE_END_FENCED,    /* another process took over */
    LIVE_END_FAILED,    /* the store refused, or the chain contradicts */
    LIVE_END_UNDECIDED, /* the attempt in progress was not decided in time */
};

struct live_counts {
    uint64_t attempts;
    uint64_t won;
    uint64_t batches;
    uint64_t bytes; /* committed */
    /* Asked of the store, whatever came of it. */
    uint64_t requests[STORE_VERB_COUNT];
    uint64_t up_bytes;
    uint64_t down_bytes;
};

struct live_message {
    enum live_message_kind kind;
    enum live_end end;
    int64_t at_ns;
    struct live_counts counts;
    uint32_t epoch;
    uint32_t payload_bytes;
    uint64_t sequence;     /* last committed */
    uint64_t offset;       /* of the stream, committed */
    uint64_t memory_bytes; /* ENDED: the most that was resident */
    uint64_t record_bytes;
    uint64_t record_offset;
    uint8_t payload[LIVE_PAYLOAD_MAX];
};

enum live_receive {
    LIVE_RECEIVED,
    LIVE_NOTHING, /* nothing is there now */
    LIVE_HANG_UP, /* the other end is gone, or sends nonsense */
};

/* Makes both ends. False: errno says why. */
MUST_USE bool live_wire_make(int fds[2]);
/* Blocks while the other end does not read. False: it is gone. */
bool live_wire_send(int fd, const struct live_message *message);
/* The same, but drops the message where it would block. */
void live_wire_offer(int fd, const struct live_message *message);
/* Sends bytes in parts, as LIVE_RECORD. */
bool live_wire_send_record(int fd, const uint8_t *bytes, size_t size);
/* Never blocks. A text in the payload ends with NUL. */
MUST_USE enum live_receive live_wire_receive(int fd, struct live_message *message);
/* Adds all of them. */
void live_counts_add(struct live_counts *sum, const struct live_counts *part);
/* Puts a text into the payload. */
void live_message_text(struct live_message *message, const char *text);

#endif
