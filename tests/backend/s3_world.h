/* s3_world.h - the whole path of a commit in one test: producers (driver and machine) on a live
 * loop, the codec, the S3 store, and a hostile server that holds the chain in memory.
 *
 * A producer of a world commits so many batches of 1,000 bytes and ends. What it was told is
 * counted here; s3_audit.h holds it against what the server has. Failures to set up end the test by
 * assert. */
#ifndef TESTS_BACKEND_S3_WORLD_H
#define TESTS_BACKEND_S3_WORLD_H

#include "backend/store_url.h"
#include "core/driver.h"
#include "tests/backend/fixture.h"
#include "tests/hostile/hostile_server.h"

#define WORLD_PRODUCERS_MAX 64
#define WORLD_PREFIX "run"
#define WORLD_BATCH_BYTES 1000
#define WORLD_RUN_NS (60 * NS_PER_S) /* a run that takes longer hangs */
#define WORLD_TOKEN_MAX 64

/* Zero is the default of every field. */
struct world_options {
    struct hostile_options server;
    struct s3_options s3; /* the endpoint is the server's if there is none here */
    const char *bucket;   /* NULL: HOSTILE_BUCKET */
    uint32_t producers;   /* 0: 1 */
    uint32_t first;       /* id of the first producer */
    uint64_t batches;     /* of each producer; 0: 3 */
    uint64_t batch_bytes; /* 0: WORLD_BATCH_BYTES */
    int64_t gap_ns;       /* between attempts; 0: 1 ms */
    int64_t retry_max_ns; /* of the machine's back-off; 0: 20 ms */
    uint32_t entry_bytes; /* of a chain that is new; 0: MANIFEST_ENTRY_BYTES_MIN */
    enum commit_find find;
    const char *policy; /* NULL: fixed, by gap_ns; else gaps are at most a second */
};

/* What one producer was told. */
struct world_producer {
    struct world *world;
    struct driver *driver;
    struct producer_observer observer;
    struct incarnation incarnation;
    uint32_t id;
    uint64_t won;
    uint64_t lost;
    uint64_t batches; /* visible */
    struct commit_counters counters;
    uint64_t requests[STORE_VERB_COUNT];
    bool ended;
    enum producer_end end;
    char text[PRODUCER_END_TEXT_MAX];
};

struct world {
    struct world_options options;
    struct hostile_server *server;
    struct live_loop *loop;
    struct store *bytes;
    struct store *store;
    uint32_t running;
    struct world_producer producers[WORLD_PRODUCERS_MAX];
    /* Looked at every millisecond while the loop runs; NULL: nothing. */
    void (*watch)(struct world *world);
    uint32_t watched; /* for `watch`: how far it got */
    struct timer watch_timer;
    struct timer limit;
};

/* Sets the credentials in the environment, starts the server, opens loop and stores. */
void world_open(struct world *world, const struct world_options *options);
/* Against a server that is there already and stays. */
void world_open_on(struct world *world, struct hostile_server *server,
                   const struct world_options *options);
/* Asserts, too, that every request that came in was plain: signed, with its length and its body's
 * true hash, no Expect, no chunks, no trailers, and the bare star where there is a condition. */
void world_close(struct world *world);
/* For a world that was opened on a server: leaves it. */
void world_leave(struct world *world);
void world_rule(struct world *world, const struct hostile_rule *rule);

/* Runs the producers until all have ended; touches the server by its store alone, so that a forked
 * child may do it. */
void world_run_producers(struct world *world);
/* The same, and asserts that none of them deleted anything. */
void world_run(struct world *world);
/* The same, asserts that each stopped with all its batches visible, and holds the chain against
 * what the producers were told. */
void world_run_well(struct world *world);
/* The same, asserts that each ended with that end, and with the word in its text. */
void world_run_to(struct world *world, enum producer_end end, const char *word);

uint64_t world_won(const struct world *world);
uint64_t world_lost(const struct world *world);
struct commit_counters world_counters(const struct world *world);

/* The credentials that servers take, into the environment; a token may be NULL. No files. */
void world_credentials(const char *session_token);
/* The store's key of a version, below the prefix; for patterns and hostile_server_get. */
const char *world_version(uint64_t version);
size_t world_count(struct world *world, enum hostile_verb verb, const char *key, int status);

#endif
