/* s3_client.h - HTTP/1.1 exchanges over libcurl's multi interface inside the live loop. It knows of
 * S3 only how an answer is described (backend/s3_answer.h); what an answer means, and whether to
 * send again, is for its user.
 *
 * An exchange is embedded in and owned by its user; it keeps one libcurl handle, set up once, for
 * all the requests that it carries one after the other. Connections are kept alive and shared by
 * all exchanges of a client. Everything belongs to the loop's thread; nothing blocks, except that
 * opening reads the CA file when the first connection is made. `done` is called from inside the
 * loop, never from inside send. */
#ifndef BACKEND_S3_CLIENT_H
#define BACKEND_S3_CLIENT_H

#include <curl/curl.h>

#include "backend/live_loop.h"
#include "backend/s3_answer.h"

#define S3_CONNECTIONS_MAX 4096
#define S3_ERROR_BYTES_MAX (64 << 10) /* of an error's document; what follows is dropped */
#define S3_ERROR_BYTES_READ ((uint64_t)1 << 20) /* and here it is broken off */
#define S3_OBJECT_BYTES_MAX ((uint64_t)5 << 30) /* what one PUT may hold on AWS */
#define S3_HEADER_BYTES_MAX ((size_t)256 << 10) /* of all header lines of an answer */

struct s3_client;

struct s3_client_options {
    uint32_t connections; /* kept alive at most; 1..S3_CONNECTIONS_MAX */
    int64_t connect_ns;
    int64_t idle_ns; /* a connection unused for longer is not used again; below 2 s: none is */
};

enum s3_method {
    S3_METHOD_GET,
    S3_METHOD_PUT,
    S3_METHOD_DELETE,
};

/* libcurl sends a request again when a kept-alive connection dies before a byte of the answer. */
enum s3_resend {
    S3_RESEND_MAY,
    S3_RESEND_NEVER, /* whatever happens, it begins to be sent at most once */
};

struct s3_exchange {
    /* Request: set by the user, borrowed from send until done or cancel. */
    enum s3_method method;
    enum s3_resend resend;
    bool tls;
    const char *host;   /* with its port, unless it is the usual one */
    const char *target; /* path and query; go out as they are: nothing is encoded or resolved */
    struct curl_slist *headers;
    const uint8_t *body; /* PUT */
    uint64_t body_bytes;
    struct object_bound bound; /* of a 2xx answer's body: what does not fit ends it, TOO_LARGE */
    /* A part was asked for. Of what comes as 200, the whole then, so many bytes are dropped, and of
     * those that follow at most so many kept, 0: all that fit. Both 0: the whole was asked for. */
    uint64_t skip_bytes;
    uint64_t keep_bytes;
    void (*done)(struct s3_exchange *exchange);

    /* Answer: valid from done, or from cancel, until the next send. */
    enum s3_transport transport;
    enum s3_sent sent;
    int status;     /* 0: none came */
    bool connected; /* a connection was made for it */
    struct s3_headers answer_headers;
    uint8_t *answer; /* the exchange's, see s3_exchange_take */
    uint64_t answer_bytes;
    uint64_t came_bytes;        /* of the body, kept or not */
    char text[CURL_ERROR_SIZE]; /* libcurl's words, or what does not fit; may be empty */

    /* The client's. */
    struct s3_client *client;
    CURL *easy;
    uint64_t answer_capacity;
    uint64_t answer_limit; /* what answer_bytes may become, as far as is known */
    uint64_t body_sent;
    size_t header_bytes;
    uint32_t starts; /* how often it began to be sent */
    enum s3_method method_set;
    CURLU *origin; /* the handle's, of tls_set and host_set; NULL before the first send */
    char *host_set;
    bool tls_set;
    bool too_large;
    bool judged; /* the body's head was asked how long it is */
    char refused[OBJECT_BOUND_TEXT_MAX];
    bool in_flight;
};

/* The loop is borrowed. `ca_file` may be NULL: the system's certificates. OPEN_FAILED: libcurl
 * cannot be used; the text says why. */
MUST_USE enum open_result s3_client_open(const struct s3_client_options *options,
                                         const char *ca_file, struct live_loop *loop,
                                         struct s3_client **client, char error[STORE_ERROR_MAX]);
/* Every exchange must have been deinitialised. Allowed from inside `done`. */
void s3_client_close(struct s3_client *client);

/* Zeroes the exchange. */
void s3_exchange_init(struct s3_exchange *exchange, struct s3_client *client);
/* Cancels what is in flight. Allowed from inside its `done`, or another's. */
void s3_exchange_deinit(struct s3_exchange *exchange);

void s3_exchange_send(struct s3_exchange *exchange);
/* Ends it as TIMEOUT: `done` is not called. The connection is closed. */
void s3_exchange_cancel(struct s3_exchange *exchange);
/* The answer's bytes become the caller's, to be freed by free; never NULL. */
MUST_USE uint8_t *s3_exchange_take(struct s3_exchange *exchange);

#endif
