/* bench_s3.h - what the parts of `lakestream bench s3` share: a load, what it cost, and the sides
 * that carry it. Every function blocks. */
#ifndef EXPERIMENTS_BENCH_S3_H
#define EXPERIMENTS_BENCH_S3_H

#include <sys/types.h>

#include "backend/s3_credentials.h"
#include "backend/s3_store.h"
#include "experiments/bench.h"

#define BENCH_S3_KEY_MAX 64
#define BENCH_S3_CONCURRENCY_MAX 64

/* `count` requests, `concurrency` of them at a time, for the keys "prefix000...N". */
struct bench_load {
    enum store_verb verb; /* PUT_IF_ABSENT, PUT, GET, DELETE */
    uint32_t count;
    uint32_t concurrency;
    const uint8_t *data; /* of each body that is sent; borrowed */
    uint64_t bytes;      /* of each body */
    const char *prefix;
    uint64_t first; /* number of the first key */
};

struct bench_cost {
    double wall_s;
    double cpu_s;  /* of this process, all of its threads, user and system */
    uint64_t bad;  /* requests that did not end as they had to */
    char why[256]; /* of one of them */
};

/* A clock of wall and CPU time. */
struct bench_clock {
    int64_t wall_ns;
    double cpu_s;
};

struct bench_clock bench_clock_start(void);
void bench_clock_stop(const struct bench_clock *clock, struct bench_cost *cost);

void bench_key(const struct bench_load *load, uint64_t number, char key[BENCH_S3_KEY_MAX]);

/* ---- bench_s3_client.c: the store under test ---- */

struct bench_client;

/* `address` is "s3://bucket/prefix". False: `error` says why. */
MUST_USE bool bench_client_open(const char *address, const struct s3_options *options,
                                struct bench_client **client, char error[STORE_ERROR_MAX]);
void bench_client_run(struct bench_client *client, const struct bench_load *load,
                      struct bench_cost *cost);
void bench_client_close(struct bench_client *client);

/* ---- bench_s3_peer.c: the least that libcurl needs ---- */

struct bench_peer;

/* A loop of curl_multi_perform and curl_multi_poll with handles, buffers and connections that are
 * kept; no deadline, no retry, no judgement but the status. What is sent it hashes by OpenSSL and
 * signs by backend/sigv4.h, and what it gets it holds against a checksum by XXH3, all as the store
 * does: the two differ in the rest. */
struct bench_peer *bench_peer_open(const char *endpoint);
void bench_peer_run(struct bench_peer *peer, const struct bench_load *load,
                    struct bench_cost *cost);
void bench_peer_close(struct bench_peer *peer);

/* ---- bench_s3_null.c: a server that does nothing ---- */

struct bench_null {
    pid_t pid;
    char endpoint[64];
};

/* A process of its own with one epoll: 200 to all, a body of `bytes` for a GET, with the checksum
 * that the store expects. Ends with this process. False: no process or port; said. */
MUST_USE bool bench_null_start(struct bench_null *server, const uint8_t *data, uint64_t bytes);
void bench_null_stop(const struct bench_null *server);

/* ---- bench_s3_rclone.c: MB/s beside rclone ---- */

/* Of 8 MiB objects, PUT and GET, on a store that exists, below its prefix; what it wrote is
 * deleted. False: it could not be measured; said. */
MUST_USE bool bench_rclone(struct bench *bench, const char *address,
                           const struct s3_options *options, uint32_t rounds);

/* Tells rclone, by this process's environment, how a remote called "bench" is reached: so no key
 * stands in a list of processes. */
void bench_rclone_tell(const struct s3_options *options, const struct credentials *keys);
/* `rclone copy`, 4 transfers at a time; *wall_s is without what it takes to start. False: said. */
MUST_USE bool bench_rclone_copy(const char *from, const char *to, double *wall_s);
/* As the store would take it. */
const char *bench_s3_region(const struct s3_options *options);

/* ---- bench_consume.c ---- */

/* MB/s of one rank's process beside rclone on the same objects. The run is made below the address,
 * and removed. False: it could not be measured; said. */
MUST_USE bool bench_consume(struct bench *bench, const char *address,
                            const struct s3_options *options, uint32_t rounds);

/* ---- bench_s3.c ---- */

double bench_median(double *values, size_t count);
/* The store beside the peer, on a server that does nothing. False: it could not be measured; said.
 */
MUST_USE bool bench_s3(struct bench *bench, uint32_t rounds);

#endif
