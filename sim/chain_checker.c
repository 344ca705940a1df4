/* chain_checker.c - the chain of versions. Ours. */
#include "sim/chain_checker.h"

#include <inttypes.h>

void chain_checker_other(struct chain_checker *chain, int64_t now_ns, uint32_t actor,
                         const struct store_op *op, struct violations *violations)
{
    struct floor floor;
    uint64_t version;
    bool is_version = name_parse_version(op->key, &version);
    if (op->verb == STORE_DELETE) {
        if (is_version && version >= chain->floor.version)
            violations_add(violations, now_ns, actor, "chain: %s is deleted and not below a floor",
                           op->key);
        return;
    }
    if (is_version) {
        violations_add(violations, now_ns, actor, "chain: %s is written without a condition",
                       op->key);
    } else if (name_parse_floor(op->key, &floor)) {
        if (floor.version > chain->version)
            violations_add(violations, now_ns, actor, "chain: %s is above the newest version",
                           op->key);
        if (floor.version > chain->floor.version)
            chain->floor.version = floor.version;
        if (floor.step > chain->floor.step)
            chain->floor.step = floor.step;
    } else {
        violations_add(violations, now_ns, actor, "chain: %s is no name of a version or a floor",
                       op->key);
    }
}

bool chain_checker_version(struct chain_checker *chain, uint64_t named,
                           const struct checked_version *checked, struct violations *violations)
{
    const struct manifest *manifest = checked->manifest;
    if (named <= chain->version && named < chain->floor.version)
        return false; /* a late write on a deleted name: no reader counts it */
    if (named != chain->version + 1) {
        violations_add(violations, checked->now_ns, checked->actor,
                       "chain: version %" PRIu64 " is created after version %" PRIu64, named,
                       chain->version);
        return false;
    }
    if (manifest->version != named)
        violations_add(violations, checked->now_ns, checked->actor,
                       "chain: version %" PRIu64 " calls itself %" PRIu64, named,
                       manifest->version);
    if (manifest->base_version != named - 1)
        violations_add(violations, checked->now_ns, checked->actor,
                       "chain: version %" PRIu64 " is based on version %" PRIu64, named,
                       manifest->base_version);
    if (named > MANIFEST_GENESIS_VERSION && manifest->base_checksum != chain->checksum)
        violations_add(violations, checked->now_ns, checked->actor,
                       "chain: version %" PRIu64 " is based on other content than was stored",
                       named);
    if (named == MANIFEST_GENESIS_VERSION)
        chain->entry_bytes = manifest->entry_bytes;
    if (manifest->entry_bytes != chain->entry_bytes)
        violations_add(violations, checked->now_ns, checked->actor,
                       "chain: version %" PRIu64 " has entries of %" PRIu32
                       " bytes, the chain's are of %" PRIu32,
                       named, manifest->entry_bytes, chain->entry_bytes);
    chain->version = named;
    chain->checksum = manifest->checksum;
    return true;
}
