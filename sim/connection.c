/* connection.c - see connection.h. Ours. */
#include "sim/connection.h"

#include "core/codec_store.h"

#define FAULT_DOMAIN UINT64_C(0x4f5554414745)

void connection_open(struct connection *connection, const struct connection_world *world,
                     uint32_t actor)
{
    *connection = (struct connection){.client = virtual_store_client(world->store, actor)};
    if (world->faults != NULL) {
        struct fault_store_options faults = {
            .inner = connection->client,
            .loop = world->loop,
            .plan = world->faults,
            .random = random_stream_make(world->seed ^ FAULT_DOMAIN, actor),
        };
        connection->faults = fault_store_open(&faults);
    }
    if (world->bytes) {
        struct codec_store_options codec = {.payload = false};
        struct store *inner = connection->faults != NULL ? connection->faults : connection->client;
        connection->codec = codec_store_open(inner, &codec);
    }
}

struct store *connection_store(const struct connection *connection)
{
    if (connection->codec != NULL)
        return connection->codec;
    return connection->faults != NULL ? connection->faults : connection->client;
}

void connection_close(struct connection *connection)
{
    if (connection->faults != NULL)
        fault_store_cut(connection->faults);
    store_close(connection->client);
    if (connection->faults != NULL)
        store_close(connection->faults);
    if (connection->codec != NULL)
        store_close(connection->codec);
}
