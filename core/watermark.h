/* watermark.h - what the objects below watermark/ say about consumers: one pass over a listing.
 *
 *   watermark/<10-digit consumer>/<20-digit number>              a number is taken; the body is a
 *                                                                random identity
 *   watermark/<consumer>/<number>-<20-digit max-step>            empty: the first one listed is the
 *                                                                number's value
 *   watermark/<consumer>/<number>-retired                        empty: the number has ended
 *
 * A consumer's watermark is the value of its highest number; one below the floor's step, which
 * nobody kept, leaves it to the next lower number. A number without a value says nothing, and so
 * does the consumer then: either it has just been taken, or its value was replaced while the
 * listing went on, which shows neither the new one nor the old. The rules are ours
 * (docs/data_plane.md). */
#ifndef CORE_WATERMARK_H
#define CORE_WATERMARK_H

#include <stdbool.h>

#include "core/name.h"

enum watermark_state {
    WATERMARK_NONE,    /* numbers, but none that says what is needed: assume everything */
    WATERMARK_HELD,    /* `step` and everything after it are needed */
    WATERMARK_RETIRED, /* ended: holds nothing */
};

struct watermark {
    uint32_t consumer;
    enum watermark_state state;
    uint64_t step;    /* HELD */
    uint64_t counted; /* the number that says so; 0: none */
    uint64_t highest; /* highest number taken */
};

/* Takes keys in the order of a listing of NAME_WATERMARK_PREFIX, or of one consumer's part of it;
 * pages follow each other. Keys that are not watermarks are passed over, and counted. */
struct watermark_scan {
    uint64_t floor_step;
    uint64_t foreign; /* keys passed over */
    bool open;        /* a consumer is in progress */
    struct watermark current;
    uint64_t number; /* of the current consumer, in progress */
    bool number_valued;
    bool number_retired;
    uint64_t number_step;
};

void watermark_scan_init(struct watermark_scan *scan, uint64_t floor_step);
/* True if this key ended a consumer: *finished holds it. */
bool watermark_scan_add(struct watermark_scan *scan, const char *key, struct watermark *finished);
/* True if the last consumer is in *finished. */
bool watermark_scan_end(struct watermark_scan *scan, struct watermark *finished);

/* What all consumers together need: the minimum of their watermarks. */
struct watermark_tally {
    uint32_t ranks;     /* declared consumers: 0..ranks-1 */
    uint32_t next_rank; /* declared ones below it have been accounted for */
    uint32_t consumers; /* that hold */
    uint32_t retired;
    uint32_t missing;       /* without a watermark: unknown, or declared and never seen */
    uint32_t first_missing; /* the lowest of them */
    uint64_t step;          /* the minimum, if consumers > 0 */
    uint32_t holder;        /* the first consumer that holds it */
};

void watermark_tally_init(struct watermark_tally *tally, uint32_t ranks);
/* In ascending order of consumer, as a scan finishes them; then watermark_tally_end. */
void watermark_tally_add(struct watermark_tally *tally, const struct watermark *watermark);
void watermark_tally_end(struct watermark_tally *tally);
/* Whether steps may be given up: somebody holds, and nobody's watermark is missing. */
static inline bool watermark_tally_complete(const struct watermark_tally *tally)
{
    return tally->consumers > 0 && tally->missing == 0;
}

#endif
