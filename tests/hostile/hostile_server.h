/* hostile_server.h - a scripted S3 server on loopback for tests: objects in memory, threads of this
 * process, and rules that make single requests go wrong in a way that is known.
 *
 * Without rules it is an honest store: PUT with If-None-Match, GET with a range, ListObjectsV2,
 * DELETE; it checks signatures on its own (Signature Version 4 over OpenSSL, none of the client's
 * code) and the hash of every body. Every request is recorded. Nothing here waits for time unless a
 * rule asks for a delay: what is held is let go by a condition.
 *
 * All functions may be called from any thread, also while a loop runs; failures end the test by
 * assert. Start it before forking, stop it in the process that started it. */
#ifndef TESTS_HOSTILE_HOSTILE_SERVER_H
#define TESTS_HOSTILE_HOSTILE_SERVER_H

#include <stdbool.h>

#include "core/base.h"

#define HOSTILE_ACCESS_KEY "hostile-access"
#define HOSTILE_SECRET_KEY "hostile-secret-kept-by-nobody-else"
#define HOSTILE_BUCKET "bucket"
#define HOSTILE_KEY_MAX 1024
#define HOSTILE_TARGET_MAX 4096
#define HOSTILE_URL_MAX 64
#define HOSTILE_RULES_MAX 64

struct hostile_server;

enum hostile_verb {
    HOSTILE_ANY,
    HOSTILE_GET,
    HOSTILE_PUT,    /* without a condition */
    HOSTILE_CREATE, /* PUT with If-None-Match */
    HOSTILE_LIST,
    HOSTILE_DELETE,
    HOSTILE_OTHER,
};

enum hostile_transport {
    HOSTILE_HTTP,
    HOSTILE_HTTPS, /* by a certificate of its own: hostile_server_ca_file */
    HOSTILE_MUTE,  /* accepts connections, and that is all */
};

enum hostile_trust {
    HOSTILE_TRUST_SIGNED,
    HOSTILE_TRUST_ANYONE,
};

/* Zero is the default of every field. Texts are borrowed until the server stops. */
struct hostile_options {
    enum hostile_transport transport;
    enum hostile_trust trust;
    const char *host;          /* address to listen on; NULL: 127.0.0.1 */
    uint16_t port;             /* 0: any that is free */
    const char *bucket;        /* the only one; NULL: HOSTILE_BUCKET */
    size_t page_keys;          /* at most so many keys in a page of a listing; 0: 1,000 */
    const char *session_token; /* every request must carry it, else 400 ExpiredToken */
    int64_t clock_ahead_ns;    /* of the server's clock; requests signed 15 min off are refused */
    int64_t idle_close_ns;     /* closes connections that are idle for longer; 0: never */
    int64_t create_ns;         /* a create takes as long */
    int64_t contended_ns;      /* ... and this where another on its key is in progress */
};

/* NULL, with errno set: the address cannot be listened on. */
MUST_USE struct hostile_server *hostile_server_start(const struct hostile_options *options);
/* Closes all connections, waits for the threads, frees everything. */
void hostile_server_stop(struct hostile_server *server);
/* "http://127.0.0.1:port"; lives as long as the server. */
const char *hostile_server_url(const struct hostile_server *server);
uint16_t hostile_server_port(const struct hostile_server *server);
/* A PEM file with what signs an HTTPS server; removed at the stop. */
const char *hostile_server_ca_file(const struct hostile_server *server);

/* ---- rules ---- */

enum hostile_apply {
    HOSTILE_APPLY,        /* as an honest store does */
    HOSTILE_APPLY_ALWAYS, /* a condition is ignored */
    HOSTILE_APPLY_NOT,
};

enum hostile_reply {
    HOSTILE_OWN,    /* what an honest store says to what was applied */
    HOSTILE_SAY,    /* status, headers, body */
    HOSTILE_ECHO,   /* status, headers; an <Error> of code `body` whose message gives away what the
                       request was signed with: token and Authorization */
    HOSTILE_DROP,   /* closes without a byte */
    HOSTILE_RESET,  /* the same by a reset */
    HOSTILE_SILENT, /* nothing, until the client hangs up or the server stops */
};

/* Whether the answer is given on the head alone; then the body is not read and nothing applied. */
enum hostile_early {
    HOSTILE_EARLY_NOT,
    HOSTILE_EARLY_POLITE, /* what still comes is read and thrown away */
    HOSTILE_EARLY_RUDE,   /* the connection is closed at once, which resets it */
};

enum hostile_coding {
    HOSTILE_LENGTH,
    HOSTILE_CHUNKED,
    HOSTILE_GZIP,      /* with Content-Encoding, asked for or not */
    HOSTILE_UNTIL_END, /* no length: the end of the connection ends the body */
};

enum hostile_token {
    HOSTILE_TOKEN_TRUE,
    HOSTILE_TOKEN_REPEATED, /* always truncated, always the same token */
    HOSTILE_TOKEN_MISSING,  /* always truncated, without saying where to go on */
    HOSTILE_TOKEN_EMPTY,    /* always truncated, always the same token, and never a key */
};

enum hostile_hold {
    HOSTILE_HOLD_NOT,
    HOSTILE_HOLD_FIRST, /* before it is applied */
    HOSTILE_HOLD_ANSWER /* applied, not yet answered */
};

/* What may be matched: a verb, and a pattern of fnmatch(3) on the decoded key (LIST: its prefix);
 * NULL: every key. */
struct hostile_match {
    enum hostile_verb verb;
    const char *key;
};

/* Rules are looked at in the order in which they were added; the first that matches and is not used
 * up decides. Zero is the default of every field. Texts are borrowed until the server stops. */
struct hostile_rule {
    struct hostile_match match;
    uint32_t skip;  /* so many matching requests are left to the rules behind */
    uint32_t times; /* and so many are taken; 0: all that follow */

    enum hostile_apply apply;
    enum hostile_reply reply;
    enum hostile_early early;
    int status;          /* HOSTILE_SAY */
    const char *headers; /* of whole lines; added to the answer, whichever it is */
    const char *body;
    const char *redirect; /* a base URL: a Location header is made of it and the target */
    const char *interim;  /* raw bytes sent before the answer */

    enum hostile_hold hold;
    struct hostile_match until; /* let go once so many requests that match arrived after this */
    uint32_t until_count;       /* 0: by hostile_server_release, or when the client hangs up */
    int64_t delay_ns;           /* before the answer */

    enum hostile_coding coding;
    enum hostile_token token;
    int64_t length_off; /* added to the Content-Length that is said */
    int64_t cut_bytes;  /* closes after so many bytes of the answer, or, negative, so many before
                           its end; 0: whole */
    size_t split_bytes; /* the answer goes out in two segments, the first so long; 0: in one */
    bool flip;          /* one bit of the body is wrong */
    bool twice;         /* the answer is sent a second time at once */
    bool close_after;   /* closes without having said so */
};

void hostile_server_rule(struct hostile_server *server, const struct hostile_rule *rule);
/* Drops all rules; those being performed go on. */
void hostile_server_rules_clear(struct hostile_server *server);
/* Lets go all that came in until now and is held, or will be, without a condition. */
void hostile_server_release(struct hostile_server *server);
/* Requires another session token from now on; NULL: none. */
void hostile_server_require_token(struct hostile_server *server, const char *session_token);

/* ---- what came in ---- */

enum hostile_signature {
    HOSTILE_UNSIGNED,
    HOSTILE_SIGNED,
    HOSTILE_FORGED, /* there, and wrong */
};

struct hostile_request {
    enum hostile_verb verb;
    uint32_t connection;    /* counted from 1 */
    uint32_t on_connection; /* its number there, from 1 */
    int64_t at_ns;          /* CLOCK_MONOTONIC, when its head was read */
    char method[16];
    char target[HOSTILE_TARGET_MAX]; /* raw: path and query as they were sent */
    char key[HOSTILE_KEY_MAX];       /* decoded */
    char head[8192];                 /* raw: request line and headers */
    char body_hash[65];              /* SHA-256 in hex; empty: the body was not read */
    size_t body_bytes;
    enum hostile_signature signature;
    int status;   /* answered; 0: nothing yet; -1: nothing ever */
    bool applied; /* it changed or read an object, or listed */
};

/* So many came, all kinds together. */
size_t hostile_server_requests(struct hostile_server *server);
/* A copy of the record; false: there is none at the index. */
bool hostile_server_request(struct hostile_server *server, size_t index,
                            struct hostile_request *request);
#define HOSTILE_WHATEVER (-2)
/* So many match, and were answered with the status, or HOSTILE_WHATEVER. */
size_t hostile_server_count(struct hostile_server *server, struct hostile_match match, int status);
/* The value of a header in a record's head, cut to the capacity; false: it is not there. */
bool hostile_request_header(const struct hostile_request *request, const char *name, char *value,
                            size_t capacity);
/* So many connections were accepted. */
uint32_t hostile_server_connections(struct hostile_server *server);

/* ---- what is stored ---- */

void hostile_server_put(struct hostile_server *server, const char *key, const void *data,
                        size_t bytes);
/* NULL: there is none; else a copy that the caller frees. */
uint8_t *hostile_server_get(struct hostile_server *server, const char *key, size_t *bytes);
bool hostile_server_delete(struct hostile_server *server, const char *key);
/* Copies the first key after `after` that begins with the prefix; false: there is none. */
bool hostile_server_next_key(struct hostile_server *server, const char *prefix, const char *after,
                             char key[HOSTILE_KEY_MAX]);

#endif
