/* checkers.c - hands what a store applies to the checkers that care. Ours. */
#include "sim/checkers.h"

#include <inttypes.h>
#include <string.h>

void checkers_init(struct checkers *checkers)
{
    *checkers = (struct checkers){0};
    steps_checker_init(&checkers->steps);
}

void checkers_deinit(struct checkers *checkers)
{
    steps_checker_deinit(&checkers->steps);
    fence_checker_deinit(&checkers->fence);
    reader_checker_deinit(&checkers->reader);
    rank_holds_deinit(&checkers->holds);
    reclaim_checker_deinit(&checkers->reclaim);
    committed_order_deinit(&checkers->order);
}

void checkers_watch(struct checkers *checkers, const struct virtual_store *store)
{
    checkers->steps.store = store;
}

void checkers_follow_ranks(struct checkers *checkers, uint32_t slices)
{
    checkers->follows_ranks = true;
    reclaim_checker_init(&checkers->reclaim, &checkers->order, &checkers->chain,
                         &checkers->violations);
    checkers->holds.reclaim = &checkers->reclaim;
    checkers->reader.order = &checkers->order;
    checkers->reader.holds = &checkers->holds;
    checkers->reader.violations = &checkers->violations;
    checkers->reader.slices = slices;
}

static void check_version(struct checkers *checkers, uint64_t named, uint64_t bytes,
                          const struct checked_version *checked)
{
    struct violations *violations = &checkers->violations;
    if (manifest_encoded_bytes(checked->manifest) != bytes)
        violations_add(violations, checked->now_ns, checked->actor,
                       "chain: version %" PRIu64 " is stored as %" PRIu64 " bytes and encodes to "
                       "%" PRIu64,
                       named, bytes, manifest_encoded_bytes(checked->manifest));
    if (!chain_checker_version(&checkers->chain, named, checked, violations))
        return;
    fence_checker_version(&checkers->fence, checked, violations);
    steps_checker_version(&checkers->steps, checkers->chain.floor.step, checked, violations);
    checkers->manifest_bytes = bytes;
    if (checkers->follows_ranks) {
        committed_order_version(&checkers->order, checked->manifest);
        reclaim_checker_version(&checkers->reclaim, checked);
    }
    if (checkers->joined != NULL)
        checkers->joined(checkers->joined_context, checked);
}

static void on_version(struct checkers *checkers, uint64_t named, int64_t now_ns, uint32_t actor,
                       const struct body *body)
{
    struct checked_version checked = {.now_ns = now_ns, .actor = actor};
    if (body->kind == BODY_MANIFEST) {
        checked.manifest = body->manifest;
        check_version(checkers, named, body->bytes, &checked);
        return;
    }
    struct manifest *manifest = NULL;
    enum manifest_error error = MANIFEST_BAD_MAGIC;
    if (body->kind == BODY_BYTES)
        error = manifest_decode(body->data, body->bytes, &manifest);
    if (error != MANIFEST_OK) {
        violations_add(&checkers->violations, now_ns, actor, "chain: version %" PRIu64 ": %s",
                       named, manifest_error_text(error));
        return;
    }
    checked.decoded = true;
    checked.manifest = manifest;
    check_version(checkers, named, body->bytes, &checked);
    manifest_release(manifest);
}

static void on_other(struct checkers *checkers, int64_t now_ns, uint32_t actor,
                     const struct store_op *op)
{
    chain_checker_other(&checkers->chain, now_ns, actor, op, &checkers->violations);
    if (checkers->follows_ranks)
        reclaim_checker_applied(&checkers->reclaim, now_ns, actor, op);
}

static void on_applied(void *context, int64_t now_ns, uint32_t actor, const struct store_op *op,
                       enum store_outcome outcome)
{
    struct checkers *checkers = context;
    uint64_t version;
    if (op->verb == STORE_GET || op->verb == STORE_LIST || outcome != STORE_OK)
        return;
    if (strncmp(op->key, NAME_MANIFEST_PREFIX, strlen(NAME_MANIFEST_PREFIX)) != 0) {
        if (checkers->follows_ranks) {
            rank_holds_applied(&checkers->holds, op);
            reclaim_checker_applied(&checkers->reclaim, now_ns, actor, op);
        }
        return;
    }
    if (op->verb == STORE_PUT_IF_ABSENT && name_parse_version(op->key, &version))
        on_version(checkers, version, now_ns, actor, &op->body);
    else
        on_other(checkers, now_ns, actor, op);
}

struct virtual_store_observer checkers_observer(struct checkers *checkers)
{
    return (struct virtual_store_observer){.context = checkers, .applied = on_applied};
}

void checkers_visible(struct checkers *checkers, int64_t now_ns, uint32_t producer,
                      const struct batch *batch)
{
    steps_checker_visible(&checkers->steps, now_ns, producer, batch, &checkers->violations);
}
