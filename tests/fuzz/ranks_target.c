/* ranks_target.c - what processes of one job tell each other: objects in the store, and the words
 * by which a launcher says which process this is. The first byte chooses among siblings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/name.h"
#include "experiments/consume/consume_start.h"
#include "experiments/live/live_group_private.h"
#include "experiments/live/live_meeting.h"
#include "experiments/trials/recorder.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/target.h"

#define LAUNCHER_LINE_MAX 96

void fuzz_meeting(const uint8_t *data, size_t size);
void fuzz_group(const uint8_t *data, size_t size);
void fuzz_launcher(const uint8_t *data, size_t size);

static struct body body_of(const void *bytes, size_t size)
{
    return (struct body){.kind = BODY_BYTES, .bytes = size, .data = (uint8_t *)(uintptr_t)bytes};
}

/* ---- where to go ---- */

static void check_call(const struct live_ranks *ranks, const struct live_call *call)
{
    char error[LIVE_GROUP_TEXT_MAX] = "";
    struct live_call again;
    check_harmless(call->url, sizeof(call->url));
    check_harmless(call->arm, sizeof(call->arm));
    check_harmless(call->hash, sizeof(call->hash));
    assert(call->seed <= INT64_MAX);
    if (!call->over)
        assert(strspn(call->group, "0123456789abcdef") == LIVE_GROUP_ID_MAX - 1);
    char *text = live_meeting_print(ranks, call);
    struct body body = body_of(text, strlen(text));
    bool read = live_meeting_parse(ranks, &body, &again, error);
    assert(read);
    assert(again.over == call->over && again.failed == call->failed && again.seed == call->seed);
    assert(strcmp(again.url, call->url) == 0 && strcmp(again.arm, call->arm) == 0);
    assert(strcmp(again.hash, call->hash) == 0 && strcmp(again.group, call->group) == 0);
    free(text);
}

static void take_agreed(const struct body *body)
{
    char text[CONSUME_START_BYTES_MAX];
    struct consume_agreed agreed = consume_start_parse(body);
    if (agreed.place.step == 0)
        return;
    assert(agreed.place.step < NAME_COUNT_MAX && agreed.place.ahead == 0);
    assert(agreed.every < NAME_COUNT_MAX && agreed.steps < NAME_COUNT_MAX);
    consume_start_print(&agreed, text);
    struct body printed = body_of(text, strlen(text));
    struct consume_agreed again = consume_start_parse(&printed);
    assert(again.place.step == agreed.place.step);
    assert(again.place.beginning == agreed.place.beginning);
    assert(again.every == agreed.every && again.steps == agreed.steps);
}

/* The first byte: of how many ranks this one was told, or 0 for where ranks of consume start. */
void fuzz_meeting(const uint8_t *data, size_t size)
{
    char error[LIVE_GROUP_TEXT_MAX] = "";
    struct live_call call;
    if (size == 0)
        return;
    struct body body = body_of(data + 1, size - 1);
    struct live_ranks ranks = {.rank = 1, .count = 1U + data[0] % 4U, .token = "word"};
    if (data[0] % 4 == 0)
        take_agreed(&body);
    else if (live_meeting_parse(&ranks, &body, &call, error))
        check_call(&ranks, &call);
    else
        check_told(error, sizeof(error));
}

/* ---- the group of a run ---- */

/* A visit that never asks the store. The lead is so long that any start is near. */
struct bench {
    struct config config;
    struct live_group group;
    struct live_visit visit;
    char text[LIVE_GROUP_TEXT_MAX];
};

static struct bench *the_bench(void)
{
    static struct bench bench;
    static struct live_loop *loop;
    char error[STORE_ERROR_MAX];
    struct live_loop_options options = {.workers = 1};
    if (loop == NULL) {
        enum open_result result = live_loop_open(&options, &loop, error);
        assert(result == OPEN_OK);
        config_default(&bench.config);
        bench.config.live.lead_ns = INT64_MAX / 4;
    }
    memset(&bench.group, 0, sizeof(bench.group));
    bench.group.ranks = (struct live_ranks){.rank = 0, .count = 4};
    bench.group.config = &bench.config;
    bench.group.url = "file:///run";
    bench.text[0] = '\0';
    bench.visit =
        (struct live_visit){.group = &bench.group, .session = {.loop = loop}, .text = bench.text};
    return &bench;
}

static void take_barrier(struct bench *bench, uint8_t form, const json_t *message)
{
    int64_t now_ns = live_visit_now(&bench->visit);
    int64_t start_ns = -1;
    if (form & 1) {
        if (!live_group_take_ready(&bench->visit, 1, message, now_ns))
            check_told(bench->text, sizeof(bench->text));
        else
            assert(llabs(bench->group.heard_ns[1]) <= 2 * now_ns);
        return;
    }
    if (live_group_take_start(&bench->visit, message, &start_ns) == LIVE_GROUP_DONE)
        assert(start_ns >= 0 && start_ns <= 2 * live_visit_now(&bench->visit));
    else
        check_told(bench->text, sizeof(bench->text));
}

static void take_result(struct bench *bench, const struct store_op *op)
{
    struct recorder_options options = {
        .duration_ns = 3 * NS_PER_S, .warmup_ns = NS_PER_S, .bin_ns = NS_PER_S, .producers = 2};
    struct live_group_result result = {.failure = "", .recorder = recorder_open(&options)};
    struct live_group_sum sum = {.result = &result};
    if (live_group_add_result(&bench->visit, 1, op, &sum))
        assert(bench->text[0] == '\0');
    else
        check_told(bench->text, sizeof(bench->text));
    assert(result.counts.attempts <= INT64_MAX / LIVE_RANKS_MAX);
    assert(result.memory_bytes <= INT64_MAX / LIVE_RANKS_MAX);
    assert(result.restarts <= UINT32_MAX / LIVE_RANKS_MAX);
    assert(isfinite(sum.skew_s) && isfinite(sum.error_s));
    recorder_close(result.recorder);
}

/* The first byte: a result, that a rank is ready, or the start. */
void fuzz_group(const uint8_t *data, size_t size)
{
    struct store_op op;
    struct bench *bench = the_bench();
    size_t used = 0;
    if (size == 0)
        return;
    store_op_init(&op);
    snprintf(op.key, sizeof(op.key), "run/group/ready-1");
    op.result = body_of(data + 1, size - 1);
    json_t *message = live_visit_parse(&bench->visit, &op, &used);
    if (message == NULL)
        check_told(bench->text, sizeof(bench->text));
    assert(used <= size - 1);
    if (message != NULL && data[0] & 2)
        take_barrier(bench, data[0], message);
    json_decref(message);
    bench->text[0] = '\0';
    if (!(data[0] & 2))
        take_result(bench, &op);
    op.result = (struct body){0};
    store_op_deinit(&op);
}

/* ---- launchers ---- */

static const char *const variables[] = {
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",     "PMI_SIZE",
    "SLURM_PROCID",         "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID", "SLURM_STEP_ID",
    "SLURM_RESTART_COUNT"};
#define VARIABLES (sizeof(variables) / sizeof(variables[0]))

/* The next line as a text; NULL: it is empty. It stays valid, as putenv needs it. */
static char *take_line(size_t slot, const uint8_t **data, size_t *size)
{
    static char lines[VARIABLES + 3][LAUNCHER_LINE_MAX + 32];
    char *line = lines[slot];
    const uint8_t *end = *size > 0 ? memchr(*data, '\n', *size) : NULL;
    size_t bytes = end != NULL ? (size_t)(end - *data) : *size;
    size_t used = bytes < LAUNCHER_LINE_MAX ? bytes : LAUNCHER_LINE_MAX - 1;
    const char *name = slot < VARIABLES ? variables[slot] : "";
    size_t named = (size_t)snprintf(line, sizeof(lines[slot]), "%s%s", name, *name ? "=" : "");
    if (used > 0)
        memcpy(line + named, *data, used);
    line[named + used] = '\0';
    bytes += end != NULL;
    *data += bytes;
    *size -= bytes;
    return used > 0 ? line : NULL;
}

/* Lines: the variables, then --rank, --ranks and --token; an empty one is not set. */
void fuzz_launcher(const uint8_t *data, size_t size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    char text[LIVE_RANKS_TEXT_MAX] = "";
    struct live_ranks ranks;
    for (size_t i = 0; i < VARIABLES; i++) {
        char *line = take_line(i, &data, &size);
        if (line == NULL)
            unsetenv(variables[i]);
        else
            putenv(line);
    }
    const char *rank = take_line(VARIABLES, &data, &size);
    const char *count = take_line(VARIABLES + 1, &data, &size);
    const char *token = take_line(VARIABLES + 2, &data, &size);
    struct live_ranks_flags flags = {
        .rank = rank, .ranks = count != NULL ? strtoull(count, NULL, 10) : 0, .token = token};
    if (!live_ranks_find(&flags, &ranks, text)) {
        assert(text[0] != '\0');
        return;
    }
    assert(ranks.count >= 1 && ranks.count <= LIVE_RANKS_MAX && ranks.rank < ranks.count);
    if (ranks.count == 1)
        assert(ranks.token[0] == '\0');
    else
        assert(ranks.token[0] != '\0' && ranks.token[strspn(ranks.token, plain)] == '\0');
}
