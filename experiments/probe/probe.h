/* probe.h - whether a store is fit for live runs: what the protocol builds on is tried on it, the
 * race for a key above all. Works on any store, below a prefix of its own, and leaves nothing. */
#ifndef EXPERIMENTS_PROBE_PROBE_H
#define EXPERIMENTS_PROBE_PROBE_H

#include <stdbool.h>

#include "core/loop.h"
#include "core/store.h"
#include "experiments/live/live_session.h"

#define PROBE_WRITERS 32
#define PROBE_ROUNDS_DEFAULT 20
#define PROBE_ROUNDS_BRIEF 3
#define PROBE_ROUNDS_MAX 10000
#define PROBE_STORES_MAX 8
#define PROBE_PREFIX_MAX 32

/* check, name, what it tries; in the order in which they are made. */
#define PROBE_CHECKS(X)                                                                            \
    X(PROBE_REACH, "reach", "the store answers, and takes the credentials")                        \
    X(PROBE_WRITE, "write", "what was written is read back, byte for byte, and overwritten")       \
    X(PROBE_CREATE, "create", "a conditional create of a key that exists is refused")              \
    X(PROBE_RACE, "race", "of many that create one key at once, one wins, and is stored")          \
    X(PROBE_RANGE, "range", "parts are read: of the middle, past the end, of nothing")             \
    X(PROBE_LIST, "list", "1,001 keys come in order, by pages, from any key on")                   \
    X(PROBE_FRESH, "fresh", "what was just written is read and listed at once")                    \
    X(PROBE_DELETE, "delete", "what was deleted is gone at once; deleting it again is no error")   \
    X(PROBE_KEYS, "keys", "keys that are long or hold odd characters come back as they are")       \
    X(PROBE_CLOCK, "clock", "the store's clock and this machine's agree")                          \
    X(PROBE_CLEAN, "clean", "all that the probe wrote is deleted")

enum probe_check {
#define X(code, name, text) code,
    PROBE_CHECKS(X)
#undef X
    PROBE_CHECK_COUNT
};

const char *probe_check_name(enum probe_check check);
const char *probe_check_text(enum probe_check check);

/* verdict, name */
#define PROBE_VERDICTS(X)                                                                          \
    X(PROBE_SKIPPED, "skipped") /* not asked for, or one before it failed */                       \
    X(PROBE_GOOD, "ok")                                                                            \
    X(PROBE_NOTED, "noted") /* live runs can do without */                                         \
    X(PROBE_UNFIT, "NOT FIT")

enum probe_verdict {
#define X(code, name) code,
    PROBE_VERDICTS(X)
#undef X
    PROBE_VERDICT_COUNT
};

const char *probe_verdict_name(enum probe_verdict verdict);

struct probe_result {
    enum probe_verdict verdict;
    int64_t took_ns;
    char text[STORE_ERROR_MAX]; /* what was seen; what to do where it is not good */
};

struct probe_report {
    bool fit;         /* no check was unfit, and none was left out for an interruption */
    bool interrupted; /* cleaned up all the same */
    char prefix[PROBE_PREFIX_MAX]; /* of its keys, with the slash */
    struct probe_result results[PROBE_CHECK_COUNT];
};

enum probe_scope {
    PROBE_WHOLE,
    PROBE_BRIEF, /* create and race only */
};

/* All borrowed. */
struct probe_options {
    struct loop *loop;
    void (*stop)(void *context); /* makes loop_run return; NULL: it does once all is answered */
    void *context;               /* of stop and told */
    /* One store, or several ways to one: creates race across all of them. */
    struct store *const *stores;
    const char *const *names; /* of the stores, for people */
    size_t store_count;       /* 1..PROBE_STORES_MAX */
    enum probe_scope scope;
    uint32_t rounds; /* of the race: 1..PROBE_ROUNDS_MAX */
    uint64_t seed;   /* names the prefix, and makes bodies distinct: to be drawn anew each time */
    int64_t (*skew_ns)(const struct store *store); /* NULL: the stores have no clock */
    const bool *interrupted; /* NULL: never; once true, what is left is cleaning up */
    /* Called after each check that was made; may be NULL. */
    void (*told)(void *context, enum probe_check check, const struct probe_result *result);
};

/* Blocks: runs the loop, on which nothing else may wait. */
void probe_run(const struct probe_options *options, struct probe_report *report);
/* The first check that was unfit; PROBE_CHECK_COUNT: there is none. */
enum probe_check probe_unfit(const struct probe_report *report);

/* The short form, for who is about to commit to a session's store: a create on a key that exists,
 * and PROBE_ROUNDS_BRIEF raced rounds. False: not fit; `error` says why. Blocks. Objects are made
 * and deleted below "probe-.../". */
MUST_USE bool probe_session(struct live_session *session, char error[STORE_ERROR_MAX]);

#endif
