/* s3_client_private.h - what a client and its exchanges share. */
#ifndef BACKEND_S3_CLIENT_PRIVATE_H
#define BACKEND_S3_CLIENT_PRIVATE_H

#include "backend/s3_client.h"

#define S3_DATE_BYTES_MAX 64
#define S3_ANSWER_BYTES_KEPT ((uint64_t)64 << 10) /* of memory, from request to request */

struct s3_client {
    struct s3_client_options options;
    char *ca_file;
    struct live_loop *loop;
    CURLM *multi;
    CURLSH *share;      /* TLS sessions */
    struct timer timer; /* libcurl's */
    struct timer batch; /* after all sockets that are ready: what has ended is taken */
    bool due;           /* libcurl wants to be called at once */
    bool driving;
    bool closed;                  /* from inside `done` */
    char date[S3_DATE_BYTES_MAX]; /* the last Date line, which is the same for a second */
    size_t date_bytes;
    int64_t date_ns;
    uint32_t exchanges;
    uint8_t *sockets; /* enum socket_state by descriptor */
    size_t socket_capacity;
};

/* libcurl's callbacks for the sockets of an exchange's connections; the context is the client. */
curl_socket_t s3_client_on_socket_open(void *client, curlsocktype purpose,
                                       struct curl_sockaddr *address);
int s3_client_on_socket_close(void *client, curl_socket_t fd);

/* libcurl's callbacks for an answer; the context is the exchange. */
size_t s3_receive_header(char *line, size_t size, size_t count, void *exchange);
size_t s3_receive_body(char *text, size_t size, size_t count, void *exchange);
/* Forgets the answer before. */
void s3_receive_clear(struct s3_exchange *exchange);
/* 0: none. */
int s3_receive_status(const struct s3_exchange *exchange);

/* It has ended as `code` says: fills the answer, and takes the handle out of the client. */
void s3_exchange_end(struct s3_exchange *exchange, CURLcode code);

#endif
