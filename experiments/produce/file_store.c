/* file_store.c - see file_store.h. */
#include "experiments/produce/file_store.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/name.h"
#include "core/xxh3.h"

struct file_store {
    struct store store;
    struct store *inner;
    struct live_loop *loop;
    const struct given_files *files;
    uint64_t first_sequence; /* 0: not known yet */
    uint64_t *checksums;     /* of each file as first read; 0: not read yet */
    uint32_t in_flight;
};

/* One TGB on its way: read, then sent. */
struct call {
    struct work work;
    struct store_op op;
    struct store_op *outer;
    struct file_store *store;
    struct tgb_name name;
    size_t index; /* of the file */
    uint64_t checksum;
    uint8_t *data; /* owned; NULL: it could not be read */
    char error[STORE_ERROR_MAX];
};

static void call_free(struct call *call)
{
    call->store->in_flight--;
    free(call->data);
    call->op.body = (struct body){.kind = BODY_NONE};
    store_op_deinit(&call->op);
    free(call);
}

static void on_sent(struct store_op *op, void *context)
{
    struct call *call = context;
    struct store_op *outer = call->outer;
    outer->outcome = op->outcome;
    outer->body_checksum = call->checksum;
    snprintf(outer->error, sizeof(outer->error), "%s", op->error);
    call_free(call);
    outer->done(outer, outer->context);
}

static void refuse(struct call *call)
{
    struct store_op *outer = call->outer;
    outer->outcome = STORE_FAILED;
    snprintf(outer->error, sizeof(outer->error), "%s", call->error);
    call_free(call);
    outer->done(outer, outer->context);
}

/* On a worker. */
static void read_file(struct work *work)
{
    struct call *call = (struct call *)work;
    call->data = given_files_tgb(call->store->files, call->index, &call->name, call->error);
    if (call->data != NULL)
        call->checksum = XXH3_64bits(call->data, call->op.body.bytes);
}

static void on_read(struct work *work)
{
    struct call *call = (struct call *)work;
    uint64_t *before = &call->store->checksums[call->index];
    if (call->data == NULL) {
        refuse(call);
        return;
    }
    if (*before != 0 && *before != call->checksum) {
        snprintf(call->error, sizeof(call->error),
                 "%.120s changed while it was to be uploaded; give files that nobody writes to",
                 call->store->files->paths[call->index]);
        refuse(call);
        return;
    }
    *before = call->checksum;
    call->op.body.data = call->data;
    store_submit(call->store->inner, &call->op);
}

static void call_start(struct file_store *store, struct store_op *outer,
                       const struct tgb_name *name)
{
    struct call *call = calloc(1, sizeof(*call));
    assert(call != NULL);
    assert(store->first_sequence != 0 && name->sequence >= store->first_sequence);
    call->name = *name;
    call->index = (size_t)(name->sequence - store->first_sequence);
    assert(call->index < store->files->count);
    assert(outer->body.bytes == store->files->tgb_bytes[call->index]);
    call->store = store;
    call->outer = outer;
    store->in_flight++;
    store_op_init(&call->op);
    call->op.verb = STORE_PUT;
    call->op.body = (struct body){.kind = BODY_BYTES, .bytes = outer->body.bytes};
    snprintf(call->op.key, sizeof(call->op.key), "%s", outer->key);
    call->op.done = on_sent;
    call->op.context = call;
    call->work = (struct work){.run = read_file, .done = on_read};
    live_loop_submit(store->loop, &call->work);
}

static void file_submit(struct store *base, struct store_op *op)
{
    struct file_store *store = (struct file_store *)base;
    struct tgb_name name;
    bool length = op->verb == STORE_PUT && op->body.kind == BODY_LENGTH;
    if (length && name_parse_tgb(op->key, &name))
        call_start(store, op, &name);
    else
        store_submit(store->inner, op);
}

static void file_close(struct store *base)
{
    struct file_store *store = (struct file_store *)base;
    assert(store->in_flight == 0);
    free(store->checksums);
    free(store);
}

static const struct store_ops file_ops = {.submit = file_submit, .close = file_close};

struct store *file_store_open(struct store *inner, struct live_loop *loop,
                              const struct given_files *files)
{
    struct file_store *store = calloc(1, sizeof(*store));
    assert(store != NULL);
    store->store.ops = &file_ops;
    store->inner = inner;
    store->loop = loop;
    store->files = files;
    store->checksums = calloc(files->count, sizeof(*store->checksums));
    assert(store->checksums != NULL);
    return &store->store;
}

void file_store_begin(struct store *base, uint64_t first_sequence)
{
    ((struct file_store *)base)->first_sequence = first_sequence;
}
