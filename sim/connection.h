/* connection.h - what lies between a process of a simulated run and the virtual store: its client,
 * the codec where manifests travel as bytes, and an outage where the run has any. Running out of
 * memory ends the program. */
#ifndef SIM_CONNECTION_H
#define SIM_CONNECTION_H

#include "core/fault_store.h"
#include "sim/virtual_store.h"

/* What connections of a run share; borrowed by them. */
struct connection_world {
    struct virtual_store *store;
    struct loop *loop;
    uint64_t seed;
    bool bytes;                      /* manifests travel as bytes */
    const struct fault_plan *faults; /* read at every request; NULL: none, ever */
};

struct connection {
    struct store *client;
    struct store *faults; /* NULL: none */
    struct store *codec;  /* NULL: none */
};

/* `actor`: its number with the store, never used before. */
void connection_open(struct connection *connection, const struct connection_world *world,
                     uint32_t actor);
struct store *connection_store(const struct connection *connection);
/* What is in flight is dropped, as by the death of the process; so that whatever used it may be
 * closed then. */
void connection_close(struct connection *connection);

#endif
