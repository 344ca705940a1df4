/* s3_audit.h - the chain in a hostile server's memory, read without the client: dense versions,
 * each built on the one before, and every batch that it names there, whole, and named once. */
#ifndef TESTS_BACKEND_S3_AUDIT_H
#define TESTS_BACKEND_S3_AUDIT_H

#include "core/manifest.h"
#include "tests/backend/s3_world.h"

struct audit {
    uint64_t versions;     /* that are stored */
    uint64_t newest;       /* 0: none */
    uint64_t batches;      /* live entries of the newest */
    char problem[256];     /* the first; empty: none */
    struct manifest *last; /* the newest; NULL: none */
};

/* Below WORLD_PREFIX. */
void audit_init(struct audit *audit, struct hostile_server *server);
void audit_deinit(struct audit *audit);
/* Versions that such an incarnation created, counting all that are stored. */
uint64_t audit_versions_of(struct hostile_server *server, const struct incarnation *incarnation);

/* Puts a valid chain of so many versions into the server, with one batch of a producer of its own
 * in each but the first, and returns the newest version, which the caller releases. */
struct chain_options {
    uint64_t versions;
    uint32_t entry_bytes; /* 0: MANIFEST_ENTRY_BYTES_MIN */
    uint32_t producer;
    uint64_t batches_max; /* live entries at most: later versions have none; 0: no limit */
};
struct manifest *chain_store(struct hostile_server *server, const struct chain_options *options);
/* Puts a version with 0 or 1 batches that somebody else created on top of `base`, which is
 * released; returns it. */
struct manifest *chain_grow(struct hostile_server *server, struct manifest *base, uint32_t producer,
                            size_t batches);

#endif
