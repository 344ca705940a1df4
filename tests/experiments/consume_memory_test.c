/* consume_memory_test.c - how much memory a rank's process takes where its manifest is large: its
 * budget for slices, the bytes of one manifest, and little else, also while newer versions come. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/manifest.h"
#include "experiments/live/live_session.h"
#include "tests/experiments/plane_fixture.h"
#include "tests/harness.h"

#define OTHER_STEPS 1000000 /* live steps that the rank does not ask for */
#define STEPS 16            /* ... that it does, of one version */
#define TGB_BYTES (UINT64_C(2) << 20)
#define LONG_TGB_BYTES (UINT64_C(8) << 20)
#define BUDGET_TEXT "16MiB"
#define BUDGET_BYTES (UINT64_C(16) << 20)
#define LONGEST_TGB_BYTES (UINT64_C(32) << 20) /* beyond the budget */
#define LONGEST_STEPS 6
#define REST_BYTES 16e6
#define MANIFEST_SHARE 1.2
#define PRODUCER 9

/* A chain that is written by hand, so that it may be long. */
struct chain {
    struct live_session session;
    struct manifest *newest;
    uint64_t sequence;
    uint64_t tgb_bytes;
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
    *chain = (struct chain){.tgb_bytes = TGB_BYTES};
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

/* Steps of the producer in one version; of those from `first` on TGBs are there. */
static void commit(struct chain *chain, size_t count, size_t first, size_t stored)
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
                    .end_offset = chain->sequence * chain->tgb_bytes},
            .tgb_bytes = chain->tgb_bytes,
        };
        name_tgb(key, &entries[i].tgb);
        if (i >= first && i < first + stored)
            put(chain, key, (struct body){.kind = BODY_LENGTH, .bytes = chain->tgb_bytes});
    }
    const struct manifest_change change = {
        .author = {.producer = PRODUCER, .epoch = 1, .incarnation = incarnation_of_producer()},
        .state = {.producer = PRODUCER,
                  .epoch = 1,
                  .incarnation = incarnation_of_producer(),
                  .next_offset = chain->sequence * chain->tgb_bytes,
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

struct rank {
    struct plane plane;
    struct chain chain;
    char lines[LIVE_PATH_MAX]; /* its log */
};

static void rank_start(struct rank *rank, uint64_t from, uint64_t steps)
{
    char from_text[24], steps_text[24], log[LIVE_PATH_MAX];
    snprintf(from_text, sizeof(from_text), "%llu", (unsigned long long)from);
    snprintf(steps_text, sizeof(steps_text), "%llu", (unsigned long long)steps);
    live_path(log, rank->plane.scratch, "log");
    live_path(rank->lines, rank->plane.scratch, "log/rank-0.log");
    struct live_process_options consume = {
        .scratch = rank->plane.scratch,
        .name = "consume",
        .program = getenv("LAKESTREAM"), /* a fork of this process would have its memory */
        .arguments = {"consume", rank->plane.url, "--ranks", "1", "--from", from_text, "--steps",
                      steps_text, "--prefetch", BUDGET_TEXT, "--json", "--log", log}};
    live_process_start(&rank->plane.process, &consume);
}

/* It had all its steps, read the chain so many times, and its memory is bounded: by its budget, or
 * one slice that is longer. */
static void rank_end(struct rank *rank, long long steps, double reads)
{
    CU_ASSERT_EQUAL_FATAL(live_process_wait(&rank->plane.process, 60), 0);
    json_t *report = plane_json(&rank->plane.process);
    const json_t *row = json_array_get(json_object_get(report, "ranks"), 0);
    double manifest_bytes = (double)manifest_encoded_bytes(rank->chain.newest);
    double chain_bytes = (double)live_number(json_object_get(row, "asked"), "chain", "bytes");
    uint64_t tgb_bytes = rank->chain.tgb_bytes;
    double slices_bytes = (double)(tgb_bytes > BUDGET_BYTES ? tgb_bytes : BUDGET_BYTES);
    double most = slices_bytes + REST_BYTES + MANIFEST_SHARE * manifest_bytes;
    double memory = (double)live_number(row, "memory_bytes", NULL);
    CU_ASSERT_EQUAL(live_number(row, "steps", NULL), steps);
    CU_ASSERT_DOUBLE_EQUAL(chain_bytes / manifest_bytes, reads, 0.1);
    printf("%.1f MB of at most %.1f, manifest %.1f MB\n", memory / 1e6, most / 1e6,
           manifest_bytes / 1e6);
    CU_ASSERT_TRUE(HARNESS_MEMORY_IS_SANITIZED || memory <= most);
    json_decref(report);
    chain_close(&rank->chain);
    plane_close(&rank->plane);
}

/* The second version comes when the rank has had the first one's: it holds one and reads another.
 */
static void a_rank_far_ahead_holds_one_manifest(void)
{
    struct rank rank;
    if (getenv("LAKESTREAM") == NULL)
        HARNESS_SKIP("LAKESTREAM does not name the program");
    plane_open(&rank.plane, "1x1", 1);
    chain_open(&rank.chain, &rank.plane);
    commit(&rank.chain, OTHER_STEPS + STEPS, OTHER_STEPS, STEPS);
    rank_start(&rank, rank.chain.newest->next_step - STEPS, UINT64_C(2) * STEPS);
    CU_ASSERT_TRUE(live_wait_for(rank.lines, "\n", STEPS + 1, 60));
    commit(&rank.chain, STEPS, 0, STEPS);
    rank_end(&rank, 2LL * STEPS, 2);
}

static void a_rank_far_behind_holds_one_manifest(void)
{
    struct rank rank;
    if (getenv("LAKESTREAM") == NULL)
        HARNESS_SKIP("LAKESTREAM does not name the program");
    plane_open(&rank.plane, "1x1", 1);
    chain_open(&rank.chain, &rank.plane);
    commit(&rank.chain, OTHER_STEPS + STEPS, 0, STEPS);
    rank_start(&rank, 2, STEPS);
    rank_end(&rank, STEPS, 1);
}

/* A folder's workers read, and the loop frees: what one of them got must serve the next. */
static void a_rank_holds_its_budget_once_for_all_workers(void)
{
    struct rank rank;
    if (getenv("LAKESTREAM") == NULL)
        HARNESS_SKIP("LAKESTREAM does not name the program");
    plane_open(&rank.plane, "1x1", 1);
    chain_open(&rank.chain, &rank.plane);
    rank.chain.tgb_bytes = LONG_TGB_BYTES;
    commit(&rank.chain, STEPS, 0, STEPS);
    rank_start(&rank, 2, STEPS);
    rank_end(&rank, STEPS, 1);
}

/* Which the budget does not bound, as is said. */
static void a_rank_holds_one_slice_that_is_longer_than_its_budget(void)
{
    struct rank rank;
    if (getenv("LAKESTREAM") == NULL)
        HARNESS_SKIP("LAKESTREAM does not name the program");
    plane_open(&rank.plane, "1x1", 1);
    chain_open(&rank.chain, &rank.plane);
    rank.chain.tgb_bytes = LONGEST_TGB_BYTES;
    commit(&rank.chain, LONGEST_STEPS, 0, LONGEST_STEPS);
    rank_start(&rank, 2, LONGEST_STEPS);
    rank_end(&rank, LONGEST_STEPS, 1);
}

static void a_slice_beyond_the_budget_is_told_once(void)
{
    static const struct {
        const char *budget;
        int told;
    } cases[] = {{"8127B", 1}, {"8128B", 0}, {"1MiB", 0}};
    struct plane plane;
    plane_open(&plane, "2x1", 8);
    for (size_t i = 0; i < HARNESS_COUNT(cases); i++) {
        const char *const *words =
            PLANE_WORDS("--ranks", "2", "--steps", "8", "--prefetch", cases[i].budget);
        CU_ASSERT_EQUAL(plane_run(&plane, "consume", words), 0);
        CU_ASSERT_EQUAL(live_count_in(plane.process.err, "a slice takes "), cases[i].told);
        CU_ASSERT_EQUAL(live_count_in(plane.process.err, "more than --prefetch"), cases[i].told);
    }
    plane_close(&plane);
}

const struct harness_test consume_memory_tests[] = {
    HARNESS_TEST(a_rank_far_ahead_holds_one_manifest),
    HARNESS_TEST(a_rank_far_behind_holds_one_manifest),
    HARNESS_TEST(a_rank_holds_its_budget_once_for_all_workers),
    HARNESS_TEST(a_rank_holds_one_slice_that_is_longer_than_its_budget),
    HARNESS_TEST(a_slice_beyond_the_budget_is_told_once),
    {0},
};
