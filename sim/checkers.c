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
}

void checkers_watch(struct checkers *checkers, const struct virtual_store *store)
{
    checkers->steps.store = store;
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

static void on_applied(void *context, int64_t now_ns, uint32_t actor, const struct store_op *op,
                       enum store_outcome outcome)
{
    struct checkers *checkers = context;
    uint64_t version;
    if (op->verb == STORE_GET || op->verb == STORE_LIST || outcome != STORE_OK)
        return;
    if (strncmp(op->key, NAME_MANIFEST_PREFIX, strlen(NAME_MANIFEST_PREFIX)) != 0)
        return;
    if (op->verb == STORE_PUT_IF_ABSENT && name_parse_version(op->key, &version))
        on_version(checkers, version, now_ns, actor, &op->body);
    else
        chain_checker_other(&checkers->chain, now_ns, actor, op, &checkers->violations);
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
