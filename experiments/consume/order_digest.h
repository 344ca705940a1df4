/* order_digest.h - what every rank must have been given, recomputed from the committed order and
 * the deterministic payloads alone: no object is read. Ours. */
#ifndef EXPERIMENTS_ORDER_DIGEST_H
#define EXPERIMENTS_ORDER_DIGEST_H

#include "experiments/consume/order_file.h"

#define ORDER_DIGEST_TEXT_MAX 768

/* A committed order in memory: lines[i] is step lines[0].step + i, and line first_line + i of the
 * file. */
struct order {
    const char *path; /* borrowed */
    uint64_t first_line;
    size_t count;
    size_t capacity;
    struct order_line *lines; /* owned */
};

/* False: it cannot be read, a step is missing, or a producer's sequence number is missing or there
 * twice; `error` says where. Deinit the order either way. */
MUST_USE bool order_read(const char *path, struct order *order, char error[ORDER_DIGEST_TEXT_MAX]);
void order_deinit(struct order *order);
/* NULL: not in the order. */
const struct order_line *order_at(const struct order *order, uint64_t step);

/* One rank's digests over an order. */
struct order_digest {
    uint32_t slices; /* of a TGB; 0: plain */
    uint32_t rank;
    uint64_t first;   /* step; its digest before it is 0 */
    uint64_t next;    /* one past the last */
    uint64_t *values; /* owned: after the step first + i */
};

/* From `first` on, to `next` at most (0: to the end of the order). False: the order does not reach
 * so far, or a TGB is smaller or larger than one of so many slices can be, which is found before
 * any of its bytes are computed; `error` names file and line. Deinit it either way. */
MUST_USE bool order_digest_make(const struct order *order, struct order_digest *digest,
                                char error[ORDER_DIGEST_TEXT_MAX]);
void order_digest_deinit(struct order_digest *digest);
/* Of all steps below `step`, which lies from `first` to `next`. */
uint64_t order_digest_before(const struct order_digest *digest, uint64_t step);

/* What a rank's log says of all its lives. */
struct order_lives {
    uint64_t lives;
    uint64_t given; /* steps, those that were given again included */
    uint64_t first;
    uint64_t next;   /* one past the last */
    uint64_t digest; /* of all of them, each once */
};

/* Holds FOLDER/rank-RANK.log against the order: each life goes on where some earlier one was, with
 * the digest that it must have there, and is given every step from there on in order, each the
 * batch and the bytes of the committed order. False: `error` names the line that is wrong. */
MUST_USE bool order_check_log(const struct order *order, uint32_t slices, uint32_t rank,
                              const char *folder, struct order_lives *lives,
                              char error[ORDER_DIGEST_TEXT_MAX]);

#endif
