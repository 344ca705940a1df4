/* inspection.h - what was found in a store below one run prefix: the chain, the streams of its
 * producers, the TGBs, and what is wrong with them.
 *
 * Filled by inspect_chain.h (one version after the other) and inspect.h (which reads the store).
 * Everything in it came from outside and may be hostile; it belongs to one thread. Allocation
 * failure aborts. */
#ifndef EXPERIMENTS_INSPECTION_H
#define EXPERIMENTS_INSPECTION_H

#include <jansson.h>
#include <stdbool.h>

#include "core/manifest.h"
#include "core/watermark.h"

#define INSPECT_PROBLEMS_MAX 1000 /* kept; all are counted */
#define INSPECT_UNKNOWN_MAX 8     /* names kept */
#define INSPECT_TEXT_MAX 512

struct inspect_problem {
    uint64_t version; /* where it is; 0: in no version */
    uint64_t step;    /* 0: about no step */
    char text[INSPECT_TEXT_MAX];
};

struct inspect_version {
    uint64_t version;
    uint64_t bytes;
    bool readable; /* the rest is only known then */
    struct manifest_author author;
    uint64_t batches; /* that it added */
    uint64_t batch_bytes;
    uint64_t live;
    uint64_t first_step;
};

struct inspect_stream {
    uint32_t producer;
    uint32_t epoch;
    struct incarnation incarnation;
    uint64_t sequence;
    uint64_t offset;
    int64_t last_commit_ns;
    bool known; /* sequence and offset are */
    bool seen;  /* in the version at hand */
    uint64_t epochs;
    uint64_t commits;
    uint64_t batches;
    uint64_t bytes;
    uint64_t gaps;
    uint64_t duplicates;
};

struct inspect_tgb {
    struct tgb_name name;
    uint64_t bytes;
    bool named; /* by an entry */
};

struct inspection {
    json_t *marker; /* run/format; NULL: none that can be read. Owned */
    struct floor floor;
    bool floor_listed;
    uint64_t versions_below; /* the floor: gone or going */

    size_t version_count;
    size_t version_capacity;
    struct inspect_version *versions; /* ascending */

    size_t stream_count;
    size_t stream_capacity;
    struct inspect_stream *streams; /* ascending by producer */

    uint64_t base_step; /* of entries[0]; 0: none yet */
    size_t entry_count;
    size_t entry_capacity;
    struct manifest_entry *entries;

    size_t tgb_count;
    size_t tgb_capacity;
    struct inspect_tgb *tgbs; /* sorted by inspection_sort_tgbs once all are listed */
    uint64_t tgb_bytes;
    uint64_t orphans; /* named by no entry that was read */
    uint64_t orphan_bytes;
    uint64_t undecided; /* of the orphans: above their producer's state, so they may be committed */
    uint64_t undecided_bytes;
    uint64_t checked; /* TGBs that were read whole and are right */
    uint64_t checked_bytes;

    uint64_t intent; /* the highest step that a reclaimer was about to give up; 0: none */
    size_t consumer_count;
    size_t consumer_capacity;
    struct watermark *consumers; /* ascending */

    uint64_t unknown_count;
    char unknown[INSPECT_UNKNOWN_MAX][STORE_KEY_MAX];

    uint64_t problem_total;
    size_t problem_count;
    size_t problem_capacity;
    struct inspect_problem *problems;

    /* The chain as far as it was followed. */
    uint64_t last_version; /* read; 0: none */
    uint64_t last_checksum;
    uint64_t first_step;
    uint64_t next_step;
};

void inspection_deinit(struct inspection *inspection);
__attribute__((format(printf, 4, 5))) void inspection_problem(struct inspection *inspection,
                                                              uint64_t version, uint64_t step,
                                                              const char *format, ...);
/* Takes back what a reclaimer explains: problems below a floor that was read afterwards. */
void inspection_forgive(struct inspection *inspection, struct floor floor);

struct inspect_version *inspection_add_version(struct inspection *inspection, uint64_t version,
                                               uint64_t bytes);
void inspection_add_tgb(struct inspection *inspection, const struct tgb_name *name, uint64_t bytes);
void inspection_add_consumer(struct inspection *inspection, const struct watermark *consumer);
void inspection_add_entry(struct inspection *inspection, const struct manifest_entry *entry);
/* Makes it if it is not there; valid until the next one is made. */
struct inspect_stream *inspection_stream(struct inspection *inspection, uint32_t producer);
void inspection_sort_tgbs(struct inspection *inspection);
/* NULL: there is none of that name. */
struct inspect_tgb *inspection_find_tgb(const struct inspection *inspection,
                                        const struct tgb_name *name);

#endif
