/* codec_store.c - the adapter between manifests in memory and bytes in a store. Ours. */
#include "core/codec_store.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/manifest.h"
#include "core/name.h"
#include "core/tgb_object.h"
#include "core/tgb_payload.h"
#include "core/xxh3.h"

struct codec_store {
    struct store store;
    struct store *inner;
    struct codec_store_options options;
    struct call *calls; /* all ever made; freed at close */
    struct call *idle;
};

/* One operation on its way through. */
struct call {
    struct store_op op;
    struct store_op *outer;
    struct codec_store *codec;
    struct call *next;
    struct call *next_idle;
};

static struct call *call_take(struct codec_store *codec)
{
    struct call *call = codec->idle;
    if (call != NULL) {
        codec->idle = call->next_idle;
        return call;
    }
    call = malloc(sizeof(*call));
    assert(call != NULL);
    store_op_init(&call->op);
    call->codec = codec;
    call->next = codec->calls;
    codec->calls = call;
    return call;
}

static void call_give(struct call *call)
{
    if (call->op.body.kind == BODY_BYTES && call->outer->body.kind != BODY_BYTES)
        free(call->op.body.data);
    call->op.body = (struct body){.kind = BODY_NONE};
    call->next_idle = call->codec->idle;
    call->codec->idle = call;
}

static uint8_t *bytes_alloc(uint64_t bytes)
{
    uint8_t *data = malloc(bytes > 0 ? bytes : 1);
    assert(data != NULL);
    return data;
}

static void encode_manifest(struct store_op *outer, struct body *body)
{
    struct manifest *manifest = outer->body.manifest;
    uint64_t bytes = manifest_encoded_bytes(manifest);
    assert(bytes == outer->body.bytes);
    *body = (struct body){.kind = BODY_BYTES, .bytes = bytes, .data = bytes_alloc(bytes)};
    /* The checksum is a property of the bytes, so the first encoding is what fills it in. */
    manifest->checksum = manifest_encode(manifest, body->data);
    outer->body_checksum = manifest->checksum;
}

/* In the buffer that is sent: a TGB is built once for each upload, and copied nowhere. */
static void encode_payload(const struct codec_store *codec, struct store_op *outer,
                           struct body *body)
{
    struct tgb_object object = {.mesh = codec->options.mesh};
    bool parsed = name_parse_tgb(outer->key, &object.name);
    assert(parsed);
    uint64_t bytes = outer->body.bytes;
    uint32_t slices = tgb_mesh_slices(object.mesh);
    *body = (struct body){.kind = BODY_BYTES, .bytes = bytes, .data = bytes_alloc(bytes)};
    object.bytes = body->data;
    if (slices > 0) {
        enum tgb_error error = tgb_layout_make(bytes, slices, &object.layout);
        assert(error == TGB_OK);
        tgb_object_fill(&object);
    } else {
        tgb_payload_fill(object.name.producer, object.name.sequence, 0, bytes, body->data);
    }
    outer->body_checksum = XXH3_64bits(body->data, bytes);
}

static void decode_result(struct store_op *outer)
{
    uint64_t version;
    if (outer->verb != STORE_GET || outer->outcome != STORE_OK || outer->range_bytes != 0 ||
        outer->range_offset != 0 || outer->result.kind != BODY_BYTES ||
        !name_parse_version(outer->key, &version))
        return;
    struct manifest *manifest = NULL;
    struct manifest_part part = {.first_step = outer->entries_first,
                                 .next_step =
                                     outer->entries_next != 0 ? outer->entries_next : UINT64_MAX};
    enum manifest_error error =
        manifest_decode_part(outer->result.data, outer->result.bytes, part, &manifest);
    uint64_t bytes = outer->result.bytes;
    body_release(&outer->result);
    if (error != MANIFEST_OK) {
        outer->outcome = STORE_FAILED;
        outer->damaged = true;
        snprintf(outer->error, sizeof(outer->error), "%.100s is %s%s", outer->key,
                 error == MANIFEST_BAD_LAYOUT ? "of " : "damaged: ", manifest_error_text(error));
        return;
    }
    outer->result = (struct body){.kind = BODY_MANIFEST, .bytes = bytes, .manifest = manifest};
}

static void call_done(struct store_op *op, void *context)
{
    struct call *call = context;
    struct store_op *outer = call->outer;
    outer->outcome = op->outcome;
    outer->object_bytes = op->object_bytes;
    outer->damaged = op->damaged;
    outer->result = op->result;
    op->result = (struct body){.kind = BODY_NONE};
    struct list_page page = outer->page;
    outer->page = op->page;
    op->page = page;
    snprintf(outer->error, sizeof(outer->error), "%s", op->error);
    store_op_release(op);
    call_give(call);
    decode_result(outer);
    outer->done(outer, outer->context);
}

static void codec_submit(struct store *store, struct store_op *outer)
{
    struct codec_store *codec = (struct codec_store *)store;
    struct call *call = call_take(codec);
    struct store_op *op = &call->op;
    call->outer = outer;
    op->verb = outer->verb;
    op->list_keys_max = outer->list_keys_max;
    op->body = outer->body;
    op->range_offset = outer->range_offset;
    op->range_bytes = outer->range_bytes;
    op->bound = outer->bound;
    snprintf(op->key, sizeof(op->key), "%s", outer->key);
    snprintf(op->after, sizeof(op->after), "%s", outer->after);
    op->done = call_done;
    op->context = call;
    outer->body_checksum = 0;
    if (outer->body.kind == BODY_MANIFEST)
        encode_manifest(outer, &op->body);
    else if (outer->body.kind == BODY_LENGTH && codec->options.payload)
        encode_payload(codec, outer, &op->body);
    store_submit(codec->inner, op);
}

static void codec_close(struct store *store)
{
    struct codec_store *codec = (struct codec_store *)store;
    while (codec->calls != NULL) {
        struct call *call = codec->calls;
        codec->calls = call->next;
        if (call->op.body.kind == BODY_BYTES && call->outer->body.kind != BODY_BYTES)
            free(call->op.body.data);
        store_op_deinit(&call->op);
        free(call);
    }
    free(codec);
}

static const struct store_ops codec_ops = {.submit = codec_submit, .close = codec_close};

struct store *codec_store_open(struct store *inner, const struct codec_store_options *options)
{
    struct codec_store *codec = malloc(sizeof(*codec));
    assert(codec != NULL);
    assert(tgb_mesh_valid(options->mesh));
    *codec = (struct codec_store){
        .store = {.ops = &codec_ops},
        .inner = inner,
        .options = *options,
    };
    return &codec->store;
}

void codec_store_slice(struct store *codec, struct tgb_mesh mesh)
{
    assert(codec->ops == &codec_ops);
    assert(tgb_mesh_valid(mesh));
    ((struct codec_store *)codec)->options.mesh = mesh;
}
