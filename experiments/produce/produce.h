/* produce.h - one producer in this process: commits synthetic batches or given files to a run, and
 * tells of each as it becomes visible. Blocks until all are, or a signal comes. */
#ifndef EXPERIMENTS_PRODUCE_H
#define EXPERIMENTS_PRODUCE_H

#include "core/producer.h"
#include "experiments/live/live_session.h"
#include "experiments/produce/given_files.h"

/* What an attempt in progress gets to be decided in, once the producer is to stop. */
#define PRODUCE_DRAIN_NS (30 * NS_PER_S)

struct produce_batch {
    uint64_t sequence;
    uint64_t end_offset; /* of the stream, this batch included */
    uint64_t bytes;
    uint64_t version;
    const char *path; /* of the file; NULL: synthetic */
};

/* All borrowed. */
struct produce_options {
    struct producer_options producer; /* its sizes are set here; batches_max: synthetic ones */
    const struct given_files *files;  /* NULL: synthetic batches */
    /* Where files[0] stands in the stream: 1, or 0 for behind all that is committed. What a stream
     * from 1 has committed already is compared, and left out. */
    uint64_t files_first;
    void (*visible)(void *context, const struct produce_batch *batch);
    void *context;
};

enum produce_end {
    PRODUCE_DONE,
    PRODUCE_INTERRUPTED, /* by SIGINT or SIGTERM; what was in progress is decided */
    PRODUCE_KILLED,      /* by a second one: the session must not be closed */
    PRODUCE_FAILED,      /* the text says why */
    PRODUCE_HANGING,     /* the same, and the session must not be closed */
    PRODUCE_OTHER_FILES, /* what is committed is not what the files are; the text says where */
};

struct produce_report {
    bool resumed; /* the producer's epoch is committed */
    char text[GIVEN_FILES_TEXT_MAX];
};

enum produce_end produce_run(struct live_session *session, const struct produce_options *options,
                             struct produce_report *report);

#endif
