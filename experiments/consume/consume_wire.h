/* consume_wire.h - what a rank's process tells the parent of `lakestream consume`, over a socket
 * that keeps messages whole (live_wire_make). The parent says nothing: its end hanging up means:
 * stop. */
#ifndef EXPERIMENTS_CONSUME_WIRE_H
#define EXPERIMENTS_CONSUME_WIRE_H

#include <stdbool.h>

#include "core/consumer.h"
#include "experiments/live/live_wire.h"

#define CONSUME_TEXT_MAX 1024

enum consume_message_kind {
    CONSUME_STARTED,  /* number, first_step */
    CONSUME_PROGRESS, /* figures */
    CONSUME_ENDED,    /* end, figures, text, number (0 unless it surely took one), before */
    CONSUME_WAITS,    /* text: where, and for whom */
    CONSUME_MESSAGE_COUNT,
};

/* How a rank's process came to its end. */
enum consume_end {
    CONSUME_DONE,  /* it has had all steps that it was to have */
    CONSUME_ASKED, /* by the parent, or a signal */
    CONSUME_FAILED,
};

/* Of one life. */
struct consume_figures {
    struct consumer_counters counters;
    uint64_t next_step;
    uint64_t digest;
    int64_t running_ns;   /* from the first step asked for to the last one used */
    int64_t slice_p50_ns; /* of a request for a slice; -1: none was answered */
    int64_t slice_p95_ns;
    uint64_t longest_bytes; /* range of a slice that was answered */
    uint64_t wire_bytes;    /* received, HTTP's heads included; 0: not over HTTP */
    uint64_t memory_bytes;  /* the most that was resident */
};

struct consume_message {
    enum consume_message_kind kind;
    enum consume_end end;
    uint64_t number;
    uint64_t before; /* the rank's number until then, where that has not ended; 0: none */
    uint64_t first_step;
    struct consume_figures figures;
    char text[CONSUME_TEXT_MAX];
};

/* Blocks while the other end does not read. False: it is gone. */
bool consume_wire_send(int fd, const struct consume_message *message);
/* The same, but drops the message where it would block. */
void consume_wire_offer(int fd, const struct consume_message *message);
/* Never blocks. */
MUST_USE enum live_receive consume_wire_receive(int fd, struct consume_message *message);

#endif
