/* former_numbers.h - gives back what a rank's former starts left below watermark/: two keys each,
 * and more where a process was killed, which every round of every reclaimer lists.
 *
 * A number may go once a process with a higher one was allowed to run, and every checkpoint that is
 * kept is stamped with its own, or none is and the number before has ended: then nobody goes on
 * from a number before, a reclaimer goes by the highest, and whoever still runs with a lower one
 * finds out by the highest, too. A start from an
 * older copy of the checkpoints misses numbers and asks for the intent, as it must
 * (docs/data_plane.md, "start"). Ours. */
#ifndef EXPERIMENTS_FORMER_NUMBERS_H
#define EXPERIMENTS_FORMER_NUMBERS_H

#include "core/name.h"
#include "core/store.h"

struct former_numbers {
    struct store *store; /* borrowed */
    uint32_t consumer;
    uint64_t number; /* of this process: those below it go */
    size_t index;    /* in the page */
    struct store_op list;
    struct store_op delete;
    uint64_t deleted; /* keys */
    bool busy;        /* one operation is in flight */
};

/* Once, by the process that runs with this number. One request at a time, none of which is sent
 * again: what stays is found by the next start. Completions come from the store's loop; `former`
 * must last until it is not busy any more, or until the store is used no longer. */
void former_numbers_delete(struct former_numbers *former, struct store *store, uint32_t consumer,
                           uint64_t number);

#endif
