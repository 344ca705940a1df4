/* consume_memory_test.c - how much memory a rank's process takes where its manifest is large: its
 * budget for slices, the bytes of one manifest, and little else, also while newer versions come. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/manifest.h"
#include "experiments/live/live_session.h"
#include "tests/experiments/plane_fixture.h"
#include "tests/harness.h"

#define OLD_STEPS 1000000 /* live steps that no rank asks for */
#define NEW_STEPS 16      /* of either of two versions */
#define TGB_BYTES (UINT64_C(2) << 20)
#define BUDGET_TEXT "16MiB"
#define BUDGET_BYTES (UINT64_C(16) << 20)
#define REST_BYTES 16e6
#define MANIFEST_SHARE 1.2
#define PRODUCER 9

/* The memory of a program with AddressSanitizer is mostly the sanitizer's. */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* A chain that is written by hand, so that it may be long. */
struct chain {
    struct live_session session;
    struct manifest *newest;
    uint64_t sequence;
};

static struct incarnation incarnation_of_producer(void)
{
    struct incarnation incarnation;
    memset(&incarnation, PRODUCER, sizeof(incarnation));
    return incarnation;
}

static void chain_open(struct chain *chain, const struct plane *plane)
{
    const struct live_session_options options = {.access = DIRECTORY_WRITE, .mesh = {1, 1}};
    char error[STORE_ERROR_MAX] = "";
    struct store_op op;
    *chain = (struct chain){0};
    enum open_result opened = live_session_open(plane->url, &options, &chain->session, error);
    CU_ASSERT_EQUAL_FATAL(opened, OPEN_OK);
    store_op_init(&op);
    for (uint64_t version = 1;; version++) {
        op.verb = STORE_GET;
        name_version(op.key, version);
        live_session_do(&chain->session, chain->session.store, &op);
        if (op.outcome != STORE_OK)
            break;
        manifest_release(chain->newest);
        chain->newest = manifest_retain(op.result.manifest);
        store_op_release(&op);
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(chain->newest);
    store_op_deinit(&op);
}

static void chain_close(struct chain *chain)
{
    manifest_release(chain->newest);
    live_session_close(&chain->session);
}

static void put(struct chain *chain, const char *key, struct body body)
{
    struct store_op op;
    store_op_init(&op);
    op.verb = STORE_PUT;
    memcpy(op.key, key, STORE_KEY_MAX);
    op.body = body;
    live_session_do(&chain->session, chain->session.store, &op);
    CU_ASSERT_EQUAL_FATAL(op.outcome, STORE_OK);
    store_op_deinit(&op);
}

/* Steps of the producer, the TGBs of the last `stored` of them. */
static void commit(struct chain *chain, size_t count, size_t stored)
{
    struct manifest_entry *entries = calloc(count, sizeof(*entries));
    assert(entries != NULL);
    for (size_t i = 0; i < count; i++) {
        char key[STORE_KEY_MAX];
        chain->sequence++;
        entries[i] = (struct manifest_entry){
            .tgb = {.producer = PRODUCER,
                    .epoch = 1,
                    .incarnation = incarnation_of_producer(),
                    .sequence = chain->sequence,
                    .end_offset = chain->sequence * TGB_BYTES},
            .tgb_bytes = TGB_BYTES,
        };
        name_tgb(key, &entries[i].tgb);
        if (i + stored >= count)
            put(chain, key, (struct body){.kind = BODY_LENGTH, .bytes = TGB_BYTES});
    }
    const struct manifest_change change = {
        .author = {.producer = PRODUCER, .epoch = 1, .incarnation = incarnation_of_producer()},
        .state = {.producer = PRODUCER,
                  .epoch = 1,
                  .incarnation = incarnation_of_producer(),
                  .next_offset = chain->sequence * TGB_BYTES,
                  .last_sequence = chain->sequence,
                  .last_commit_version = chain->newest->version + 1},
        .entry_count = count,
        .entries = entries,
    };
    char key[STORE_KEY_MAX];
    struct manifest *next = manifest_append(chain->newest, &change);
    name_version(key, next->version);
    put(chain, key,
        (struct body){
            .kind = BODY_MANIFEST, .bytes = manifest_encoded_bytes(next), .manifest = next});
    manifest_release(chain->newest);
    chain->newest = next;
    free(entries);
}

static void a_rank_keeps_to_its_budget_and_one_manifest(void)
{
    struct plane plane;
    struct chain chain;
    if (getenv("LAKESTREAM") == NULL)
        HARNESS_SKIP("LAKESTREAM does not name the program");
    char from[24], steps[8], log[LIVE_PATH_MAX], lines[LIVE_PATH_MAX];
    plane_open(&plane, "1x1", 1);
    chain_open(&chain, &plane);
    commit(&chain, OLD_STEPS + NEW_STEPS, NEW_STEPS);
    snprintf(from, sizeof(from), "%llu", (unsigned long long)chain.newest->next_step - NEW_STEPS);
    snprintf(steps, sizeof(steps), "%d", 2 * NEW_STEPS);
    live_path(log, plane.scratch, "log");
    live_path(lines, plane.scratch, "log/rank-0.log");
    struct live_process_options consume = {
        .scratch = plane.scratch,
        .name = "consume",
        .program = getenv("LAKESTREAM"), /* a fork of this process would have its memory */
        .arguments = {"consume", plane.url, "--ranks", "1", "--from", from, "--steps", steps,
                      "--prefetch", BUDGET_TEXT, "--json", "--log", log}};
    live_process_start(&plane.process, &consume);
    /* The second version comes when the rank holds the first one: it reads both. */
    CU_ASSERT_TRUE(live_wait_for(lines, "\n", NEW_STEPS + 1, 60));
    commit(&chain, NEW_STEPS, NEW_STEPS);
    CU_ASSERT_EQUAL_FATAL(live_process_wait(&plane.process, 60), 0);
    json_t *report = plane_json(&plane.process);
    const json_t *row = json_array_get(json_object_get(report, "ranks"), 0);
    double manifest_bytes = (double)manifest_encoded_bytes(chain.newest);
    double chain_bytes = (double)live_number(json_object_get(row, "asked"), "chain", "bytes");
    double most = (double)BUDGET_BYTES + REST_BYTES + MANIFEST_SHARE * manifest_bytes;
    double memory = (double)live_number(row, "memory_bytes", NULL);
    CU_ASSERT_EQUAL(live_number(row, "steps", NULL), 2 * NEW_STEPS);
    CU_ASSERT_TRUE(chain_bytes > 1.9 * manifest_bytes);
    printf("%.1f MB of at most %.1f, manifest %.1f MB\n", memory / 1e6, most / 1e6,
           manifest_bytes / 1e6);
    CU_ASSERT_TRUE(SANITIZED || memory <= most);
    json_decref(report);
    chain_close(&chain);
    plane_close(&plane);
}

const struct harness_test consume_memory_tests[] = {
    HARNESS_TEST(a_rank_keeps_to_its_budget_and_one_manifest),
    {0},
};
