/* order_witness.h - follows the chain of a run without fetching anything, and adds a line for every
 * step to a file of the committed order (order_file.h). */
#ifndef EXPERIMENTS_ORDER_WITNESS_H
#define EXPERIMENTS_ORDER_WITNESS_H

#include "experiments/consume/order_file.h"
#include "experiments/live/live_session.h"

struct order_witness_options {
    const char *path;
    const char *run; /* its identity */
    uint64_t steps;  /* to be written by this call; 0: until stopped */
    int64_t poll_ns;
    const uint32_t *consumer; /* that holds what is not written yet; NULL: nobody does */
};

struct order_witness_report {
    uint64_t steps; /* written */
    struct order_line last;
    uint64_t number; /* of the consumer that holds; 0: none was taken */
    char text[ORDER_FILE_TEXT_MAX];
};

enum order_witness_end {
    ORDER_WITNESS_DONE,
    ORDER_WITNESS_ASKED, /* a signal */
    ORDER_WITNESS_FAILED,
};

/* Goes on behind the file's last line. Blocks; SIGINT and SIGTERM end it. Every version that is
 * written is validated, and flushed before the next is read. Steps that were given up before they
 * were seen are an error; where a consumer holds them there are none. */
enum order_witness_end order_witness_run(struct live_session *session,
                                         const struct order_witness_options *options,
                                         struct order_witness_report *report);

#endif
