/* chain_view.c - see chain_view.h. Ours. */
#include "core/chain_view.h"

#include <stdio.h>

#include "core/manifest.h"

#define FLOOR_KEYS 16 /* the first floor counts; what is no floor may sort before it */

void chain_view_ask_newest(struct store_op *op, uint64_t after)
{
    store_op_prepare(op, STORE_LIST);
    snprintf(op->key, STORE_KEY_MAX, "%s", NAME_MANIFEST_PREFIX);
    name_version(op->after, after);
}

void chain_view_ask_floor(struct store_op *op)
{
    store_op_prepare(op, STORE_LIST);
    snprintf(op->key, STORE_KEY_MAX, "%s", NAME_FLOOR_PREFIX);
    op->list_keys_max = FLOOR_KEYS;
}

static void raise_floor(struct chain_view *view, struct floor floor)
{
    struct floor *top = &view->top;
    if (floor.version > top->version || (floor.version == top->version && floor.step > top->step))
        *top = floor;
    if (floor.version > view->floor.version)
        view->floor.version = floor.version;
    if (floor.step > view->floor.step)
        view->floor.step = floor.step;
}

enum page_next chain_view_read(struct chain_view *view, struct store_op *op)
{
    const struct list_page *page = &op->page;
    bool floor_seen = false;
    for (size_t i = page->count; i > 0; i--) { /* versions rise, then floors fall */
        const char *key = list_page_key(page, i - 1);
        struct floor floor;
        uint64_t version;
        if (name_parse_version(key, &version)) {
            if (version > view->newest)
                view->newest = version;
            break;
        }
        if (!name_parse_floor(key, &floor))
            continue;
        floor_seen = true;
        raise_floor(view, floor);
    }
    return floor_seen ? PAGE_WAS_LAST : store_op_next_page(op);
}

void chain_view_ask_version(struct store_op *op, uint64_t version)
{
    static_assert(MANIFEST_HEADER_BYTES == OBJECT_HEAD_BYTES, "a version's size is in its head");
    store_op_prepare(op, STORE_GET);
    op->bound =
        (struct object_bound){.bytes_max = MANIFEST_BYTES_MAX, .claimed = manifest_bytes_claimed};
    name_version(op->key, version);
}

struct manifest *chain_view_take_version(struct store_op *op, char error[STORE_ERROR_MAX])
{
    uint64_t asked;
    bool parsed = name_parse_version(op->key, &asked);
    assert(parsed);
    struct manifest *manifest = op->result.manifest;
    if (op->result.kind != BODY_MANIFEST || manifest->version != asked) {
        snprintf(error, STORE_ERROR_MAX,
                 "%s does not hold that version of a manifest: restore it, or start a new prefix",
                 op->key);
        return NULL;
    }
    op->result.kind = BODY_NONE;
    return manifest;
}
