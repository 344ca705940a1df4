/* live_target.c - what a live run reads: messages of its producers' processes, its marker, and the
 * chain of any run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/codec_store.h"
#include "experiments/consume/consume_job.h"
#include "experiments/live/inspect.h"
#include "experiments/live/inspect_report.h"
#include "experiments/live/live_marker.h"
#include "experiments/live/live_wire.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/fuzz_store.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

#define CHANGES_MAX 64

void fuzz_wire(const uint8_t *data, size_t size);
void fuzz_marker(const uint8_t *data, size_t size);
void fuzz_inspect(const uint8_t *data, size_t size);

/* ---- messages ---- */

/* The head of a message is the input; a long payload is made up of its last byte. */
void fuzz_wire(const uint8_t *data, size_t size)
{
    static int fds[2] = {-1, -1};
    static struct live_message sent;
    static struct live_message message;
    if (fds[0] < 0) {
        bool made = live_wire_make(fds);
        assert(made);
    }
    size_t head = offsetof(struct live_message, payload);
    memset(&sent, size > 0 ? data[size - 1] : 0, sizeof(sent));
    memcpy(&sent, data, size);
    size_t bytes = size;
    if (size >= head && sent.payload_bytes <= LIVE_PAYLOAD_MAX && sent.kind % 2 == 1)
        bytes = head + sent.payload_bytes;
    if (bytes == 0)
        return; /* nothing would be sent */
    ssize_t written = send(fds[0], &sent, bytes, 0);
    assert(written == (ssize_t)bytes);
    enum live_receive received = live_wire_receive(fds[1], &message);
    assert(received != LIVE_NOTHING);
    assert(live_wire_receive(fds[1], &sent) == LIVE_NOTHING);
    if (received != LIVE_RECEIVED)
        return;
    assert(message.kind <= LIVE_ENDED && message.end <= LIVE_END_UNDECIDED);
    assert(message.payload_bytes <= LIVE_PAYLOAD_MAX);
    if (message.kind == LIVE_ENDED)
        assert(memchr(message.payload, '\0', LIVE_PAYLOAD_MAX) != NULL);
}

/* ---- stores ---- */

/* One loop for all inputs: opening it starts a thread. */
static struct live_loop *the_loop(void)
{
    static struct live_loop *loop;
    char error[STORE_ERROR_MAX];
    struct live_loop_options options = {.workers = 1};
    if (loop == NULL) {
        enum open_result result = live_loop_open(&options, &loop, error);
        assert(result == OPEN_OK);
    }
    return loop;
}

static struct live_session session_open(struct fuzz_store *store)
{
    struct codec_store_options options = {.payload = true};
    return (struct live_session){.loop = the_loop(),
                                 .patience_ns = 1,
                                 .bytes = &store->store,
                                 .store = codec_store_open(&store->store, &options)};
}

static void session_close(struct live_session *session)
{
    store_close(session->store);
    store_close(session->bytes);
}

static void check_marker(const json_t *marker)
{
    static const struct live_marker_options options = {
        .payload = LIVE_PAYLOAD_SYNTHETIC, .entry_bytes = 120, .mesh = {.data = 2, .context = 1}};
    char error[LIVE_MARKER_TEXT_MAX] = "";
    struct live_identity identity;
    struct tgb_mesh mesh;
    assert(!live_marker_mesh(marker, &mesh) || tgb_mesh_valid(mesh));
    live_marker_identify(marker, &identity);
    check_harmless(identity.experiment, sizeof(identity.experiment));
    check_harmless(identity.arm, sizeof(identity.arm));
    check_harmless(identity.started, sizeof(identity.started));
    if (live_marker_agrees(marker, &options, "file://fuzz", error) != OPEN_OK)
        check_told(error, sizeof(error));
}

/* What `lakestream consume` takes from it. */
static void check_job(struct live_session *session)
{
    char text[CONSUME_JOB_TEXT_MAX] = "";
    struct consume_job job = {.url = "file://fuzz"};
    uint32_t ranks = 0;
    if (consume_job_ranks(session, &job, &ranks, text) != OPEN_OK) {
        check_told(text, sizeof(text));
        return;
    }
    assert(ranks >= 1 && (job.slices == 0 || ranks == job.slices));
    assert(job.slices == tgb_mesh_slices(job.mesh));
    check_harmless(job.run, sizeof(job.run));
}

void fuzz_marker(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {0};
    char error[STORE_ERROR_MAX] = "";
    json_t *marker = NULL;
    struct fuzz_store *store = fuzz_store_open(live_loop_base(the_loop()), &input);
    struct live_session session = session_open(store);
    fuzz_store_put(store, LIVE_MARKER_KEY, data, size);
    switch (live_marker_read(&session, &marker, error)) {
    case LIVE_MARKER_FOUND:
        assert(json_is_integer(json_object_get(marker, "format")));
        assert(json_is_integer(json_object_get(marker, "entry_bytes")));
        assert(json_string_value(json_object_get(marker, "payload")) != NULL);
        check_marker(marker);
        json_decref(marker);
        break;
    case LIVE_MARKER_DAMAGED:
        assert(marker == NULL);
        check_told(error, sizeof(error));
        break;
    case LIVE_MARKER_MISSING:
    case LIVE_MARKER_FAILED:
        assert(0 && "the marker is there");
    }
    check_job(&session);
    session_close(&session);
}

static void report(const struct inspection *inspection)
{
    struct inspect_report_options options = {.url = "file://fuzz", .versions = 5, .deep = true};
    inspect_report_print(inspection, &options, scratch_sink());
    inspect_report_json(inspection, &options, scratch_sink());
}

void fuzz_inspect(const uint8_t *data, size_t size)
{
    static const char *const meshes[] = {"none", "1x1", "2x1", "3x0"};
    char marker[128];
    struct fuzz_input input = {.data = data, .size = size};
    struct inspection inspection = {0};
    char error[STORE_ERROR_MAX] = "";
    struct fuzz_store *store = fuzz_store_open(live_loop_base(the_loop()), &input);
    struct live_session session = session_open(store);
    uint8_t form = fuzz_byte(&input);
    uint8_t mesh = fuzz_byte(&input) % 4;
    int bytes = snprintf(marker, sizeof(marker),
                         "{\"format\":1,\"entry_bytes\":64,\"payload\":\"synthetic\","
                         "\"mesh\":\"%s\"}",
                         meshes[mesh]);
    if (mesh == 1 || mesh == 2)
        store->mesh = (struct tgb_mesh){.data = mesh, .context = 1};
    struct inspect_options options = {.deep = form & 0x40};
    if (form & 0x80)
        fuzz_store_put(store, LIVE_MARKER_KEY, (const uint8_t *)marker, (uint64_t)bytes);
    for (unsigned i = form % CHANGES_MAX; i > 0; i--)
        fuzz_change(store);
    if (inspect_run(&session, &options, &inspection, error)) {
        assert(inspection.problem_count <= inspection.problem_total);
        report(&inspection);
    } else {
        assert(error[0] != '\0');
    }
    inspection_deinit(&inspection);
    session_close(&session);
}
