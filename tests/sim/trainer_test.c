/* trainer_test.c - one rank's application and its disk: what is used, kept, refused, and left
 * behind by a death. */
#include "sim/trainer.h"

#include <stdio.h>
#include <string.h>

#include "sim/virtual_store.h"
#include "tests/harness.h"

#define STEPS 40
#define TGB_BYTES 100
#define PROCESSES 2

/* A process of the rank. */
struct process {
    struct bench *bench;
    struct store *client;
    struct trainer *trainer;
    uint64_t given;
    uint64_t saved;
    uint64_t checkpointed; /* step */
    uint64_t refused;
    enum consumer_end end; /* CONSUMER_END_COUNT: it runs */
};

/* A chain of STEPS steps, and one disk for all processes of the rank. */
struct bench {
    struct virtual_loop loop;
    struct virtual_store *store;
    struct store *writer;
    struct checkers checkers;
    struct trainer_disk disk;
    struct process processes[PROCESSES];
};

static void done(struct store_op *op, void *context)
{
    (void)op;
    (void)context;
}

static void put(struct bench *bench, enum store_verb verb, const char *key, struct body body)
{
    struct store_op op;
    store_op_init(&op);
    op.verb = verb;
    op.body = body;
    op.done = done;
    snprintf(op.key, sizeof(op.key), "%s", key);
    store_submit(bench->writer, &op);
    loop_run(&bench->loop.loop, TIME_NEVER);
    CU_ASSERT_EQUAL(op.outcome, STORE_OK);
    store_op_deinit(&op);
}

static void put_version(struct bench *bench, struct manifest *manifest)
{
    char key[STORE_KEY_MAX];
    name_version(key, manifest->version);
    put(bench, STORE_PUT_IF_ABSENT, key,
        (struct body){.kind = BODY_MANIFEST,
                      .bytes = manifest_encoded_bytes(manifest),
                      .manifest = manifest});
    manifest_release(manifest);
}

static void put_chain(struct bench *bench)
{
    struct manifest_entry entries[STEPS];
    char key[STORE_KEY_MAX];
    for (uint64_t i = 0; i < STEPS; i++) {
        entries[i] = (struct manifest_entry){
            .tgb = {.sequence = i + 1, .end_offset = (i + 1) * TGB_BYTES, .epoch = 1},
            .tgb_bytes = TGB_BYTES};
        name_tgb(key, &entries[i].tgb);
        put(bench, STORE_PUT, key, (struct body){.kind = BODY_LENGTH, .bytes = TGB_BYTES});
    }
    struct manifest *genesis = manifest_genesis(MANIFEST_ENTRY_BYTES_MIN);
    struct manifest_change change = {.author = {.epoch = 1},
                                     .state = {.epoch = 1,
                                               .next_offset = STEPS * TGB_BYTES,
                                               .last_sequence = STEPS,
                                               .last_commit_version = 2},
                                     .entry_count = STEPS,
                                     .entries = entries};
    struct manifest *next = manifest_append(genesis, &change);
    put_version(bench, genesis);
    put_version(bench, next);
}

static void bench_open(struct bench *bench)
{
    *bench = (struct bench){0};
    virtual_loop_init(&bench->loop, EVENT_QUEUE_HEAP);
    checkers_init(&bench->checkers);
    struct virtual_store_options store = {.loop = &bench->loop,
                                          .observer = checkers_observer(&bench->checkers)};
    for (size_t verb = 0; verb < STORE_VERB_COUNT; verb++)
        store.latency[verb].base_ns = NS_PER_MS;
    bench->store = virtual_store_open(&store);
    checkers_watch(&bench->checkers, bench->store);
    checkers_follow_ranks(&bench->checkers, 0);
    bench->writer = virtual_store_client(bench->store, 0);
    put_chain(bench);
}

static void process_die(struct process *process)
{
    store_close(process->client);
    trainer_crash(process->trainer);
    trainer_close(process->trainer);
    process->trainer = NULL;
}

static void bench_close(struct bench *bench)
{
    if (bench->checkers.violations.count > 0)
        printf("\n  %s\n", bench->checkers.violations.first);
    CU_ASSERT_EQUAL(bench->checkers.violations.count, 0);
    for (size_t i = 0; i < PROCESSES; i++)
        if (bench->processes[i].trainer != NULL)
            process_die(&bench->processes[i]);
    store_close(bench->writer);
    virtual_store_close(bench->store);
    checkers_deinit(&bench->checkers);
    virtual_loop_deinit(&bench->loop);
}

static void on_running(void *context, uint64_t step)
{
    (void)context;
    (void)step;
}

static void on_given(void *context, const struct consumer_delivery *delivery)
{
    (void)delivery;
    ((struct process *)context)->given++;
}

static void on_saved(void *context, const struct checkpoint_set *set)
{
    (void)set;
    ((struct process *)context)->saved++;
}

static void on_refused(void *context)
{
    ((struct process *)context)->refused++;
}

static void on_checkpointed(void *context, uint64_t step)
{
    ((struct process *)context)->checkpointed = step;
}

static void on_request(void *context, const struct consumer_answer *answer)
{
    (void)context;
    (void)answer;
}

static void on_ended(void *context, enum consumer_end end, const char *text)
{
    (void)text;
    ((struct process *)context)->end = end;
}

/* Uses a step in 10 ms, and keeps 2 checkpoints, 5 steps apart. */
static void start(struct bench *bench, size_t number, int64_t save_ns)
{
    struct process *process = &bench->processes[number];
    process->bench = bench;
    process->end = CONSUMER_END_COUNT;
    process->client = virtual_store_client(bench->store, (uint32_t)number + 1);
    struct trainer_options options = {
        .store = process->client,
        .loop = &bench->loop.loop,
        .world = &bench->loop.loop,
        .checkers = &bench->checkers,
        .disk = &bench->disk,
        .observer = {.context = process,
                     .running = on_running,
                     .given = on_given,
                     .saved = on_saved,
                     .refused = on_refused,
                     .checkpointed = on_checkpointed,
                     .request = on_request,
                     .ended = on_ended},
        .consumer = {.membership = {.retry_ns = NS_PER_MS, .retry_max_ns = NS_PER_S},
                     .checkpoints = bench->disk.set,
                     .random = random_stream_make(1, number),
                     .prefetch_bytes = 1000,
                     .fetches_max = 4,
                     .fetch_retries = 4,
                     .lookahead = 4,
                     .poll_min_ns = 10 * NS_PER_MS,
                     .poll_max_ns = 100 * NS_PER_MS,
                     .poll_smoothing = CONSUMER_POLL_SMOOTHING,
                     .poll_early = CONSUMER_POLL_EARLY,
                     .poll_jitter = CONSUMER_POLL_JITTER,
                     .retry_ns = NS_PER_MS,
                     .retry_max_ns = NS_PER_S,
                     .checkpoints_kept = 2},
        .random = random_stream_make(2, number),
        .step_ns = 10 * NS_PER_MS,
        .checkpoint_steps = 5,
        .save_ns = save_ns,
    };
    memset(&options.consumer.membership.identity, (int)number + 1, INCARNATION_BYTES);
    process->trainer = trainer_open(&options);
    trainer_start(process->trainer);
}

static void run_for(struct bench *bench, int64_t time_ns)
{
    loop_run(&bench->loop.loop, bench->loop.now_ns + time_ns);
}

static void steps_are_used_and_checkpoints_kept(void)
{
    struct bench bench;
    bench_open(&bench);
    start(&bench, 0, NS_PER_MS);
    run_for(&bench, 2 * NS_PER_S);
    CU_ASSERT_EQUAL(bench.processes[0].given, STEPS);
    CU_ASSERT_EQUAL(bench.processes[0].checkpointed, STEPS + 1);
    CU_ASSERT_EQUAL(bench.disk.set.count, 2);
    CU_ASSERT_EQUAL(bench.disk.set.items[0].step, STEPS - 4);
    CU_ASSERT_EQUAL(bench.disk.set.items[1].step, STEPS + 1);
    trainer_stop(bench.processes[0].trainer);
    run_for(&bench, NS_PER_S);
    CU_ASSERT_EQUAL(bench.processes[0].end, CONSUMER_STOPPED);
    bench_close(&bench);
}

static void a_new_process_goes_on_from_the_disk(void)
{
    struct bench bench;
    bench_open(&bench);
    start(&bench, 0, NS_PER_MS);
    run_for(&bench, 230 * NS_PER_MS);
    uint64_t place = bench.disk.set.items[bench.disk.set.count - 1].step;
    CU_ASSERT(place > 1 && bench.processes[0].given >= place - 1);
    process_die(&bench.processes[0]);
    start(&bench, 1, NS_PER_MS);
    run_for(&bench, 2 * NS_PER_S);
    CU_ASSERT_EQUAL(bench.processes[1].given, STEPS + 1 - place);
    CU_ASSERT_EQUAL(bench.disk.number, 2);
    bench_close(&bench);
}

/* The newer one stamps what is kept; then the older one's next save is refused. */
static void the_older_of_two_processes_may_not_save(void)
{
    struct bench bench;
    bench_open(&bench);
    start(&bench, 0, 40 * NS_PER_MS);
    run_for(&bench, 120 * NS_PER_MS);
    CU_ASSERT(bench.processes[0].saved > 0);
    start(&bench, 1, NS_PER_MS);
    run_for(&bench, 2 * NS_PER_S);
    CU_ASSERT_EQUAL(bench.processes[0].end, CONSUMER_SUPERSEDED);
    CU_ASSERT_EQUAL(bench.processes[1].end, CONSUMER_END_COUNT);
    CU_ASSERT_EQUAL(bench.disk.number, 2);
    CU_ASSERT_EQUAL(bench.disk.set.items[0].number, 2);
    CU_ASSERT_EQUAL(bench.disk.set.items[1].step, STEPS + 1);
    bench_close(&bench);
}

static void a_save_on_its_way_may_come_to_be_in_death(void)
{
    uint64_t came = 0;
    for (int64_t at_ns = 60 * NS_PER_MS; at_ns < 92 * NS_PER_MS; at_ns += NS_PER_MS) {
        struct bench bench;
        bench_open(&bench);
        start(&bench, 0, 10 * NS_PER_S); /* it will not be durable by itself */
        run_for(&bench, at_ns);
        bool saves = trainer_saves(bench.processes[0].trainer);
        process_die(&bench.processes[0]);
        CU_ASSERT(saves || bench.processes[0].saved == 0);
        came += bench.disk.set.count > 0;
        bench_close(&bench);
    }
    CU_ASSERT(came > 0);
}

const struct harness_test trainer_tests[] = {
    HARNESS_TEST(steps_are_used_and_checkpoints_kept),
    HARNESS_TEST(a_new_process_goes_on_from_the_disk),
    HARNESS_TEST(the_older_of_two_processes_may_not_save),
    HARNESS_TEST(a_save_on_its_way_may_come_to_be_in_death),
    {0},
};
