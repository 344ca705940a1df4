/* store_bounds_test.c - objects and answers that are larger than their readers take: neither store
 * reads them, and the memory that it takes to find out is small. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/s3_xml.h"
#include "core/chain_reader.h"
#include "core/codec_store.h"
#include "core/object_bound.h"
#include "tests/backend/flood_server.h"
#include "tests/backend/s3_rig.h"
#include "tests/battery/battery_cases.h"
#include "tests/harness.h"
#include "tests/memory.h"

#define GIB ((uint64_t)1 << 30)
#define MIB ((uint64_t)1 << 20)
#define PEAK_BYTES (6 * MIB)    /* above what was held before */
#define SOCKET_BYTES (32 * MIB) /* what kernels hold between a server and a client, at most */
#define VERSION 7
#define WORDS_NONE "the first ones are none of its kind"

static void check_peak(uint64_t before_bytes)
{
    uint64_t peak_bytes = memory_peak_bytes();
    if (peak_bytes > before_bytes + PEAK_BYTES)
        fprintf(stderr, "\n%llu KiB more were held\n",
                (unsigned long long)(peak_bytes - before_bytes) / 1024);
    CU_ASSERT(HARNESS_MEMORY_IS_SANITIZED || peak_bytes <= before_bytes + PEAK_BYTES);
}

static void check_text(const char *text, const char *words)
{
    CU_ASSERT_PTR_NOT_NULL(strstr(text, words));
    if (strstr(text, words) == NULL)
        fprintf(stderr, "\n\"%s\" is not in: %s\n", words, text);
}

/* The head of a version that says how long it is: `entries` of 64 bytes each. */
static void version_head(uint8_t head[OBJECT_HEAD_BYTES], uint32_t entries)
{
    uint64_t size;
    struct manifest *genesis = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    uint8_t *encoded = calloc(manifest_encoded_bytes(genesis), 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(encoded);
    (void)manifest_encode(genesis, encoded);
    memcpy(head, encoded, OBJECT_HEAD_BYTES);
    memcpy(head + 80, &entries, sizeof(entries));
    size = MANIFEST_HEADER_BYTES + MANIFEST_TRAILER_BYTES +
           (uint64_t)entries * MANIFEST_ENTRY_BYTES_MIN;
    CU_ASSERT_EQUAL(manifest_bytes_claimed(head), size);
    free(encoded);
    manifest_release(genesis);
}

/* ---- the directory ---- */

struct yard {
    char path[SCRATCH_MAX];
    struct fixture fixture;
};

static void yard_open(struct yard *yard)
{
    scratch_make(yard->path);
    fixture_open(&yard->fixture, yard->path, NULL);
}

static void yard_close(struct yard *yard)
{
    fixture_close(&yard->fixture);
    scratch_remove(yard->path);
}

/* The version as a file of so many bytes, mostly a hole. */
static void plant(const struct yard *yard, const void *head, size_t head_bytes, uint64_t bytes)
{
    char path[SCRATCH_MAX + 64];
    snprintf(path, sizeof(path), "%s/manifest+", yard->path);
    (void)mkdir(path, 0777);
    snprintf(path, sizeof(path), "%s/manifest+/%020d", yard->path, VERSION);
    FILE *file = fopen(path, "we");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(head, 1, head_bytes, file), head_bytes);
    fclose(file);
    scratch_cut(path, (long)bytes);
}

static void on_done(struct store_op *op, void *context)
{
    (void)op;
    (void)context;
}

/* As a chain's reader ends, over the codec. */
static void read_chain(const struct fixture *fixture, struct chain_reader *reader)
{
    const struct chain_reader_options options = {.retry_ns = 1, .retry_max_ns = 1};
    struct store *codec = codec_store_open(fixture->store, &(struct codec_store_options){0});
    struct loop *loop = live_loop_base(fixture->loop);
    chain_reader_init(reader, &options, random_stream_make(1, 0));
    reader->op.done = on_done;
    struct chain_effect effect = chain_reader_begin(reader);
    while (effect.kind == CHAIN_SUBMIT) {
        store_submit(codec, &reader->op);
        loop_run(loop, TIME_NEVER);
        effect = chain_reader_answer(reader, loop_now(loop));
    }
    CU_ASSERT_EQUAL(effect.kind, CHAIN_FAILED);
    store_close(codec);
}

static void a_sparse_version_is_damage_and_costs_no_memory(void)
{
    uint8_t head[OBJECT_HEAD_BYTES];
    version_head(head, 100000);
    const struct {
        const void *head;
        size_t head_bytes;
        uint64_t bytes;
        const char *words;
    } rows[] = {
        {"", 0, GIB, "1073741824 bytes, and " WORDS_NONE},
        {"LKSMANIF", 8, GIB, WORDS_NONE},
        {head, sizeof(head), GIB, "1073741824 bytes, and 6400104 by its first ones"},
        {head, sizeof(head), 2 * MIB, "2097152 bytes, and 6400104 by its first ones"},
        {head, sizeof(head), 5 * GIB, "5368709120 bytes, of which 4294967296 may be read"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct yard yard;
        struct chain_reader reader;
        yard_open(&yard);
        plant(&yard, rows[i].head, rows[i].head_bytes, rows[i].bytes);
        uint64_t before_bytes = memory_peak_begin();
        read_chain(&yard.fixture, &reader);
        check_peak(before_bytes);
        CU_ASSERT_EQUAL(reader.failure, CHAIN_DAMAGED);
        check_text(reader.error, "manifest/00000000000000000007");
        check_text(reader.error, rows[i].words);
        check_text(reader.error, "restore it");
        chain_reader_deinit(&reader);
        yard_close(&yard);
    }
}

static void a_sparse_mark_costs_no_memory(void)
{
    struct yard yard;
    struct store_op op;
    char path[SCRATCH_MAX + 16];
    bool waiting = true;
    yard_open(&yard);
    snprintf(path, sizeof(path), "%s/mark", yard.path);
    scratch_write(path, "");
    scratch_cut(path, (long)GIB);
    store_op_init(&op);
    op.verb = STORE_GET;
    op.done = on_done;
    snprintf(op.key, sizeof(op.key), "mark");
    uint64_t before_bytes = memory_peak_begin();
    for (int part = 0; part < 2; part++, waiting = !waiting) {
        op.range_bytes = part == 0 ? 0 : 1000;
        store_submit(yard.fixture.store, &op);
        loop_run(live_loop_base(yard.fixture.loop), TIME_NEVER);
        CU_ASSERT_EQUAL(op.outcome, part == 0 ? STORE_FAILED : STORE_OK);
        CU_ASSERT_EQUAL(op.result.bytes, op.range_bytes);
        store_op_release(&op);
    }
    check_peak(before_bytes);
    store_op_deinit(&op);
    yard_close(&yard);
}

/* ---- S3 ---- */

static void the_battery_of_bounds_passes_on_s3(void)
{
    struct s3_rig rig;
    s3_rig_open(&rig, NULL, NULL);
    struct store_battery battery = {.store = rig.fixture.store,
                                    .loop = live_loop_base(rig.fixture.loop)};
    battery_longer_than_asked_for(&battery);
    battery_as_long_as_its_head_says(&battery);
    s3_rig_close(&rig);
}

struct flooded {
    struct s3_rig rig;
    struct flood_server server;
    struct s3_rig_op op;
};

static void flooded_open(struct flooded *flooded, const struct flood *flood)
{
    struct s3_options options = {.operation_ns = 100 * NS_PER_MS};
    flood_server_start(&flooded->server, flood);
    options.endpoint = flooded->server.url;
    s3_rig_open(&flooded->rig, NULL, &options);
}

static void flooded_close(struct flooded *flooded)
{
    store_op_deinit(&flooded->op.op);
    s3_rig_close(&flooded->rig);
    flood_server_stop(&flooded->server);
}

#define OK_HEAD "HTTP/1.1 200 OK\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n\r\n"

/* A version is asked for, and more comes than one can have. */
static void an_endless_version_is_hung_up_on(void)
{
    uint8_t head[OBJECT_HEAD_BYTES];
    char chunked_head[OBJECT_HEAD_BYTES + 16] = "60\r\n"; /* in a chunk of its own */
    version_head(head, 30000);                            /* 1,920,104 bytes */
    memcpy(chunked_head + 4, head, sizeof(head));
    memcpy(chunked_head + 4 + sizeof(head), "\r\n", 2);
    const struct {
        struct flood flood;
        const char *words;
    } rows[] = {
        {{.head = OK_HEAD "Content-Length: 3221225472\r\n\r\n"},
         "3221225472 bytes, and " WORDS_NONE},
        {{.head = OK_HEAD "Content-Length: 9223372036854775807\r\n\r\n"},
         "9223372036854775807 bytes, of which 4294967296 may be read"},
        {{.head = OK_HEAD CHUNKED, .chunked = true}, WORDS_NONE},
        {{.head = OK_HEAD "\r\n"}, WORDS_NONE},
        {{.head = OK_HEAD "Content-Length: 3221225472\r\n\r\n",
          .begin = head,
          .begin_bytes = sizeof(head)},
         "3221225472 bytes, and 1920104 by its first ones"},
        {{.head = OK_HEAD CHUNKED,
          .begin = chunked_head,
          .begin_bytes = sizeof(head) + 6,
          .chunked = true},
         " bytes, and 1920104 by its first ones"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct flooded flooded;
        struct flood flood = rows[i].flood;
        flood.bytes_most = GIB;
        flooded_open(&flooded, &flood);
        s3_rig_op_init(&flooded.op, STORE_GET, "");
        struct store_op *op = &flooded.op.op;
        const struct object_bound bound = {.bytes_max = MANIFEST_BYTES_MAX,
                                           .claimed = manifest_bytes_claimed};
        op->bound = bound;
        name_version(op->key, VERSION);
        uint64_t before_bytes = memory_peak_begin();
        CU_ASSERT_EQUAL(s3_rig_do(&flooded.rig, &flooded.op), STORE_FAILED);
        check_peak(before_bytes);
        CU_ASSERT_TRUE(op->damaged);
        check_text(op->error, "manifest/00000000000000000007");
        check_text(op->error, rows[i].words);
        check_text(op->error, "restore it");
        flooded_close(&flooded);
        CU_ASSERT_EQUAL(flooded.server.connections, 1); /* and not asked again */
        CU_ASSERT_EQUAL(flooded.server.hung_up, 1);
        CU_ASSERT(flooded.server.sent_bytes < SOCKET_BYTES);
    }
}

/* Whatever else is asked for, an answer without an end is ended. */
static void every_endless_answer_is_hung_up_on(void)
{
    const struct {
        enum store_verb verb;
        struct flood flood;
        enum store_outcome outcome;
        const char *words;
    } rows[] = {
        {STORE_GET,
         {.head = OK_HEAD CHUNKED, .chunked = true},
         STORE_FAILED,
         "1048576 may be read"},
        {STORE_LIST,
         {.head = OK_HEAD CHUNKED, .chunked = true},
         STORE_FAILED,
         "8388608 may be read"},
        {STORE_LIST,
         {.head = OK_HEAD "Content-Length: 99999999\r\n\r\n"},
         STORE_FAILED,
         "99999999 bytes, of which 8388608 may be read"},
        {STORE_PUT, {.head = OK_HEAD CHUNKED, .chunked = true}, STORE_FAILED, "65536 may be read"},
        {STORE_PUT_IF_ABSENT,
         {.head = OK_HEAD CHUNKED, .chunked = true},
         STORE_UNKNOWN,
         "65536 may be read"},
        {STORE_DELETE,
         {.head = OK_HEAD CHUNKED, .chunked = true},
         STORE_FAILED,
         "65536 may be read"},
        {STORE_PUT_IF_ABSENT,
         {.head = "HTTP/1.1 403 Forbidden\r\n" CHUNKED, .chunked = true},
         STORE_UNKNOWN,
         "an error of more than 1048576 bytes"},
        {STORE_GET,
         {.head = "HTTP/1.1 500 Oh\r\n\r\n"},
         STORE_UNKNOWN,
         "an error of more than 1048576 bytes"},
    };
    for (size_t i = 0; i < HARNESS_COUNT(rows); i++) {
        struct flooded flooded;
        struct flood flood = rows[i].flood;
        flood.bytes_most = GIB;
        flooded_open(&flooded, &flood);
        s3_rig_op_init(&flooded.op, rows[i].verb, "key");
        uint64_t before_bytes = memory_peak_begin();
        CU_ASSERT_EQUAL(s3_rig_do(&flooded.rig, &flooded.op), rows[i].outcome);
        /* Without a length a page grows by doubling: what it was may still be there. */
        check_peak(before_bytes + (rows[i].verb == STORE_LIST ? 2 * S3_XML_BYTES_MAX : 0));
        check_text(flooded.op.op.error, rows[i].words);
        flooded_close(&flooded);
        CU_ASSERT_EQUAL(flooded.server.hung_up, flooded.server.connections);
        CU_ASSERT(flooded.server.sent_bytes < flooded.server.connections * SOCKET_BYTES);
    }
}

/* The server knows no ranges, and sends all: of that only the part is kept. */
static void of_a_whole_object_only_the_part_is_kept(void)
{
    const struct flood flood = {.head = OK_HEAD "Content-Length: 268435466\r\n\r\n",
                                .begin = "0123456789",
                                .begin_bytes = 10,
                                .bytes_most = 256 * MIB};
    struct flooded flooded;
    flooded_open(&flooded, &flood);
    for (uint64_t part = 1; part <= 100000; part *= 10) {
        s3_rig_op_init(&flooded.op, STORE_GET, "key");
        struct store_op *op = &flooded.op.op;
        op->range_offset = 9;
        op->range_bytes = part;
        uint64_t before_bytes = memory_peak_begin();
        CU_ASSERT_EQUAL_FATAL(s3_rig_do(&flooded.rig, &flooded.op), STORE_OK);
        check_peak(before_bytes);
        CU_ASSERT_EQUAL_FATAL(op->result.bytes, part);
        CU_ASSERT_EQUAL(op->result.data[0], '9');
        CU_ASSERT(part == 1 || op->result.data[part - 1] == 0);
        CU_ASSERT_EQUAL(op->object_bytes, 256 * MIB + 10);
        store_op_deinit(op);
    }
    s3_rig_op_init(&flooded.op, STORE_GET, "key"); /* the rest is more than is asked for */
    flooded.op.op.range_offset = 9;
    CU_ASSERT_EQUAL(s3_rig_do(&flooded.rig, &flooded.op), STORE_FAILED);
    check_text(flooded.op.op.error, "1048576 may be read");
    flooded_close(&flooded);
}

/* Whatever is asked for: where a manifest names a part of 2^60 bytes, for one. */
static void no_object_is_longer_than_s3_has_them(void)
{
    static const char *const heads[] = {
        OK_HEAD "Content-Length: 6000000000\r\n\r\n",
        "HTTP/1.1 206 Part\r\nContent-Range: bytes 0-5999999999/6000000000\r\n"
        "Content-Length: 6000000000\r\n\r\n",
    };
    for (size_t i = 0; i < 2 * HARNESS_COUNT(heads); i++) {
        const struct flood flood = {.head = heads[i / 2], .bytes_most = GIB};
        struct flooded flooded;
        flooded_open(&flooded, &flood);
        s3_rig_op_init(&flooded.op, STORE_GET, "key");
        flooded.op.op.range_bytes = i % 2 == 0 ? UINT64_MAX : 0;
        flooded.op.op.bound.bytes_max = UINT64_MAX;
        CU_ASSERT_EQUAL(s3_rig_do(&flooded.rig, &flooded.op), STORE_FAILED);
        check_text(flooded.op.op.error, "6000000000 bytes, of which 5368709120 may be read");
        flooded_close(&flooded);
        CU_ASSERT(flooded.server.sent_bytes < SOCKET_BYTES);
    }
}

const struct harness_test store_bounds_tests[] = {
    HARNESS_TEST(a_sparse_version_is_damage_and_costs_no_memory),
    HARNESS_TEST(a_sparse_mark_costs_no_memory),
    HARNESS_TEST(the_battery_of_bounds_passes_on_s3),
    HARNESS_TEST(an_endless_version_is_hung_up_on),
    HARNESS_TEST(every_endless_answer_is_hung_up_on),
    HARNESS_TEST(of_a_whole_object_only_the_part_is_kept),
    HARNESS_TEST(no_object_is_longer_than_s3_has_them),
    {0},
};
