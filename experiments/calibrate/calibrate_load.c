/* calibrate_load.c - see calibrate_load.h. Ours. */
#include "experiments/calibrate/calibrate_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/name.h"

#define UNKNOWN_MAX 64                /* answers without meaning that a client puts up with */
#define PAUSE_NS (50 * NS_PER_MS)     /* after such an answer, or a 503 */
#define CHAIN_BYTES 512               /* of a version of the contended chain */
#define CHAIN_FIRST UINT64_C(1000000) /* versions of a cell start at its number times this */
#define DELETES_MAX 128               /* objects that a stream makes to delete them */

enum stream_phase {
    STREAM_PREPARING,
    STREAM_WAITING, /* for the start, common to all clients of a cell */
    STREAM_WORKING,
    STREAM_LOOKING, /* CONTEND: for the newest version, after a loss */
    STREAM_ENDED,
};

struct stream {
    struct calibrate_load *load;
    struct store_op op;
    struct timer pause;
    enum stream_phase phase;
    uint64_t prepared;
    uint64_t sent;
    uint64_t object;  /* sequence of the first object that it made */
    uint64_t version; /* CONTEND: the newest that it knows */
    int64_t wanted_ns;
    int64_t created_ns; /* CONTEND: when the create was sent */
};

struct calibrate_load {
    struct calibrate_load_options options;
    struct stream streams[CALIBRATE_STREAMS_MAX];
    uint32_t running;
    int64_t start_ns;
    int64_t deadline_ns;
    int64_t first_ns; /* when the first request was sent that is no preparation; 0: not yet */
    int64_t last_ns;
    struct calibrate_result result;
    size_t capacity;
    char error[CALIBRATE_ERROR_MAX];
};

static const uint8_t chain_bytes[CHAIN_BYTES];

/* ---- requests ---- */

static void name_object(const struct stream *stream, uint64_t sequence, char key[STORE_KEY_MAX])
{
    const struct calibrate_load *load = stream->load;
    struct tgb_name name = {
        .bucket = load->options.cell->number,
        .producer = load->options.client->number,
        .epoch = 1,
        .sequence = sequence,
    };
    name_tgb(key, &name);
}

/* Objects that a stream puts before it begins: what it needs, and one at least, as the first
 * request makes the connection. */
static uint64_t needed(const struct calibrate_cell *cell)
{
    if (cell->work != CALIBRATE_DELETE)
        return 1;
    return cell->request_max < DELETES_MAX ? cell->request_max : DELETES_MAX;
}

static void submit(struct stream *stream, enum store_verb verb)
{
    stream->op.verb = verb;
    store_submit(stream->load->options.store, &stream->op);
}

static void put_object(struct stream *stream, enum store_verb verb, uint64_t bytes)
{
    uint64_t sequence = stream->load->options.client->objects++;
    name_object(stream, sequence, stream->op.key);
    stream->op.body = (struct body){.kind = BODY_LENGTH, .bytes = bytes};
    submit(stream, verb);
}

static void list_own(struct stream *stream)
{
    /* The folder and all but the last character of the client's number and epoch. */
    char key[STORE_KEY_MAX];
    name_object(stream, 0, key);
    char *end = strchr(key, '-');
    assert(end != NULL);
    snprintf(stream->op.key, sizeof(stream->op.key), "%.*s", (int)(end - key + 1), key);
    stream->op.after[0] = '\0';
    stream->op.list_keys_max = CALIBRATE_STREAMS_MAX;
    submit(stream, STORE_LIST);
}

static void list_chain(struct stream *stream)
{
    stream->phase = STREAM_LOOKING;
    snprintf(stream->op.key, sizeof(stream->op.key), "%s", NAME_MANIFEST_PREFIX);
    name_version(stream->op.after, stream->version);
    stream->op.list_keys_max = STORE_LIST_KEYS_MAX;
    submit(stream, STORE_LIST);
}

static void create_next(struct stream *stream)
{
    stream->phase = STREAM_WORKING;
    stream->created_ns = loop_now(stream->load->options.loop);
    name_version(stream->op.key, stream->version + 1);
    stream->op.body = (struct body){
        .kind = BODY_BYTES, .bytes = CHAIN_BYTES, .data = (uint8_t *)(uintptr_t)chain_bytes};
    submit(stream, STORE_PUT_IF_ABSENT);
}

static void work(struct stream *stream)
{
    enum calibrate_work kind = stream->load->options.cell->work;
    stream->op.body = (struct body){.kind = BODY_NONE};
    switch (kind) {
    case CALIBRATE_GET:
        name_object(stream, stream->object, stream->op.key);
        stream->op.range_bytes = 0;
        stream->op.bound.bytes_max = stream->load->options.cell->bytes;
        submit(stream, STORE_GET);
        return;
    case CALIBRATE_PUT:
    case CALIBRATE_CREATE:
        put_object(stream, calibrate_work_verb(kind), stream->load->options.cell->bytes);
        return;
    case CALIBRATE_LIST:
        list_own(stream);
        return;
    case CALIBRATE_DELETE:
        name_object(stream, stream->object + stream->sent - 1, stream->op.key);
        submit(stream, STORE_DELETE);
        return;
    case CALIBRATE_CONTEND:
        create_next(stream);
        return;
    case CALIBRATE_WORK_COUNT:
        break;
    }
    assert(false);
}

/* ---- the loop of a stream ---- */

static void end(struct stream *stream)
{
    struct calibrate_load *load = stream->load;
    stream->phase = STREAM_ENDED;
    assert(load->running > 0);
    if (--load->running == 0 && load->options.ended != NULL)
        load->options.ended(load->options.context);
}

/* At the first request. Preparations of DELETE take as long as they do. */
static void begin(struct calibrate_load *load, int64_t now_ns)
{
    if (load->first_ns != 0)
        return;
    load->first_ns = now_ns;
    if (load->options.cell->work == CALIBRATE_DELETE)
        load->deadline_ns = now_ns + load->options.cell->duration_ns;
}

static void next(struct stream *stream)
{
    struct calibrate_load *load = stream->load;
    const struct calibrate_cell *cell = load->options.cell;
    int64_t now_ns = loop_now(load->options.loop);
    uint64_t prepare = needed(cell);
    store_op_release(&stream->op);
    if (load->error[0] != '\0') {
        end(stream);
    } else if (stream->prepared < prepare) {
        stream->prepared++;
        put_object(stream, STORE_PUT, cell->work == CALIBRATE_GET ? cell->bytes : 0);
    } else if (now_ns < load->start_ns) {
        stream->phase = STREAM_WAITING;
        loop_timer_set(load->options.loop, &stream->pause, load->start_ns);
    } else if (stream->sent >= cell->request_max ||
               (cell->work == CALIBRATE_DELETE && stream->sent == prepare) ||
               (stream->sent >= cell->request_min && now_ns >= load->deadline_ns)) {
        end(stream);
    } else {
        begin(load, now_ns);
        stream->phase = STREAM_WORKING;
        stream->sent++;
        stream->wanted_ns = now_ns;
        work(stream);
    }
}

static void count(struct stream *stream)
{
    struct calibrate_load *load = stream->load;
    load->last_ns = loop_now(load->options.loop);
}

static void succeed(struct stream *stream)
{
    struct calibrate_load *load = stream->load;
    struct calibrate_result *result = &load->result;
    count(stream);
    assert(result->count < load->capacity);
    result->latencies_ns[result->count++] = load->last_ns - stream->wanted_ns;
    result->successes++;
    stream->version++;
    next(stream);
}

static void look_done(struct stream *stream)
{
    const struct list_page *page = &stream->op.page;
    uint64_t version;
    if (page->count > 0 && name_parse_version(list_page_key(page, page->count - 1), &version))
        stream->version = version;
    store_op_release(&stream->op);
    stream->sent++;
    if (stream->sent >= stream->load->options.cell->request_max ||
        loop_now(stream->load->options.loop) >= stream->load->deadline_ns)
        end(stream);
    else
        create_next(stream);
}

static void pause_over(struct timer *timer, void *context)
{
    struct stream *stream = context;
    (void)timer;
    if (stream->phase == STREAM_PREPARING)
        stream->prepared--;
    next(stream);
}

/* An answer that says nothing about how fast the store is. */
static void pause_stream(struct stream *stream)
{
    struct loop *loop = stream->load->options.loop;
    loop_timer_set(loop, &stream->pause, loop_now(loop) + PAUSE_NS);
}

static void fail(struct stream *stream)
{
    struct calibrate_load *load = stream->load;
    const struct store_op *op = &stream->op;
    if (load->error[0] == '\0')
        snprintf(load->error, sizeof(load->error), "%s: %s", store_verb_name(op->verb),
                 op->error[0] != '\0' ? op->error : store_outcome_text(op->outcome));
    next(stream);
}

static void lose(struct stream *stream)
{
    if (stream->load->options.cell->work != CALIBRATE_CONTEND) {
        fail(stream);
        return;
    }
    count(stream);
    stream->load->result.lost++;
    stream->load->result.lost_ns += stream->load->last_ns - stream->created_ns;
    store_op_release(&stream->op);
    list_chain(stream);
}

static void answered(struct store_op *op, void *context)
{
    struct stream *stream = context;
    struct calibrate_result *result = &stream->load->result;
    result->requests++;
    switch (op->outcome) {
    case STORE_OK:
        if (stream->phase == STREAM_WORKING)
            succeed(stream);
        else if (stream->phase == STREAM_LOOKING)
            look_done(stream);
        else
            next(stream);
        return;
    case STORE_EXISTS:
        lose(stream);
        return;
    case STORE_THROTTLED:
        result->throttled++;
        pause_stream(stream);
        return;
    case STORE_BUSY:
    case STORE_UNKNOWN:
        if (++result->unknown < UNKNOWN_MAX)
            pause_stream(stream);
        else
            fail(stream);
        return;
    case STORE_NOT_FOUND:
    case STORE_FAILED:
    case STORE_OUTCOME_COUNT:
        fail(stream);
        return;
    }
}

/* ---- interface ---- */

static void stream_start(struct calibrate_load *load, struct stream *stream)
{
    *stream = (struct stream){.load = load, .phase = STREAM_PREPARING};
    store_op_init(&stream->op);
    stream->op.done = answered;
    stream->op.context = stream;
    timer_init(&stream->pause, pause_over, stream);
    stream->object = load->options.client->objects;
    stream->version = load->options.cell->number * CHAIN_FIRST;
    next(stream);
}

struct calibrate_load *calibrate_load_open(const struct calibrate_load_options *options)
{
    const struct calibrate_cell *cell = options->cell;
    struct calibrate_load *load = calloc(1, sizeof(*load));
    assert(load != NULL);
    assert(cell->streams >= 1 && cell->streams <= CALIBRATE_STREAMS_MAX);
    load->options = *options;
    load->running = cell->streams;
    load->start_ns = loop_now(options->loop) + CALIBRATE_START_NS;
    load->deadline_ns = load->start_ns + cell->duration_ns;
    /* The objects of streams that make several would be mixed. */
    assert(needed(cell) <= 1 || cell->streams == 1);
    load->capacity = cell->streams * cell->request_max;
    load->result.latencies_ns = calloc(load->capacity, sizeof(*load->result.latencies_ns));
    assert(load->result.latencies_ns != NULL);
    for (uint32_t i = 0; i < cell->streams; i++)
        stream_start(load, &load->streams[i]);
    return load;
}

bool calibrate_load_take(struct calibrate_load *load, struct calibrate_result *result,
                         char error[CALIBRATE_ERROR_MAX])
{
    const struct calibrate_result *own = &load->result;
    assert(load->running == 0);
    if (load->error[0] != '\0') {
        snprintf(error, CALIBRATE_ERROR_MAX, "%s", load->error);
        return false;
    }
    result->requests += own->requests;
    result->successes += own->successes;
    result->lost += own->lost;
    result->lost_ns += own->lost_ns;
    result->throttled += own->throttled;
    result->unknown += own->unknown;
    if (load->last_ns > load->first_ns)
        result->per_s += (double)own->successes * 1e9 / (double)(load->last_ns - load->first_ns);
    calibrate_result_add(result, own->latencies_ns, own->count);
    return true;
}

void calibrate_load_close(struct calibrate_load *load)
{
    for (uint32_t i = 0; i < load->options.cell->streams; i++) {
        loop_timer_cancel(load->options.loop, &load->streams[i].pause);
        store_op_deinit(&load->streams[i].op);
    }
    calibrate_result_deinit(&load->result);
    free(load);
}
