/* live_visit.h - one visit of a rank to the store of its run, to read and write the messages of a
 * group (live_group.h), which are JSON objects at the start of their objects.
 *
 * Functions block. Where one fails, visit->text says what, where, and what to do. */
#ifndef EXPERIMENTS_LIVE_VISIT_H
#define EXPERIMENTS_LIVE_VISIT_H

#include <jansson.h>

#include "experiments/live/live_group.h"
#include "experiments/live/live_session.h"
#include "experiments/live/live_wait.h"

#define LIVE_MISSING_MAX 128
#define LIVE_VISIT_BYTES_MAX 65536 /* of a message that is JSON only */

struct live_visit {
    struct live_group *group; /* borrowed */
    struct live_session session;
    struct live_wait wait;
    char *text; /* borrowed: for errors, LIVE_GROUP_TEXT_MAX */
};

/* On true it is to be closed. The process must have one thread; it has again after the close. */
MUST_USE bool live_visit_open(struct live_visit *visit, struct live_group *group,
                              char text[LIVE_GROUP_TEXT_MAX]);
void live_visit_close(struct live_visit *visit);
int64_t live_visit_now(const struct live_visit *visit);

MUST_USE bool live_visit_put(struct live_visit *visit, const char *name, uint32_t rank,
                             const struct body *body);
/* Takes the reference. */
MUST_USE bool live_visit_put_json(struct live_visit *visit, const char *name, uint32_t rank,
                                  json_t *message);

enum live_found {
    LIVE_FOUND,
    LIVE_FOUND_NOTHING,
    LIVE_FOUND_ERROR,
};

/* On FOUND the op holds the object, or its first bytes_max; it is the caller's to deinit in any
 * case. */
MUST_USE enum live_found live_visit_get(struct live_visit *visit, const char *name, uint32_t rank,
                                        uint64_t bytes_max, struct store_op *op);
/* The JSON at the object's start, *used bytes long; the caller's reference. NULL: it is damaged. */
MUST_USE json_t *live_visit_parse(const struct live_visit *visit, const struct store_op *op,
                                  size_t *used);

/* A message with its sender's rank and clock, to be filled. */
json_t *live_visit_message(const struct live_visit *visit);
/* A time by another rank's clock, or a difference of two of them. Only what a clock can show is
 * taken, up to twice this one's, so that sums of a few do not overflow. False: it is damaged, and
 * *taken_ns as before; the text is the caller's. */
MUST_USE bool live_visit_time(const struct live_visit *visit, const json_t *message,
                              const char *key, int64_t *taken_ns);
MUST_USE bool live_visit_difference(const struct live_visit *visit, const json_t *message,
                                    const char *key, int64_t *taken_ns);

/* Before the next look for something that was not there. DONE: look again. FAILED: it was waited
 * for long enough, and the text says so and what follows, in the words given. */
MUST_USE __attribute__((format(printf, 2, 3))) enum live_group_end
live_visit_later(struct live_visit *visit, const char *format, ...);
/* "rank 2, 5 and 3 more"; `got` holds those that are not missing. */
void live_visit_missing(const struct live_ranks *ranks, const bool *got,
                        char text[LIVE_MISSING_MAX]);

#endif
