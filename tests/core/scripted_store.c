/* scripted_store.c - requests that wait in a list, and what becomes of them. Ours. */
#include "tests/core/scripted_store.h"

#include <stdlib.h>
#include <string.h>

#include "tests/core/stored_objects.h"

#define PORTS_MAX 256

struct port {
    struct store store;
    struct scripted_store *owner;
    uint32_t number;
    bool cut;
};

/* A request on its way: it holds all it needs, so that its sender may die. */
struct request {
    struct timer timer;
    struct scripted_store *owner;
    struct port *port;
    struct store_op *op;
    enum store_verb verb;
    char key[STORE_KEY_MAX];
    struct body body;
    struct rule rule;
    bool ruled;
    bool applied;
    bool waits; /* answered or given up, and still to be applied */
    uint32_t countdown;
    struct request *next;
};

struct scripted_store {
    struct manual_loop *loop;
    int64_t latency_ns;
    bool disturbed;
    struct store_script script;
    const struct store_watch *watch;
    struct stored_objects objects;
    struct port ports[PORTS_MAX];
    uint32_t port_count;
    struct request *requests;
    uint64_t requests_of[REQUEST_KIND_COUNT];
};

/* ---- objects ---- */

static void report_created(struct scripted_store *store, const struct stored_object *object)
{
    uint64_t version;
    if (store->watch == NULL)
        return;
    struct manifest *manifest = NULL;
    if (name_parse_version(object->key, &version)) {
        if (object->body.kind == BODY_MANIFEST) {
            manifest = manifest_retain(object->body.manifest);
        } else {
            enum manifest_error error =
                manifest_decode(object->body.data, object->body.bytes, &manifest);
            assert(error == MANIFEST_OK);
        }
    }
    store->watch->created(store->watch->context, object->key, manifest,
                          scripted_store_floor(store));
    manifest_release(manifest);
}

bool scripted_store_create(struct scripted_store *store, const char *key, const struct body *body)
{
    const struct stored_object *object = stored_objects_create(&store->objects, key, body);
    if (object == NULL)
        return false;
    report_created(store, object);
    return true;
}

void scripted_store_delete(struct scripted_store *store, const char *key)
{
    stored_objects_delete(&store->objects, key);
}

bool scripted_store_create_version(struct scripted_store *store, struct manifest *manifest)
{
    char key[STORE_KEY_MAX];
    name_version(key, manifest->version);
    struct body body = {
        .kind = BODY_MANIFEST, .bytes = manifest_encoded_bytes(manifest), .manifest = manifest};
    return scripted_store_create(store, key, &body);
}

struct body *scripted_store_body(struct scripted_store *store, const char *key)
{
    struct stored_object *object = stored_objects_find(&store->objects, key);
    return object != NULL ? &object->body : NULL;
}

bool scripted_store_has(const struct scripted_store *store, const char *key)
{
    return stored_objects_find(&store->objects, key) != NULL;
}

uint64_t scripted_store_count(const struct scripted_store *store, const char *prefix)
{
    return stored_objects_count(&store->objects, prefix);
}

struct manifest *scripted_store_version(const struct scripted_store *store, uint64_t version)
{
    char key[STORE_KEY_MAX];
    name_version(key, version);
    const struct stored_object *object = stored_objects_find(&store->objects, key);
    if (object == NULL)
        return NULL;
    if (object->body.kind == BODY_MANIFEST)
        return manifest_retain(object->body.manifest);
    struct manifest *manifest = NULL;
    enum manifest_error error = manifest_decode(object->body.data, object->body.bytes, &manifest);
    assert(error == MANIFEST_OK);
    return manifest;
}

uint64_t scripted_store_newest(const struct scripted_store *store)
{
    uint64_t version = 0;
    size_t index = stored_objects_at(&store->objects, NAME_FLOOR_PREFIX);
    while (index > 0 && !name_parse_version(store->objects.items[index - 1]->key, &version))
        index--;
    return version;
}

struct floor scripted_store_floor(const struct scripted_store *store)
{
    struct floor floor = {0};
    size_t index = stored_objects_at(&store->objects, NAME_FLOOR_PREFIX);
    while (index < store->objects.count &&
           strncmp(store->objects.items[index]->key, NAME_FLOOR_PREFIX,
                   strlen(NAME_FLOOR_PREFIX)) == 0 &&
           !name_parse_floor(store->objects.items[index]->key, &floor))
        index++;
    return floor;
}

void scripted_store_put_empty(struct scripted_store *store, const char *key)
{
    struct body empty = {.kind = BODY_BYTES};
    scripted_store_create(store, key, &empty);
}

void scripted_store_raise_floor(struct scripted_store *store, struct floor floor)
{
    char key[STORE_KEY_MAX];
    name_floor(key, floor);
    scripted_store_put_empty(store, key);
}

void scripted_store_put_intent(struct scripted_store *store, uint64_t step)
{
    char key[STORE_KEY_MAX];
    name_intent(key, step);
    scripted_store_put_empty(store, key);
}

void scripted_store_put_watermark(struct scripted_store *store, const struct watermark_name *name)
{
    char key[STORE_KEY_MAX];
    name_watermark(key, name);
    scripted_store_put_empty(store, key);
}

bool scripted_store_has_watermark(const struct scripted_store *store,
                                  const struct watermark_name *name)
{
    char key[STORE_KEY_MAX];
    name_watermark(key, name);
    return scripted_store_has(store, key);
}

void scripted_store_delete_below_floor(struct scripted_store *store)
{
    char last[STORE_KEY_MAX];
    name_version(last, scripted_store_floor(store).version);
    while (true) {
        size_t index = stored_objects_at(&store->objects, NAME_MANIFEST_PREFIX);
        if (index == store->objects.count || strcmp(store->objects.items[index]->key, last) >= 0)
            return;
        scripted_store_delete(store, store->objects.items[index]->key);
    }
}

/* ---- requests ---- */

/* What the store does and would answer. `op` is NULL when nobody waits for it. */
static enum store_outcome apply(struct scripted_store *store, struct request *request,
                                struct store_op *op)
{
    const struct stored_object *object;
    switch (request->verb) {
    case STORE_GET:
        object = stored_objects_find(&store->objects, request->key);
        if (object == NULL)
            return STORE_NOT_FOUND;
        if (op != NULL)
            op->result = body_copy_range(&object->body, op->range_offset, op->range_bytes);
        return STORE_OK;
    case STORE_LIST:
        if (op != NULL)
            stored_objects_list(&store->objects, op);
        return STORE_OK;
    case STORE_PUT:
        scripted_store_create(store, request->key, &request->body);
        return STORE_OK;
    case STORE_PUT_IF_ABSENT:
        return scripted_store_create(store, request->key, &request->body) ? STORE_OK : STORE_EXISTS;
    case STORE_DELETE:
        scripted_store_delete(store, request->key);
        return STORE_OK;
    case STORE_VERB_COUNT:
        break;
    }
    return STORE_FAILED;
}

static void request_free(struct request *request)
{
    struct scripted_store *store = request->owner;
    struct request **link = &store->requests;
    while (*link != request)
        link = &(*link)->next;
    *link = request->next;
    loop_timer_cancel(&store->loop->loop, &request->timer);
    body_release(&request->body);
    free(request);
}

static void apply_waiting(struct scripted_store *store, uint32_t requests)
{
    struct request *next;
    for (struct request *request = store->requests; request != NULL; request = next) {
        next = request->next;
        if (!request->waits)
            continue;
        request->countdown -= requests < request->countdown ? requests : request->countdown;
        if (request->countdown > 0)
            continue;
        apply(store, request, NULL);
        request->waits = false;
        request->rule.application = APPLY;
        if (request->timer.slot == 0)
            request_free(request); /* its sender has had its answer, or died */
    }
}

void scripted_store_apply_late(struct scripted_store *store)
{
    apply_waiting(store, UINT32_MAX);
}

static void answer(struct request *request)
{
    struct store_op *op = request->op;
    struct port *port = request->port;
    bool late = request->ruled && request->rule.application == APPLY_LATE;
    if (port->cut || op == NULL) {
        if (!late)
            request_free(request);
        return;
    }
    if (late)
        request->op = NULL;
    else
        request_free(request);
    op->done(op, op->context);
}

static int64_t half_latency(struct scripted_store *store)
{
    if (!store->disturbed)
        return store->latency_ns / 2;
    return (int64_t)((double)store->latency_ns * 2 * random_unit(&store->script.random));
}

static void request_fired(struct timer *timer, void *context)
{
    (void)timer;
    struct request *request = context;
    struct scripted_store *store = request->owner;
    if (request->applied) {
        answer(request);
        return;
    }
    request->applied = true;
    struct store_op *op = request->port->cut ? NULL : request->op;
    enum store_outcome outcome = STORE_OK;
    if (request->ruled && request->rule.before != NULL)
        request->rule.before(store, request->rule.context);
    enum application application = request->ruled ? request->rule.application : APPLY;
    apply_waiting(store, 1);
    if (application == APPLY)
        outcome = apply(store, request, op);
    if (application == APPLY_LATE) {
        request->waits = true;
        request->countdown = request->rule.late_requests;
    }
    if (op != NULL) {
        op->outcome = request->ruled && request->rule.answers ? request->rule.outcome : outcome;
        if (op->outcome != outcome)
            body_release(&op->result);
    }
    if (op != NULL || application != APPLY_LATE)
        loop_timer_set(&store->loop->loop, &request->timer,
                       store->loop->now_ns + half_latency(store));
}

static void port_submit(struct store *base, struct store_op *op)
{
    struct port *port = (struct port *)base;
    struct scripted_store *store = port->owner;
    for (const struct request *r = store->requests; r != NULL; r = r->next)
        assert(r->op != op || r->port->cut); /* one at a time */
    struct request *request = calloc(1, sizeof(*request));
    assert(request != NULL);
    timer_init(&request->timer, request_fired, request);
    request->owner = store;
    request->port = port;
    request->op = op;
    request->verb = op->verb;
    memcpy(request->key, op->key, sizeof(request->key));
    request->body = body_copy_range(&op->body, 0, 0);
    enum request_kind kind = store_script_kind(op);
    store->requests_of[ANY_REQUEST]++;
    if (kind != ANY_REQUEST)
        store->requests_of[kind]++;
    request->ruled =
        store_script_rule(&store->script, op, port->number, &request->rule) ||
        (store->disturbed && store_script_fault(&store->script, op->verb, &request->rule));
    request->next = store->requests;
    store->requests = request;
    loop_timer_set(&store->loop->loop, &request->timer, store->loop->now_ns + half_latency(store));
}

static void port_close(struct store *base)
{
    (void)base;
}

static const struct store_ops port_ops = {.submit = port_submit, .close = port_close};

/* The store as a whole. */

struct scripted_store *scripted_store_open(struct manual_loop *loop, int64_t latency_ns)
{
    struct scripted_store *store = calloc(1, sizeof(*store));
    assert(store != NULL);
    store->loop = loop;
    store->latency_ns = latency_ns;
    return store;
}

void scripted_store_close(struct scripted_store *store)
{
    while (store->requests != NULL)
        request_free(store->requests);
    stored_objects_deinit(&store->objects);
    free(store);
}

void scripted_store_disturb(struct scripted_store *store, const struct store_faults *faults,
                            struct random_stream random)
{
    store->disturbed = true;
    store->script.faults = *faults;
    store->script.random = random;
}

void scripted_store_calm(struct scripted_store *store)
{
    store->script.faults = (struct store_faults){0};
}

void scripted_store_watch(struct scripted_store *store, const struct store_watch *watch)
{
    store->watch = watch;
}

void scripted_store_script(struct scripted_store *store, const struct rule *rule)
{
    store_script_add(&store->script, rule);
}

struct store *scripted_store_port(struct scripted_store *store)
{
    assert(store->port_count < PORTS_MAX);
    struct port *port = &store->ports[store->port_count++];
    *port = (struct port){.store = {&port_ops}, .owner = store, .number = store->port_count};
    return &port->store;
}

void scripted_store_cut(struct scripted_store *store, uint32_t port)
{
    assert(port > 0 && port <= store->port_count);
    store->ports[port - 1].cut = true;
}

uint64_t scripted_store_requests(const struct scripted_store *store, enum request_kind kind)
{
    return store->requests_of[kind];
}

uint32_t scripted_store_in_flight(const struct scripted_store *store)
{
    uint32_t count = 0;
    for (const struct request *request = store->requests; request != NULL; request = request->next)
        count += request->op != NULL && !request->port->cut;
    return count;
}

uint32_t scripted_store_late(const struct scripted_store *store)
{
    uint32_t count = 0;
    for (const struct request *request = store->requests; request != NULL; request = request->next)
        count += request->waits;
    return count;
}
