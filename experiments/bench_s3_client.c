/* bench_s3_client.c - a load through the store under test: as many operations in flight as the load
 * says, the next one begun where one ends. Of slices each is examined as a consumer does it
 * (core/consumer_fetch.c): its header, its checksum, and what enters the digest chain. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/store_url.h"
#include "core/digest_chain.h"
#include "experiments/bench_s3.h"
#include "experiments/trials/progress.h"

/* A request in flight. */
struct bench_flight {
    struct store_op op; /* first: its `done` knows only this */
    struct bench_target target;
    int64_t begun_ns;
};

struct bench_client {
    struct live_loop *loop;
    struct store *store;
    const struct bench_load *load;
    struct bench_cost *cost;
    uint32_t begun;
    uint32_t ended;
    uint64_t digest; /* of the slices so far, so that none is left out */
    struct bench_flight flights[BENCH_S3_CONCURRENCY_MAX];
};

bool bench_client_open(const char *address, const struct s3_options *options,
                       struct bench_client **client, char error[STORE_ERROR_MAX])
{
    struct store_url_options url_options = {.s3 = *options};
    struct bench_client *made = calloc(1, sizeof(*made));
    assert(made != NULL);
    enum open_result result = live_loop_open(NULL, &made->loop, error);
    if (result == OPEN_OK)
        result = store_open_url(address, &url_options, made->loop, &made->store, error);
    if (result == OPEN_OK) {
        for (size_t i = 0; i < BENCH_S3_CONCURRENCY_MAX; i++)
            store_op_init(&made->flights[i].op);
        *client = made;
        return true;
    }
    if (made->loop != NULL)
        live_loop_close(made->loop);
    free(made);
    return false;
}

static void begin(struct bench_client *client, struct bench_flight *flight)
{
    const struct bench_load *load = client->load;
    struct store_op *op = &flight->op;
    flight->begun_ns = progress_now_ns();
    flight->target = bench_target_of(load, client->begun);
    op->verb = load->verb;
    op->body = (struct body){0};
    op->range_offset = flight->target.offset;
    op->range_bytes = flight->target.range_bytes;
    op->bound.bytes_max = load->bytes;
    if (load->verb == STORE_PUT || load->verb == STORE_PUT_IF_ABSENT)
        op->body = (struct body){
            .kind = BODY_BYTES, .bytes = load->bytes, .data = (uint8_t *)(uintptr_t)load->data};
    memcpy(op->key, flight->target.key, sizeof(flight->target.key));
    client->begun++;
    store_submit(client->store, op);
}

/* NULL: nothing is wrong with it. */
static const char *examine(struct bench_client *client, const struct bench_flight *flight)
{
    const struct body *result = &flight->op.result;
    struct tgb_place place = {.name = &flight->target.name,
                              .slices = client->load->slices->layout.slices,
                              .slice = flight->target.slice};
    struct tgb_slice slice;
    const uint8_t *stored;
    int64_t from_ns = progress_now_ns();
    enum tgb_error error = tgb_slice_open(result->data, result->bytes, &place, &slice, &stored);
    uint64_t digest = error == TGB_OK ? digest_chain_slice(stored, slice.stored_bytes) : 0;
    client->digest = digest_chain_next(client->digest, client->ended, digest);
    client->cost->check_s += (double)(progress_now_ns() - from_ns) / 1e9;
    return error == TGB_OK ? NULL : tgb_error_text(error);
}

/* NULL: the request ended as it had to. */
static const char *judge(struct bench_client *client, const struct bench_flight *flight)
{
    const struct store_op *op = &flight->op;
    if (op->outcome != STORE_OK)
        return op->error[0] != '\0' ? op->error : store_outcome_text(op->outcome);
    if (op->verb != STORE_GET)
        return NULL;
    if (op->result.bytes != client->load->bytes)
        return "fewer bytes came than there are";
    return client->load->slices != NULL ? examine(client, flight) : NULL;
}

static void on_done(struct store_op *op, void *context)
{
    struct bench_flight *flight = (struct bench_flight *)op;
    struct bench_client *client = context;
    const char *wrong = judge(client, flight);
    if (wrong != NULL) {
        client->cost->bad++;
        snprintf(client->cost->why, sizeof(client->cost->why), "%s", wrong);
    }
    if (client->load->latency_ns != NULL)
        client->load->latency_ns[client->ended] = progress_now_ns() - flight->begun_ns;
    store_op_release(op);
    client->ended++;
    if (client->begun < client->load->count)
        begin(client, flight);
    else if (client->ended == client->load->count)
        live_loop_stop(client->loop);
}

void bench_client_run(struct bench_client *client, const struct bench_load *load,
                      struct bench_cost *cost)
{
    assert(load->concurrency >= 1 && load->concurrency <= BENCH_S3_CONCURRENCY_MAX);
    memset(cost, 0, sizeof(*cost));
    client->load = load;
    client->cost = cost;
    client->begun = client->ended = 0;
    struct bench_clock clock = bench_clock_start();
    for (size_t i = 0; i < load->concurrency && client->begun < load->count; i++) {
        client->flights[i].op.done = on_done;
        client->flights[i].op.context = client;
        begin(client, &client->flights[i]);
    }
    loop_run(live_loop_base(client->loop), TIME_NEVER);
    bench_clock_stop(&clock, cost);
    assert(client->ended == load->count);
}

void bench_client_close(struct bench_client *client)
{
    store_close(client->store);
    for (size_t i = 0; i < BENCH_S3_CONCURRENCY_MAX; i++)
        store_op_deinit(&client->flights[i].op);
    live_loop_close(client->loop);
    free(client);
}
