/* chain_checker.h - see checkers.h: versions are dense, created once, each on the one before it. */
#ifndef SIM_CHAIN_CHECKER_H
#define SIM_CHAIN_CHECKER_H

#include <stdbool.h>

#include "core/manifest.h"
#include "core/name.h"
#include "core/store.h"
#include "sim/violations.h"

struct chain_checker {
    uint64_t version; /* the newest; 0: none yet */
    uint64_t checksum;
    uint32_t entry_bytes; /* of the genesis: of all versions */
    struct floor floor;   /* the highest written */
};

/* A version that was created. */
struct checked_version {
    int64_t now_ns;
    uint32_t actor;
    bool decoded; /* from bytes */
    const struct manifest *manifest;
};

/* Something below "manifest/" was written or deleted, and it is no new version. */
void chain_checker_other(struct chain_checker *chain, int64_t now_ns, uint32_t actor,
                         const struct store_op *op, struct violations *violations);
/* False if the version is none of the chain: a late one below the floor, or a violation. */
MUST_USE bool chain_checker_version(struct chain_checker *chain, uint64_t named,
                                    const struct checked_version *checked,
                                    struct violations *violations);

#endif
