/* manifest.h - one version of the chain, in memory: immutable, reference counted, sharing
 * structure.
 *
 * Appending to version v costs O(own entries + producers / 4) and copies none of v's entries. Full
 * layout, as in the paper: every version carries all live entries. manifest_encoded_bytes is exact
 * and O(1). A manifest belongs to one thread at a time, together with all that it shares with.
 * Functions that make a manifest give the caller one reference. Allocation failure aborts. */
#ifndef CORE_MANIFEST_H
#define CORE_MANIFEST_H

#include <stdbool.h>

#include "core/base.h"
#include "core/name.h"

#define MANIFEST_GENESIS_VERSION 1
#define MANIFEST_ENTRY_BYTES_MIN                                                                   \
    64 /* what rebuilds a TGB's key, its size, its content checksum                                \
        */
#define MANIFEST_ENTRY_BYTES_MAX 4096
#define MANIFEST_HEADER_BYTES 96
#define MANIFEST_STATE_BYTES 56
#define MANIFEST_TRAILER_BYTES 8
#define MANIFEST_STATES_MAX 65536
#define MANIFEST_BYTES_MAX (UINT64_C(4) << 30)
/* Of versions, steps, sequences and offsets, and of epochs: a chain that claims more is refused, so
 * that whoever goes on from there can count up without wrapping. */
#define MANIFEST_COUNT_MAX ((uint64_t)INT64_MAX)
#define MANIFEST_EPOCH_MAX ((uint32_t)INT32_MAX)

struct manifest_author {
    uint32_t producer;
    uint32_t epoch;
    struct incarnation incarnation;
    uint64_t attempt;
};

/* One step of the global order. */
struct manifest_entry {
    struct tgb_name tgb;
    uint64_t tgb_bytes;
    uint64_t tgb_checksum; /* XXH3-64 of the TGB; 0: none was computed (a body without payload) */
};

/* Never removed from a chain. */
struct producer_state {
    uint32_t producer;
    uint32_t epoch;
    struct incarnation incarnation;
    uint64_t next_offset;   /* where the producer's stream goes on */
    uint64_t last_sequence; /* 0: no batch yet; sequences start at 1 and go on over epochs */
    int64_t last_commit_ns; /* never decreases for one producer */
    uint64_t last_commit_version;
};

/* The steps [first_step, next_step). */
struct manifest_part {
    uint64_t first_step;
    uint64_t next_step;
};

struct entry_block;
struct state_table;

struct manifest {
    uint32_t references;
    uint32_t entry_bytes; /* encoded size of one entry: fixed by the genesis for the whole chain */
    uint64_t version;
    struct manifest_author author; /* zero in the genesis */
    uint64_t base_version;         /* 0 in the genesis */
    uint64_t base_checksum;
    uint64_t first_step; /* first live step; steps start at 1 */
    uint64_t next_step;  /* one past the last step; live entries = next_step - first_step */
    /* XXH3-64 over the encoded bytes before it. 0 where nothing was encoded (simulated references).
     */
    uint64_t checksum;
    /* Whose entries are here: all live steps, unless a decoder was asked for a part. Within the
     * live steps; such a version can be read, and neither encoded nor appended to. */
    struct manifest_part held;
    struct entry_block *entries;
    struct state_table *states;
};

/* What the next version adds. */
struct manifest_change {
    struct manifest_author author;
    uint64_t first_step;         /* raised to the base's if lower, lowered to next_step if higher */
    struct producer_state state; /* replaces or adds the author's */
    size_t entry_count;
    const struct manifest_entry *entries; /* borrowed */
};

/* Version 1: fixed bytes for a given entry size. */
struct manifest *manifest_genesis(uint32_t entry_bytes);
/* base.version + 1. The base is borrowed and unchanged. */
struct manifest *manifest_append(struct manifest *base, const struct manifest_change *change);
struct manifest *manifest_retain(struct manifest *manifest);
void manifest_release(struct manifest *manifest); /* NULL is allowed */

static inline bool manifest_whole(const struct manifest *manifest)
{
    return manifest->held.first_step == manifest->first_step &&
           manifest->held.next_step == manifest->next_step;
}

static inline uint64_t manifest_live_entries(const struct manifest *manifest)
{
    return manifest->next_step - manifest->first_step;
}

uint32_t manifest_state_count(const struct manifest *manifest);
/* In ascending order of producer. */
const struct producer_state *manifest_state_at(const struct manifest *manifest, uint32_t index);
/* NULL if the producer never committed. */
const struct producer_state *manifest_state_find(const struct manifest *manifest,
                                                 uint32_t producer);
/* Producers whose last commit is one of the newest `versions` versions. */
uint32_t manifest_active_producers(const struct manifest *manifest, uint64_t versions);

/* The entry of a held step, NULL if `step` is not one; O(log blocks), at most O(log entries). It
 * lives as long as the manifest. */
const struct manifest_entry *manifest_entry_find(const struct manifest *manifest, uint64_t step);

/* Calls `visit` for the held entries from `first_step` on, in step order. */
typedef void (*manifest_visit)(uint64_t step, const struct manifest_entry *entry, void *context);
void manifest_visit_entries(const struct manifest *manifest, uint64_t first_step,
                            manifest_visit visit, void *context);

/* Exact size of the encoding; O(1). */
uint64_t manifest_encoded_bytes(const struct manifest *manifest);
/* Writes exactly manifest_encoded_bytes bytes, and returns the checksum that they end with. */
uint64_t manifest_encode(const struct manifest *manifest, uint8_t *bytes);

#define MANIFEST_ERRORS(X)                                                                         \
    X(MANIFEST_OK, "ok")                                                                           \
    X(MANIFEST_TRUNCATED, "shorter than its header says")                                          \
    X(MANIFEST_OVERSIZED, "longer than its header says")                                           \
    X(MANIFEST_BAD_MAGIC, "not a manifest")                                                        \
    X(MANIFEST_BAD_LAYOUT,                                                                         \
      "a layout that this program does not know; use the version of it that wrote this")           \
    X(MANIFEST_BAD_CHECKSUM, "its checksum does not match its bytes")                              \
    X(MANIFEST_BAD_FIELD, "a field holds an impossible value")

enum manifest_error {
#define X(code, text) code,
    MANIFEST_ERRORS(X)
#undef X
};

const char *manifest_error_text(enum manifest_error error);

/* How long the encoding is that begins with these MANIFEST_HEADER_BYTES; 0: none does. */
uint64_t manifest_bytes_claimed(const uint8_t *bytes);
/* Every byte is hostile: no allocation beyond a small multiple of `size`, no partial result. On
 * MANIFEST_OK *manifest is the caller's; otherwise it is untouched. */
MUST_USE enum manifest_error manifest_decode(const uint8_t *bytes, uint64_t size,
                                             struct manifest **manifest);
/* The same, all bytes examined, and of the entries only those of `part` kept. */
MUST_USE enum manifest_error manifest_decode_part(const uint8_t *bytes, uint64_t size,
                                                  struct manifest_part part,
                                                  struct manifest **manifest);

#endif
