/* bench_s3.h - what the parts of `lakestream bench s3` share: a load, what it cost, and the sides
 * that carry it. Every function blocks. */
#ifndef EXPERIMENTS_BENCH_S3_H
#define EXPERIMENTS_BENCH_S3_H

#include <sys/types.h>

#include "backend/s3_credentials.h"
#include "backend/s3_store.h"
#include "core/tgb.h"
#include "experiments/bench.h"

#define BENCH_S3_KEY_MAX 64
#define BENCH_PREFIX_MAX 32
#define BENCH_S3_CONCURRENCY_MAX 64

/* Sliced TGBs whose slices are read by one range request each: request number k is for slice k %
 * slices of object k / slices % objects. Object i is the synthetic TGB of sequence i + 1. */
struct bench_slices {
    struct tgb_layout layout;
    uint64_t objects;
};

/* `count` requests, `concurrency` of them at a time, for the keys "prefix000...N". */
struct bench_load {
    enum store_verb verb; /* PUT_IF_ABSENT, PUT, GET, DELETE */
    uint32_t count;
    uint32_t concurrency;
    const uint8_t *data; /* of each body that is sent; borrowed */
    uint64_t bytes;      /* of each body */
    const char *prefix;
    uint64_t first;                    /* number of the first key, or of the first slice */
    const struct bench_slices *slices; /* of a GET, `bytes` being a slot's; NULL: whole objects */
    int64_t *latency_ns;               /* of each request, as they end; NULL: not wanted */
};

struct bench_cost {
    double wall_s;
    double cpu_s;   /* of this process, all of its threads, user and system */
    double check_s; /* of wall_s: the store's side examining slices */
    uint64_t bad;   /* requests that did not end as they had to */
    char why[256];  /* of one of them */
};

/* A clock of wall and CPU time. */
struct bench_clock {
    int64_t wall_ns;
    double cpu_s;
};

struct bench_clock bench_clock_start(void);
void bench_clock_stop(const struct bench_clock *clock, struct bench_cost *cost);

/* What a request is for. */
struct bench_target {
    char key[BENCH_S3_KEY_MAX];
    uint64_t offset; /* of a range; range_bytes 0: the whole object */
    uint64_t range_bytes;
    struct tgb_name name; /* of a slice; else zero */
    uint32_t slice;
};

/* Of the load's request `index`, from 0 on. */
struct bench_target bench_target_of(const struct bench_load *load, uint32_t index);
/* Names a synthetic TGB: of producer 1, epoch 1. */
struct tgb_name bench_tgb_name(uint64_t sequence);

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
 * signs by backend/sigv4.h, and what whole object it gets it holds against a checksum by XXH3, all
 * as the store does: the two differ in the rest. Of slices it counts the bytes and checks nothing.
 * `address` and options as bench_client_open has them, endpoint and region named. */
MUST_USE bool bench_peer_open(const char *address, const struct s3_options *options,
                              struct bench_peer **peer, char error[STORE_ERROR_MAX]);
void bench_peer_run(struct bench_peer *peer, const struct bench_load *load,
                    struct bench_cost *cost);
void bench_peer_close(struct bench_peer *peer);

/* ---- bench_s3_null.c: a server that does nothing ---- */

struct bench_null {
    pid_t pid;
    char endpoint[64];
};

/* A process of its own with one epoll: 200 to all, a body of `bytes` for a GET, with the checksum
 * that the store expects, or the range of it that is asked for. Ends with this process. False: no
 * process or port; said. */
MUST_USE bool bench_null_start(struct bench_null *server, const uint8_t *data, uint64_t bytes);
void bench_null_stop(const struct bench_null *server);

/* ---- bench_s3_rclone.c: MB/s beside rclone ---- */

/* Of 8 MiB objects, PUT and GET, on a store that exists, below its prefix; what it wrote is
 * deleted. False: it could not be measured; said. */
MUST_USE bool bench_rclone(struct bench *bench, const char *address,
                           const struct s3_options *options, uint32_t rounds);

/* Tells rclone, by this process's environment, how a remote called "bench" is reached, with the
 * keys that the store would find: so none stands in a list of processes. False: it has none; said.
 */
MUST_USE bool bench_rclone_tell(const struct s3_options *options);
/* `rclone copy`, 4 transfers at a time; *wall_s is without what it takes to start. False: said. */
MUST_USE bool bench_rclone_copy(const char *from, const char *to, double *wall_s);
/* `rclone hashsum CRC32 --download`, 4 at a time: reads, verifies nothing, keeps nothing. */
MUST_USE bool bench_rclone_hash(const char *from, double *wall_s);
/* As the store would take it. */
const char *bench_s3_region(const struct s3_options *options);

/* ---- bench_consume.c ---- */

/* MB/s of one rank's process beside rclone on the same objects. The run is made below the address,
 * and removed. False: it could not be measured; said. */
MUST_USE bool bench_consume(struct bench *bench, const char *address,
                            const struct s3_options *options, uint32_t rounds);

/* ---- bench_s3_slice.c: latency of slices beside a bare range GET ---- */

/* Of 1 MiB slices, on a store that exists, below its prefix, where what it wrote is deleted; NULL:
 * on a server that does nothing. False: it could not be measured; said. */
MUST_USE bool bench_slices(struct bench *bench, const char *address,
                           const struct s3_options *options, uint32_t rounds);

/* ---- bench_s3.c ---- */

double bench_median(double *values, size_t count);
/* For a server that does nothing: keys of no value, in the environment, and how it is reached. */
struct s3_options bench_null_options(const struct bench_null *server);
/* Asks first whether a store answers and has the bucket, so that it is said in one line, where each
 * side would have its own. *found: the options with what the environment says of region and CA
 * file, and so many connections. False: said. */
MUST_USE bool bench_reach(const char *address, const struct s3_options *options,
                          uint32_t connections, struct s3_options *found);
/* A prefix of its own, "bench-<random>/", so that nothing that is there already is touched. */
void bench_prefix(char prefix[BENCH_PREFIX_MAX]);
/* The address with what follows it, by one slash. */
void bench_join(char *text, size_t text_bytes, const char *address, const char *rest);
/* With bytes that do not compress to nothing, other ones each time; 256 or more. */
void bench_fill(uint8_t *data, size_t bytes);
/* The store beside the peer, on a server that does nothing. False: it could not be measured; said.
 */
MUST_USE bool bench_s3(struct bench *bench, uint32_t rounds);

#endif
