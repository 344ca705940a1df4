/* bench_s3_client.c - a load through the store under test: as many operations in flight as the load
 * says, the next one begun where one ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/store_url.h"
#include "experiments/bench_s3.h"

struct bench_client {
    struct live_loop *loop;
    struct store *store;
    const struct bench_load *load;
    struct bench_cost *cost;
    uint32_t begun;
    uint32_t ended;
    struct store_op ops[BENCH_S3_CONCURRENCY_MAX];
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
            store_op_init(&made->ops[i]);
        *client = made;
        return true;
    }
    if (made->loop != NULL)
        live_loop_close(made->loop);
    free(made);
    return false;
}

static void begin(struct bench_client *client, struct store_op *op)
{
    const struct bench_load *load = client->load;
    op->verb = load->verb;
    op->body = (struct body){0};
    if (load->verb == STORE_PUT || load->verb == STORE_PUT_IF_ABSENT)
        op->body = (struct body){
            .kind = BODY_BYTES, .bytes = load->bytes, .data = (uint8_t *)(uintptr_t)load->data};
    bench_key(load, load->first + client->begun, op->key);
    client->begun++;
    store_submit(client->store, op);
}

static void on_done(struct store_op *op, void *context)
{
    struct bench_client *client = context;
    bool good = op->outcome == STORE_OK &&
                (op->verb != STORE_GET || op->result.bytes == client->load->bytes);
    if (!good) {
        client->cost->bad++;
        snprintf(client->cost->why, sizeof(client->cost->why), "%s",
                 op->error[0] != '\0' ? op->error : store_outcome_text(op->outcome));
    }
    store_op_release(op);
    client->ended++;
    if (client->begun < client->load->count)
        begin(client, op);
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
        client->ops[i].done = on_done;
        client->ops[i].context = client;
        begin(client, &client->ops[i]);
    }
    loop_run(live_loop_base(client->loop), TIME_NEVER);
    bench_clock_stop(&clock, cost);
    assert(client->ended == load->count);
}

void bench_client_close(struct bench_client *client)
{
    store_close(client->store);
    for (size_t i = 0; i < BENCH_S3_CONCURRENCY_MAX; i++)
        store_op_deinit(&client->ops[i]);
    live_loop_close(client->loop);
    free(client);
}
